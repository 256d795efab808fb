"""Named arrays of a .npz file, as numpy and scipy.sparse write it: a matrix and no table."""

import io
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.errors import InputError
from crowdcover.storage.source.file_bytes import File, read_bytes
from crowdcover.storage.source.formats.base import Dialect, Format
from crowdcover.storage.source.packing import ArchiveMembers
from crowdcover.storage.source.values import call_or_refuse

NO_ARRAYS = "the source is not a readable .npz file of arrays; write it anew"


class Npz(Format):
    """A zip archive of .npy files."""

    name: ClassVar[str] = "npz"
    ends: ClassVar[tuple[str, ...]] = (".npz",)
    zip_ends: ClassVar[tuple[str, ...]] = ends
    holds_arrays: ClassVar[bool] = True

    def fits_members(self, members: ArchiveMembers) -> bool:
        """All of them are arrays."""
        names = members.names
        return bool(names) and all(name.lower().endswith(".npy") for name in names)

    def names(self, file: File, dialect: Dialect) -> list[str] | int:
        """The names of its arrays."""
        return list(_load_arrays(read_bytes(file), ()))

    def columns(
        self, file: File, dialect: Dialect, width: int, places: Sequence[int]
    ) -> pl.DataFrame:
        """Refused: arrays are no columns."""
        raise InputError("the source holds arrays and no columns; give a table")

    def arrays(self, file: File, needed: Sequence[str]) -> Mapping[str, NDArray[Any]]:
        """The needed arrays; refused: a file that lacks one, and objects in place of numbers."""
        found = _load_arrays(read_bytes(file), needed)
        if lost := [name for name in needed if name not in found]:
            raise InputError(f"the source has no array {', '.join(lost)}; write it by scipy.sparse")
        return {name: found[name] for name in needed}


def _load_arrays(data: bytes, needed: Sequence[str]) -> Mapping[str, NDArray[Any]]:
    """The arrays of a file by name; those that are not needed are left empty."""

    def arrays() -> Mapping[str, NDArray[Any]]:
        # A pickle could run code. A member is unpacked only when it is asked for.
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            return {name: file[name] if name in needed else np.empty(0) for name in file.files}

    return call_or_refuse(arrays, NO_ARRAYS)
