"""What mappers send: core messages with a vertex's own lists, pivot messages with those of others.

A piece holds the vertices first, first + 1, ... with their lists, each ascending. h(u) = u modulo
reducers. A pivot message begins with its sender.
"""

import numpy as np

from anon_core.jit.kernel import kernel

BASELINE, EDGE_CENTRIC, VERTEX_CENTRIC = 0, 1, 2


@kernel
def bucket_of(bounds, u):
    """Return the bucket of a key: bounds[b] <= u < bounds[b + 1]."""
    low, high = 0, len(bounds) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if bounds[middle] <= u:
            low = middle
        else:
            high = middle
    return low


@kernel
def size_pivots(start, higher, way, reducers, counts, words):
    # counts, words: int64 (vertices,)
    """Count the pivot messages of each vertex, and their words."""
    # Stamped with x + 1 instead of cleared: clearing would cost `reducers` steps for each vertex.
    seen = np.zeros(reducers, dtype=np.int64)
    for x in range(len(start) - 1):
        degree = start[x + 1] - start[x]
        counts[x] = degree
        if way != BASELINE:
            counts[x] = 0
            for i in range(start[x], start[x + 1]):
                to = higher[i] % reducers
                counts[x] += seen[to] != x + 1
                seen[to] = x + 1
        words[x] = counts[x] * (1 + degree)


@kernel
def write_pivots(first, begin, end, start, higher, way, reducers, key, at, word):
    """Write the pivot messages of the vertices begin .. end - 1 of a piece, whose first is named.

    key int32 (count,), at int64 (count + 1,), word int32 (words,)
    """
    seen = np.zeros(reducers, dtype=np.int64)
    pair = place = 0
    for x in range(begin, end):
        for i in range(start[x], start[x + 1]):
            to = higher[i] % reducers
            if way != BASELINE and seen[to] == x + 1:
                continue
            seen[to] = x + 1
            key[pair] = to if way == EDGE_CENTRIC else higher[i]
            word[place] = first + x
            place += 1
            for j in range(start[x], start[x + 1]):
                word[place] = higher[j]
                place += 1
            pair += 1
            at[pair] = place


@kernel
def write_cores(first, start, higher, lower_start, lower, key, at, word):
    """Write for each vertex its higher neighbours, then its lower ones: ranks in ascending order.

    Returns the number of messages: vertices without neighbours send none.
    """
    place = pair = 0
    for x in range(len(start) - 1):
        if lower_start[x + 1] == lower_start[x] and start[x + 1] == start[x]:
            continue
        key[pair] = first + x
        for i in range(start[x], start[x + 1]):
            word[place] = higher[i]
            place += 1
        for i in range(lower_start[x], lower_start[x + 1]):
            word[place] = lower[i]
            place += 1
        pair += 1
        at[pair] = place
    return pair


@kernel
def size_buckets(start, higher, reducers, bounds, head, sizes):  # sizes int64 (reducers, buckets)
    """Sum the words that a buffer holds of all messages that are used in a bucket."""
    seen = np.zeros(sizes.shape, dtype=np.int64)
    for x in range(len(start) - 1):
        for i in range(start[x], start[x + 1]):
            to, b = higher[i] % reducers, bucket_of(bounds, higher[i])
            if seen[to, b] != x + 1:
                seen[to, b] = x + 1
                sizes[to, b] += head + start[x + 1] - start[x]


@kernel
def sum_loads(start, higher, loads):  # loads int64 (n,)
    """Sum for each vertex the lengths of the pivot messages that it uses."""
    for x in range(len(start) - 1):
        for i in range(start[x], start[x + 1]):
            loads[higher[i]] += start[x + 1] - start[x]


@kernel
def sort_lists(start, higher):
    """Sort each list."""
    for x in range(len(start) - 1):
        higher[start[x] : start[x + 1]].sort()


@kernel
def list_lower_neighbours(start, higher, lower_start, lower):
    """Write at each vertex those of lower degree, ascending."""
    for e in range(len(higher)):
        lower_start[higher[e] + 1] += 1
    for x in range(1, len(lower_start)):
        lower_start[x] += lower_start[x - 1]
    at = lower_start[:-1].copy()
    for x in range(len(start) - 1):
        for i in range(start[x], start[x + 1]):
            lower[at[higher[i]]] = x
            at[higher[i]] += 1
