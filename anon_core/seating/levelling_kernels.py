"""Spread chances evenly over a bipartite graph, in whole numbers: any order gives the same sums.

A left vertex c has size[c] members, each of level k[c]. A right vertex r has row_size[r] members.
The neighbours of c are rows[indptr[c] : indptr[c + 1]], the first owns[c] of them its own rows. A
pair's share counts in units of 1 / (SHARE * k[c]).
"""

import numpy as np

from anon_core.jit.kernel import kernel, parallel_kernel
from anon_core.seating.shares import SHARE

_FARTHEST = 64 * SHARE
_STEP = SHARE // 8  # where no share can be moved


@parallel_kernel(lambda got: len(got))
def level_left(first, last, indptr, rows, owns, row_size, k, rate, most, a, b, got):
    # rate (C,): SHARE * size / k; most (2,): greatest share of an own pair, and of another
    # a (C,): changed; b (R,); got (parts, R, 2): filled; all int64
    """Two Newton steps of a towards the least sum of squares.

    A pair's share is a[c] + b[r], at least 0 and at most `most`. The steps move a[c] until each
    member of c has a chance of 1 in all. got[t, r] = what the records of part t give to row r, and
    by how much that grows with b[r].
    """
    parts, classes = got.shape[0], len(k)
    for t in range(first, last):
        got[t] = 0
        for c in range(t * classes // parts, (t + 1) * classes // parts):
            begin, end = indptr[c], indptr[c + 1]
            middle = begin + owns[c]
            for _ in range(2):
                total, slope, own = np.int64(0), np.int64(0), a[c]
                for e in range(begin, end):
                    r = rows[e]
                    wished = own + b[r]
                    share = max(np.int64(0), min(wished, most[0] if e < middle else most[1]))
                    total += share * row_size[r]
                    slope += row_size[r] if share == wished else 0
                a[c] = take_newton_step(own, k[c] * SHARE - total, slope)
            own = a[c]
            for e in range(begin, end):
                r = rows[e]
                wished = own + b[r]
                share = max(np.int64(0), min(wished, most[0] if e < middle else most[1]))
                got[t, r, 0] += rate[c] * share
                got[t, r, 1] += rate[c] if share == wished else 0


@kernel
def level_right(
    row_size, b, got
):  # row_size (R,), b (R,): changed, got (parts, R, 2): of `level_left`
    """One Newton step of b towards a chance of 1 in every row; returns the sum of the misses."""
    missed = np.int64(0)
    for r in range(len(b)):
        total, slope = np.int64(0), np.int64(0)
        for t in range(len(got)):
            total += got[t, r, 0]
            slope += got[t, r, 1]
        miss = np.int64(SHARE * SHARE) - total
        missed += abs(miss // SHARE) * row_size[r]
        b[r] = take_newton_step(b[r], miss - miss // 8, slope)
    return missed


@kernel
def take_newton_step(place, miss, slope):
    """`place` after a Newton step."""
    step = miss // slope if slope > 0 else (_STEP if miss > 0 else -_STEP)
    return max(np.int64(-_FARTHEST), min(np.int64(_FARTHEST), place + step))


@kernel
def add_kept(
    indptr, rows, owns, row_size, rate, limits, a, b, kept
):  # limits (steps, 2), the last ones the greatest
    """kept[step] += what the shares a[c] + b[r] come to within limits[step]."""
    top = len(kept) - 1
    for c in range(len(rate)):
        for e in range(indptr[c], indptr[c + 1]):
            side = 0 if e < indptr[c] + owns[c] else 1
            share = min(a[c] + b[rows[e]], limits[top, side])
            if share <= 0:
                continue
            weight = rate[c] * row_size[rows[e]]
            kept[top] += weight * share
            for step in range(top):
                kept[step] += weight * min(share, limits[step, side])


@kernel
def set_limits(indptr, rows, owns, size, row_size, k, most, limit):  # limit (pairs,): filled
    """limit[e] = what a pair of vertices may hold if no pair of members passes most / k.

    most (2,) is that of own pairs and of others; limits count in units of 1 / SHARE.
    """
    for c in range(len(size)):
        for e in range(indptr[c], indptr[c + 1]):
            share = most[0] if e < indptr[c] + owns[c] else most[1]
            # A pair holds SHARE for each of the fewer members at most. Tested first, since a limit
            # of `UNLIMITED` times `more` would not fit 64 bits.
            fewer, more = min(size[c], row_size[rows[e]]), max(size[c], row_size[rows[e]])
            limit[e] = (
                fewer * SHARE if share >= -(-k[c] * SHARE // more) else share * more // k[c] * fewer
            )


@kernel
def settle_shares(indptr, rows, k, a, b, most, limit, held, left, right):
    # most: the greatest share; held (pairs,): filled; left (C,), right (R,): lowered by `held`
    """Hold the shares a[c] + b[r] within the limits; scale down those of an overfull vertex."""
    got = np.zeros(len(right), dtype=np.int64)
    for c in range(len(left)):
        total = np.int64(0)
        for e in range(indptr[c], indptr[c + 1]):
            share = max(np.int64(0), min(a[c] + b[rows[e]], most))
            held[e] = min(
                np.int64(limit[e]), share * (left[c] // SHARE) // k[c] * (right[rows[e]] // SHARE)
            )
            total += held[e]
        for e in range(indptr[c], indptr[c + 1]):
            held[e] = scale_part_down(held[e], left[c], total)
            got[rows[e]] += held[e]
    # Scaling the rows down lowers sums of the left side, too, so none there overflows again.
    whole = right.copy()
    for c in range(len(left)):
        for e in range(indptr[c], indptr[c + 1]):
            r = rows[e]
            held[e] = scale_part_down(held[e], whole[r], got[r])
            left[c] -= held[e]
            right[r] -= held[e]


@kernel
def scale_part_down(part, whole, total):
    """Scale `part` by whole / total if total exceeds whole; rounds down."""
    return np.int64(part) if total <= whole else np.int64(part) * ((whole << 15) // total) >> 15
