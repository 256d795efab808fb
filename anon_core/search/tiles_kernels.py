"""Compare blocks of 64 classes of records with each other, and keep lists of neighbours."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.jit.kernel import kernel
from anon_core.jit.lanes import (
    LANE_BITS,
    LANES,
    add_levels,
    add_within,
    lowest_lane,
    transpose_square,
)
from anon_core.search.costs_kernels import pick_levels
from anon_core.search.select_kernels import keep_smallest


class Tree(NamedTuple):
    """Records sorted by levels; a node of depth d is a run of rows equal in attributes 0 .. d."""

    distinct: NDArray[np.int32]  # (distinct rows, attributes), levels
    first: NDArray[np.int64]  # (distinct rows + 1,), place of the first record of each
    # (distinct rows,), first attribute in which a row differs from the row before
    change: NDArray[np.int32]
    # (distinct rows, attributes), first row after the node of depth d that a row lies in
    skip: NDArray[np.int32]


class LevelClasses(NamedTuple):
    """Records of equal levels and costs, in the order of the tree; the search compares them."""

    rows: NDArray[np.int32]  # (classes, attributes), levels
    own: NDArray[np.uint16]  # (blocks of classes, attributes, LANES), the same modulo 2^16
    first: NDArray[np.int64]  # (distinct rows + 1,), the first class of each row
    begin: NDArray[np.int64]  # (classes + 1,), where the members of each begin
    member: NDArray[np.int32]  # (n,), vertices, ascending within a class
    home: NDArray[np.int32]  # (n,), the class of each vertex


class NearestLists(NamedTuple):
    """The nearest neighbours so far of the classes of one block."""

    room: int  # keys that a list holds: twice the greatest `wanted` of the blocks, and SPARE
    # (LANES,), keys that each must hold; a class of several members holds itself, too
    wanted: NDArray[np.int64]
    keys: NDArray[np.int64]  # (LANES * room,), (E << 32) | vertex
    sizes: NDArray[np.int64]  # (LANES,)
    limits: NDArray[np.int64]  # (LANES,), upper bound of the greatest key wanted
    coarse: NDArray[np.uint16]  # (LANES,), its coarse E


class Scratch(NamedTuple):
    """Working memory of one block, uint16."""

    bounds: NDArray[np.uint16]  # ((attributes + 1) * LANES,), the first LANES stay zero
    square: NDArray[np.uint16]  # (LANES * LANES,)
    shared: NDArray[np.uint16]  # (LANES,), costs of the levels that all rows of the other share
    line: NDArray[np.uint16]  # (LANES,)


@kernel
def shrink_list(lists, lane, shift):
    """Keep the smallest keys of a list; the greatest of them is the new limit."""
    limit = keep_smallest(lists.keys, lane * lists.room, lists.sizes[lane], lists.wanted[lane])
    lists.sizes[lane] = lists.wanted[lane]
    lists.limits[lane] = limit
    lists.coarse[lane] = (limit >> 32) >> shift


@kernel
def count_shared(rows, i, j):
    """Count the leading attributes in which two rows agree."""
    d = 0
    while d < rows.shape[1] and rows[i, d] == rows[j, d]:
        d += 1
    return d


@kernel
def sum_square(classes, costs, block, other, alive, scratch):
    """square[j, i] = cost to class j of block `other` of the levels of class i of `block`.

    Only `alive` classes i are filled.
    """
    rows, table, attributes = classes.rows, costs.coarse, classes.rows.shape[1]
    zeros, square, shared = scratch.bounds, scratch.square, scratch.shared
    ours, theirs = block * LANES, other * table.shape[1] * LANES
    # Rows are sorted: what the first and the last row of a block share, all rows share.
    same = count_shared(rows, ours, min(len(rows), ours + LANES) - 1)
    add_levels(shared, 0, zeros, 0, table, theirs, rows, ours * attributes, same)
    mask = alive
    while mask:
        lane = lowest_lane(mask)
        mask &= mask - np.uint64(1)
        at = (ours + lane) * attributes + same
        add_levels(square, lane * LANES, shared, 0, table, theirs, rows, at, attributes - same)
    transpose_square(square)


@kernel
def compare_blocks(classes, costs, block, start, stop, alive, dense, lists, scratch):
    """Offer the members of classes start .. stop - 1, of one block, to `alive` classes of `block`.

    If `dense`, the other side's costs are summed for all pairs at once; else for each pair whose
    own side stays within the limit.
    """
    # The loops name, slice and pass on no array: counting references would take most of the time.
    rows, begin, member = classes.rows, classes.begin, classes.member
    table, fine, shift = costs.coarse, costs.fine, costs.shift
    keys, sizes, limits, coarse, room = (
        lists.keys,
        lists.sizes,
        lists.limits,
        lists.coarse,
        lists.room,
    )
    zeros, square, shared, line = scratch.bounds, scratch.square, scratch.shared, scratch.line
    attributes, wide = rows.shape[1], table.shape[1] * LANES
    ours, other = block * LANES, start >> LANE_BITS
    if dense:
        sum_square(classes, costs, block, other, alive, scratch)
    same = count_shared(rows, start, stop - 1)
    add_levels(shared, 0, zeros, 0, table, block * wide, rows, start * attributes, same)
    for j in range(start, stop):
        add_levels(
            line, 0, shared, 0, table, block * wide, rows, j * attributes + same, attributes - same
        )
        at = j - other * LANES
        mask = alive & (
            add_within(line, 0, square, at * LANES, coarse)
            if dense
            else add_within(line, 0, zeros, 0, coarse)
        )
        while mask:
            lane = lowest_lane(mask)
            mask &= mask - np.uint64(1)
            i = ours + lane
            if i == j and begin[j + 1] - begin[j] == 1:
                continue
            cost = np.int64(line[lane])
            if not dense:
                cost += pick_levels(table, other, at, rows, i)
            if shift:
                cost <<= shift
                cost += pick_levels(fine, other, at, rows, i)
                cost += pick_levels(fine, block, lane, rows, j)
            for place in range(begin[j], begin[j + 1]):
                key = (cost << 32) | np.int64(member[place])
                if key > limits[lane]:
                    break  # members ascend
                size = sizes[lane]
                keys[lane * room + size] = key
                sizes[lane] = size + 1
                if size + 1 == room:
                    shrink_list(lists, lane, shift)
