"""The people of a matrix, as digests for the ledger: users by name, and by the items they hold."""

import numpy as np
import polars as pl

from crowdcover.kinds.matrix.layout import ENTRIES, ITEM, ITEMS, RECORD
from crowdcover.storage.ledger.digests import People, read_identifiers
from crowdcover.storage.vault.run import Run, Stored

USERS_AT_ONCE = 1_000_000  # records whose items are texts at the same time


def build_people(key: bytes, ingested: Stored) -> People:
    """Return the people of all records; ingest digested their names under `key`."""
    rows = np.arange(ingested.shape[0])
    return People.digest_people(key, [_list_item_texts(ingested)], read_identifiers(ingested), rows)


def rebuild_people(run: Run, key: bytes) -> People:
    """Return the people of a run under another key than its own: by their items only."""
    ingested = run.whole("ingest")
    if ingested is None:
        return People(0, {}, frozenset())
    # Names were stored as digests under the run's own key: only items can be digested anew.
    return People.digest_people(key, [_list_item_texts(ingested)], {}, np.arange(ingested.shape[0]))


def _list_item_texts(ingested: Stored) -> pl.DataFrame:
    """The items of each record as one text; made in parts, since texts take many times the room."""
    pairs = pl.read_parquet(ingested.file(ENTRIES), glob=False)
    starts = range(0, ingested.shape[0], USERS_AT_ONCE)
    return pl.concat(
        [
            _list_part_item_texts(pairs, first, min(first + USERS_AT_ONCE, ingested.shape[0]))
            for first in starts
        ]
    )


def _list_part_item_texts(pairs: pl.DataFrame, first: int, end: int) -> pl.DataFrame:
    """The items of records first, ..., end - 1."""
    part = pairs.filter((pl.col(RECORD) >= first) & (pl.col(RECORD) < end))
    lists = part.group_by(RECORD).agg(pl.col(ITEM).cast(pl.String).sort())
    # A NUL stands in no CSV file, so items that hold blanks or commas stay apart.
    texts = lists.select(RECORD, pl.col(ITEM).list.join("\0").alias(ITEMS))
    every = pl.DataFrame({RECORD: pl.int_range(first, end, dtype=pl.UInt32, eager=True)})
    # A record without an item stays null and gets no digest: nothing tells it from the others.
    return every.join(texts, on=RECORD, how="left", maintain_order="left").select(ITEMS)
