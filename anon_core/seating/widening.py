"""Give out all shares of all rows, and widen rows where too few records fit."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import InfeasibleError, LimitError
from anon_core.seating.filling_kernels import raise_flow
from anon_core.seating.fits import ROWS_PER_NEED, RowShares, first_of
from anon_core.seating.record_classes import RecordClasses, list_filled_places
from anon_core.seating.rings import seat_in_ring
from anon_core.seating.widening_kernels import (
    Joined,
    JoiningSpace,
    ListedPairs,
    OpenRows,
    Owners,
    Sources,
    cheapest_to_widen,
    reach_vertices,
    widen_rows,
)
from anon_core.tables.records import BinaryTable

_LEAST = 256  # one row in so many is widened at least; fewer would take more rounds
CLASSES_TRIED = 64  # classes that are tried for a row beside its nearest
MOST_LISTED = 16  # classes that a row lists at most for each that it lacks, when it is widened
_LEAST_LISTED = 4  # one for so many that it lacks is listed at least, or the row is widened further
LOOKED = 16  # classes that a round looks at to list them, for each pair that is listed already


def fill_row_shares(
    table: BinaryTable,
    classes: RecordClasses,
    near: NDArray[np.int32],
    hidden: NDArray[np.uint64],
    shares: int,
    weights: NDArray[np.int32],
) -> NDArray[np.int32]:
    """Give every row D holders that fit it, and every record D shares.

    The own record of a row costs it no feature, so it holds a share of it from the beginning. Each
    round finds a maximum flow of the other shares, and widens rows if some are left.

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
        People own several records, the search found no solution, and nor does `seat_in_ring`.
    """
    n, size = table.records, classes.size
    rows = OpenRows(classes.of, near, classes.bits, table.bits, hidden.copy())
    owners = Owners(classes.party, size if classes.people else size[:0])
    most = np.minimum(classes.of_a_row(shares), shares)
    # Without the share of each own record, which is not part of the flow.
    left, right = size * (shares - 1), np.full(n, shares - 1, dtype=np.int64)
    flow = Flow(RowShares.of(classes, rows), classes.of, most, left, right, dropped_at=n * shares)
    room = n + ROWS_PER_NEED * int(table.k.sum(dtype=np.int64))
    holds = shares // int(table.k.max())  # of a row, by each record at least
    while True:
        pairs, opened = flow.grow(3 * room // 4)
        if not left.any():
            return flow.fits.holders(classes.of, shares)
        joined = _list_joining_classes(
            rows, pairs, opened, owners, classes.bits, weights, -(-right // holds), room // 4
        )
        if len(joined[0]) == 0:
            if not classes.people:
                raise InfeasibleError("no even seats exist for these demands; lower k")
            if not flow.drop_idle():
                return _in_a_ring(classes, shares)
        flow.fits.add(*joined)


def _list_joining_classes(
    rows: OpenRows,
    pairs: ListedPairs,
    opened: "Opened",
    owners: Owners,
    bits: NDArray[np.uint64],
    weights: NDArray[np.int32],
    lacks: NDArray[np.int64],
    room: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Widen rows so that the flow can grow; return the pairs of classes and rows that fit now.

    Let S be the classes that a part of the shares left can reach along rows with free limits, and T
    the rows from which others could be moved on to a row that lacks holders. To list anyone of S
    for a row of T makes the flow grow. For each row of T the cheapest to admit is found of the
    nearest classes in S and `CLASSES_TRIED` others of S, or the first others that are not listed
    for it. The cheapest rows that together lack half of the shares left are widened. If all of S is
    listed for all of T, more rows are opened to S.

    Where people own several records, one class of a person is listed for a row at most, and of one
    person's rows as many for a class as it has members. So nobody holds more than 1/k of a row, and
    no record more than 1/k in the rows of one person.
    """
    reached = opened.reached
    sources = Sources(reached, np.flatnonzero(reached), bits[reached])
    space = JoiningSpace(rows, pairs, sources, owners, weights, CLASSES_TRIED)
    return _widen_cheapest_rows(space, opened.targets, lacks, room)


def _in_a_ring(classes: RecordClasses, shares: int) -> NDArray[np.int32]:
    """Return the seats of `seat_in_ring`, if there are any."""
    holders = seat_in_ring(classes, shares)
    if holders is None:
        raise LimitError(
            "no even seats were found, which does not prove that none exist: some person owns more "
            "than 1/k of all records for the greatest k of all; lower that k, or take fewer "
            "records of each person"
        )
    return holders


class Opened(NamedTuple):
    """Where new pairs let a flow grow.

    Attributes
    ----------
    reached : bool (classes,)
        Classes that a share that is left can be passed on to.
    targets : int64 (r,), int64 (s,)
        Rows from which a share can be passed on to one that lacks holders. Then rows that none of
        these classes can reach: with them more rows can be reached.
    """

    reached: NDArray[np.bool_]
    targets: tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass
