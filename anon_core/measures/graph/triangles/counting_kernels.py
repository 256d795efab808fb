"""NodeIterator++: mark the effective neighbours of a vertex, then look into the lists of each.

Marking beats merging sorted lists where degrees are skewed (docs/triangles.md): one pass over a
list of a high vertex, and marks of high ranks lie close together.
"""

from typing import NamedTuple

import numpy as np

from anon_core.jit.kernel import kernel, parallel_kernel

SHORT = 24  # entries up to which insertion sorts fastest


class Lists(NamedTuple):
    """The arrays of `Oriented` that kernels read."""

    start: np.ndarray  # int64 (n + 1,)
    higher: np.ndarray  # int32 (m,)
    edge: np.ndarray  # int32 (m,)
    parts: np.ndarray  # int64 (parts + 1,)


@kernel
def highest(lists, x):
    """Return the highest effective neighbour of x: no triangle of x has a vertex above it."""
    top = np.int64(len(lists.start))
    for i in range(lists.start[x], lists.start[x + 1]):
        top = min(top, np.int64(lists.higher[i]))
    return top


@parallel_kernel(lambda totals: len(totals))
def count_parts(begin, end, totals, lists):  # totals int64 (parts,)
    """Count the triangles whose lowest vertex lies in each part."""
    marked = np.zeros(len(lists.start), dtype=np.uint8)
    for part in range(begin, end):
        total = np.int64(0)
        for x in range(lists.parts[part], lists.parts[part + 1]):
            first, last = lists.start[x], lists.start[x + 1]
            if last - first < 2:
                continue
            top = highest(lists, x)
            for i in range(first, last):
                marked[lists.higher[i]] = 1
            for i in range(first, last):
                y = lists.higher[i]
                if y != top:
                    found = np.int64(0)
                    for j in range(lists.start[y], lists.start[y + 1]):
                        found += marked[lists.higher[j]]
                    total += found
            for i in range(first, last):
                marked[lists.higher[i]] = 0
        totals[part] = total


@kernel
def longest(lists):
    """Return the length of the longest list."""
    most = np.int64(0)
    for x in range(len(lists.start) - 1):
        most = max(most, lists.start[x + 1] - lists.start[x])
    return most


@kernel
def meet(lists, y, at, hits):  # at int32 (n,): place + 1 of marked ranks, hits int64 (longest,)
    """Write which entries of the list of y are marked; returns how many.

    Without a branch: whether an entry is marked cannot be predicted.
    """
    found = 0
    for j in range(lists.start[y], lists.start[y + 1]):
        hits[found] = j
        found += at[lists.higher[j]] > 0
    return found


@kernel
def add_edges(begin, end, lists, shares, counts):  # counts int32 (shares, m)
    """Add 1 to each edge of each triangle; share s takes the parts s, s + shares, ..."""
    at = np.zeros(len(lists.start), dtype=np.int32)
    hits = np.empty(longest(lists) + 1, dtype=np.int64)
    for share in range(begin, end):
        for part in range(share, len(lists.parts) - 1, shares):
            for x in range(lists.parts[part], lists.parts[part + 1]):
                first, last = lists.start[x], lists.start[x + 1]
                if last - first < 2:
                    continue
                for i in range(first, last):
                    at[lists.higher[i]] = i - first + 1
                for i in range(first, last):
                    found = meet(lists, lists.higher[i], at, hits)
                    for hit in range(found):
                        k = first + at[lists.higher[hits[hit]]] - 1
                        counts[share, lists.edge[hits[hit]]] += 1
                        counts[share, lists.edge[k]] += 1
                    counts[share, lists.edge[i]] += np.int32(found)
                for i in range(first, last):
                    at[lists.higher[i]] = 0


@parallel_kernel(lambda totals: len(totals))
def list_parts(begin, end, totals, lists, v, low, third):  # low, third: int32 (t,)
    """Write the triangles of each part: number of the edge of its two least ids, greatest id.

    totals: int64 (parts,), where each part begins. Of the edges (a, b) < (a, c) < (b, c) of ids
    a < b < c the least has the least number, and the greatest ends at c.
    """
    at = np.zeros(len(lists.start), dtype=np.int32)
    hits = np.empty(longest(lists) + 1, dtype=np.int64)
    for part in range(begin, end):
        place = totals[part]
        for x in range(lists.parts[part], lists.parts[part + 1]):
            first, last = lists.start[x], lists.start[x + 1]
            if last - first < 2:
                continue
            for i in range(first, last):
                at[lists.higher[i]] = i - first + 1
            for i in range(first, last):
                found = meet(lists, lists.higher[i], at, hits)
                for hit in range(found):
                    k = first + at[lists.higher[hits[hit]]] - 1
                    e, f, g = lists.edge[i], lists.edge[hits[hit]], lists.edge[k]
                    low[place] = min(e, f, g)
                    third[place] = v[max(e, f, g)]
                    place += 1
            for i in range(first, last):
                at[lists.higher[i]] = 0


@parallel_kernel(lambda bounds: len(bounds) - 1)
def sort_by_edge(begin, end, bounds, low, third, start, of_edge):
    # bounds int64 (pieces + 1,) of edges; start int64 (m + 1,): where the triangles of an edge go
    """Gather the third vertices of each edge in of_edge, int32 (t,), ascending."""
    first, last = bounds[begin], bounds[end]
    at = start[first : last + 1].copy()
    for t in range(len(low)):
        if first <= low[t] < last:
            of_edge[at[low[t] - first]] = third[t]
            at[low[t] - first] += 1
    for e in range(first, last):
        ascend(of_edge[start[e] : start[e + 1]])


@kernel
def ascend(values):
    """Sort in place."""
    if len(values) > SHORT:
        values.sort()
        return
    for i in range(1, len(values)):
        value, j = values[i], i
        while j > 0 and values[j - 1] > value:
            values[j] = values[j - 1]
            j -= 1
        values[j] = value


@parallel_kernel(lambda start: len(start) - 1)
def write_rows(begin, end, start, u, v, of_edge, rows):  # rows int32 (t, 3)
    """Write the triangles of each edge."""
    for e in range(begin, end):
        for t in range(start[e], start[e + 1]):
            rows[t, 0], rows[t, 1], rows[t, 2] = u[e], v[e], of_edge[t]


@kernel
def add_vertices(u, v, counts, totals):  # counts int32 (m,), totals int64 (n,)
    """Add the triangles of each edge to its ends: twice those of each vertex."""
    for e in range(len(u)):
        totals[u[e]] += counts[e]
        totals[v[e]] += counts[e]
