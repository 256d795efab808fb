"""The people of a table, as digests: from its stages in the vault, for the ledger."""

from collections.abc import Sequence

import polars as pl

from kinds.table.encode import load
from kinds.table.layout import TABLE
from kinds.table.version_files import BORN
from tasks.people.digests import People, of_column, read_identifiers, read_people
from tasks.vault.storage import FolderError, Run, Stored


def people(key: bytes, ingested: Stored, binarized: Stored) -> People:
    """Return the people of the rows that stay; ingest digested their identifiers under `key`."""
    _, stays = load(binarized)
    table = pl.read_parquet(ingested.file(TABLE), glob=False)[stays]
    return People.staying(key, table, read_identifiers(ingested), stays)


def remade(run: Run, key: bytes) -> People:
    """Return the people of a run under another key than its own: whole records only.

    Identifiers were digested under the run's own key. Without its stages nobody is known.
    """
    ingested, binarized = run.whole("ingest"), run.whole("binarize")
    if ingested is None or binarized is None:
        return People(0, {}, frozenset())
    _, stays = load(binarized)
    return People.staying(key, pl.read_parquet(ingested.file(TABLE), glob=False)[stays], {}, stays)


def records_of_rows(
    rows: pl.DataFrame, identified: Sequence[Stored], record: str, form: int
) -> pl.Series:
    """Return a digest of the record of each row that a series ever published, binary (rows,).

    `rows` has the version in which each row was new, and the rows of a version in the order of its
    batch. `identified` are the stages of all versions that kept digests of their batches, the first
    first; `record` is the identifier column that names records, `form` that of its spelling.
    """
    digests = []
    for number, stored in enumerate(identified, start=1):
        found = of_column(read_people(stored), record, form)
        if len(found) != rows.filter(pl.col(BORN) == number).height:
            raise FolderError(
                f"the vault's digests of version {number} of the series do not belong to its rows; "
                "restore the vault from a backup"
            )
        digests += found
    return pl.Series(digests, dtype=pl.Binary)
