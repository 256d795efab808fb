"""The exact b-nearest search: one tile of records against another at a time."""

import numpy as np
from numba import prange

from anon_core.kernels.jit import kernel, parallel_kernel
from anon_core.kernels.select import keep_smallest

LANES = 64  # records of a block: a tile of 64 x 64 int32 fills half of a 32 KiB first-level cache
SPARSE = 400  # of 4096 pairs of a tile; fewer survivors are summed one by one (measured, docs/performance.md)


@kernel
def own_side(table, block, codes, first, stop, sums):  # sums (LANES, LANES)
    """sums[r, lane] = what meeting record first + r costs the records of `block` on their own side."""
    attributes = codes.shape[1]
    for row in range(stop - first):
        out = sums[row]
        out[:] = table[block, codes[first + row, 0]]
        a = 1
        while a + 3 < attributes:
            s, t = table[block, codes[first + row, a]], table[block, codes[first + row, a + 1]]
            x, y = table[block, codes[first + row, a + 2]], table[block, codes[first + row, a + 3]]
            for lane in range(LANES):
                out[lane] += s[lane] + t[lane] + x[lane] + y[lane]
            a += 4
        while a < attributes:
            s = table[block, codes[first + row, a]]
            for lane in range(LANES):
                out[lane] += s[lane]
            a += 1


@kernel
def count_within(sums, rows, limit):
    """How many pairs of a tile stay within their record's limit."""
    total = 0
    for row in range(rows):
        within = 0
        for lane in range(LANES):
            within += np.int32(sums[row, lane] <= limit[lane])
        total += within
    return total


@kernel
def push(keys, sizes, limits, lane, b, cost, neighbour):
    """Offer one neighbour to a record's buffer; shrink a full buffer to the b smallest and tighten the limit."""
    size = sizes[lane]
    keys[lane, size] = (np.int64(cost) << 32) | np.int64(neighbour)
    size += 1
    if size == 2 * b + 64:
        limits[lane] = np.int32(keep_smallest(keys[lane], size, b) >> 32)
        size = b
    sizes[lane] = size


@parallel_kernel
def nearest(table, codes, vertex, b, limit, indptr, neighbours, costs):
    # table (blocks, levels, LANES), codes (n, attributes) with level offsets added, all in layout order;
    # vertex, b, limit (n,) in layout order; indptr (n + 1,) by vertex; neighbours, costs (indptr[-1],)
    """For every record the b records of smallest (E_ij, vertex j), ascending.

    `limit` holds an upper bound of each record's b-th smallest E (or the largest int32). E_ij is summed from i's own
    side for a whole tile; only pairs whose own side stays within the limit need j's side.
    """
    n, attributes = codes.shape
    blocks = table.shape[0]
    for i_block in prange(blocks):
        i_first = i_block * LANES
        i_count = min(LANES, n - i_first)
        widest = 0
        for lane in range(i_count):
            widest = max(widest, b[i_first + lane])
        if widest == 0:
            continue
        keys = np.empty((LANES, 2 * widest + 64), dtype=np.int64)
        sizes = np.zeros(LANES, dtype=np.int64)
        limits = np.full(LANES, -1, dtype=np.int32)
        for lane in range(i_count):
            if b[i_first + lane] > 0:
                limits[lane] = limit[i_first + lane]
        mine = np.empty((LANES, LANES), dtype=np.int32)
        theirs = np.empty((LANES, LANES), dtype=np.int32)
        for step in range(blocks):  # the own block first: sorted neighbours tighten the limits early
            j_block = (i_block + step) % blocks
            j_first = j_block * LANES
            j_stop = min(n, j_first + LANES)
            own_side(table, i_block, codes, j_first, j_stop, mine)
            survivors = count_within(mine, j_stop - j_first, limits)
            if survivors == 0:
                continue
            dense = survivors > SPARSE
            if dense:
                own_side(table, j_block, codes, i_first, i_first + i_count, theirs)
            for j in range(j_first, j_stop):
                row = mine[j - j_first]
                for lane in range(i_count):
                    if row[lane] > limits[lane]:
                        continue
                    i = i_first + lane
                    if i == j:
                        continue
                    cost = row[lane]
                    if dense:
                        cost += theirs[lane, j - j_first]
                    else:
                        for a in range(attributes):
                            cost += table[j_block, codes[i, a], j - j_first]
                    if cost <= limits[lane]:
                        push(keys, sizes, limits, lane, b[i], cost, vertex[j])
        for lane in range(i_count):
            i = i_first + lane
            if b[i] == 0:
                continue
            keep_smallest(keys[lane], sizes[lane], b[i])
            best = np.sort(keys[lane, : b[i]])
            start = indptr[vertex[i]]
            for rank in range(b[i]):
                neighbours[start + rank] = np.int32(best[rank] & 0xFFFFFFFF)
                costs[start + rank] = np.int32(best[rank] >> 32)


@parallel_kernel
def edge_costs(table, codes, place, indptr, neighbours, largest):
    # codes (n, attributes) with level offsets added, in layout order; place (n,) vertex -> layout position
    """largest[v] = greatest E between vertex v and the neighbours listed for it, under the costs of `table`."""
    for v in prange(len(place)):
        i = place[v]
        most = np.int32(0)
        for slot in range(indptr[v], indptr[v + 1]):
            j = place[neighbours[slot]]
            cost = np.int32(0)
            for a in range(codes.shape[1]):
                cost += table[j // LANES, codes[i, a], j % LANES] + table[i // LANES, codes[j, a], i % LANES]
            most = max(most, cost)
        largest[v] = most