class Flow:
    """Shares that classes hold of rows, beside that of each own record.

    Attributes
    ----------
    fits : RowShares
    of : int64 (n,)
        Class of each row's own record.
    most : int64 (classes,)
        Shares of one row that a class may hold.
    left : int64 (classes,)
        Shares that are left to each class.
    right : int64 (n,)
        Shares that each row lacks.
    dropped_at : int
        Shares that were left when idle pairs were dropped, or more.
    """

    fits: RowShares
    of: NDArray[np.int64]
    most: NDArray[np.int64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    dropped_at: int

    def grow(self, room: int) -> tuple[ListedPairs, Opened]:
        """Raise the flow to a maximum; return its pairs and what would let it grow further.

        If there are more than `room` pairs, those that are idle then are dropped.
        """
        fits = self.fits
        pairs, of_rows, limit = self._network()
        raise_flow(fits.indptr, fits.rows, limit, fits.held, self.left, self.right, *of_rows)
        if len(fits.rows) > room and self.drop_idle():
            pairs, of_rows, limit = self._network()
        of_classes = fits.indptr, np.arange(len(fits.rows), dtype=np.int32), fits.rows
        reached, there = reach_vertices(self.left, of_classes, of_rows, limit, fits.held)
        back, _ = reach_vertices(self.right, of_rows, of_classes, limit, fits.held)
        return pairs, Opened(reached, (np.flatnonzero(back), np.flatnonzero(~there)))

    def drop_idle(self) -> bool:
        """Drop pairs that hold no share, but those of own records; say whether any were dropped.

        Where people own several records, such pairs keep others of the same people away. None are
        dropped before the flow has grown again: the same pairs could come and go for ever.
        """
        stays, missing = (self.fits.held > 0) | self._own(), int(self.left.sum())
        if missing >= self.dropped_at or stays.all():
            return False
        self.fits.keep(stays)
        self.dropped_at = missing
        return True

    def _network(self) -> tuple[ListedPairs, tuple[NDArray[Any], ...], NDArray[np.int32]]:
        """Return the pairs, those by row as `raise_flow` takes them, and how much each may hold."""
        pairs, slot = self.fits.by_row(len(self.of))
        limit = (self.most[self.fits.owner] - self._own()).astype(np.int32)
        return pairs, (pairs.start, slot, pairs.other), limit

    def _own(self) -> NDArray[np.bool_]:
        own: NDArray[np.bool_] = self.of[self.fits.rows] == self.fits.owner
        return own


def _widen_cheapest_rows(
    space: JoiningSpace,
    targets: tuple[NDArray[np.int64], NDArray[np.int64]],
    lacks: NDArray[np.int64],
    room: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Widen the cheapest rows; return classes and rows of up to `room` new pairs.

    `lacks`, int64 (n,): by how many records each row is held too little at most.
    """
    for rows in targets:
        cost, who = np.empty((2, len(rows)), dtype=np.int64)
        cheapest_to_widen(rows, space, cost, who)
        if (who >= 0).any():
            break
    else:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    chosen = _choose_rows(space, rows, cost, who, lacks)
    wide, who, lack = rows[chosen], who[chosen], np.maximum(1, lacks[rows[chosen]])
    most = np.minimum(MOST_LISTED * lack, len(space.sources.number))
    # All are scaled alike if they do not fit; each has room for its first source at least.
    most = np.maximum(1, most * room // max(room, int(most.sum())))
    joined = Joined(
        np.concatenate([[0], np.cumsum(most)]),
        np.empty(int(most.sum()), dtype=np.int64),
        np.empty(len(wide), dtype=np.int64),
    )
    looks = max(CLASSES_TRIED, LOOKED * len(space.pairs.rows) // len(wide))
    widen_rows(wide, who, space, looks, np.minimum(most, -(-lack // _LEAST_LISTED)), joined)
    listed = joined.classes[list_filled_places(joined.start, joined.found)]
    wide = np.repeat(wide, joined.found)
    if len(space.owners.size):
        new = _find_apart_pairs(space, listed, wide)
        listed, wide = listed[new], wide[new]
    return listed, wide


def _choose_rows(
    space: JoiningSpace,
    rows: NDArray[np.int64],
    cost: NDArray[np.int64],
    who: NDArray[np.int64],
    lacks: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Places of rows that are widened, ascending: those that cost nothing, then the cheapest.

    Together they lack half of what all rows lack, or they are one in `_LEAST`.
    """
    order = np.argsort(cost, kind="stable")
    order = order[who[order] >= 0]
    if len(space.owners.size):
        order = order[_find_apart_pairs(space, who[order], rows[order])]
    lack = np.cumsum(np.maximum(1, lacks[rows[order]]))
    half = 1 + int(np.searchsorted(lack, lacks.sum() // 2))
    return np.sort(order[: max(half, len(lacks) // _LEAST, int((cost[order] == 0).sum()))])


def _find_apart_pairs(
    space: JoiningSpace, classes: NDArray[np.int64], rows: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Places of pairs of which no class has two rows of one person: two may be one too many."""
    return first_of(classes, space.owners.party[space.rows.of[rows]])
