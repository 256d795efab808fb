"""Which rows to widen so that a flow can grow.

Class c fits rows[indptr[c] : indptr[c + 1]] and holds held[e] <= limit[e] of each. The pairs of row
r are slot[start[r] : start[r + 1]], and other[...] their classes.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.jit.kernel import kernel, parallel_kernel
from anon_core.jit.lanes import lowest_lane

_ONE, _ANY = np.uint64(1), np.int64(2**62)


class OpenRows(NamedTuple):
    """Rows, and the classes that may hold them.

    Attributes
    ----------
    of : int64 (n,)
        Class of each row's own record.
    near : int32 (C, m)
        Nearest classes of each, or -1.
    class_bits : uint64 (C, words)
    bits, hidden : uint64 (n, words)
        `hidden` is changed where a row is widened.
    """

    of: NDArray[np.int64]
    near: NDArray[np.int32]
    class_bits: NDArray[np.uint64]
    bits: NDArray[np.uint64]
    hidden: NDArray[np.uint64]


class ListedPairs(NamedTuple):
    """Classes and rows that are listed for each other.

    Attributes
    ----------
    start : int64 (n + 1,)
    other : int32 (pairs,)
        Classes of row r: other[start[r] : start[r + 1]].
    indptr : int64 (C + 1,)
    rows : int32 (pairs,)
        Rows of class c: rows[indptr[c] : indptr[c + 1]].
    """

    start: NDArray[np.int64]
    other: NDArray[np.int32]
    indptr: NDArray[np.int64]
    rows: NDArray[np.int32]


class Sources(NamedTuple):
    """Classes that a left-over share can be passed on to.

    Attributes
    ----------
    reached : bool (C,)
        Whether a class is one of them.
    number : int64 (s,)
        Their numbers, ascending.
    bits : uint64 (s, words)
    """

    reached: NDArray[np.bool_]
    number: NDArray[np.int64]
    bits: NDArray[np.uint64]


class Owners(NamedTuple):
    """Who owns records.

    Attributes
    ----------
    party : int64 (C,)
    size : int64 (C,)
        Members of each class; empty where each record is a person.
    """

    party: NDArray[np.int64]
    size: NDArray[np.int64]


class JoiningSpace(NamedTuple):
    """What is looked at for a source that may join a row.

    Attributes
    ----------
    rows : OpenRows
    pairs : ListedPairs
    sources : Sources
    owners : Owners
    weights : int32 (f,)
        What a hidden feature costs.
    tried : int
        Sources that are tried beside the nearest classes.
    """

    rows: OpenRows
    pairs: ListedPairs
    sources: Sources
    owners: Owners
    weights: NDArray[np.int32]
    tried: int


class Joined(NamedTuple):
    """Classes that are to be listed for rows.

    Attributes
    ----------
    start : int64 (w + 1,)
        Row i has room for classes[start[i] : start[i + 1]].
    classes : int64 (start[w],)
    found : int64 (w,)
        How many there are.
    """

    start: NDArray[np.int64]
    classes: NDArray[np.int64]
    found: NDArray[np.int64]


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
                if _is_fitting_row(class_bits, c, bits, hidden, members[place]):
                    rows[at] = members[place]
                    at += 1
            if turn and len(party):
                listed[party[d]] += at - before
            turn += 1
        if len(party):
            # Only parties that this class met: clearing all would take C times their number.
            for place in range(turn - 1):
                listed[party[near[c, place]]] = 0
        found[c] = at - indptr[c]


@kernel
def _is_fitting_row(class_bits, c, bits, hidden, r):
    """Whether class c fits row r: the row hides whatever differs."""
    for w in range(bits.shape[1]):
        if (class_bits[c, w] ^ bits[r, w]) & ~hidden[r, w]:
            return False
    return True


@kernel
def reach_vertices(wanting, here, there, limit, held):
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
def compute_admission_cost(c, r, class_bits, bits, hidden, weights, most):
    """What it costs to admit class c to row r; where that exceeds `most`, something beyond it."""
    total = np.int64(0)
    for w in range(bits.shape[1]):
        word = (class_bits[c, w] ^ bits[r, w]) & ~hidden[r, w]
        while word and total < most:
            total += weights[64 * w + lowest_lane(word)]
            word &= word - _ONE
    return total


@kernel
def mark_parties(r, space, mark):
    # mark int32 (parties,): r at those marked
    """Mark the parties that may not join row r: those listed, and that of its own person."""
    pairs, party = space.pairs, space.owners.party
    for place in range(pairs.start[r], pairs.start[r + 1]):
        mark[party[pairs.other[place]]] = r
    if len(space.owners.size):
        mark[party[space.rows.of[r]]] = r


@kernel
def may_join(c, r, space, mark):
    """Whether class c may be listed for row r, whose parties are marked.

    No party twice for a row, and no party's rows for more than the members of c.
    """
    party, size = space.owners
    if mark[party[c]] == r:
        return False
    if len(size) == 0:
        return True
    pairs, of, listed = space.pairs, space.rows.of, 0
    for e in range(pairs.indptr[c], pairs.indptr[c + 1]):
        listed += np.int64(party[of[pairs.rows[e]]] == party[of[r]])
    return listed < size[c]


@kernel
def first_looked_at(r, sources):
    """Where row r begins to look at the sources."""
    return (r * 40503) % len(sources.number)  # near 2^16 by the golden ratio: rows begin far apart


@kernel
def cheapest_source(r, space, mark):
    """The source that may join row r and costs least to admit, or -1; and its price.

    Looked at are the nearest classes of the row's own and `tried` others, or as many as it takes
    to find one that may join.
    """
    rows, sources = space.rows, space.sources
    least, best, seen = _ANY, np.int64(-1), 0
    at, nearest = first_looked_at(r, sources), rows.near.shape[1]
    for turn in range(nearest + len(sources.number)):
        if turn < nearest:
            c = np.int64(rows.near[rows.of[r], turn])
            if c < 0 or not sources.reached[c]:
                continue
        else:
            c = sources.number[at]
            at = at + 1 if at + 1 < len(sources.number) else 0
        price = compute_admission_cost(
            c, r, rows.class_bits, rows.bits, rows.hidden, space.weights, least
        )
        if price < least and may_join(c, r, space, mark):
            least, best = price, c
        seen += np.int64(turn >= nearest)
        if best >= 0 and seen >= space.tried:
            break
    return best, least


@parallel_kernel(lambda targets: len(targets))
def cheapest_to_widen(begin, end, targets, space, cost, who):
    # targets: rows, ascending; cost, who int64 (targets,): filled
    """Find for each target the source that may join it and costs least; who = -1: none may."""
    # A mark is the number of a row, so it need not be cleared before the next row.
    mark = np.full(space.owners.party.max() + 1, -1, dtype=np.int32)
    for i in range(begin, end):
        mark_parties(targets[i], space, mark)
        who[i], cost[i] = cheapest_source(targets[i], space, mark)


@kernel
def list_admitted(r, space, turn, last, mark, found):
    # found: room for classes
    """List sources that row r admits as it is, as far as there is room: found[: number].

    Looked at are the nearest classes and, in the turns turn .. last - 1, others. Returns the number
    and the next turn.
    """
    rows, sources, party = space.rows, space.sources, space.owners.party
    size = 0
    for place in range(rows.near.shape[1]):
        c = np.int64(rows.near[rows.of[r], place])
        if size == len(found) or c < 0:
            break
        if sources.reached[c] and _is_fitting_row(rows.class_bits, c, rows.bits, rows.hidden, r):
            if may_join(c, r, space, mark):
                found[size], mark[party[c]] = c, r
                size += 1
    at = (first_looked_at(r, sources) + turn) % len(sources.number)
    while turn < last and size < len(found):
        c = sources.number[at]
        if _is_fitting_row(sources.bits, at, rows.bits, rows.hidden, r) and may_join(
            c, r, space, mark
        ):
            found[size], mark[party[c]] = c, r
            size += 1
        turn += 1
        at = at + 1 if at + 1 < len(sources.number) else 0
    return size, turn


@parallel_kernel(lambda wide: len(wide))
def widen_rows(begin, end, wide, who, space, looks, wanted, joined):
    # wide, who int64 (w,): rows, and the source that each admits first; wanted int64 (w,)
    # joined: Joined, filled
    """Widen each row for a source, list all sources that then fit, and go on with the next.

    A row is widened until as many as wanted are listed, or there is no room. It looks at `looks`
    sources in all, beside its nearest classes and those that it is widened for.
    """
    rows, party, start = space.rows, space.owners.party, joined.start
    mark = np.full(party.max() + 1, -1, dtype=np.int32)
    for i in range(begin, end):
        r, c, turn, at = wide[i], who[i], 0, start[i]
        mark_parties(r, space, mark)
        while c >= 0:
            for w in range(rows.bits.shape[1]):
                rows.hidden[r, w] |= rows.class_bits[c, w] ^ rows.bits[r, w]
            joined.classes[at], mark[party[c]] = c, r
            last = min(looks, turn + len(space.sources.number))
            more = joined.classes[at + 1 : start[i + 1]]
            size, turn = list_admitted(r, space, turn, last, mark, more)
            at += 1 + size
            if at - start[i] >= wanted[i]:
                break
            c, _ = cheapest_source(r, space, mark)
        joined.found[i] = at - start[i]
