"""Bytes in pieces: in memory, then one after the other in a file."""

import hashlib
import os
from collections.abc import Iterator
from copy import copy
from typing import IO

from anon_core.errors import InputError

AT_ONCE = 2**30  # bytes: Linux reads no more than twice as many at a time
LOST = "the snapshot of the source cannot be read any more; run again"


class Pieces:
    """Pieces of bytes, of which one at a time is in memory once they lie in a file.

    Attributes
    ----------
    hashes : list of bytes
        SHA-256 of each piece.
    """

    def __init__(self) -> None:
        self.hashes: list[bytes] = []
        self._held: list[bytes] = []
        self._sizes: list[int] = []  # of what lies in the file
        self._disk: IO[bytes] | None = None

    def add_piece(self, piece: bytes) -> None:
        """Hold one more, in memory."""
        self._held.append(piece)
        self.hashes.append(hashlib.sha256(piece).digest())

    def __iter__(self) -> Iterator[bytes]:
        """Read piece by piece; refused: a file with other bytes than were written."""
        if self._disk is None:
            yield from self._held
            return
        at = 0
        for size, sha256 in zip(self._sizes, self.hashes, strict=True):
            piece = _read_bytes(self._disk, size, at)
            if hashlib.sha256(piece).digest() != sha256:
                raise InputError(LOST)
            yield piece
            at += size

    def take_pieces(self) -> Iterator[bytes]:
        """Give up one held piece after the other."""
        for number, piece in enumerate(self._held):
            self._held[number] = b""
            yield piece

    def move_to_disk(self, disk: IO[bytes]) -> None:
        """Write what is held into an empty file and give the memory back."""
        self._sizes = [disk.write(piece) for piece in self._held]
        disk.flush()
        self._disk, self._held = disk, []

    def read_from(self, disk: IO[bytes]) -> "Pieces":
        """Return the pieces by a duplicate of the file."""
        pieces = copy(self)
        pieces._disk = disk
        return pieces


def _read_bytes(disk: IO[bytes], size: int, at: int) -> bytes:
    """Read so many bytes from a place; fewer where the file ends."""
    blocks = []
    while size and (block := os.pread(disk.fileno(), min(size, AT_ONCE), at)):
        blocks.append(block)
        size, at = size - len(block), at + len(block)
    return b"".join(blocks)
