"""NodeIterator++: mark the effective neighbours of a vertex, then look into the lists of each.

Marking beats merging sorted lists where degrees are skewed (docs/triangles.md): one pass over a
list of a high vertex, and marks of high ranks lie close together.
"""

from typing import NamedTuple

import numpy as np

from anon_core.jit.kernel import kernel, parallel_kernel
from anon_core.jit.prefetch import prefetch_entry

_AHEAD = 16  # entries: lists lie scattered, and a later one is fetched while this one is read


class HigherNeighbours(NamedTuple):
    """The arrays of `Oriented` that kernels read."""

    start: np.ndarray  # int64 (n + 1,)
    higher: np.ndarray  # int32 (m,)
    edge: np.ndarray  # int32 (m,)
    parts: np.ndarray  # int64 (parts + 1,)


@kernel
def find_highest_neighbour(lists, x):
    """Return the highest effective neighbour of x: no triangle of x has a vertex above it."""
    top = np.int64(len(lists.start))
    for i in range(lists.start[x], lists.start[x + 1]):
        top = min(top, np.int64(lists.higher[i]))
    return top


@kernel
def fetch_ahead(lists, i):
    """Ask for the list of a later entry; of an entry still later, for where its list begins."""
    last = len(lists.higher) - 1
    prefetch_entry(lists.start, np.int64(lists.higher[min(i + 2 * _AHEAD, last)]))
    prefetch_entry(lists.higher, lists.start[lists.higher[min(i + _AHEAD, last)]])


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
            top = find_highest_neighbour(lists, x)
            for i in range(first, last):
                marked[lists.higher[i]] = 1
            for i in range(first, last):
                fetch_ahead(lists, i)
                y = lists.higher[i]
                # Lists lead to lesser ranks: below `top`, the least of x's list, is no mark.
                if y != top:
                    found = np.int64(0)
                    for j in range(lists.start[y], lists.start[y + 1]):
                        found += marked[lists.higher[j]]
                    total += found
            for i in range(first, last):
                marked[lists.higher[i]] = 0
        totals[part] = total


@kernel
def longest_list_length(lists):
    """Return the length of the longest list."""
    most = np.int64(0)
    for x in range(len(lists.start) - 1):
        most = max(most, lists.start[x + 1] - lists.start[x])
    return most


@kernel
def meet_ranks(lists, y, marked, hits):  # marked (n,): 0 or 1, hits int32 (longest + 1,)
    """Write the marked ranks in the list of y; returns how many.

    Without a branch: whether an entry is marked cannot be predicted.
    """
    found = 0
    for j in range(lists.start[y], lists.start[y + 1]):
        hits[found] = lists.higher[j]
        found += marked[lists.higher[j]]
    return found


@kernel
def meet_entries(lists, y, marked, hits):  # as for `meet_ranks`
    """Write which entries of the list of y are marked; returns how many."""
    found = 0
    for j in range(lists.start[y], lists.start[y + 1]):
        hits[found] = j
        found += marked[lists.higher[j]]
    return found


@kernel
def add_edges(begin, end, lists, shares, counts):  # counts int32 (shares, m)
    """Add 1 to each edge of each triangle; share s takes the parts s, s + shares, ..."""
    marked = np.zeros(len(lists.start), dtype=np.uint8)
    at = np.empty(len(lists.start), dtype=np.int32)  # entries of marked ranks
    hits = np.empty(longest_list_length(lists) + 1, dtype=np.int32)
    for share in range(begin, end):
        for part in range(share, len(lists.parts) - 1, shares):
            for x in range(lists.parts[part], lists.parts[part + 1]):
                first, last = lists.start[x], lists.start[x + 1]
                if last - first < 2:
                    continue
                for i in range(first, last):
                    # `at` is never cleared: it is read only where a mark is set.
                    marked[lists.higher[i]], at[lists.higher[i]] = 1, i
                for i in range(first, last):
                    fetch_ahead(lists, i)
                    found = meet_entries(lists, lists.higher[i], marked, hits)
                    for hit in range(found):
                        counts[share, lists.edge[hits[hit]]] += 1
                        counts[share, lists.edge[at[lists.higher[hits[hit]]]]] += 1
                    if found:
                        counts[share, lists.edge[i]] += np.int32(found)
                for i in range(first, last):
                    marked[lists.higher[i]] = 0


@kernel
def list_some(end, lists, name, marked, hits, cursor, rows):
    # name int32 (n,): ids by rank; marked uint8 (n,): zeros, and again afterwards
    # hits int32 (longest + 1,); cursor int64 (2,): next vertex and entry; rows int32 (_, 3)
    """Write triangles of ids u < v < w whose lowest vertex is below end; returns how many.

    Goes on from the cursor, and stops before a list that might not fit into the rows.
    """
    written, full = 0, False
    for x in range(cursor[0], end):
        first, last = lists.start[x], lists.start[x + 1]
        if last - first < 2:
            continue
        top = find_highest_neighbour(lists, x)
        for i in range(first, last):
            marked[lists.higher[i]] = 1
        # The cursor's entry is in the list of its vertex. Lists of later ranks begin behind it.
        for i in range(max(first, cursor[1]), last):
            fetch_ahead(lists, i)
            y = lists.higher[i]
            if y == top:
                continue
            if len(rows) - written < lists.start[y + 1] - lists.start[y]:
                cursor[0], cursor[1], full = x, i, True
                break
            found = meet_ranks(lists, y, marked, hits)
            low, high = min(name[x], name[y]), max(name[x], name[y])
            for hit in range(found):
                third = name[hits[hit]]
                u, w = min(low, third), max(high, third)
                # Of the three ids, the one that is neither the least nor the greatest.
                v = low ^ high ^ third ^ u ^ w
                rows[written, 0], rows[written, 1], rows[written, 2] = u, v, w
                written += 1
        for i in range(first, last):
            marked[lists.higher[i]] = 0
        if full:
            return written
    cursor[0] = end
    return written


@kernel
def add_vertices(u, v, counts, totals):  # counts int32 (m,), totals int64 (n,)
    """Add the triangles of each edge to its ends: twice those of each vertex."""
    for e in range(len(u)):
        totals[u[e]] += counts[e]
        totals[v[e]] += counts[e]
