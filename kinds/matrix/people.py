"""The people of a matrix, as digests for the ledger: users by name, and by the items they hold."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from kinds.matrix.layout import ENTRIES, IDENTIFIERS, ITEM, ITEMS, RECORD
from tasks.people.digests import People, base_digests, read_digests
from tasks.people.ledger import Ledger
from tasks.vault.storage import Run, Stored


def write_identifiers(
    ledger: Ledger, column: str, users: pl.Series, folder: Path
) -> Mapping[str, Any]:
    """Write keyed digests of the users' names; return the facts about them.

    The names themselves are written nowhere.
    """
    bases = base_digests(ledger.key, pl.DataFrame({column: users}))
    (folder / IDENTIFIERS).write_bytes(b"".join(bases.values()))
    return {"key": ledger.key_print, "identifiers": list(bases)}


def people(key: bytes, ingested: Stored) -> People:
    """Return the people of all records; ingest digested their names under `key`."""
    kinds = ingested.facts.get("identifiers", [])
    records = ingested.shape[0]
    bases = read_digests(ingested.file(IDENTIFIERS), kinds, records) if kinds else {}
    return People.staying(key, _held(ingested), bases, np.arange(records))


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
