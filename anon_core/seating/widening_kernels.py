"""Which rows to widen so that a flow can grow.

Class c fits rows[indptr[c] : indptr[c + 1]] and holds held[e] <= limit[e] of each. The pairs of row
r are slot[start[r] : start[r + 1]], and other[...] their classes.
"""

import numpy as np

from anon_core.jit.kernel import kernel, parallel_kernel
from anon_core.jit.lanes import lowest_lane

ONE = np.uint64(1)


@parallel_kernel(lambda near: len(near))
def list_fits(begin, end, near, first, members, class_bits, bits, hidden, indptr, rows, found):
    # near (C, m): other classes; those of c are members[first[c] : first[c + 1]]
    # indptr (C + 1,): room in rows; found (C,): filled
    """List rows that class c fits, its own first: rows[indptr[c] : indptr[c] + found[c]]."""
    for c in range(begin, end):
        at, stop = indptr[c], indptr[c + 1]
        for turn in range(near.shape[1] + 1):
            d = near[c, turn - 1] if turn else c
            for place in range(first[d], first[d + 1]):
                r = members[place]
                fits = at < stop
                for w in range(bits.shape[1]):
                    fits &= (class_bits[c, w] ^ bits[r, w]) & ~hidden[r, w] == 0
                if fits:
                    rows[at] = r
                    at += 1
        found[c] = at - indptr[c]


@kernel
def from_left(indptr, rows, limit, held, left, start, slot, other):
    """Classes that could hold less if those with left[c] > 0 held more; rows on the way to them."""
    reached, passed = np.zeros(len(left), dtype=np.bool_), np.zeros(len(start) - 1, dtype=np.bool_)
    queue, tail, head = np.empty(len(left), dtype=np.int32), 0, 0
    for c in range(len(left)):
        if left[c] > 0:
            reached[c], queue[tail] = True, c
            tail += 1
    while head < tail:
        c = queue[head]
        head += 1
        for e in range(indptr[c], indptr[c + 1]):
            r = rows[e]
            if passed[r] or held[e] >= limit[e]:
                continue
            passed[r] = True
            for place in range(start[r], start[r + 1]):
                d = other[place]
                if not reached[d] and held[slot[place]] > 0:
                    reached[d], queue[tail] = True, d
                    tail += 1
    return reached, passed


@kernel
def from_right(indptr, rows, limit, held, right, start, slot, other):
    """Rows that could give a holder away, step by step, to a row r with right[r] > 0."""
    reached, passed = np.zeros(len(right), dtype=np.bool_), np.zeros(len(indptr), dtype=np.bool_)
    queue, tail, head = np.empty(len(right), dtype=np.int32), 0, 0
    for r in range(len(right)):
        if right[r] > 0:
            reached[r], queue[tail] = True, r
            tail += 1
    while head < tail:
        r = queue[head]
        head += 1
        for place in range(start[r], start[r + 1]):
            c, e = other[place], slot[place]
            if passed[c] or held[e] >= limit[e]:
                continue
            passed[c] = True
            for own in range(indptr[c], indptr[c + 1]):
                if not reached[rows[own]] and held[own] > 0:
                    reached[rows[own]], queue[tail] = True, rows[own]
                    tail += 1
    return reached


@kernel
def admission(c, r, class_bits, bits, hidden, weights, most):
    """What it costs to admit class c to row r; where that exceeds `most`, something beyond it."""
    total = np.int64(0)
    for w in range(bits.shape[1]):
        word = (class_bits[c, w] ^ bits[r, w]) & ~hidden[r, w]
        while word and total < most:
            total += weights[64 * w + lowest_lane(word)]
            word &= word - ONE
    return total


@parallel_kernel(lambda targets: len(targets))
def cheapest_to_widen(
    begin, end, targets, sources, reached, rows, pairs, weights, tried, cost, who
):
    # targets, sources: ascending rows and classes; reached bool (C,): the sources
    # rows: class and its nearest (n,), (C, near); bits of classes and rows, hidden
    # pairs: start, other; cost, who (n,): filled at the targets
    """Find for each target the source that is not among its pairs and costs least to admit.

    Looked at are the nearest classes of the row's own and at most `tried` others, from a place on
    that the row decides. who = -1: there is none.
    """
    of, near, class_bits, bits, hidden = rows
    start, other = pairs
    for i in range(begin, end):
        r = targets[i]
        least, best, seen = np.int64(2**62), -1, 0
        at = (r * 40503) % len(sources)  # near 2^16 by the golden ratio: rows begin far apart
        for turn in range(near.shape[1] + len(sources)):
            if turn < near.shape[1]:
                c = near[of[r], turn]
                if not reached[c]:
                    continue
            else:
                c = sources[at]
                at = at + 1 if at + 1 < len(sources) else 0
            price = admission(c, r, class_bits, bits, hidden, weights, least)
            if price == 0 and c in other[start[r] : start[r + 1]]:
                continue
            if price < least:
                least, best = price, c
            seen += np.int64(turn >= near.shape[1])
            if seen == tried:
                break
        cost[r], who[r] = least, best
