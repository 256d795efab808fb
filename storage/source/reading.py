"""One reading of a source: its content, read once, and all that follows from it."""

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import polars as pl
from numpy.typing import NDArray

from anon_core.errors import InputError
from crowdcover.storage.places.credentials import with_password
from crowdcover.storage.places.objects import ObjectPath, StoreError
from crowdcover.storage.places.place import Place
from crowdcover.storage.source.column_names import require_names
from crowdcover.storage.source.databases import query_database
from crowdcover.storage.source.file_bytes import Content, File, OpenFile, is_packed
from crowdcover.storage.source.parts import Parts, in_parts, read_object, read_parts
from crowdcover.storage.source.points import list_read_names, name_boxes
from crowdcover.storage.source.snapshot.packed_rows import PackedRows
from crowdcover.storage.source.snapshot.pieces import LOST
from crowdcover.storage.source.sources import (
    EMPTY_SOURCE,
    Source,
    file_arrays,
    file_columns,
    file_names,
    open_required_file,
)


class Reading:
    """The content of a source as it was at one moment.

    A query runs once, when the object is made. A file is opened then and its fingerprint is taken;
    its columns are read from the open file later. They cannot be of different moments: bytes other
    than those of the fingerprint are refused.

    `again` reads the same content from disk, until `end`. A file stays open, so that another file
    may take its name meanwhile. The rows of a query, an object and a folder of files are kept by
    `keep`, in a file without a name: the system removes it with the process, however that ends.

    Memory: until `keep` the packed rows of a query and the bytes of an object or of a folder of
    files; beside them the columns that are asked for, a file of a folder, and a block of the text
    while CSV is parsed.

    A source that lies beside it is read at the same moment; the fingerprint is of both.

    No dataclass: Prefect walks through the fields of dataclasses that are arguments of tasks.
    """

    __slots__ = (
        *("_content", "_disk", "_kept", "_own"),
        *("beside", "sha256", "source"),
    )
    least = 2  # rows that a source must have

    def __init__(self, source: Source) -> None:
        self.source = source
        self.beside = None if source.beside is None else Reading(source.beside)
        self._disk: IO[bytes] | None = None
        self._content: File | Parts | PackedRows | pl.DataFrame | None
        self._kept: PackedRows | Parts | None = None  # once they are on disk
        self.sha256: str
        refusal = ""
        try:
            self._read()
        except StoreError as error:
            refusal = f"{source.key} could not be read: {error}"
        if refusal:
            raise InputError(refusal)

    def _read(self) -> None:
        """Read the content, and take its fingerprint."""
        content = self._find_content()
        self._content = content
        self.sha256 = (
            hashlib.sha256(content.data).hexdigest()
            if isinstance(content, Content)
            else content.sha256
        )
        # Kept apart from the joint hash below: `is_beside_itself` compares contents.
        self._own = self.sha256
        if self.beside is not None:
            both = self.sha256 + self.beside.sha256
            self.sha256 = hashlib.sha256(both.encode()).hexdigest()

    def _find_content(self) -> Content | OpenFile | Parts | PackedRows:
        """What the source holds, or was kept of it."""
        if self._kept is not None:
            assert self._disk is not None, "it was kept there"
            return self._kept.read_from(self._disk)
        if self.source.path is not None:
            return self._of_place(self.source.path)
        assert self.source.uri is not None
        assert self.source.query is not None
        uri = with_password(self.source.uri, self.source.credentials)
        return query_database(uri, self.source.query, self.source.form)

    def _of_place(self, path: Place) -> Content | OpenFile | Parts:
        """What lies at a path, or was kept of one file."""
        if self._disk is None and in_parts(path):
            return read_parts(path, self.source.key)
        if self._disk is None and isinstance(path, Path):
            self._disk = open_required_file(path, self.source.key)
        if self._disk is not None:
            return OpenFile.of(self._disk, packed=is_packed(path))
        assert isinstance(path, ObjectPath)
        content = read_object(path, self.source.key)
        if not content:
            raise InputError(EMPTY_SOURCE)
        return Content(content, is_packed(path))

    def __repr__(self) -> str:
        return "Reading()"

    @property
    def is_beside_itself(self) -> bool:
        """Whether what lies beside it has the same content."""
        return self.beside is not None and self.beside.sha256 == self._own

    @property
    def header(self) -> list[str] | int:
        """The column names, or their number where the file has none; points are columns, too."""
        return self.source.add_points(self._own_header)

    @property
    def _own_header(self) -> list[str] | int:
        if isinstance(self._content, pl.DataFrame):
            return self._content.columns
        if isinstance(self._content, PackedRows):
            return self._content.names
        return file_names(self.source, self._open())

    def columns(self, names: Sequence[str], needed: Sequence[str]) -> pl.DataFrame:
        """Return the needed columns in the types of the source, texts for CSV and for points.

        `names` are all columns in order, for files without a header. Refused: columns the source
        lacks, damaged content, fewer than 2 rows.
        """
        points = self.source.list_missing_points(self._own_header) if self.source.points else ()
        if not points:
            return self._own_columns(names, needed)
        made = {point.name: point for point in points}
        own = [name for name in names if name not in made]
        frame = self._own_columns(own, list_read_names(needed, points))
        return pl.DataFrame(
            [
                name_boxes(frame, made[name], self.source.missing)
                if name in made
                else frame.to_series(frame.columns.index(name))
                for name in needed
            ]
        )

    def _own_columns(self, names: Sequence[str], needed: Sequence[str]) -> pl.DataFrame:
        """The same of columns that the source has itself."""
        if isinstance(self._content, pl.DataFrame):
            require_names(self._content.columns, needed)
            frame = self._content[list(needed)]
        elif isinstance(self._content, PackedRows):
            require_names(self._content.names, needed)
            frame = self._content.unpack_columns(needed)
        else:
            frame = file_columns(self.source, self._open(), names, needed)
        if frame.height < self.least:
            rows = "1 row" if frame.height else "no rows"
            raise InputError(f"the source has {rows}; at least 2 are required to hide anyone")
        return frame

    def arrays(self, needed: Sequence[str]) -> Mapping[str, NDArray[Any]]:
        """Return the needed arrays of a file that holds arrays."""
        content = self._open()
        assert not isinstance(content, Parts), "a plan asks for arrays of a file only"
        return file_arrays(self.source, content, needed)

    def keep(self, folder: Path) -> None:
        """Write what no open file holds for `again`, on the disk of this folder, mode 0600."""
        if self.beside is not None:
            self.beside.keep(folder)
        if self._disk is not None or self._content is None:
            return
        self._disk = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - `end` closes it
        if isinstance(self._content, (PackedRows, Parts)):
            self._content.move_to_disk(self._disk)
            self._kept = self._content
        else:
            assert isinstance(self._content, Content)
            self._disk.write(self._content.data)
        self._disk.flush()
        if isinstance(self._content, Content):  # of an object: from now on on disk only
            self._content = OpenFile(self._disk, self._content.packed, self._own)

    def again(self) -> "Reading":
        """Read the same once more, from disk; the fingerprint tells whether a file is the same.

        Rows of a query and files of a folder, changed there, are refused where columns are read.
        """
        assert self._disk is not None, "the reading was not kept"
        other = object.__new__(type(self))
        other.source = self.source
        # A duplicate shares its offset with the original, so each reader seeks to the start.
        other._disk = os.fdopen(os.dup(self._disk.fileno()), "rb", buffering=0)
        other._kept = self._kept
        other.beside = None if self.beside is None else self.beside.again()
        other._read()
        return other

    def close(self) -> None:
        """Release the content from memory; the fingerprint stays, and what `again` needs."""
        self._content = None
        if self.beside is not None:
            self.beside.close()

    def end(self) -> None:
        """Release the content on disk, too."""
        self.close()
        if self._disk is not None:
            self._disk.close()
        if self.beside is not None:
            self.beside.end()

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError):  # of a reading that was refused
            self.end()

    def _open(self) -> File | Parts:
        assert isinstance(self._content, (Content, OpenFile, Parts)), "the reading was closed"
        return self._content


class GoneError(InputError):
    """The content of an earlier reading is needed once more."""


class Absent(Reading):
    """The reading of a run whose stages are finished: its fingerprint, without its content."""

    __slots__ = ()

    def __init__(self, source: Source, sha256: str) -> None:
        self.source, self.sha256 = source, sha256
        self.beside = self._content = self._disk = self._kept = None
        self._own = sha256

    def again(self) -> Reading:
        """Raise `GoneError`."""
        raise GoneError(LOST)

    def _open(self) -> File | Parts:
        raise GoneError(LOST)
