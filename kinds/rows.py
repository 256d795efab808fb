"""Released rows as files, whatever the kind of data."""

import gzip
from pathlib import Path
from typing import IO, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray


def write_csv(rows: pl.DataFrame, path: Path) -> None:
    """Gzip without time or name inside: the same rows give the same bytes."""
    # The level is stated, too: a default may change with Python, and the bytes with it.
    with (
        path.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6) as packed,
    ):
        rows.write_csv(cast("IO[bytes]", packed))


def write_parquet(rows: pl.DataFrame, path: Path) -> None:
    """Parquet: the same rows give the same bytes.

    Row groups end where rows lie apart in memory, and that depends on the number of threads.
    """
    rows.rechunk().write_parquet(path)


def key_texts(keys: NDArray[np.bytes_]) -> pl.Series:
    """Keys as texts."""
    # Bytes of numpy become Binary, and polars casts that at once instead of text by text.
    return pl.Series(keys, dtype=pl.Binary).cast(pl.String)
