"""The released rows as a vault keeps them: cells as text, carried columns typed."""

import polars as pl

from crowdcover.kinds.table.layout import CELLS, PARQUET
from crowdcover.storage.vault.run import Stored


def text_rows(stored: Stored) -> pl.DataFrame:
    """The rows that a stage made; stages of older releases have them in data.parquet only."""
    path = stored.file(CELLS)
    return pl.read_parquet(path if path.exists() else stored.file(PARQUET), glob=False)
