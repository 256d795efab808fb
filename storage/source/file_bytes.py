"""The bytes of a source's file: in memory, or of an open file that is read block by block.

A file stays open, so that another file may take its name meanwhile. It is read again for its
columns, and bytes other than those of its fingerprint are refused.
"""

import hashlib
import io
import os
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias, cast

from anon_core.errors import InputError
from crowdcover.storage.places.place import Place

BLOCK_BYTES = 2**20  # that are read and hashed at once
CLOSED = "the source file cannot be read; check its permissions"
CHANGED_MEANWHILE = "the source changed while it was read; run again when nobody writes to it"


class Content(NamedTuple):
    """The bytes of a file, and whether they are gzip's."""

    data: bytes
    packed: bool


class OpenFile(NamedTuple):
    """An open file, whether its bytes are gzip's, and their hash as they were."""

    disk: IO[bytes]
    packed: bool
    sha256: str

    @classmethod
    def of(cls, disk: IO[bytes], *, packed: bool) -> "OpenFile":
        """Take the hash of an open file; refused: one that cannot be read."""
        return cls(disk, packed, _hash_file(disk))

    def require_unchanged(self) -> None:
        """Refuse other bytes than those that were hashed."""
        if _hash_file(self.disk) != self.sha256:
            raise InputError(CHANGED_MEANWHILE)


File: TypeAlias = Path | Content | OpenFile


class PlacedFile(io.RawIOBase):
    """An open file at a place of its own: what others read of it moves no offset here.

    `digest` is the hash of what was read.
    """

    def __init__(self, disk: IO[bytes]) -> None:
        self._disk, self._at = disk, 0
        self.digest = hashlib.sha256()

    def readable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """Always; the hash is then of no use."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read what fits, hash it."""
        part = os.pread(self._disk.fileno(), len(buffer), self._at)
        buffer[: len(part)] = part
        self._at += len(part)
        self.digest.update(part)
        return len(part)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to another place."""
        size = os.fstat(self._disk.fileno()).st_size
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: size}[whence]
        return self._at


def is_packed(file: Place | File) -> bool:
    """Whether a file is gzip's by its name."""
    if isinstance(file, (Content, OpenFile)):
        return file.packed
    return file.suffix.lower() == ".gz"


def open_bytes(file: File) -> IO[bytes]:
    """Open a file to read it from its start."""
    if isinstance(file, OpenFile):
        return cast("IO[bytes]", io.BufferedReader(PlacedFile(file.disk), BLOCK_BYTES))
    return file.open("rb") if isinstance(file, Path) else io.BytesIO(file.data)


def require_unchanged(file: File, stream: IO[bytes]) -> None:
    """Read what is left of what `open_bytes` gave; refused: an open file that changed."""
    while stream.read(BLOCK_BYTES):
        pass
    if isinstance(file, OpenFile) and _placed(stream).digest.hexdigest() != file.sha256:
        raise InputError(CHANGED_MEANWHILE)


def read_bytes(file: File) -> bytes:
    """All bytes of a file; refused: an open file that changed."""
    if isinstance(file, Content):
        return file.data
    with open_bytes(file) as stream:
        data = stream.read()
        require_unchanged(file, stream)
    return data


def _placed(stream: IO[bytes]) -> PlacedFile:
    return cast("PlacedFile", cast("io.BufferedReader", stream).raw)


def _hash_file(disk: IO[bytes]) -> str:
    placed, block = PlacedFile(disk), bytearray(BLOCK_BYTES)
    try:
        while placed.readinto(block):
            pass
        return placed.digest.hexdigest()
    except OSError:
        refusal = CLOSED
    raise InputError(refusal)
