"""Whose rows the versions of a series showed: the digests that each batch kept, for good."""

from collections.abc import Sequence

import polars as pl

from crowdcover.kinds.table.version_files import BORN
from crowdcover.storage.ledger.digests import of_column, read_people
from crowdcover.storage.vault.refusals import FolderError
from crowdcover.storage.vault.run import Stored


def records_of_rows(
    rows: pl.DataFrame, identified: Sequence[Stored], record: str, form: int
) -> pl.Series:
    """Return a digest of the record of each row that a series ever published, binary (rows,).

    `rows` has the version in which each row was new, and the rows of a version in the order of its
    batch. `identified` are the stages of all versions that kept digests of their batches, the first
    first; `record` is the identifier column that names records, `form` that of its spelling.
    """
    digests = []
    # Counted at once: a question for each version takes longer than all else here.
    born = dict(rows[BORN].value_counts().iter_rows())
    for number, stored in enumerate(identified, start=1):
        found = of_column(read_people(stored), record, form)
        if len(found) != born.get(number, 0):
            raise FolderError(
                f"the vault's digests of version {number} of the series do not belong to its rows; "
                "restore the vault from a backup"
            )
        digests += found
    return pl.Series(digests, dtype=pl.Binary)
