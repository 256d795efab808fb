"""One reading of a source: its content, read once, and all that follows from it."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from numpy.typing import NDArray

from anon_core.errors import InputError
from tasks.source.arrays import read_arrays
from tasks.source.csv_rows import Content
from tasks.source.databases import query
from tasks.source.sources import Source, file_columns, file_content, file_names, require_names


class Reading:
    """The content of a source as it was at one moment.

    A file is read once, a query runs once, when the object is made. Column names, the fingerprint
    and the columns all come from that content, so they cannot be of different moments.

    Memory: the bytes of the file, or the rows of the query, until `close`; beside them the columns
    that are asked for, and the unpacked text while a CSV file is parsed.

    A source that lies beside it is read at the same moment; the fingerprint is of both.

    No dataclass: Prefect walks through the fields of dataclasses that are arguments of tasks.
    """

    __slots__ = ("_content", "beside", "sha256", "source")

    def __init__(self, source: Source) -> None:
        self.source = source
        self.beside = None if source.beside is None else Reading(source.beside)
        self._content: Content | pl.DataFrame | None
        self.sha256: str
        if source.path is None:
            assert source.uri is not None
            assert source.query is not None
            self._content, self.sha256 = query(source.uri, source.query)
        else:
            self._content = file_content(source.path, source.key)
            self.sha256 = hashlib.sha256(self._content.data).hexdigest()
        if self.beside is not None:
            both = self.sha256 + self.beside.sha256
            self.sha256 = hashlib.sha256(both.encode()).hexdigest()

    def __repr__(self) -> str:
        return "Reading()"

    @property
    def header(self) -> list[str] | int:
        """The column names, or their number where the file has none."""
        if isinstance(self._content, pl.DataFrame):
            return self._content.columns
        return file_names(self.source, self._open())

    def columns(self, names: Sequence[str], needed: Sequence[str]) -> pl.DataFrame:
        """Return the needed columns in the types of the source, texts for CSV.

        `names` are all columns in order, for files without a header. Refused: columns the source
        lacks, damaged content, fewer than 2 rows.
        """
        if isinstance(self._content, pl.DataFrame):
            require_names(self._content.columns, needed)
            frame = self._content[list(needed)]
        else:
            frame = file_columns(self.source, self._open(), names, needed)
        if frame.height < 2:
            rows = "1 row" if frame.height else "no rows"
            raise InputError(f"the source has {rows}; at least 2 are required to hide anyone")
        return frame

    def arrays(self, needed: Sequence[str]) -> Mapping[str, NDArray[Any]]:
        """Return the needed arrays of a .npz file."""
        if self.source.file_kind != "npz":
            raise InputError("the source holds no arrays; give a .npz file of scipy.sparse")
        return read_arrays(self._open(), needed)

    def close(self) -> None:
        """Release the content; the fingerprint stays."""
        self._content = None
        if self.beside is not None:
            self.beside.close()

    def _open(self) -> Content:
        assert isinstance(self._content, Content), "the reading was closed"
        return self._content
