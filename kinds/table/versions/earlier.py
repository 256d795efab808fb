"""What the vault keeps of the versions before."""

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from anon_core.series.fits import Fits
from kinds.table.version_files import (
    BORN,
    CHAIN,
    DIED,
    KEY,
    MEMBERS,
    PERSON,
    ROWS,
    VALUES,
    WAITING,
    K,
    fits_file,
)
from kinds.table.versions.appending import IDENTITY, NOBODY, held_by
from kinds.versions import Before
from tasks.vault.storage import Stored

NO_ROWS = pl.DataFrame(
    schema={
        CHAIN: pl.Int64,
        PERSON: pl.Int64,
        BORN: pl.Int32,
        DIED: pl.Int32,
        K: pl.Int32,
        KEY: pl.String,
    }
)
NO_MEMBERS = NOBODY.with_columns(
    pl.lit(None, dtype=pl.Binary).alias(VALUES), pl.lit(None, dtype=pl.String).alias(KEY)
)


@dataclass(frozen=True)
class Earlier:
    """What the vault keeps of the versions before: rows, people with a row, people without.

    `held` are records that wait, with their values, where later sources lack them.
    """

    number: int = 0
    rows: pl.DataFrame = field(default_factory=lambda: NO_ROWS)
    members: pl.DataFrame = field(default_factory=lambda: NO_MEMBERS)
    waiting: pl.DataFrame = field(default_factory=lambda: NOBODY)
    audited: Stored | None = None
    held: pl.DataFrame = field(default_factory=lambda: NOBODY)

    @classmethod
    def of(cls, before: Before | None, held: Stored | None = None) -> "Earlier":
        """Read them; nothing before the first version, but `held` of a source without one."""
        if before is None:
            return cls(held=held_by(held))
        names = (ROWS, MEMBERS, WAITING)
        rows, members, waiting = (
            pl.read_parquet(before.assembled.file(name), glob=False) for name in names
        )
        waits = held_by(held or before.assembled)
        return cls(before.number, rows, members, waiting, before.audited, waits)

    @property
    def had(self) -> pl.DataFrame:
        """Everybody who had a row."""
        return pl.concat([self.members.select(IDENTITY), self.waiting.select(IDENTITY)])

    def fits(self, born: int) -> Fits:
        """The rows of a batch that fit each of its records."""
        assert self.audited is not None
        with np.load(self.audited.file(fits_file(born))) as kept:
            return Fits(kept["start"], kept["row"])
