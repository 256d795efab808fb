"""The people of a table, as digests: from its stages in the vault, for the ledger."""

import polars as pl

from kinds.table.layout import TABLE
from kinds.table.pipeline.encode import load_source_rows
from storage.ledger.digests import People, read_identifiers
from storage.vault.run import Run, Stored


def build_people(key: bytes, ingested: Stored, binarized: Stored) -> People:
    """Return the people of the rows that stay; ingest digested their identifiers under `key`."""
    stays = load_source_rows(binarized)
    table = pl.read_parquet(ingested.file(TABLE), glob=False)[stays]
    return People.digest_people(key, table, read_identifiers(ingested), stays)


def rebuild_people(run: Run, key: bytes) -> People:
    """Return the people of a run under another key than its own: whole records only.

    Identifiers were digested under the run's own key. Without its stages nobody is known.
    """
    ingested, binarized = run.whole("ingest"), run.whole("binarize")
    if ingested is None or binarized is None:
        return People(0, {}, frozenset())
    stays = load_source_rows(binarized)
    return People.digest_people(
        key, pl.read_parquet(ingested.file(TABLE), glob=False)[stays], {}, stays
    )
