"""Assignments of records to rows by the increase of what the rows lose."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.loss_kernels import (
    PROHIBITIVE_LOSS,
    LevelCells,
    compute_level_increase,
    compute_loss_increase,
    widen_row,
)
from anon_core.jit.kernel import kernel, parallel_kernel

AT_ONCE = 8  # rows that are looked at together: a line of the cache


class ListedLevels(NamedTuple):
    """The levels that records have, each once.

    Attributes
    ----------
    attribute : int64 (levels,)
    level : int32 (levels,)
    """

    attribute: NDArray[np.int64]
    level: NDArray[np.int32]


class RowHolders(NamedTuple):
    """Who holds which row, of all records or of a segment; records are numbered from 0.

    Attributes
    ----------
    cells : LevelCells
        The records, and the rows as they are so far.
    holder : int32 (rounds, n)
        Record that took each row in each round.
    most : int64 (n,)
        How often each record may take the same row.
    """

    cells: LevelCells
    holder: NDArray[np.int32]
    most: NDArray[np.int64]


@kernel
def may_take(v, r, done, space):
    """Whether record v may take row r in the round after `done` rounds."""
    times = np.int64(0)
    for t in range(done):
        times += np.int64(space.holder[t, r] == v)
    return times < space.most[v]


@kernel
def enter_holders(done, space):
    """Enter who took each row in round `done`."""
    for r in range(len(space.most)):
        widen_row(space.holder[done, r], r, space.cells)


@kernel
def seat_along_path(v, done, row_of, space):
    """Seat record v by moving others along a shortest path; whether there is one.

    row_of int64 (n,): the row of each seated record; -1: none. holder[done]: the reverse. One move
    is the backtracking of Doka et al., section 5.
    """
    n = len(row_of)
    came = np.full(n, -1, dtype=np.int64)  # by row: the record that asks for it
    queue, head, tail = np.empty(n + 1, dtype=np.int64), 0, 1
    queue[0] = v
    while head < tail:
        asks = queue[head]
        head += 1
        for r in range(n):
            if came[r] >= 0 or row_of[asks] == r or not may_take(asks, r, done, space):
                continue
            came[r] = asks
            if space.holder[done, r] >= 0:
                queue[tail] = space.holder[done, r]
                tail += 1
                continue
            to = r
            while True:
                asks = came[to]
                left = row_of[asks]
                row_of[asks], space.holder[done, to] = to, asks
                if asks == v:
                    return True
                to = left
    return False


@kernel
def greedy_round(done, row_of, space):
    """Give each record in turn the free row that loses least more.

    A record that finds none is seated by `seat_along_path`; who cannot be seated keeps row -1.
    """
    n = len(row_of)
    after = np.arange(1, n + 2)  # the next free row; the head stands at the end
    after[n] = 0
    for v in range(n):
        best, before, place = PROHIBITIVE_LOSS, np.int64(-1), n
        step, r = n, after[n]
        # No cost is below 0, so one of 0 ends the search.
        while r < n and best > 0:
            cost = compute_loss_increase(v, r, best, space.cells)
            if cost < best and may_take(v, r, done, space):
                best, before, place = cost, step, r
            step, r = r, after[r]
        if best < PROHIBITIVE_LOSS:
            after[before] = after[place]
            row_of[v], space.holder[done, place] = place, v
        elif seat_along_path(v, done, row_of, space):
            step = n  # the row that was free is so no more
            while after[step] < n:
                r = after[step]
                if space.holder[done, r] >= 0:
                    after[step] = after[r]
                else:
                    step = r


@parallel_kernel(lambda costs: -(-len(costs) // AT_ONCE))
def all_increases(begin, end, costs, done, levels, level_of, space):
    """costs[v, r] = what row r loses more if record v holds it; PROHIBITIVE_LOSS if it may not.

    costs int64 (n, n); levels: see `ListedLevels`; level_of int64 (n, attributes): which of them
    each record has.
    """
    attribute, level = levels
    cells, n = space.cells, len(costs)
    # What a level adds is looked up once for all records that have it, a few rows side by side.
    added = np.empty((len(level), AT_ONCE), dtype=np.int64)
    for block in range(begin, end):
        first = block * AT_ONCE
        rows = min(AT_ONCE, n - first)
        for i in range(len(level)):
            for w in range(rows):
                added[i, w] = compute_level_increase(attribute[i], level[i], first + w, cells)
        for v in range(n):
            for w in range(rows):
                costs[v, first + w] = 0
            for a in range(level_of.shape[1]):
                i = level_of[v, a]
                for w in range(rows):
                    costs[v, first + w] += added[i, w]
        # Every record may take a row once, so only those that took it may not.
        for r in range(first, first + rows):
            for t in range(done):
                v = space.holder[t, r]
                if not may_take(v, r, done, space):
                    costs[v, r] = PROHIBITIVE_LOSS


@kernel
def lightest_first(pairs, costs, done, row_of, space):  # pairs (n * n,) by rising cost
    """Take each pair whose record and row are free; seat who is left by `seat_along_path`."""
    n = len(costs)
    for pair in pairs:
        v, r = pair // n, pair % n
        # Costs rise, so all further pairs are prohibited, too.
        if costs[v, r] == PROHIBITIVE_LOSS:
            break
        if row_of[v] < 0 and space.holder[done, r] < 0:
            row_of[v], space.holder[done, r] = r, v
    for v in range(n):
        if row_of[v] < 0:
            seat_along_path(v, done, row_of, space)
