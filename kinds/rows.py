"""Released rows as files, whatever the kind of data."""

import csv
import gzip
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars.io.plugins import register_io_source

GROUP = 2**17  # rows of a row group at most, as polars cuts a frame that it has whole


def write_csv(rows: pl.DataFrame, path: Path) -> None:
    """Gzip without time or name inside: the same rows give the same bytes."""
    write_csv_of_batches([rows], path)


def write_csv_of_batches(batches: Iterable[pl.DataFrame], path: Path) -> None:
    """Write the rows of one batch after the other, as `write_csv` writes all of them."""
    # The level is stated, too: a default may change with Python, and the bytes with it.
    with (
        path.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6) as packed,
    ):
        text = cast("IO[bytes]", _Unflushed(packed))
        for number, rows in enumerate(batches):
            rows.write_csv(text, include_header=number == 0)
        packed.flush()


class _Unflushed(io.RawIOBase):
    """A file that packs on where polars, at the end of each batch, wants all bytes to be there."""

    def __init__(self, packed: gzip.GzipFile) -> None:
        self._packed = packed

    def writable(self) -> bool:
        return True

    def write(self, text: Any) -> int:
        return self._packed.write(text)


def write_parquet(rows: pl.DataFrame, path: Path) -> None:
    """Parquet: the same rows give the same bytes.

    Row groups end where rows lie apart in memory, and that depends on the number of threads.
    """
    rows.rechunk().write_parquet(path)


def write_parquet_of_batches(
    cut: Callable[[slice], pl.DataFrame], records: int, path: Path
) -> None:
    """Write the rows that `cut` gives by row group: few of them lie in memory at a time.

    The bytes are those of `write_parquet`. Only lists may get more pages there, as polars sizes the
    pages of each row group by the lists of all rows.
    """

    def list_groups(*_pushed_down: object) -> Iterator[pl.DataFrame]:
        # Pages begin anew with each piece of memory, so a row group is one.
        return (cut(rows).rechunk() for rows in cut_evenly(records))

    if records <= GROUP:
        write_parquet(cut(slice(0, records)), path)
        return
    schema = cut(slice(0, 0)).schema
    register_io_source(list_groups, schema=schema).sink_parquet(path)


def cut_evenly(records: int) -> Iterator[slice]:
    """Cut rows into ranges of `GROUP` at most; sizes differ by one, the greater ones come first."""
    number = max(1, -(-records // GROUP))
    size, rest = divmod(records, number)
    for each in range(number):
        first = each * size + min(each, rest)
        yield slice(first, first + size + (each < rest))


def key_texts(keys: NDArray[np.bytes_]) -> pl.Series:
    """Keys as texts."""
    # Bytes of numpy become Binary, and polars casts that at once instead of text by text.
    return pl.Series(keys, dtype=pl.Binary).cast(pl.String)


def scan_rows(folder: Path, files: Mapping[str, str]) -> pl.LazyFrame:
    """The released rows, not read yet: with their types, or as texts where only CSV is there."""
    parquet = folder / files["parquet"]
    if parquet.is_file():
        return pl.scan_parquet(parquet, glob=False, hive_partitioning=False)
    return scan_texts(folder / files["csv"])


def scan_texts(path: Path) -> pl.LazyFrame:
    """The rows of a released CSV file, packed or not; an empty field without quotes is null."""
    unpack = gzip.open if path.suffix == ".gz" else open
    with unpack(path, "rt", encoding="utf-8", newline="") as text:
        # polars would leave the quotes in names doubled.
        names = next(csv.reader(text))
    schema = dict.fromkeys(names, pl.String())
    return pl.scan_csv(path, has_header=False, skip_rows=1, schema=schema, glob=False)
