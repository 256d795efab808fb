"""Rows of a query, packed: however many there are, few are unpacked at once."""

import io
from collections.abc import Iterator, Sequence
from copy import copy
from typing import IO

import polars as pl

from crowdcover.storage.source.database_types import UNREADABLE_TYPE, ColumnTypes
from crowdcover.storage.source.snapshot.pieces import LOST, Pieces
from crowdcover.storage.source.values import call_or_refuse

AT_ONCE = 250_000  # rows that are packed together


class PackedRows:
    """Frames of equal columns, each packed by itself, in memory or in a file.

    Memory: what is packed, until `move_to_disk` or `take_frames`; beside it the columns that are
    asked for.

    Attributes
    ----------
    names : list of str
        Of the columns.
    height : int
    types : ColumnTypes
        What `unpack_columns` restores.
    sha256 : str
        Fingerprint of the content, once `sort_rows` has taken it.
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self.height = 0
        self.types = ColumnTypes()
        self.sha256 = ""
        self._packed = Pieces()

    @classmethod
    def of(cls, frame: pl.DataFrame) -> "PackedRows":
        """Pack the rows of a frame."""
        rows = cls()
        rows.pack_frame(frame)
        return rows

    def pack_frame(self, frame: pl.DataFrame) -> None:
        """Pack more rows of the same columns."""
        self.names = frame.columns
        self.height += frame.height
        # Without rows the types still tell: a query may select none.
        for some in frame.iter_slices(AT_ONCE) if frame.height else (frame,):
            packed = io.BytesIO()
            some.write_ipc(packed, compression="lz4")
            self._packed.add_piece(packed.getvalue())

    def unpack_columns(self, needed: Sequence[str]) -> pl.DataFrame:
        """Unpack the needed columns of all rows, in the types of the database.

        Refused: types that no frame can hold, a file with other bytes than were written.
        """
        # By their places: a name such as ^a$ would be taken for a pattern.
        places = [self.names.index(name) for name in needed]
        found = call_or_refuse(
            lambda: pl.concat([_unpack(packed, places) for packed in self._packed]), LOST
        )
        return call_or_refuse(lambda: self.types.restore_columns(found), UNREADABLE_TYPE)

    def take_frames(self) -> Iterator[pl.DataFrame]:
        """Unpack frame by frame, and give each up."""
        places = list(range(len(self.names)))
        for packed in self._packed.take_pieces():
            yield _unpack(packed, places)

    def move_to_disk(self, disk: IO[bytes]) -> None:
        """Write what is packed into an empty file and give the memory back."""
        self._packed.move_to_disk(disk)

    def read_from(self, disk: IO[bytes]) -> "PackedRows":
        """Return the rows by a duplicate of the file."""
        rows = copy(self)
        rows._packed = self._packed.read_from(disk)
        return rows


def _unpack(packed: bytes, places: Sequence[int]) -> pl.DataFrame:
    return pl.read_ipc(io.BytesIO(packed), columns=list(places))
