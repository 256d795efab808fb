"""Files of named arrays, which hold a matrix and no table."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import polars as pl

from anon_core.errors import InputError
from storage.source.arrays import array_names
from storage.source.csv_rows import Content
from storage.source.formats.base import Dialect, Unheaded


class Npz(Unheaded):
    """A .npz file of numpy and scipy.sparse, told by its members."""

    name: ClassVar[str] = "npz"
    ends: ClassVar[tuple[str, ...]] = (".npz",)

    def fits(self, head: bytes) -> bool:  # noqa: ARG002
        """Never: a zip archive is told by its members."""
        return False

    def names(self, file: Path | Content, dialect: Dialect) -> list[str] | int:  # noqa: ARG002
        """The names of its arrays."""
        content = Content(file.read_bytes(), packed=False) if isinstance(file, Path) else file
        return array_names(content)

    def columns(
        self,
        file: Path | Content,  # noqa: ARG002
        dialect: Dialect,  # noqa: ARG002
        width: int,  # noqa: ARG002
        places: Sequence[int],  # noqa: ARG002
    ) -> pl.DataFrame:
        """Refused: arrays are no columns."""
        raise InputError("the source holds arrays and no columns; give a table")
