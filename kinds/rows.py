"""Released rows as files, whatever the kind of data."""

import gzip
from pathlib import Path
from typing import IO, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray


def write_csv(rows: pl.DataFrame, path: Path) -> None:
    """Gzip without time or name inside: the same rows give the same bytes."""
    with (
        path.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6) as packed,
    ):
        rows.write_csv(cast("IO[bytes]", packed))


def key_texts(keys: NDArray[np.bytes_]) -> pl.Series:
    """Keys as texts."""
    return pl.Series(keys, dtype=pl.Binary).cast(pl.String)
