"""Rows of a query, packed: however many there are, few are unpacked at once."""

import hashlib
import io
import os
from collections.abc import Iterator, Sequence
from copy import copy
from typing import IO

import polars as pl

from anon_core.errors import InputError
from crowdcover.storage.source.database_types import UNREADABLE_TYPE, ColumnTypes
from crowdcover.storage.source.values import call_or_refuse

AT_ONCE = 250_000  # rows that are packed together
LOST = "the snapshot of the source cannot be read any more; run again"


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
        self._packed: list[bytes] = []
        self._disk: IO[bytes] | None = None
        # Size and hash of what lies in the file, one after the other.
        self._written: list[tuple[int, bytes]] = []

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
            self._packed.append(packed.getvalue())

    def unpack_columns(self, needed: Sequence[str]) -> pl.DataFrame:
        """Unpack the needed columns of all rows, in the types of the database.

        Refused: types that no frame can hold, a file with other bytes than were written.
        """
        # By their places: a name such as ^a$ would be taken for a pattern.
        places = [self.names.index(name) for name in needed]
        found = call_or_refuse(
            lambda: pl.concat([_unpack(packed, places) for packed in self._list_packed()]), LOST
        )
        return call_or_refuse(lambda: self.types.restore_columns(found), UNREADABLE_TYPE)

    def take_frames(self) -> Iterator[pl.DataFrame]:
        """Unpack frame by frame, and give each up."""
        places = list(range(len(self.names)))
        for number, packed in enumerate(self._packed):
            self._packed[number] = b""
            yield _unpack(packed, places)

    def move_to_disk(self, disk: IO[bytes]) -> None:
        """Write what is packed into an empty file and give the memory back."""
        for packed in self._packed:
            disk.write(packed)
        disk.flush()
        self._written = [(len(each), hashlib.sha256(each).digest()) for each in self._packed]
        self._disk, self._packed = disk, []

    def read_from(self, disk: IO[bytes]) -> "PackedRows":
        """Return the rows by a duplicate of the file."""
        rows = copy(self)
        rows._disk = disk
        return rows

    def _list_packed(self) -> Iterator[bytes]:
        if self._disk is None:
            yield from self._packed
            return
        at = 0
        for size, sha256 in self._written:
            # At a place of its own: duplicates of the file share their offset.
            packed = os.pread(self._disk.fileno(), size, at)
            if hashlib.sha256(packed).digest() != sha256:
                raise InputError(LOST)
            yield packed
            at += size


def _unpack(packed: bytes, places: Sequence[int]) -> pl.DataFrame:
    return pl.read_ipc(io.BytesIO(packed), columns=list(places))
