"""Files of which only parts are in memory."""

import mmap
from collections.abc import Iterator
from pathlib import Path

import polars as pl
from polars import selectors


class ColumnFile:
    """The columns of a Parquet file, each read when it is asked for."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.schema = pl.scan_parquet(path, glob=False).collect_schema()

    @property
    def columns(self) -> list[str]:
        """Their names."""
        return self.schema.names()

    def __getitem__(self, name: str) -> pl.Series:
        # By place: polars takes a name such as ^a$ for a pattern.
        place = self.columns.index(name)
        return pl.read_parquet(self._path, glob=False, columns=[place]).to_series()

    def __iter__(self) -> Iterator[pl.Series]:
        return map(self.__getitem__, self.columns)


class RowsOfColumn:
    """A column of a Parquet file, of which rows are read when they are asked for."""

    def __init__(self, path: Path, name: str) -> None:
        self._column = pl.scan_parquet(path, glob=False).select(selectors.by_name(name))
        self.shape: tuple[int, ...] = (self._column.select(pl.len()).collect().item(),)

    def __getitem__(self, rows: slice) -> pl.Series:
        return self._column.slice(rows.start, rows.stop - rows.start).collect().to_series()


def map_content(path: Path) -> bytes | mmap.mmap:
    """The bytes of a file, of which the system keeps in memory what it likes."""
    with path.open("rb") as file:
        # An empty file cannot be mapped.
        size = path.stat().st_size
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
