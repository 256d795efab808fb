"""Assignments of records to rows by the increase of what the rows lose."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.loss_kernels import NEVER, Cells, increase, widen
from anon_core.jit.kernel import kernel, parallel_kernel


class Space(NamedTuple):
    """Who holds which row.

    Attributes
    ----------
    cells : Cells
        The records, and the rows as they are so far.
    holder : int32 (rounds, n)
        Record that took each row in each round.
    most : int64 (n,)
        How often each record may take the same row.
    """

    cells: Cells
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
def hold(begin, end, done, space):
    """Enter who took each row in round `done`."""
    for r in range(begin, end):
        widen(space.holder[done, r], r, space.cells)


@kernel
def substitute(v, begin, end, done, row_of, space):
    """Seat record v by moving others along a shortest path; whether there is one.

    row_of int64 (n,): the row of each seated record; -1: none. holder[done]: the reverse. One move
    is the backtracking of Doka et al., section 5.
    """
    came = np.full(end - begin, -1, dtype=np.int64)  # by row: the record that asks for it
    queue, head, tail = np.empty(end - begin + 1, dtype=np.int64), 0, 1
    queue[0] = v
    while head < tail:
        asks = queue[head]
        head += 1
        for r in range(begin, end):
            if came[r - begin] >= 0 or row_of[asks] == r or not may_take(asks, r, done, space):
                continue
            came[r - begin] = asks
            if space.holder[done, r] >= 0:
                queue[tail] = space.holder[done, r]
                tail += 1
                continue
            to = r
            while True:
                asks = came[to - begin]
                left = row_of[asks]
                row_of[asks], space.holder[done, to] = to, asks
                if asks == v:
                    return True
                to = left
    return False


@parallel_kernel(lambda starts: len(starts) - 1)
def greedy_round(begin, end, starts, done, row_of, space):  # starts (segments + 1,)
    """In each segment, give each record in turn the free row that loses least more.

    A record that finds none is seated by `substitute`; who cannot be seated keeps row -1.
    """
    for segment in range(begin, end):
        first, last = starts[segment], starts[segment + 1]
        after = np.arange(first + 1, last + 2)  # the next free row; the head stands at the end
        after[last - first] = first
        for v in range(first, last):
            best, before, place = NEVER, np.int64(-1), last
            step, r = last, after[last - first]
            while r < last and best > 0:
                cost = increase(v, r, best, space.cells)
                if cost < best and may_take(v, r, done, space):
                    best, before, place = cost, step, r
                step, r = r, after[r - first]
            if best < NEVER:
                after[before - first] = after[place - first]
                row_of[v], space.holder[done, place] = place, v
            elif substitute(v, first, last, done, row_of, space):
                step = last  # the row that was free is so no more
                while after[step - first] < last:
                    r = after[step - first]
                    if space.holder[done, r] >= 0:
                        after[step - first] = after[r - first]
                    else:
                        step = r


@parallel_kernel(lambda costs: len(costs))
def all_increases(begin, end, costs, first, done, space):  # costs (m, m) of records first ..
    """costs[v, r] = what row r loses more if record v holds it; NEVER if it may not."""
    for v in range(begin, end):
        for r in range(len(costs)):
            if may_take(first + v, first + r, done, space):
                costs[v, r] = increase(first + v, first + r, NEVER, space.cells)
            else:
                costs[v, r] = NEVER


@kernel
def lightest_first(pairs, costs, first, done, row_of, space):  # pairs (m * m,) by rising cost
    """Take each pair whose record and row are free; seat who is left by `substitute`."""
    m = len(costs)
    for pair in pairs:
        v, r = first + pair // m, first + pair % m
        if costs[v - first, r - first] == NEVER:
            break
        if row_of[v] < 0 and space.holder[done, r] < 0:
            row_of[v], space.holder[done, r] = r, v
    for v in range(first, first + m):
        if row_of[v] < 0:
            substitute(v, first, first + m, done, row_of, space)
