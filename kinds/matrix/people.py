"""The people of a matrix, as digests for the ledger: users by name, and by the items they hold."""

import numpy as np
import polars as pl

from kinds.matrix.layout import ENTRIES, ITEM, ITEMS, RECORD
from tasks.people.digests import People, read_identifiers
from tasks.vault.storage import Run, Stored


def people(key: bytes, ingested: Stored) -> People:
    """Return the people of all records; ingest digested their names under `key`."""
    rows = np.arange(ingested.shape[0])
    return People.staying(key, _held(ingested), read_identifiers(ingested), rows)


def remade(run: Run, key: bytes) -> People:
    """Return the people of a run under another key than its own: by their items only."""
    ingested = run.whole("ingest")
    if ingested is None:
        return People(0, {}, frozenset())
    return People.staying(key, _held(ingested), {}, np.arange(ingested.shape[0]))


def _held(ingested: Stored) -> pl.DataFrame:
    """The items of each record as one text."""
    pairs = pl.read_parquet(ingested.file(ENTRIES), glob=False)
    lists = pairs.group_by(RECORD).agg(pl.col(ITEM).cast(pl.String).sort())
    texts = lists.select(RECORD, pl.col(ITEM).list.join("\0").alias(ITEMS))
    every = pl.DataFrame({RECORD: pl.int_range(ingested.shape[0], dtype=pl.UInt32, eager=True)})
    return every.join(texts, on=RECORD, how="left", maintain_order="left").select(ITEMS)
