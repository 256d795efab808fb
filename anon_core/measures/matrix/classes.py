"""Equivalence classes of released rows: rows with the same items, the empty row included."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class RowClasses:
    """Released rows by content.

    Attributes
    ----------
    of_row : int64 (rows,)
        Class of each row.
    sizes : int64 (classes,)
        Rows of each class.
    indptr : int64 (classes + 1,)
    items : int64 (pairs,)
        The items of class c are items[indptr[c] : indptr[c + 1]], ascending.
    """

    of_row: NDArray[np.int64] = field(repr=False)
    sizes: NDArray[np.int64] = field(repr=False)
    indptr: NDArray[np.int64] = field(repr=False)
    items: NDArray[np.int64] = field(repr=False)

    @classmethod
    def of(cls, indptr: NDArray[np.int64], items: NDArray[np.int64]) -> "RowClasses":
        """Group rows with equal items.

        Parameters
        ----------
        indptr : int64 (rows + 1,)
        items : int64 (entries,)
            Row r has items[indptr[r] : indptr[r + 1]], ascending.
        """
        content, ends = items.tobytes(), (indptr * items.itemsize).tolist()
        number: dict[bytes, int] = {}
        of_row = np.empty(len(indptr) - 1, dtype=np.int64)
        first: list[int] = []
        for row in range(len(of_row)):
            key = content[ends[row] : ends[row + 1]]
            found = number.setdefault(key, len(first))
            if found == len(first):
                first.append(row)
            of_row[row] = found
        firsts = np.array(first, dtype=np.int64)
        lengths = np.diff(indptr)[firsts]
        own = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        # Places of the first row of each class: a run of places, moved from its new start to its
        # old one.
        at = np.arange(own[-1]) + np.repeat(indptr[firsts] - own[:-1], lengths)
        return cls(of_row, np.bincount(of_row, minlength=len(first)), own, items[at])

    @property
    def number(self) -> int:
        """Number of classes."""
        return len(self.sizes)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Items in the rows of each class, int64 (classes,)."""
        return np.diff(self.indptr)

    @property
    def of_pair(self) -> NDArray[np.int64]:
        """Class of each released pair of a class and an item, int64 (pairs,)."""
        return np.repeat(np.arange(self.number), self.lengths)

    @property
    def entries(self) -> int:
        """Entries of all released rows."""
        return int((self.sizes * self.lengths).sum())
