"""The exact b-nearest search: blocks of 64 classes of records against the tree of all rows."""

import numpy as np

from anon_core.jit.bits import count_set_bits
from anon_core.jit.kernel import inlined, kernel, parallel_kernel
from anon_core.jit.lanes import LANE_BITS, LANES, add_step
from anon_core.search.costs_kernels import pick_levels
from anon_core.search.select_kernels import sort_keys
from anon_core.search.tiles_kernels import NearestLists, Scratch, compare_blocks, shrink_list

_DENSE = 96  # pairs left in a block from which on summing all 64 x 64 is cheaper (measured)
SPARE_KEYS = 64  # keys that a list has room for beside twice b
# Bytes of costs that a group of blocks reads before it goes on: they stay in a second-level cache.
_STRETCH = 2**18
# First search only: seed with so many times the neighbouring blocks; tighter bounds prune more.
_UNKNOWN = 4
_HIGHEST, _HIGHEST_COARSE = np.int64(2**63 - 1), np.uint16(2**16 - 1)


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


@kernel
def gather_classes(first, layout, alone, kept, class_first, begin, member, home):
    # first int64 (distinct rows + 1,); layout int64, alone bool (n,): by place
    # filled: kept int64 (n,), class_first (distinct rows + 1,), begin (n + 1,), member, home (n,)
    """Put each vertex that is `alone` into a class of its own, all others of a row into one class.

    kept[c] = the place of the first member of class c. Returns the number of classes.
    """
    classes, size = 0, 0
    for row in range(len(first) - 1):
        class_first[row] = classes
        for place in range(first[row], first[row + 1]):
            if not alone[place]:
                if class_first[row] == classes:
                    kept[classes], begin[classes] = place, size
                    classes += 1
                member[size], home[layout[place]] = layout[place], classes - 1
                size += 1
        for place in range(first[row], first[row + 1]):
            if alone[place]:
                kept[classes], begin[classes] = place, size
                member[size], home[layout[place]] = layout[place], classes
                size += 1
                classes += 1
    class_first[len(first) - 1], begin[classes] = classes, size
    return classes


@kernel
def find_neediest_member(classes, i, b):
    """The first member of class i with the greatest b."""
    v = classes.member[classes.begin[i]]
    for place in range(classes.begin[i] + 1, classes.begin[i + 1]):
        if b[classes.member[place]] > b[v]:
            v = classes.member[place]
    return v


