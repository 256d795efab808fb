"""Which rows of a batch fit each of its records."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import InputError


@dataclass(frozen=True)
class Fits:
    """Rows that fit each record, where row i is the one that record i owns.

    Attributes
    ----------
    start : int64 (n + 1,)
        Rows of record v are row[start[v] : start[v + 1]], ascending; its own is among them.
    row : int32 (pairs,)

    Raises
    ------
    InputError
        The arrays have another shape or type, rows are out of range or out of order, or a record
        does not fit its own row.
    """

    start: NDArray[np.int64]
    row: NDArray[np.int32]

    def __post_init__(self) -> None:
        start, row = self.start, self.row
        shaped = start.ndim == row.ndim == 1 and start.dtype == np.int64 and row.dtype == np.int32
        if not shaped or not len(start):
            raise InputError("fits need start, int64 (n + 1,), and row, int32 (pairs,)")
        if start[0] != 0 or start[-1] != len(row) or (np.diff(start) < 0).any():
            raise InputError("start of fits must rise from 0 to the number of pairs")
        if len(row) and not 0 <= row.min() <= row.max() < self.n:
            raise InputError(f"rows of fits must be numbers from 0 to {self.n - 1}")
        record = self.record
        if ((np.diff(row) <= 0) & (np.diff(record) == 0)).any():
            raise InputError("rows of each record must rise, each listed once")
        strangers = self.n - int((row == record).sum())
        if strangers:
            raise InputError(f"{strangers} of {self.n} records do not fit the row that they own")

    @property
    def n(self) -> int:
        """Number of records, and of rows."""
        return len(self.start) - 1

    @property
    def record(self) -> NDArray[np.int64]:
        """Record of each pair, int64 (pairs,)."""
        return np.repeat(np.arange(self.n), np.diff(self.start))

    def among(self, members: NDArray[np.bool_]) -> "Fits":
        """Keep the given records and their rows, numbered anew in their order.

        Parameters
        ----------
        members : bool (n,)
        """
        if members.dtype != np.bool_ or members.shape != (self.n,):
            raise InputError(f"members must be bool ({self.n},)")
        record = self.record
        # New numbers rise with the old ones, so pairs stay in order.
        keep = members[record] & members[self.row]
        return Fits.of_pairs(
            np.cumsum(members)[record[keep]] - 1,
            np.cumsum(members)[self.row[keep]] - 1,
            int(members.sum()),
        )

    def within(self, group: NDArray[np.integer]) -> "Fits":
        """Keep the rows that are in the same group as the record; `group`: int (n,)."""
        record = self.record
        keep = group[record] == group[self.row]
        return Fits.of_pairs(record[keep], self.row[keep].astype(np.int64), self.n)

    @classmethod
    def of_pairs(cls, record: NDArray[np.int64], row: NDArray[np.int64], n: int) -> "Fits":
        """Make fits of pairs that are ordered by record, then by row."""
        return cls(np.searchsorted(record, np.arange(n + 1)), row.astype(np.int32))
