"""The exact b-nearest search: blocks of 64 records against the tree of all distinct records."""

from typing import NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from anon_core.kernels.jit import kernel, parallel_kernel
from anon_core.kernels.lanes import (
    LANE_BITS,
    LANES,
    add_levels,
    add_step,
    add_within,
    lanes_in,
    lowest_lane,
    pick_levels,
    transpose,
)
from anon_core.kernels.select import keep_smallest

DENSE = 96  # pairs left in a block from which on summing all 64 x 64 is cheaper than one by one (measured)
SPARE = 64  # keys that a list has room for beside twice b
STRETCH = 2**18  # bytes of costs that a group of blocks reads before it goes on: they stay in a second-level cache


class Tree(NamedTuple):
    """Records sorted by their levels; a node of depth d is a run of distinct rows that agree in attributes 0 .. d."""

    rows: NDArray[np.int32]  # (n, attributes), levels by place
    own: NDArray[np.uint16]  # (blocks, attributes, LANES), the same modulo 2^16
    distinct: NDArray[np.int32]  # (distinct rows, attributes)
    first: NDArray[np.int64]  # (distinct rows + 1,), place of the first record of each
    change: NDArray[np.int32]  # (distinct rows,), first attribute in which a row differs from the row before
    skip: NDArray[np.int32]  # (distinct rows, attributes), first row after the node of depth d that a row lies in


class Lists(NamedTuple):
    """The neighbours found so far for the records of one block."""

    room: int  # keys that a list holds: twice the greatest b of the group of blocks, and SPARE
    keys: NDArray[np.int64]  # (LANES * room,), (E << 32) | vertex
    sizes: NDArray[np.int64]  # (LANES,)
    limits: NDArray[np.int64]  # (LANES,), upper bound of the b-th smallest key
    coarse: NDArray[np.uint16]  # (LANES,), its coarse E


class Scratch(NamedTuple):
    """Working memory of one block, uint16."""

    bounds: NDArray[np.uint16]  # ((attributes + 1) * LANES,), the first LANES stay zero
    square: NDArray[np.uint16]  # (LANES * LANES,)
    shared: NDArray[np.uint16]  # (LANES,), what a block pays for the levels that all rows of the other share
    line: NDArray[np.uint16]  # (LANES,)