@parallel_kernel(lambda least: len(least))
def least_of_rows(begin, end, coarse, tree, classes, starts, stops, least):
    # starts, stops (attributes,); least (distinct rows, attributes): filled
    """least[r, d] = least coarse cost to a class of row r of another level of attribute d."""
    for row in range(begin, end):
        for d in range(least.shape[1]):
            lowest = np.uint16(65535)
            for i in range(classes.first[row], classes.first[row + 1]):
                for level in range(starts[d], stops[d]):
                    if level != tree.distinct[row, d]:
                        lowest = min(lowest, coarse[i // LANES, level, i % LANES])
            least[row, d] = lowest


@parallel_kernel(lambda least: least.shape[1])
def least_of_nodes(begin, end, change, least):
    # change int32 (distinct rows,); least: of `least_of_rows`, changed
    """least[r, d] = minimum of least[s, d] over rows s from r to the end of the node of depth d."""
    for d in range(begin, end):
        for row in range(len(least) - 2, -1, -1):
            if change[row + 1] > d:
                least[row, d] = min(least[row, d], least[row + 1, d])


@kernel
def walk_tree(tree, classes, costs, least, block, start, stop, alive, lists, scratch):
    """Offer classes start .. stop - 1 to the `alive` classes of a block, depth first.

    start and stop are multiples of LANES, or the end. A subtree is left once its bound passes the
    limits of all alive classes. If many pairs of a small subtree are within the limits, its blocks
    are compared as a whole.
    """
    distinct, change, skip, first, own = (
        tree.distinct,
        tree.change,
        tree.skip,
        classes.first,
        classes.own,
    )
    table, bounds, limits = costs.coarse, scratch.bounds, lists.coarse
    attributes, wide, n = distinct.shape[1], table.shape[1] * LANES, len(classes.rows)
    row, done, d = np.searchsorted(first, start, "right") - 1, start, 0
    while done < stop:
        end, after = done, row
        while d < attributes:
            level = np.int64(distinct[row, d])
            cost, mine = block * wide + level * LANES, (block * attributes + d) * LANES
            step = np.int64(least[row, d])
            mask = alive & add_step(bounds, d, table, cost, own, mine, level, step, limits)
            after = np.int64(skip[row, d])
            end = min(stop, first[after])
            if mask == 0:
                break
            d += 1
            small = d == attributes or end - done <= LANES
            dense = small and count_set_bits(mask) * (end - done) >= _DENSE
            if dense:  # to the end of the block: it costs little more
                mask, end = alive, min(n, ((end - 1) >> LANE_BITS) + 1 << LANE_BITS)
            if dense or d == attributes:
                while done < end:
                    border = min(end, (done >> LANE_BITS) + 1 << LANE_BITS)
                    compare_blocks(classes, costs, block, done, border, mask, dense, lists, scratch)
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


@inlined
def limit_by_listed(classes, costs, block, b, indptr, listed, lists):
    """Limit each list of a block by the greatest key that its former neighbours have now.

    The member of greatest b counts for its class: its b former neighbours would do.
    """
    rows, home = classes.rows, classes.home
    table, fine, shift = costs.coarse, costs.fine, costs.shift
    limits, coarse = lists.limits, lists.coarse
    for lane in range(min(LANES, len(rows) - block * LANES)):
        i = block * LANES + lane
        v = find_neediest_member(classes, i, b)
        greatest = np.int64(v) if lists.wanted[lane] > b[v] else np.int64(0)  # itself, at no cost
        for slot in range(indptr[v], indptr[v] + b[v]):
            j = home[listed[slot]]
            other, at = j >> LANE_BITS, j & (LANES - 1)
            cost = pick_levels(table, other, at, rows, i)
            cost += pick_levels(table, block, lane, rows, j)
            if shift:
                cost <<= shift
                cost += pick_levels(fine, other, at, rows, i)
                cost += pick_levels(fine, block, lane, rows, j)
            greatest = max(greatest, (cost << 32) | np.int64(listed[slot]))
        limits[lane] = greatest
        coarse[lane] = (greatest >> 32) >> shift


@inlined
def begin_block(classes, costs, block, alive, most, listed, lists, scratch):
    """Offer a block the blocks beside it; returns the first of them and the last + 1.

    `most`: the greatest number of neighbours that a class of the block wants.
    """
    n, blocks, wanted = len(classes.rows), len(costs.coarse), lists.wanted
    reach = (most // LANES + 1) * (1 if len(listed) else _UNKNOWN)
    low = max(0, min(block - (reach + 1) // 2, blocks - 1 - reach))
    high = min(blocks, low + reach + 1)
    dense = low < high  # a constant would compile `compare_blocks` once more
    for step in range(high - low):
        other = low + (block - low + step) % (high - low)
        start, stop = other * LANES, min(n, other * LANES + LANES)
        compare_blocks(classes, costs, block, start, stop, alive, dense, lists, scratch)
        for lane in range(LANES):
            if 0 < wanted[lane] <= lists.sizes[lane] - (SPARE_KEYS if len(listed) else 0):
                shrink_list(lists, lane, costs.shift)
    return low, high


@inlined
def end_block(classes, costs, block, indptr, lists, neighbours, costs_found):
    """Write the lists of a block's members, ascending."""
    keys = lists.keys
    for lane in range(min(LANES, len(classes.rows) - block * LANES)):
        i, wanted, start = block * LANES + lane, lists.wanted[lane], lane * lists.room
        if wanted > 0:
            shrink_list(lists, lane, costs.shift)
            sort_keys(keys, start, wanted)
            for place in range(classes.begin[i], classes.begin[i + 1]):
                v = classes.member[place]
                slot, key = indptr[v], start
                while slot < indptr[v + 1]:
                    neighbours[slot] = np.int32(keys[key] & 0xFFFFFFFF)
                    costs_found[slot] = np.int32(keys[key] >> 32)
                    slot += np.int64(neighbours[slot] != v)  # the next key replaces v itself
                    key += 1


@parallel_kernel(lambda begin, end, group: (end - begin + group - 1) // group)
def search_nearest(
    first_group,
    last_group,
    tree,
    classes,
    costs,
    least,
    b,
    indptr,
    listed,
    begin,
    end,
    group,
    neighbours,
    costs_found,
):
    # tree: Tree; classes: Classes; costs: Costs of the classes; least: of `least_of_nodes`
    # b int32 (n,), indptr int64 (n + 1,), by vertex; listed, neighbours, costs_found int32 (sum b,)
    """List for every member of blocks begin .. end - 1 the b vertices of least (E_ij, vertex j).

    Lists ascend. `listed` holds b vertices that were near under other costs, or nothing. A node
    bounds E from below: what i pays for its levels, and the least that any class below it pays for
    the levels of i. `group` blocks pass over the table together and share what they read.
    """
    n, attributes = classes.rows.shape
    alive = np.zeros(group, dtype=np.uint64)
    bounds = np.zeros((2, group), dtype=np.int64)  # of the blocks beside each: already offered
    wanted, sizes = (
        np.empty((group, LANES), dtype=np.int64),
        np.empty((group, LANES), dtype=np.int64),
    )
    limits, coarse = (
        np.empty((group, LANES), dtype=np.int64),
        np.empty((group, LANES), dtype=np.uint16),
    )
    keys = np.empty((group, 0), dtype=np.int64)
    scratch = Scratch(
        np.zeros((attributes + 1) * LANES, dtype=np.uint16),
        np.zeros(LANES * LANES, dtype=np.uint16),
        np.zeros(LANES, dtype=np.uint16),
        np.zeros(LANES, dtype=np.uint16),
    )
    stretch = LANES * max(1, _STRETCH // (2 * LANES * costs.coarse.shape[1]))
    for number in range(first_group, last_group):
        first = begin + number * group
        last = min(end, first + group)
        most = np.int64(0)
        for g in range(group):
            alive[g] = 0
            for lane in range(LANES):
                wanted[g, lane], sizes[g, lane] = 0, 0
                limits[g, lane], coarse[g, lane] = _HIGHEST, _HIGHEST_COARSE
        for i in range(first * LANES, min(n, last * LANES)):
            g, lane, asked = (
                (i >> LANE_BITS) - first,
                i & (LANES - 1),
                b[find_neediest_member(classes, i, b)],
            )
            if asked > 0:  # a class of several members finds itself, too
                wanted[g, lane] = asked + np.int64(classes.begin[i + 1] - classes.begin[i] > 1)
                alive[g] |= np.uint64(1) << np.uint64(lane)
                most = max(most, wanted[g, lane])
        room = 2 * most + SPARE_KEYS
        if LANES * room > keys.shape[1]:
            keys = np.empty((group, LANES * room), dtype=np.int64)
        for g in range(last - first):
            if alive[g]:
                lists = NearestLists(room, wanted[g], keys[g], sizes[g], limits[g], coarse[g])
                if len(listed):
                    limit_by_listed(classes, costs, first + g, b, indptr, listed, lists)
                asked = np.int64(0)
                for lane in range(LANES):
                    asked = max(asked, wanted[g, lane])
                bounds[0, g], bounds[1, g] = begin_block(
                    classes, costs, first + g, alive[g], asked, listed, lists, scratch
                )
        for start in range(0, n, stretch):
            stop = min(n, start + stretch)
            for side in range(2 * (last - first)):
                g = side >> 1
                low, high = start, min(stop, bounds[0, g] * LANES)
                if side & 1:
                    low, high = max(start, bounds[1, g] * LANES), stop
                if alive[g] and low < high:
                    lists = NearestLists(room, wanted[g], keys[g], sizes[g], limits[g], coarse[g])
                    walk_tree(
                        tree, classes, costs, least, first + g, low, high, alive[g], lists, scratch
                    )
        for g in range(last - first):
            if alive[g]:
                lists = NearestLists(room, wanted[g], keys[g], sizes[g], limits[g], coarse[g])
                end_block(classes, costs, first + g, indptr, lists, neighbours, costs_found)
