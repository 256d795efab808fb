"""The protocol of a file format: what a source's file must tell, whatever it is written in."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple, Protocol

import polars as pl

from storage.source.csv_rows import Content


class Dialect(NamedTuple):
    """What a plan says of how a file is written; each format takes what concerns it.

    `sheet` is the sheet of a workbook.
    """

    header: bool = True
    separator: str = ","
    comment: str = ""
    sheet: str | None = None


class Format(Protocol):
    """A format of files that hold a table.

    A new format is one file beside this one and an entry in `FORMATS`. `headed` says whether a
    file may be without names of columns: its first row then holds cells.
    """

    name: ClassVar[str]
    ends: ClassVar[tuple[str, ...]]  # of file names, in small letters
    headed: ClassVar[bool]

    def fits(self, head: bytes) -> bool:
        """Whether a file that begins so is of this format."""
        ...

    def first_rows(
        self, file: Path | Content, dialect: Dialect, number: int
    ) -> list[list[str]] | None:
        """The fields of the first rows that are not blank, where the format is `headed`."""
        ...

    def names(self, file: Path | Content, dialect: Dialect) -> list[str] | int:
        """The names of the columns as the file spells them; their number if it has none."""
        ...

    def columns(
        self, file: Path | Content, dialect: Dialect, width: int, places: Sequence[int]
    ) -> pl.DataFrame:
        """Some of `width` columns by their places, in the types of the file; refused: damage."""
        ...


class Unheaded:
    """What formats share whose files always name their columns."""

    headed: ClassVar[bool] = False

    def first_rows(
        self,
        file: Path | Content,  # noqa: ARG002
        dialect: Dialect,  # noqa: ARG002
        number: int,  # noqa: ARG002
    ) -> list[list[str]] | None:
        """None: there is no row that may hold names or cells."""
        return None