@kernel
def number_nodes(distinct, change, skip):  # distinct (rows, attributes), sorted
    """Fill `change` and `skip` of a tree."""
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
def least_steps(coarse, tree, starts, stops, least):  # starts, stops (attributes,), least (distinct rows, attributes)
    """least[r, d] = least coarse cost that any record below the node of depth d at row r pays for another level there."""
    distinct, attributes = least.shape
    for row in prange(distinct):
        for d in range(attributes):
            lowest = np.uint16(65535)
            for record in range(tree.first[row], tree.first[row + 1]):
                own = tree.rows[record, d]
                for level in range(starts[d], stops[d]):
                    if level != own:
                        lowest = min(lowest, coarse[record // LANES, level, record % LANES])
            least[row, d] = lowest
    for d in prange(attributes):
        for row in range(distinct - 2, -1, -1):
            if tree.change[row + 1] > d:
                least[row, d] = min(least[row, d], least[row + 1, d])


@kernel
def shrink(lists, lane, b, shift):
    """Keep the b smallest of a record's keys, and limit what comes to the greatest of them."""
    limit = keep_smallest(lists.keys, lane * lists.room, lists.sizes[lane], b)
    lists.sizes[lane] = b
    lists.limits[lane] = limit
    lists.coarse[lane] = (limit >> 32) >> shift


@kernel
def count_shared(rows, i, j):
    """How many leading attributes two rows share."""
    d = 0
    while d < rows.shape[1] and rows[i, d] == rows[j, d]:
        d += 1
    return d


@kernel
def sum_square(tree, costs, block, other, alive, scratch):
    """square[j, i] = what record j of block `other` pays for the levels of record i of `block`, for `alive` i."""
    rows, table, attributes = tree.rows, costs.coarse, tree.rows.shape[1]
    zeros, square, shared = scratch.bounds, scratch.square, scratch.shared
    ours, theirs = block * LANES, other * table.shape[1] * LANES
    # Sorted: what the first and the last row of a block begin with, all begin with.
    same = count_shared(rows, ours, min(len(rows), ours + LANES) - 1)
    add_levels(shared, 0, zeros, 0, table, theirs, rows, ours * attributes, same)
    mask = alive
    while mask:
        lane = lowest_lane(mask)
        mask &= mask - np.uint64(1)
        at = (ours + lane) * attributes + same
        add_levels(square, lane * LANES, shared, 0, table, theirs, rows, at, attributes - same)
    transpose(square)


@kernel
def compare(tree, costs, block, start, stop, alive, dense, vertex, b, lists, scratch):
    """Offer the records of places start .. stop - 1, of one block, to the `alive` records of `block`.

    Dense: what the others pay is summed for all pairs at once; else only where a record's own side stays within its limit.
    """
    # No array is named, sliced or passed on within the loops: counting references would take longer than all the rest.
    rows, table, fine, shift = tree.rows, costs.coarse, costs.fine, costs.shift
    keys, sizes, limits, coarse, room = lists.keys, lists.sizes, lists.limits, lists.coarse, lists.room
    zeros, square, shared, line = scratch.bounds, scratch.square, scratch.shared, scratch.line
    attributes, wide = rows.shape[1], table.shape[1] * LANES
    ours, other = block * LANES, start >> LANE_BITS
    if dense:
        sum_square(tree, costs, block, other, alive, scratch)
    same = count_shared(rows, start, stop - 1)
    add_levels(shared, 0, zeros, 0, table, block * wide, rows, start * attributes, same)
    for j in range(start, stop):
        add_levels(line, 0, shared, 0, table, block * wide, rows, j * attributes + same, attributes - same)
        at = j - other * LANES
        mask = alive & (add_within(line, 0, square, at * LANES, coarse) if dense else add_within(line, 0, zeros, 0, coarse))
        while mask:
            lane = lowest_lane(mask)
            mask &= mask - np.uint64(1)
            i = ours + lane
            if i == j:
                continue
            cost = np.int64(line[lane])
            if not dense:
                cost += pick_levels(table, other * wide + at, rows, i * attributes, attributes)
            if shift:
                cost <<= shift
                cost += pick_levels(fine, other * wide + at, rows, i * attributes, attributes)
                cost += pick_levels(fine, block * wide + lane, rows, j * attributes, attributes)
            key = (cost << 32) | np.int64(vertex[j])
            if key <= limits[lane]:
                size = sizes[lane]
                keys[lane * room + size] = key
                sizes[lane] = size + 1
                if size + 1 == room:
                    shrink(lists, lane, b[i], shift)


@kernel
def walk(tree, costs, least, block, start, stop, alive, vertex, b, lists, scratch):
    """Offer the records of places start .. stop - 1, both multiples of LANES or the end, to the `alive` ones of a block.

    Depth first; a subtree is left as soon as its bound passes everybody's limit, and where many pairs of a small one are
    still within, its blocks are compared as a whole.
    """
    distinct, first, change, skip, own = tree.distinct, tree.first, tree.change, tree.skip, tree.own
    table, bounds, limits = costs.coarse, scratch.bounds, lists.coarse
    attributes, wide, n = distinct.shape[1], table.shape[1] * LANES, len(tree.rows)
    row, done, d = np.searchsorted(first, start, "right") - 1, start, 0
    while done < stop:
        end, after = done, row
        while d < attributes:
            level = np.int64(distinct[row, d])
            mask = alive & add_step(
                bounds, d, table, block * wide + level * LANES, own, (block * attributes + d) * LANES,
                level, np.int64(least[row, d]), limits,
            )  # fmt: skip
            after = np.int64(skip[row, d])
            end = min(stop, first[after])
            if mask == 0:
                break
            d += 1
            small = d == attributes or end - done <= LANES
            dense = small and lanes_in(mask) * (end - done) >= DENSE
            if dense:  # to the end of the block: it costs little more
                mask, end = alive, min(n, ((end - 1) >> LANE_BITS) + 1 << LANE_BITS)
            if dense or d == attributes:
                while done < end:
                    border = min(end, (done >> LANE_BITS) + 1 << LANE_BITS)
                    compare(tree, costs, block, done, border, mask, dense, vertex, b, lists, scratch)
                    done = border
                break
        done = end
        if done >= stop:
            break
        if done == first[after]:
            row, d = after, np.int64(change[after])
        else:  # whole blocks end anywhere
            d = min(d, attributes - 1)
            while first[row + 1] <= done:
                row += 1
                d = min(d, np.int64(change[row]))


@kernel
def limit_by_listed(tree, costs, block, vertex, place, b, indptr, listed, lists):
    """Bound the b-th smallest key of a block's records by the greatest among b others."""
    rows, table, fine, shift = tree.rows, costs.coarse, costs.fine, costs.shift
    limits, coarse = lists.limits, lists.coarse
    attributes, wide = rows.shape[1], table.shape[1] * LANES
    for lane in range(min(LANES, len(rows) - block * LANES)):
        i = block * LANES + lane
        greatest, start = np.int64(0), indptr[vertex[i]]
        for slot in range(start, start + b[i]):
            j = place[listed[slot]]
            at = (j >> LANE_BITS) * wide + (j & (LANES - 1))
            cost = pick_levels(table, at, rows, i * attributes, attributes)
            cost += pick_levels(table, block * wide + lane, rows, j * attributes, attributes)
            if shift:
                cost <<= shift
                cost += pick_levels(fine, at, rows, i * attributes, attributes)
                cost += pick_levels(fine, block * wide + lane, rows, j * attributes, attributes)
            greatest = max(greatest, (cost << 32) | np.int64(listed[slot]))
        limits[lane] = greatest
        coarse[lane] = (greatest >> 32) >> shift


@kernel
def begin_block(tree, costs, block, alive, vertex, place, b, indptr, listed, lists, scratch):
    """Bound a block's lists by what was near before, then offer the blocks beside it; returns the first and the last + 1."""
    n, blocks = len(tree.rows), len(costs.coarse)
    ours, count = block * LANES, min(LANES, n - block * LANES)
    if len(listed):
        limit_by_listed(tree, costs, block, vertex, place, b, indptr, listed, lists)
    widest = 0
    for lane in range(count):
        widest = max(widest, b[ours + lane])
    reach = widest // LANES + 1
    low = max(0, min(block - (reach + 1) // 2, blocks - 1 - reach))
    high = min(blocks, low + reach + 1)
    for step in range(high - low):
        other = low + (block - low + step) % (high - low)
        start, stop = other * LANES, min(n, other * LANES + LANES)
        compare(tree, costs, block, start, stop, alive, True, vertex, b, lists, scratch)
        for lane in range(count):
            if 0 < b[ours + lane] <= lists.sizes[lane] - (SPARE if len(listed) else 0):
                shrink(lists, lane, b[ours + lane], costs.shift)
    return low, high


@kernel
def end_block(tree, costs, block, vertex, b, indptr, lists, neighbours, costs_found):
    """Write the lists of a block, ascending."""
    for lane in range(min(LANES, len(tree.rows) - block * LANES)):
        i = block * LANES + lane
        wanted, start, slot = b[i], lane * lists.room, indptr[vertex[i]]
        if wanted > 0:
            shrink(lists, lane, wanted, costs.shift)
            best = np.sort(lists.keys[start : start + wanted])
            for rank in range(wanted):
                neighbours[slot + rank] = np.int32(best[rank] & 0xFFFFFFFF)
                costs_found[slot + rank] = np.int32(best[rank] >> 32)


@kernel
def search_blocks(tree, costs, least, first, last, vertex, place, b, indptr, listed, neighbours, costs_found):
    """Find the lists of blocks first .. last - 1, which pass over the table together; see `nearest`."""
    n, attributes = tree.rows.shape
    group, widest = last - first, 0
    alive, low, high = np.zeros(group, dtype=np.uint64), np.zeros(group, dtype=np.int64), np.zeros(group, dtype=np.int64)
    for i in range(first * LANES, min(n, last * LANES)):
        if b[i] > 0:
            widest = max(widest, b[i])
            alive[(i >> LANE_BITS) - first] |= np.uint64(1) << np.uint64(i & (LANES - 1))
    room = 2 * widest + SPARE
    keys, sizes = np.empty((group, LANES * room), dtype=np.int64), np.zeros((group, LANES), dtype=np.int64)
    limits = np.full((group, LANES), np.iinfo(np.int64).max, dtype=np.int64)
    coarse = np.full((group, LANES), np.iinfo(np.uint16).max, dtype=np.uint16)
    scratch = Scratch(
        np.zeros((attributes + 1) * LANES, dtype=np.uint16),
        np.zeros(LANES * LANES, dtype=np.uint16),
        np.zeros(LANES, dtype=np.uint16),
        np.zeros(LANES, dtype=np.uint16),
    )
    for g in range(group):
        if alive[g]:
            lists = Lists(room, keys[g], sizes[g], limits[g], coarse[g])
            low[g], high[g] = begin_block(
                tree, costs, first + g, alive[g], vertex, place, b, indptr, listed, lists, scratch
            )  # fmt: skip
    stretch = LANES * max(1, STRETCH // (2 * LANES * costs.coarse.shape[1]))
    for start in range(0, n, stretch):
        stop = min(n, start + stretch)
        for g in range(group):
            if alive[g]:
                lists = Lists(room, keys[g], sizes[g], limits[g], coarse[g])
                before, after = min(stop, low[g] * LANES), max(start, high[g] * LANES)
                if start < before:
                    walk(tree, costs, least, first + g, start, before, alive[g], vertex, b, lists, scratch)
                if after < stop:
                    walk(tree, costs, least, first + g, after, stop, alive[g], vertex, b, lists, scratch)
    for g in range(group):
        if alive[g]:
            lists = Lists(room, keys[g], sizes[g], limits[g], coarse[g])
            end_block(tree, costs, first + g, vertex, b, indptr, lists, neighbours, costs_found)


@parallel_kernel
def nearest(tree, costs, least, vertex, place, b, indptr, listed, begin, end, group, neighbours, costs_found):
    # tree: Tree, costs: Costs, least: of `least_steps`; vertex, b (n,) by place; place (n,), indptr (n + 1,) by vertex;
    # listed, neighbours, costs_found (sum b,)
    """For every record of blocks begin .. end - 1 the b records of smallest (E_ij, vertex j), ascending.

    `listed` holds b vertices that were near under other costs, or nothing. A node bounds E from below: what i pays for
    meeting its levels, and the least that anyone below it pays for meeting i's. Groups of blocks share what they read.
    """
    for first in prange((end - begin + group - 1) // group):
        start = begin + first * group
        search_blocks(
            tree, costs, least, start, min(end, start + group), vertex, place, b, indptr, listed, neighbours, costs_found
        )  # fmt: skip
