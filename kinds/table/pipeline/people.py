"""The people of a table, as digests: from its stages in the vault, for the ledger."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdcover.kinds.table.layout import TABLE
from crowdcover.kinds.table.pipeline.encode import load_source_rows
from crowdcover.storage.ledger.digests import People, read_identifiers
from crowdcover.storage.vault.run import Run, Stored

ROWS_AT_ONCE = 262_144  # rows of the source that are read at the same time


def build_people(key: bytes, ingested: Stored, binarized: Stored) -> People:
    """Return the people of the rows that stay; ingest digested their identifiers under `key`."""
    stays = load_source_rows(binarized)
    tables = _read_rows(ingested.file(TABLE), stays)
    return People.digest_people(key, tables, read_identifiers(ingested), stays)


def rebuild_people(run: Run, key: bytes) -> People:
    """Return the people of a run under another key than its own: whole records only.

    Identifiers were digested under the run's own key. Without its stages nobody is known.
    """
    ingested, binarized = run.whole("ingest"), run.whole("binarize")
    if ingested is None or binarized is None:
        return People(0, {}, frozenset())
    stays = load_source_rows(binarized)
    return People.digest_people(key, _read_rows(ingested.file(TABLE), stays), {}, stays)


def _read_rows(path: Path, rows: NDArray[np.int64]) -> Iterator[pl.DataFrame]:
    """Yield the rows of these numbers, which ascend, in parts."""
    source = pl.scan_parquet(path, glob=False)
    for first in range(0, len(rows) and int(rows[-1]) + 1, ROWS_AT_ONCE):
        here = rows[slice(*np.searchsorted(rows, (first, first + ROWS_AT_ONCE)))]
        yield source.slice(first, ROWS_AT_ONCE).collect()[here - first]
