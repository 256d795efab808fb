"""The people of a table, as digests: from its stages in the vault, for the ledger."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from kinds.table.encode import load
from kinds.table.layout import IDENTIFIERS, TABLE
from tasks.people.digests import People, base_digests, read_digests
from tasks.vault.storage import Run, Stored


def write_identifiers(
    key: bytes, key_print: str, identifiers: pl.DataFrame, folder: Path
) -> Mapping[str, Any]:
    """Write keyed digests of the identifiers of every source row; return the facts about them.

    The identifiers themselves are written nowhere.
    """
    bases = base_digests(key, identifiers)
    (folder / IDENTIFIERS).write_bytes(b"".join(bases.values()))
    return {"key": key_print, "identifiers": list(bases)}


def people(key: bytes, ingested: Stored, binarized: Stored) -> People:
    """Return the people of the rows that stay; ingest digested their identifiers under `key`."""
    kinds = ingested.facts.get("identifiers", [])
    bases = read_digests(ingested.file(IDENTIFIERS), kinds, ingested.shape[0]) if kinds else {}
    _, stays = load(binarized)
    return People.staying(
        key, pl.read_parquet(ingested.file(TABLE), glob=False)[stays], bases, stays
    )


def remade(run: Run, key: bytes) -> People:
    """Return the people of a run under another key than its own: whole records only.

    Identifiers were digested under the run's own key. Without its stages nobody is known.
    """
    ingested, binarized = run.whole("ingest"), run.whole("binarize")
    if ingested is None or binarized is None:
        return People(0, {}, frozenset())
    _, stays = load(binarized)
    return People.staying(key, pl.read_parquet(ingested.file(TABLE), glob=False)[stays], {}, stays)
