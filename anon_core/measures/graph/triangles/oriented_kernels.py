"""Ranks of vertices by degree, and each edge stored once, at its end of lower degree."""

import numpy as np

from anon_core.jit.kernel import kernel

# A share is the part of the edges that one thread passes over; shares are in the order of edges.


@kernel
def count_ends(begin, end, bounds, u, v, ends):
    # bounds int64 (shares + 1,), u, v int32 (m,), ends int32 (shares, n)
    """Count the edges at each vertex."""
    for share in range(begin, end):
        for e in range(bounds[share], bounds[share + 1]):
            ends[share, u[e]] += 1
            ends[share, v[e]] += 1


@kernel
def rank_by_degree(degree):  # int32 (n,)
    """Return the place of each vertex, int32 (n,): most edges first; of equals the greatest id."""
    n = len(degree)
    start = np.zeros(degree.max() + 2, dtype=np.int64)
    for x in range(n):
        start[degree[x] + 1] += 1
    for d in range(1, len(start)):
        start[d] += start[d - 1]
    rank = np.empty(n, dtype=np.int32)
    for x in range(n):
        rank[x] = n - 1 - start[degree[x]]
        start[degree[x]] += 1
    return rank


@kernel
def count_lower(begin, end, bounds, u, v, rank, lower):  # lower int32 (shares, n)
    """Count the edges of each rank to vertices of higher degree."""
    for share in range(begin, end):
        for e in range(bounds[share], bounds[share + 1]):
            lower[share, max(rank[u[e]], rank[v[e]])] += 1


@kernel
def sum_rank_starts(lower, start, at):  # start int64 (n + 1,), at int64 (shares, n)
    """Sum the counts: where the edges of each rank begin, and within them those of each share."""
    total = np.int64(0)
    for x in range(lower.shape[1]):
        start[x] = total
        for share in range(lower.shape[0]):
            at[share, x] = total
            total += lower[share, x]
    start[lower.shape[1]] = total


@kernel
def fill_oriented_edges(
    begin, end, bounds, u, v, rank, at, higher, edge
):  # higher, edge: int32 (m,)
    """Write the higher end of each edge at its lower end, and the edge's number."""
    for share in range(begin, end):
        for e in range(bounds[share], bounds[share + 1]):
            a, b = rank[u[e]], rank[v[e]]
            x = max(a, b)
            place = at[share, x]
            at[share, x] = place + 1
            higher[place] = min(a, b)
            if len(edge):
                edge[place] = e
