"""The exact b-nearest search: a block of records against the tree of all distinct records."""

import numpy as np
from numba import prange

from anon_core.kernels.jit import kernel, parallel_kernel
from anon_core.kernels.select import keep_smallest

LANES = 32  # records of a block, two vectors of int32: fewer visit less of the tree each, more share a visit (measured)


@kernel
def number_nodes(distinct, change, skip):  # distinct (rows, attributes), sorted; change (rows,), skip (rows, attributes)
    """The tree of sorted rows: a node of depth d is a run of rows that agree in attributes 0 .. d.

    change[r] = first attribute in which row r differs from the row before; skip[r, d] = first row after the node of depth d
    that row r lies in.
    """
    rows, attributes = distinct.shape
    change[0] = 0
    for row in range(1, rows):
        d = 0
        while distinct[row, d] == distinct[row - 1, d]:
            d += 1
        change[row] = d
    skip[rows - 1, :] = rows
    for row in range(rows - 2, -1, -1):
        for d in range(attributes):
            skip[row, d] = skip[row + 1, d] if change[row + 1] > d else row + 1


@parallel_kernel
def least_steps(table, rows, starts, stops, first, change, least):
    # table (blocks, levels, LANES), rows (n, attributes), starts, stops (attributes,), least (distinct, attributes)
    """least[r, d] = least that any record below the node of depth d at row r pays for meeting another level there."""
    distinct, attributes = least.shape
    for row in prange(distinct):
        for d in range(attributes):
            lowest = np.int32(2**30)
            for record in range(first[row], first[row + 1]):
                own = rows[record, d]
                for level in range(starts[d], stops[d]):
                    if level != own:
                        lowest = min(lowest, table[record // LANES, level, record % LANES])
            least[row, d] = lowest
    for d in prange(attributes):
        for row in range(distinct - 2, -1, -1):
            if change[row + 1] > d:
                least[row, d] = min(least[row, d], least[row + 1, d])


@kernel
def descend(above, cost, own, level, theirs, limits, below):  # all (LANES,) but level and theirs
    """Add one node's costs to the bounds of a block; returns how many records stay within their limit."""
    within = 0
    for lane in range(LANES):
        bound = above[lane] + cost[lane] + (theirs if own[lane] != level else np.int32(0))
        below[lane] = bound
        within += np.int64(bound <= limits[lane])
    return within


@kernel
def pair_cost(table, rows, i, j):
    """E of two records, by place."""
    cost = np.int32(0)
    for a in range(rows.shape[1]):
        cost += table[i // LANES, rows[j, a], i % LANES] + table[j // LANES, rows[i, a], j % LANES]
    return cost


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


@kernel
def search_tree(block, table, rows, own, distinct, first, change, skip, least, vertex, b, limits, keys, sizes):
    """Walk the tree depth first for one block; leave a subtree as soon as its bound passes everybody's limit."""
    attributes = rows.shape[1]
    bounds = np.zeros((attributes + 1, LANES), dtype=np.int32)
    start = block * LANES
    row = 0
    while row < len(distinct):
        d = change[row]
        while d < attributes:
            level = distinct[row, d]
            if not descend(bounds[d], table[block, level], own[block, d], level, least[row, d], limits, bounds[d + 1]):
                break
            d += 1
        if d < attributes:
            row = skip[row, d]
            continue
        for lane in range(min(LANES, len(rows) - start)):
            if bounds[attributes, lane] > limits[lane]:
                continue
            i = start + lane
            for j in range(first[row], first[row + 1]):
                if j != i:
                    cost = pair_cost(table, rows, i, j)
                    if cost <= limits[lane]:
                        push(keys, sizes, limits, lane, b[i], cost, vertex[j])
        row += 1


@parallel_kernel
def nearest(table, rows, own, distinct, first, change, skip, least, vertex, b, limit, indptr, neighbours, costs):
    # rows (n, attributes), own (blocks, attributes, LANES); vertex, b, limit (n,) by place; indptr (n + 1,) by vertex
    """For every record the b records of smallest (E_ij, vertex j), ascending.

    `limit` holds an upper bound of each record's b-th smallest E. A node bounds E from below: what i pays for meeting its
    levels, and the least that anyone below it pays for meeting i's.
    """
    n = len(rows)
    for block in prange(len(table)):
        start, count = block * LANES, min(LANES, n - block * LANES)
        widest = 0
        limits = np.full(LANES, np.int32(-1), dtype=np.int32)
        for lane in range(count):
            widest = max(widest, b[start + lane])
            if b[start + lane] > 0:
                limits[lane] = limit[start + lane]
        if widest == 0:
            continue
        keys = np.empty((LANES, 2 * widest + 64), dtype=np.int64)
        sizes = np.zeros(LANES, dtype=np.int64)
        search_tree(block, table, rows, own, distinct, first, change, skip, least, vertex, b, limits, keys, sizes)
        for lane in range(count):
            wanted = b[start + lane]
            if wanted == 0:
                continue
            keep_smallest(keys[lane], sizes[lane], wanted)
            best = np.sort(keys[lane, :wanted])
            slot = indptr[vertex[start + lane]]
            for rank in range(wanted):
                neighbours[slot + rank] = np.int32(best[rank] & 0xFFFFFFFF)
                costs[slot + rank] = np.int32(best[rank] >> 32)


@parallel_kernel
def limits_nearby(table, rows, b, limit):
    """limit[i] = b-th smallest E among 2 b + 32 records around place i: an upper bound of the b-th smallest of all."""
    n = len(rows)
    for i in prange(n):
        if b[i] == 0:
            continue
        width = min(n - 1, 2 * b[i] + 32)
        low = max(0, min(i - width // 2, n - 1 - width))
        keys = np.empty(width, dtype=np.int64)
        size = 0
        for j in range(low, low + width + 1):
            if j != i:
                keys[size] = (np.int64(pair_cost(table, rows, i, j)) << 32) | np.int64(j)
                size += 1
        limit[i] = np.int32(keep_smallest(keys, size, b[i]) >> 32)


@parallel_kernel
def limits_listed(table, rows, place, indptr, neighbours, limit):
    """limit[place of v] = greatest E between vertex v and the b vertices listed for it: likewise an upper bound."""
    for v in prange(len(place)):
        most = np.int32(0)
        for slot in range(indptr[v], indptr[v + 1]):
            most = max(most, pair_cost(table, rows, place[v], place[neighbours[slot]]))
        limit[place[v]] = most
