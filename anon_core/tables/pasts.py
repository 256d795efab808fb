"""What rows that were published before leave open of the histories of each record."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import InputError

MOST_WAYS = 2**31  # numbers of histories stop here; no k reaches it


@dataclass(frozen=True)
class Pasts:
    """How many histories each record has so far, by the value that all of its rows carry.

    A history of a record is a choice of rows that may have been its own, one in each cell that it
    was in, which all carry one value in the columns that never change (docs/theory.md, 10).

    Attributes
    ----------
    value : int64 (n,)
        What each record carries in these columns, as a number from 0 on.
    start : int64 (n + 1,)
        Pairs of record v stand in start[v] : start[v + 1]. None: it never had a row, so that any
        value is possible in one way.
    values : int64 (pairs,)
        Values that are possible so far, ascending for each record.
    ways : int64 (pairs,)
        Histories with that value, at most `MOST_WAYS`.

    Raises
    ------
    InputError
        The arrays do not fit together.
    """

    value: NDArray[np.int64]
    start: NDArray[np.int64]
    values: NDArray[np.int64]
    ways: NDArray[np.int64]

    def __post_init__(self) -> None:
        start, pairs = self.start, len(self.values)
        if len(start) != len(self.value) + 1 or start[0] != 0 or start[-1] != pairs:
            raise InputError("start of pasts must rise from 0 to the number of pairs, one a record")
        if len(self.ways) != pairs or (np.diff(start) < 0).any():
            raise InputError("pasts need ways for each of their values")
        if ((np.diff(self.values) <= 0) & (np.diff(self.record) == 0)).any():
            raise InputError("values of each past must rise, each listed once")

    @classmethod
    def of_values(cls, value: NDArray[np.int64]) -> "Pasts":
        """Records that carry these values, int64 (n,), and never had a row."""
        nothing = np.empty(0, dtype=np.int64)
        return cls(value, np.zeros(len(value) + 1, dtype=np.int64), nothing, nothing)

    @property
    def record(self) -> NDArray[np.int64]:
        """Record of each pair, int64 (pairs,)."""
        return np.repeat(np.arange(len(self.value)), np.diff(self.start))

    def ways_with(self, record: NDArray[np.int64], value: NDArray[np.int64]) -> NDArray[np.int64]:
        """Count the histories so far of records whose next row carries these values.

        Parameters
        ----------
        record, value : int64 (m,)

        Returns
        -------
        int64 (m,)
        """
        span = 1 + max(int(each.max(initial=0)) for each in (self.values, value))
        # Records ascend, and values of a record do, so `listed` ascends and can be searched.
        listed, wanted = self.record * span + self.values, record * span + value
        place = np.searchsorted(listed, wanted)
        # -1 equals no code; a code beyond all others leads to it.
        found = np.append(listed, -1)[place] == wanted
        ways = np.where(found, np.append(self.ways, 0)[place], 0)
        return np.where(self.start[record] == self.start[record + 1], 1, ways)

    def at(self, places: NDArray[np.int64]) -> "Pasts":
        """The records at these places, int64 (m,), in this order."""
        count = np.diff(self.start)[places]
        start = np.concatenate([[0], np.cumsum(count)])
        pair = np.arange(start[-1]) + np.repeat(self.start[places] - start[:-1], count)
        return Pasts(self.value[places], start, self.values[pair], self.ways[pair])
