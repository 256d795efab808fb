"""Edge lists: closure of neighbour lists, reverse delete, what differs at their ends."""

import numpy as np

from anon_core.jit.kernel import kernel, parallel_kernel


@kernel
def closure_edges(indptr, neighbours, costs, u, v, weight):
    # indptr int64 (n + 1,); neighbours, costs int32 (sum b,); u, v, weight int32 (sum b,): filled
    """Write the union of the neighbour lists as undirected edges, u < v; returns their number.

    Lists ascend by (cost, neighbour). An edge of i and a smaller neighbour j is written from j's
    list if that holds i, which it does if (cost, i) does not exceed its last entry.
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
                listed = last >= indptr[j] and (
                    cost < costs[last] or (cost == costs[last] and i <= neighbours[last])
                )
                if not listed:
                    u[m], v[m], weight[m] = j, i, cost
                    m += 1
    return m


@kernel
def count_edges(u, v, degree):  # degree (n,): added to
    """Count the edges at each vertex."""
    for e in range(len(u)):
        degree[u[e]] += 1
        degree[v[e]] += 1


@parallel_kernel(lambda keys: len(keys))
def pack_edges(begin, end, u, v, weight, width, keys):  # keys (m,) int64: filled
    """keys[e] = weight, u and v of an edge in one number, u and v in `width` bits each."""
    for e in range(begin, end):
        keys[e] = ((np.int64(weight[e]) << width | np.int64(u[e])) << width) | np.int64(v[e])


@parallel_kernel(lambda keys: len(keys))
def unpack_edges(begin, end, keys, width, u, v, weight):  # u, v, weight (m,): filled
    """The edges that were packed."""
    low = (np.int64(1) << width) - 1
    for e in range(begin, end):
        u[e], v[e], weight[e] = (keys[e] >> width) & low, keys[e] & low, keys[e] >> 2 * width


@kernel
def reverse_delete(u, v, weight, spare):  # spare (n,): degree - b, consumed
    """Delete edges from the last to the first while both ends have spare edges.

    What is left moves to the end of the arrays; returns where it begins.
    """
    begin = len(u)
    for e in range(len(u) - 1, -1, -1):
        i, j = u[e], v[e]
        if spare[i] > 0 and spare[j] > 0:
            spare[i] -= 1
            spare[j] -= 1
        else:
            begin -= 1
            u[begin], v[begin], weight[begin] = i, j, weight[e]
    return begin


@parallel_kernel(lambda codes: codes.shape[0])
def count_differences(
    begin, end, u, v, codes, bit_offsets, ordinal, parents, counts
):  # codes (attributes, n), parents (f,), counts (f, n) zeroed
    """counts[l, i] = number of neighbours of i that differ from it in feature l, at most 65535."""
    # One attribute a task: its features belong to it alone, so no two threads meet.
    for a in range(begin, end):
        code, start = codes[a], bit_offsets[a]
        for e in range(len(u)):
            x, y = code[u[e]], code[v[e]]
            if x == y:
                continue
            if ordinal[a]:
                for bit in range(start + min(x, y), start + max(x, y)):
                    increment_count(counts[bit], u[e])
                    increment_count(counts[bit], v[e])
            else:
                one, other = np.int64(x), np.int64(y)
                # Both paths up to the node that they share; without a tree one bit each.
                while one != other:
                    bit = start + min(one, other)
                    increment_count(counts[bit], u[e])
                    increment_count(counts[bit], v[e])
                    if one < other:
                        one = np.int64(parents[bit])
                    else:
                        other = np.int64(parents[bit])


@kernel
def increment_count(row, i):
    """Add one, stopping at the largest uint16."""
    if row[i] < 65535:
        row[i] += 1


@kernel
def hide_apart(u, v, bits, hidden):  # bits, hidden (n, words)
    """Hide at both ends of every edge what they differ in."""
    for e in range(len(u)):
        i, j = np.uintp(u[e]), np.uintp(v[e])
        for w in range(bits.shape[1]):
            word = bits[i, w] ^ bits[j, w]
            hidden[i, w] |= word
            hidden[j, w] |= word


@parallel_kernel(lambda hidden: hidden.shape[1])
def hide_differences(
    begin, end, counts, blank, bit_offsets, hidden
):  # counts (f, n), blank (attributes, n), hidden (n, words) zeroed
    """Hide every feature in which a neighbour differs and every feature of a blank cell."""
    n = counts.shape[1]
    for word in range(begin, end):
        for a in range(blank.shape[0]):
            for bit in range(
                max(bit_offsets[a], 64 * word), min(bit_offsets[a + 1], 64 * word + 64)
            ):
                flag = np.uint64(1) << np.uint64(bit & 63)
                for i in range(n):
                    if counts[bit, i] > 0 or blank[a, i]:
                        hidden[i, word] |= flag


@parallel_kernel(lambda blank: blank.shape[0])
def count_hidden(
    begin, end, counts, blank, bit_offsets, per_bit, per_cell
):  # per_bit (f,), per_cell (attributes,)
    """Count the bits that `hide_differences` hides by feature, and touched cells by attribute."""
    for a in range(begin, end):
        touched = blank[a].copy()
        for bit in range(bit_offsets[a], bit_offsets[a + 1]):
            total = 0
            for i in range(len(touched)):
                hides = counts[bit, i] > 0 or blank[a, i]
                total += np.int64(hides)
                touched[i] |= hides
            per_bit[bit] = total
        cells = 0
        for i in range(len(touched)):
            cells += np.int64(touched[i])
        per_cell[a] = cells
