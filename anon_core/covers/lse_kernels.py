"""Locally subdominant edges: follow lighter edges until both ends prefer each other."""

import numpy as np

from anon_core.jit.kernel import kernel

_STALLED, _FORWARD, _MUTUAL = 0, 1, 2  # kinds of a vertex's best edge, see `best_edge`


@kernel
def has_partner(partners, start, count, vertex):
    """Whether `vertex` is among the `count` partners from `start` on."""
    for slot in range(start, start + count):
        if partners[slot] == vertex:
            return True
    return False


@kernel
def best_edge(v, need, indptr, vertex, cost, first, partners, heads, eager):
    # heads (2, n): next and end of v's part of eager; see `choose_subdominant`
    # eager (2, entries): vertices in need and costs, ascending
    """The edge of least effective weight at v, as (kind, other end, cost).

    Effective weights are doubled: a saturated other end makes it twice the cost (_FORWARD), one in
    need the cost (_MUTUAL). _STALLED: the list of vertices in need is exhausted.
    """
    start = indptr[v]
    count = indptr[v + 1] - start - need[v]
    while has_partner(partners, start, count, vertex[first[v]]):
        first[v] += 1
    x, whole = vertex[first[v]], cost[first[v]]
    # Keys (effective weight, other end) order the edges of a vertex strictly.
    alone = (np.int64(2 * whole) << 32) | np.int64(x)
    at, end = heads[0, v], heads[1, v]
    while at < end and (
        need[eager[0, at]] == 0 or has_partner(partners, start, count, eager[0, at])
    ):
        at += 1
    heads[0, v] = at
    if at < end:
        if (np.int64(eager[1, at]) << 32) | np.int64(eager[0, at]) <= alone:
            return _MUTUAL, eager[0, at], eager[1, at]
        return _FORWARD, x, whole
    # The guard: all vertices in need before it were seen.
    last = (np.int64(eager[1, end]) << 32) | np.int64(eager[0, end])
    if alone <= last:
        return _FORWARD, x, whole
    return _STALLED, x, whole


@kernel
def choose_subdominant(need, indptr, vertex, cost, first, partners, heads, eager, stalled, chosen):
    # need (n,), indptr (n + 1,), vertex, cost (entries,), first (n,), partners (entries,)
    # stalled (n,): False; chosen (3, entries): u, v, cost
    """Choose every edge known to be locally subdominant; returns the number chosen.

    A chain starts at a vertex in need and goes on to the other end of its best edge. Effective
    weights fall strictly along the chain, so it ends: at a best edge whose other end is saturated,
    at one that is best for both ends, or at a vertex whose list of vertices in need is exhausted
    (`stalled`). All vertices of a stalled chain wait.
    """
    n, size = len(need), 0
    waiting = np.zeros(n, dtype=np.bool_)
    chain = np.empty(n + 1, dtype=np.int64)
    for seed in range(n):
        chain[0], length = seed, 1
        while length:
            v = chain[length - 1]
            if need[v] == 0:
                length -= 1
                continue
            kind, x, weight = _STALLED, 0, 0
            if not waiting[v]:
                kind, x, weight = best_edge(
                    v, need, indptr, vertex, cost, first, partners, heads, eager
                )
                stalled[v] = kind == _STALLED
            if kind == _STALLED:
                waiting[chain[:length]] = True
                length = 0
            elif kind == _MUTUAL and (length < 2 or chain[length - 2] != x):
                # v prefers x; whether x prefers v is seen when x is looked at.
                chain[length] = x
                length += 1
            else:
                partners[indptr[v + 1] - need[v]] = x
                need[v] -= 1
                if kind == _MUTUAL:
                    partners[indptr[x + 1] - need[x]] = v
                    need[x] -= 1
                    # The chain up to here still holds best edges; v will start one of its own.
                    length -= 1
                chosen[0, size], chosen[1, size], chosen[2, size] = min(v, x), max(v, x), weight
                size += 1
    return size
