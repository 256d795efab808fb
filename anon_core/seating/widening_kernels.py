"""Which rows to widen so that a flow can grow.

Class c fits rows[indptr[c] : indptr[c + 1]] and holds held[e] <= limit[e] of each. The pairs of row
r are slot[start[r] : start[r + 1]], and other[...] their classes.
"""

import numpy as np

from anon_core.jit.kernel import kernel, parallel_kernel
from anon_core.jit.lanes import lowest_lane

ONE = np.uint64(1)


@parallel_kernel(lambda near: len(near))
def list_fits(
    begin, end, near, first, members, party, class_bits, bits, hidden, indptr, rows, found
):
    # near (C, m): other classes, or -1; those of c are members[first[c] : first[c + 1]]
    # party (C,): empty where each record is a person; indptr (C + 1,): room; found (C,): filled
    """List rows that class c fits, its own first: rows[indptr[c] : indptr[c] + found[c]].

    Of one other party at most as many as c has members.
    """
    listed = np.zeros(party.max() + 1 if len(party) else 0, dtype=np.int64)  # rows of each party
    for c in range(begin, end):
        at, stop, turn = indptr[c], indptr[c + 1], 0
        while at < stop and turn <= near.shape[1]:
            d = near[c, turn - 1] if turn else c
            if d < 0:
                break
            stay = stop
            if turn and len(party):
                stay = at + min(stop - at, first[c + 1] - first[c]) - listed[party[d]]
            before = at
            for place in range(first[d], first[d + 1]):
                if at >= stay:
                    break
                if _fits(class_bits, c, bits, hidden, members[place]):
                    rows[at] = members[place]
                    at += 1
            if turn and len(party):
                listed[party[d]] += at - before
            turn += 1
        if len(party):
            for place in range(turn - 1):
                listed[party[near[c, place]]] = 0
        found[c] = at - indptr[c]


@kernel
def _fits(class_bits, c, bits, hidden, r):
    """Whether class c fits row r: the row hides whatever differs."""
    for w in range(bits.shape[1]):
        if (class_bits[c, w] ^ bits[r, w]) & ~hidden[r, w]:
            return False
    return True


@kernel
def reach(wanting, here, there, limit, held):
    # wanting (vertices here,): what each lacks; here, there: start, edge, end of each side's pairs
    """Vertices that those which lack something can lean on, and the others passed on the way.

    From here a pair is passed if it may hold more, from there if it holds something: then what it
    holds can be moved.
    """
    start, edge, end = here
    start_there, edge_there, end_there = there
    reached = np.zeros(len(start) - 1, dtype=np.bool_)
    passed = np.zeros(len(start_there) - 1, dtype=np.bool_)
    queue, tail, head = np.empty(len(reached), dtype=np.int32), 0, 0
    for v in range(len(reached)):
        if wanting[v] > 0:
            reached[v], queue[tail] = True, v
            tail += 1
    while head < tail:
        v = queue[head]
        head += 1
        for place in range(start[v], start[v + 1]):
            w, e = end[place], edge[place]
            if passed[w] or held[e] >= limit[e]:
                continue
            passed[w] = True
            for back in range(start_there[w], start_there[w + 1]):
                u = end_there[back]
                if not reached[u] and held[edge_there[back]] > 0:
                    reached[u], queue[tail] = True, u
                    tail += 1
    return reached, passed


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


@kernel
def may_join(c, r, of, pairs, size, party):
    """Whether class c may be listed for row r.

    Not twice, no party twice for a row, and no party's rows for more than the members of c.
    """
    start, other, indptr, rows = pairs
    home = party[of[r]]
    if len(size) and party[c] == home:
        return False
    for place in range(start[r], start[r + 1]):
        if party[other[place]] == party[c]:
            return False
    listed = 0
    for e in range(indptr[c], indptr[c + 1] if len(size) else indptr[c]):
        listed += np.int64(party[of[rows[e]]] == home)
    return len(size) == 0 or listed < size[c]


@parallel_kernel(lambda targets: len(targets))
def cheapest_to_widen(
    begin, end, targets, sources, reached, rows, pairs, size, party, weights, tried, cost, who
):
    # targets, sources: ascending rows and classes; reached bool (C,): the sources
    # rows: class and its nearest (n,), (C, near); bits of classes and rows, hidden
    # pairs: start, other, indptr, rows; cost, who (n,): filled at the targets
    # size (C,): empty where each record is a person; party (C,)
    """Find for each target the source that may join its pairs and costs least to admit.

    Looked at are the nearest classes of the row's own and at most `tried` others, from a place on
    that the row decides. who = -1: there is none.
    """
    of, near, class_bits, bits, hidden = rows
    for i in range(begin, end):
        r = targets[i]
        least, best, seen = np.int64(2**62), -1, 0
        at = (r * 40503) % len(sources)  # near 2^16 by the golden ratio: rows begin far apart
        for turn in range(near.shape[1] + len(sources)):
            if turn < near.shape[1]:
                c = near[of[r], turn]
                if c < 0 or not reached[c]:
                    continue
            else:
                c = sources[at]
                at = at + 1 if at + 1 < len(sources) else 0
            price = admission(c, r, class_bits, bits, hidden, weights, least)
            if price < least and may_join(c, r, of, pairs, size, party):
                least, best = price, c
            seen += np.int64(turn >= near.shape[1])
            if seen == tried:
                break
        cost[r], who[r] = least, best
