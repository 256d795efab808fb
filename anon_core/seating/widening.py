"""Give out all shares of all rows, and widen rows where too few records fit."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import InfeasibleError, LimitError
from anon_core.seating.filling_kernels import fill, turn_around
from anon_core.seating.record_classes import RecordClasses, filled_places
from anon_core.seating.widening_kernels import cheapest_to_widen, list_fits, reach
from anon_core.tables.records import BinaryTable

ROOM = 8  # rows that a class lists at most for each one that it needs
LEAST = 256  # one row in so many is widened at least; fewer would take more rounds
TRIED = 64  # classes that are tried for a row beside its nearest, a round


@dataclass
class Fits:
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


def filled(
    table: BinaryTable,
    classes: RecordClasses,
    near: NDArray[np.int32],
    hidden: NDArray[np.uint64],
    shares: int,
    weights: NDArray[np.int32],
) -> NDArray[np.int32]:
    """Give every row D holders that fit it, and every record D shares.

    Parameters
    ----------
    table : BinaryTable
    classes : RecordClasses
    near : int32 (classes, m)
        The nearest classes of each.
    hidden : uint64 (n, words)
        Where too few records fit, more is hidden.
    shares : int
        D; all k divide it.
    weights : int32 (f,)
        What a hidden feature costs.

    Returns
    -------
    int32 (n, D)
        By row and share the class that holds it, first that of the own record.

    Raises
    ------
    InfeasibleError
        Some k exceeds the number of records. Else P = 1/n is a solution, and the flow finds one.
    LimitError
        People own several records, some nearly 1/k of all, and the search found no solution.

    Notes
    -----
    The own record of a row costs it no feature, so it holds a share of it from the beginning. Each
    round finds a maximum flow of the other shares. If some are left, let S be the classes that a
    part of them can reach along rows with free limits, and T the rows from which others could be
    moved on to a row that lacks holders. To admit anyone of S to a row of T makes the flow grow.
    For each row of T the cheapest is found of the nearest classes in S and `TRIED` others of S, and
    the cheapest rows are widened: half as many as shares are left, or a few more. If all of S is
    admitted to all of T, more rows are opened to S.

    Where people own several records, one class of a person is listed for a row at most, and of one
    person's rows as many for a class as it has members. So nobody holds more than 1/k of a row, and
    no record more than 1/k in the rows of one person.
    """
    n, hidden = table.records, hidden.copy()
    fits = _fits(table, classes, near, hidden)
    left = classes.size * (shares - 1)
    right = np.full(n, shares - 1, dtype=np.int64)
    most = np.minimum(classes.of_a_row(shares), shares)
    rows = classes.of, near, classes.bits, table.bits, hidden
    size = classes.size if classes.people else classes.size[:0]
    stuck_at = n * shares  # shares that were left when unused pairs were dropped
    while True:
        owner = fits.owner
        own = classes.of[fits.rows] == owner
        limit = (most[owner] - own).astype(np.int32)
        start = np.concatenate([[0], np.cumsum(np.bincount(fits.rows, minlength=n))])
        slot, other = np.empty((2, len(fits.rows)), dtype=np.int32)
        turn_around(fits.indptr, fits.rows, start, slot, other)
        fill(fits.indptr, fits.rows, limit, fits.held, left, right, start, slot, other)
        if not left.any():
            break
        of_classes = fits.indptr, np.arange(len(fits.rows), dtype=np.int32), fits.rows
        of_rows = start, slot, other
        reached, there = reach(left, of_classes, of_rows, limit, fits.held)
        back, _ = reach(right, of_rows, of_classes, limit, fits.held)
        sources = np.flatnonzero(reached)
        cost, who = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
        pairs = start, other, fits.indptr, fits.rows
        for targets in (np.flatnonzero(back), np.flatnonzero(~there)):
            cheapest_to_widen(
                targets, sources, reached, rows, pairs, size, classes.party, weights, TRIED, cost,
                who,
            )  # fmt: skip
            wanted = targets[who[targets] >= 0]
            if len(wanted):
                break
        else:
            if not classes.people:
                raise InfeasibleError("no even seats exist for these demands; lower k")
            idle, missing = (fits.held == 0) & ~own, int(left.sum())
            if not idle.any() or missing >= stuck_at:
                raise LimitError(
                    "no even seats were found: some people own nearly 1/k of all records; lower k, "
                    "or take fewer records of each person"
                )
            fits.keep(~idle)  # they keep others of the same people away
            stuck_at = missing
            continue
        number = max(1, n // LEAST, int(left.sum()) // 2)
        wide = wanted[np.argsort(cost[wanted], kind="stable")]
        if classes.people:  # two of these rows may be of one person
            wide = wide[_first_of(who[wide], classes.party[classes.of[wide]])]
        wide = np.sort(wide[:number])
        hidden[wide] |= classes.bits[who[wide]] ^ table.bits[wide]
        fits.add(who[wide], wide)
    holders = np.empty((n, shares), dtype=np.int32)
    holders[:, 0] = classes.of
    order = np.argsort(fits.rows, kind="stable")
    holders[:, 1:] = np.repeat(fits.owner[order], fits.held[order]).reshape(n, shares - 1)
    return holders


def _fits(
    table: BinaryTable,
    classes: RecordClasses,
    near: NDArray[np.int32],
    hidden: NDArray[np.uint64],
) -> Fits:
    """List rows that each class fits: its own, then some made from the nearest classes."""
    room = np.maximum(classes.size, ROOM * classes.k * (classes.size if classes.people else 1))
    indptr = np.concatenate([[0], np.cumsum(room)])
    rows, found = np.empty(indptr[-1], dtype=np.int32), np.empty(len(classes), dtype=np.int64)
    members = classes.start, classes.members
    party = classes.party if classes.people else classes.party[:0]
    list_fits(near, *members, party, classes.bits, table.bits, hidden, indptr, rows, found)
    listed = rows[filled_places(indptr, found)]
    fits = Fits(
        np.concatenate([[0], np.cumsum(found)]), listed, np.zeros(len(listed), dtype=np.int32)
    )
    if classes.people:  # one class of a person for a row; `list_fits` looks at one class at a time
        stays = np.zeros(len(listed), dtype=np.bool_)
        stays[_first_of(classes.party[fits.owner], listed)] = True
        fits.keep(stays)
    return fits


def _first_of(one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.int64]:
    """Places where a pair of whole numbers stands first, ascending."""
    pair = one.astype(np.int64) * (int(other.max(initial=0)) + 1) + other
    return np.sort(np.unique(pair, return_index=True)[1])
