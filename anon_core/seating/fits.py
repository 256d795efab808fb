"""Which rows classes of records fit, as far as they are listed."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from anon_core.seating.filling_kernels import turn_around
from anon_core.seating.record_classes import RecordClasses, list_filled_places
from anon_core.seating.widening_kernels import ListedPairs, OpenRows, list_fits

ROWS_PER_NEED = 8  # rows that a class lists at most for each one that it needs


@dataclass
class RowShares:
    """Rows that each class of records fits, and the shares that it holds of them.

    Attributes
    ----------
    indptr : int64 (classes + 1,)
    rows : int32 (pairs,)
        Those of class c are rows[indptr[c] : indptr[c + 1]].
    held : int32 (pairs,)
    """

    indptr: NDArray[np.int64]
    rows: NDArray[np.int32]
    held: NDArray[np.int32]

    @classmethod
    def of(cls, classes: RecordClasses, rows: OpenRows) -> Self:
        """List rows that each class fits: its own, then some made from the nearest classes."""
        needed = ROWS_PER_NEED * classes.k * (classes.size if classes.people else 1)
        indptr = np.concatenate([[0], np.cumsum(np.maximum(classes.size, needed))])
        listed, found = np.empty(indptr[-1], dtype=np.int32), np.empty(len(classes), dtype=np.int64)
        party = classes.party if classes.people else classes.party[:0]
        masks = rows.class_bits, rows.bits, rows.hidden
        list_fits(rows.near, classes.start, classes.members, party, *masks, indptr, listed, found)
        listed = listed[list_filled_places(indptr, found)]
        start = np.concatenate([[0], np.cumsum(found)])
        fits = cls(start, listed, np.zeros(len(listed), dtype=np.int32))
        if classes.people:  # one class of a person for a row: `list_fits` looks at single classes
            stays = np.zeros(len(listed), dtype=np.bool_)
            stays[first_of(classes.party[fits.owner], listed)] = True
            fits.keep(stays)
        return fits

    @property
    def owner(self) -> NDArray[np.int64]:
        """int64 (pairs,): the class of each pair."""
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))

    def keep(self, stays: NDArray[np.bool_]) -> None:
        """Leave the pairs that stay, bool (pairs,)."""
        owner, classes = self.owner[stays], len(self.indptr) - 1
        self.rows, self.held = self.rows[stays], self.held[stays]
        self.indptr = np.searchsorted(owner, np.arange(classes + 1))

    def add(self, classes: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
        """Add pairs that are not listed yet."""
        owner = np.concatenate([self.owner, classes])
        order = np.argsort(owner, kind="stable")
        self.rows = np.concatenate([self.rows, rows.astype(np.int32)])[order]
        self.held = np.concatenate([self.held, np.zeros(len(rows), dtype=np.int32)])[order]
        self.indptr = np.searchsorted(owner[order], np.arange(len(self.indptr)))

    def by_row(self, n: int) -> tuple[ListedPairs, NDArray[np.int32]]:
        """Return the pairs by class and by row, and where those of the rows stand, int32 (pairs,).

        n : int
            Number of rows.
        """
        start = np.concatenate([[0], np.cumsum(np.bincount(self.rows, minlength=n))])
        slot, other = np.empty((2, len(self.rows)), dtype=np.int32)
        turn_around(self.indptr, self.rows, start, slot, other)
        return ListedPairs(start, other, self.indptr, self.rows), slot

    def holders(self, own: NDArray[np.int64], shares: int) -> NDArray[np.int32]:
        """Return by row and share the class that holds it, int32 (n, D), first `own` (n,)."""
        holders = np.empty((len(own), shares), dtype=np.int32)
        holders[:, 0] = own
        order = np.argsort(self.rows, kind="stable")
        others = np.repeat(self.owner[order], self.held[order])
        # The flow is full: D - 1 shares of each row are given out, so the list has this shape.
        holders[:, 1:] = others.reshape(len(own), shares - 1)
        return holders


def first_of(one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.int64]:
    """Places where a pair of whole numbers stands first, ascending."""
    pair = one.astype(np.int64) * (int(other.max(initial=0)) + 1) + other
    return np.sort(np.unique(pair, return_index=True)[1])
