"""Edge lists: closure of neighbour lists, stable order, reverse delete."""

import numpy as np
from numba import prange

from anon_core.kernels.jit import kernel, parallel_kernel


@kernel
def closure_edges(indptr, neighbours, costs, u, v, weight):
    """Union of the neighbour lists as undirected edges with u < v; returns how many.

    Lists ascend by (cost, neighbour). The pair of i and a smaller neighbour j is written from j's list where that holds i:
    where (cost, i) does not exceed j's last entry.
    """
    m = 0
    for i in range(len(indptr) - 1):
        for slot in range(indptr[i], indptr[i + 1]):
            j, cost = neighbours[slot], costs[slot]
            if j > i:
                u[m], v[m], weight[m] = i, j, cost
                m += 1
            else:
                last = indptr[j + 1] - 1
                listed = last >= indptr[j] and (cost < costs[last] or (cost == costs[last] and i <= neighbours[last]))
                if not listed:
                    u[m], v[m], weight[m] = j, i, cost
                    m += 1
    return m


@kernel
def stable_order(values, order):
    """Sort `order` by values[order] ascending, stably: least significant digit first, 16 bits a digit."""
    top = 0
    for value in values:
        top = max(top, value)
    count = np.empty(65537, dtype=np.int64)
    other = np.empty_like(order)
    shift = 0
    while top >> shift:
        count[:] = 0
        for value in values:
            count[((value >> shift) & 0xFFFF) + 1] += 1
        for digit in range(65536):
            count[digit + 1] += count[digit]
        for item in order:
            digit = (values[item] >> shift) & 0xFFFF
            other[count[digit]] = item
            count[digit] += 1
        order[:] = other
        shift += 16


@kernel
def reverse_delete(order, u, v, spare, kept):  # spare (n,): degree - b, consumed; kept (m,) True
    """Delete edges from the last of `order` to the first while both ends have spare edges."""
    for index in range(len(order) - 1, -1, -1):
        e = order[index]
        if spare[u[e]] > 0 and spare[v[e]] > 0:
            spare[u[e]] -= 1
            spare[v[e]] -= 1
            kept[e] = False


@parallel_kernel
def count_differences(u, v, codes, bit_offsets, ordinal, counts):  # codes (attributes, n), counts (f, n) zeroed
    """counts[l, i] = number of neighbours of i that differ from it in feature l, at most 65535."""
    # One attribute a task: its features belong to it alone, so no two threads meet.
    for a in prange(codes.shape[0]):
        code, start = codes[a], bit_offsets[a]
        for e in range(len(u)):
            x, y = code[u[e]], code[v[e]]
            if x == y:
                continue
            if ordinal[a]:
                for bit in range(start + min(x, y), start + max(x, y)):
                    increment(counts[bit], u[e])
                    increment(counts[bit], v[e])
            else:
                increment(counts[start + x], u[e])
                increment(counts[start + x], v[e])
                increment(counts[start + y], u[e])
                increment(counts[start + y], v[e])


@kernel
def increment(row, i):
    """Add one, stopping at the largest uint16."""
    if row[i] < 65535:
        row[i] += 1


@parallel_kernel
def hide_differences(counts, blank, bit_offsets, hidden):  # counts (f, n), blank (attributes, n), hidden (n, words) zeroed
    """Hide every feature in which a neighbour differs and every feature of a blank cell."""
    n = counts.shape[1]
    for word in prange(hidden.shape[1]):
        for a in range(blank.shape[0]):
            for bit in range(max(bit_offsets[a], 64 * word), min(bit_offsets[a + 1], 64 * word + 64)):
                flag = np.uint64(1) << np.uint64(bit & 63)
                for i in range(n):
                    if counts[bit, i] > 0 or blank[a, i]:
                        hidden[i, word] |= flag


@parallel_kernel
def count_hidden(counts, blank, bit_offsets, per_bit, per_cell):  # per_bit (f,), per_cell (attributes,)
    """Count by feature what `hide_differences` hides, and by attribute the cells of which it hides anything."""
    for a in prange(blank.shape[0]):
        touched = blank[a].copy()
        for bit in range(bit_offsets[a], bit_offsets[a + 1]):
            total = 0
            for i in range(len(touched)):
                hides = counts[bit, i] > 0 or blank[a, i]
                total += np.int64(hides)
                touched[i] |= hides
            per_bit[bit] = total
        per_cell[a] = touched.sum()
