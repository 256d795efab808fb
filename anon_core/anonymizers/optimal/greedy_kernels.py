"""Greedy search: groups that take, one by one, the record of which they lose least."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.loss_kernels import (
    PROHIBITIVE_LOSS,
    LevelCells,
    compute_loss_increase,
    loss_of,
    loss_of_node,
    widen_row,
)
from anon_core.jit.kernel import kernel


class Runs(NamedTuple):
    """Records in order as runs of equals, and where their first columns change.

    Attributes
    ----------
    start : int32 (runs + 1,)
        First record of each run.
    level : int32 (runs, attributes)
        Levels among those of all attributes, columns of few changes first.
    jump : int32 (runs, attributes)
        The next run that differs in one of the columns 0 .. a.
    """

    start: NDArray[np.int32]
    level: NDArray[np.int32]
    jump: NDArray[np.int32]

    @classmethod
    def of(cls, cells: LevelCells) -> "Runs":
        """The records of `cells` in their order."""
        differs = cells.codes[1:] != cells.codes[:-1]
        columns = np.argsort(differs.sum(axis=0), kind="stable")
        differs = np.logical_or.accumulate(differs[:, columns], axis=1)
        first = np.flatnonzero(np.concatenate([[True], differs[:, -1]]))
        differs = differs[first[1:] - 1]
        jump = np.full((len(first), len(columns)), len(first), dtype=np.int32)
        numbers = np.arange(1, len(first), dtype=np.int32)
        # Runs that differ from the one before; the minimum from the end finds the next of them.
        later = np.where(differs, numbers[:, None], np.int32(len(first)))
        jump[:-1] = np.minimum.accumulate(later[::-1])[::-1]
        level = cells.codes[first][:, columns] + cells.offsets[columns].astype(np.int32)
        start = np.append(first, len(cells.codes)).astype(np.int32)
        return cls(start, np.ascontiguousarray(level), jump)


@kernel
def grow_greedy_groups(k, cells, runs, group):  # k (n,), group (n,) filled with -1
    """Number the group of each record; -1: too few were left to make a group.

    Returns the row of cells that stands for each group: that of its first record.
    """
    after = np.arange(len(runs.start))  # of each run: itself, or a later one if it has none left
    left = runs.start[:-1].copy()  # the first record of each run that is left
    price = np.zeros(cells.offsets[-1], dtype=np.int64)  # of a level that joins the group
    sums = np.zeros(runs.level.shape[1] + 1, dtype=np.int64)
    rows = np.empty(len(k), dtype=np.int64)
    groups = 0
    while True:
        run = _find_next_run(0, after)
        if run == len(left):
            break
        first, size, most = left[run], 0, 0
        for a in range(len(cells.ordinal)):
            _price_levels(first, a, cells, price)
        while run < len(left):
            v = left[run]
            group[v] = groups
            size, most = size + 1, max(most, k[v])
            _join_record(v, first, cells, price)
            left[run] += 1
            if left[run] == runs.start[run + 1]:
                after[run] = run + 1
            if size >= most:
                break
            run = _find_cheapest_run(runs, after, price, sums)
        if size < most:
            for v in range(len(k)):
                if group[v] == groups:
                    group[v] = -1
            break
        rows[groups] = first
        groups += 1
    return rows[:groups].copy()


@kernel
def _find_next_run(run, after):
    """The first run from this one on that has records left; the number of runs if none has."""
    while after[run] != run:
        # Path halving: runs that are used up are passed over ever faster.
        after[run] = after[after[run]]
        run = after[run]
    return run


@kernel
def _find_cheapest_run(
    runs, after, price, sums
):  # sums (attributes + 1,) of the first columns' prices
    """The first run with records left whose levels cost least; the number of runs if none is left.

    Runs that share the columns which already cost as much as the best are passed over at once.
    """
    number, columns = runs.level.shape
    best, found, depth = PROHIBITIVE_LOSS, number, 0
    run = _find_next_run(0, after)
    while run < number:
        # Columns before `depth` have the levels of the run looked at last, so their sum is known.
        a, total = depth, sums[depth]
        while a < columns:
            total += price[runs.level[run, a]]
            if total >= best:
                break
            a += 1
            sums[a] = total
        if a == columns:
            best, found, a = total, run, columns - 1
            if best == 0:
                break
        later = _find_next_run(np.int64(runs.jump[run, a]), after)
        depth = 0
        while runs.jump[run, depth] > later:
            depth += 1
        run = later
    return found


@kernel
def _join_record(v, r, cells, price):
    """Let row r hold record v, and price what else may join."""
    widen_row(v, r, cells)
    for a in range(len(cells.ordinal)):
        # A level that costs nothing leaves all prices as they are.
        if price[cells.offsets[a] + cells.codes[v, a]] > 0:
            _price_levels(r, a, cells, price)


@kernel
def _price_levels(r, a, cells, price):
    """Price the levels of attribute a: what row r loses more if it holds them, too."""
    at, end = cells.offsets[a], cells.offsets[a + 1]
    low, high = cells.low[r, a] + at, cells.high[r, a] + at
    first = cells.first[a] if low == high else 0
    if cells.tree[a]:
        now = loss_of_node(a, low - at, high - at, cells)
        for q in range(at, end):
            joined = loss_of_node(a, min(low, q) - at, max(high, q) - at, cells)
            price[q] = 0 if low <= q <= high else joined - now + first
        return
    if not cells.ordinal[a]:
        for q in range(at, end):
            price[q] = 0 if cells.member[r, q] else cells.step[a] + first
        return
    now = min(cells.whole[a], cells.position[high] - cells.position[low])
    for q in range(at, end):
        width = cells.position[max(high, q)] - cells.position[min(low, q)]
        price[q] = min(cells.whole[a], width) - now + first
    price[low : high + 1] = 0


@kernel
def place_leftover_records(k, cells, rows, sequential, group):  # rows (groups,), group (n,)
    """Give each record without a group to the one that then loses least more, in order.

    `sequential`: groups count with those who joined before; else as they were grown. A record joins
    a group that is large enough for it, if there is one.
    """
    size = np.zeros(len(rows), dtype=np.int64)
    for g in group:
        if g >= 0:
            size[g] += 1
    grown, losses = size.copy(), np.empty(len(rows), dtype=np.int64)
    for g in range(len(rows)):
        losses[g] = loss_of(rows[g], cells)
    rest = np.flatnonzero(group < 0)
    for v in rest:
        best, place, enough = PROHIBITIVE_LOSS, 0, False
        for g in range(len(rows)):
            cost = losses[g] + (grown[g] + 1) * compute_loss_increase(
                v, rows[g], PROHIBITIVE_LOSS, cells
            )
            fits = size[g] + 1 >= k[v]
            if (fits and not enough) or (fits == enough and cost < best):
                best, place, enough = cost, g, fits
        group[v] = place
        size[place] += 1
        if sequential:
            widen_row(v, rows[place], cells)
            grown[place] += 1
            losses[place] = loss_of(rows[place], cells)
