"""What the vault keeps of the versions before."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl

from anon_core.series.fits import Fits
from crowdcover.kinds.table.series.appending import NO_RECORDS, load_waiting_records
from crowdcover.kinds.table.version_files import (
    BORN,
    CHAIN,
    CONSTANT,
    DEMANDED_K,
    DIED,
    MEMBERS,
    PERSON,
    RECORD_DIGEST,
    ROW_KEY,
    ROWS,
    VALUES,
)
from crowdcover.kinds.table.version_fits import BatchFits, load_fits
from crowdcover.kinds.table.version_records import records_of_rows
from crowdcover.kinds.versions import Before
from crowdcover.storage.ledger.identifier_spelling import FORM
from crowdcover.storage.vault.run import Stored

NO_ROWS = pl.DataFrame(
    schema={
        CHAIN: pl.Int64,
        PERSON: pl.Int64,
        BORN: pl.Int32,
        DIED: pl.Int32,
        DEMANDED_K: pl.Int32,
        ROW_KEY: pl.String,
        CONSTANT: pl.Binary,
        RECORD_DIGEST: pl.Binary,
    }
)
NO_MEMBERS = NO_RECORDS.with_columns(
    pl.lit(None, dtype=pl.Binary).alias(VALUES), pl.lit(None, dtype=pl.String).alias(ROW_KEY)
)


@dataclass(frozen=True)
class Earlier:
    """What the vault keeps of the versions before: every row ever published, people with a row.

    `form` is that of the spelling of identifiers. `rows` name the record of each row by its digest,
    null where no column names records. `held` are records that wait, with their values, where later
    sources lack them.
    """

    number: int = 0
    form: int = FORM
    rows: pl.DataFrame = field(default_factory=lambda: NO_ROWS)
    members: pl.DataFrame = field(default_factory=lambda: NO_MEMBERS)
    audited: Stored | None = None
    held: pl.DataFrame = field(default_factory=lambda: NO_RECORDS)

    @classmethod
    def of(cls, before: Before | None, record: str | None, held: Stored | None = None) -> "Earlier":
        """Read them; nothing before the first version, but `held` of a source without one.

        `record` is the identifier column that names records in every version, if there is one.
        """
        if before is None:
            return cls(held=load_waiting_records(held))
        rows, members = (
            pl.read_parquet(before.assembled.file(name), glob=False) for name in (ROWS, MEMBERS)
        )
        rows = _with_records(rows, before, record)
        named = rows.select(ROW_KEY, RECORD_DIGEST, CHAIN, PERSON)
        # Chains may have been renumbered: a member has that of the row that it owns.
        numbered = members.drop(RECORD_DIGEST, CHAIN, PERSON).join(
            named, on=ROW_KEY, how="left", maintain_order="left"
        )
        members = numbered.select(members.columns)
        # A source that gave no version left newer waiting records than the last version did.
        waits = load_waiting_records(held or before.assembled)
        return cls(before.number, before.form, rows, members, before.audited, waits)

    @property
    def had(self) -> pl.DataFrame:
        """Chain and digest of each record that ever had a row."""
        return self.rows.select(CHAIN, RECORD_DIGEST).unique(
            CHAIN, keep="first", maintain_order=True
        )

    def batch(self, born: int) -> slice:
        """Where the rows of a batch stand: rows are in the order of their batches."""
        born_in = self.rows[BORN].to_numpy()
        return slice(*np.searchsorted(born_in, [born, born + 1]).tolist())

    def fits(self, born: int) -> Fits:
        """The rows of a batch that fit each of its records."""
        return Fits(*self.kept_fits.of(born))

    @property
    def all_fits(self) -> Fits:
        """The rows that fit each record, of all batches: records and rows stand as `rows` do."""
        return Fits(self.kept_fits.start, self.kept_fits.row)

    @cached_property
    def kept_fits(self) -> BatchFits:
        """As the last audit kept them."""
        return load_fits(self.audited, self.number)


def _with_records(rows: pl.DataFrame, before: Before, record: str | None) -> pl.DataFrame:
    """Rows with the digests of their records, and one chain for each record.

    Versions that older builds made numbered a record anew that left and came back.
    """
    if record is None:
        return rows.with_columns(pl.lit(None, dtype=pl.Binary).alias(RECORD_DIGEST))
    digests = records_of_rows(rows, before.identified, record, before.form)
    rows = rows.with_columns(digests.alias(RECORD_DIGEST))
    # Numbers grow, so the least one is the record's first. One row a person: both are one number.
    first = pl.col(CHAIN).min().over(RECORD_DIGEST)
    return rows.with_columns(first.alias(CHAIN), first.alias(PERSON))
