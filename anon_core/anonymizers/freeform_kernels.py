"""Assignments of records to rows by the increase of what the rows lose."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.jit.kernel import inlined, kernel, parallel_kernel

NEVER = np.int64(2**62)  # the cost of a pair that is not allowed


class Space(NamedTuple):
    """Records, rows as they are so far, and what rows lose.

    Attributes
    ----------
    codes : int32 (n, attributes)
    low, high : int32 (n, attributes)
        Levels of the records that hold each row, least and greatest.
    member : bool (n, levels)
        Levels of the records that hold each row.
    holder : int32 (rounds, n)
        Record that took each row in each round.
    most : int64 (n,)
        How often each record may take the same row.
    offsets : int64 (attributes + 1,)
        First level of each attribute.
    ordinal : bool (attributes,)
    whole, step, position, first
        See `LossTable`.
    """

    codes: NDArray[np.int32]
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    member: NDArray[np.bool_]
    holder: NDArray[np.int32]
    most: NDArray[np.int64]
    offsets: NDArray[np.int64]
    ordinal: NDArray[np.bool_]
    whole: NDArray[np.int64]
    step: NDArray[np.int64]
    position: NDArray[np.int64]
    first: NDArray[np.int64]


@inlined
def increase(v, r, best, space):
    """What row r loses more if record v holds it, too; `best` or more if it is no less."""
    total = np.int64(0)
    for a in range(len(space.ordinal)):
        q, at = space.codes[v, a], space.offsets[a]
        low, high = space.low[r, a], space.high[r, a]
        if space.ordinal[a]:
            if low <= q <= high:
                continue
            now = min(space.whole[a], space.position[at + high] - space.position[at + low])
            p, q = at + min(low, q), at + max(high, q)
            total += min(space.whole[a], space.position[q] - space.position[p]) - now
        elif space.member[r, at + q]:
            continue
        else:
            total += space.step[a]
        if low == high:
            total += space.first[a]
        if total >= best:
            break
    return total


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
        v = space.holder[done, r]
        for a in range(len(space.ordinal)):
            q = space.codes[v, a]
            space.low[r, a] = min(space.low[r, a], q)
            space.high[r, a] = max(space.high[r, a], q)
            space.member[r, space.offsets[a] + q] = True


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
                cost = increase(v, r, best, space)
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
                costs[v, r] = increase(first + v, first + r, NEVER, space)
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
