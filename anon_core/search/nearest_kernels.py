"""The exact b-nearest search: blocks of 64 classes of records against the tree of all distinct records."""

import numpy as np

from anon_core.jit.kernel import kernel, parallel_kernel
from anon_core.jit.lanes import LANE_BITS, LANES, add_step, lanes_in, pick_levels
from anon_core.search.tiles_kernels import Lists, Scratch, compare, shrink

DENSE = 96  # pairs left in a block from which on summing all 64 x 64 is cheaper than one by one (measured)
SPARE = 64  # keys that a list has room for beside twice b
STRETCH = (
    2**18
)  # bytes of costs that a group of blocks reads before it goes on: they stay in a second-level cache
UNKNOWN = 4  # times as many blocks are met first where nothing is known to be near: limits that fall early save more


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
    # first, class_first (distinct rows + 1,); layout, member, home (n,); alone (n,) by place; kept (n,), begin (n + 1,): filled
    """Put the vertices of a row into one class each if `alone`, all others into one; returns how many classes there are.

    kept[c] = the place of the first member of class c.
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
def neediest(classes, i, b):
    """The first member of class i with the greatest b."""
    v = classes.member[classes.begin[i]]
    for place in range(classes.begin[i] + 1, classes.begin[i + 1]):
        if b[classes.member[place]] > b[v]:
            v = classes.member[place]
    return v


@parallel_kernel(lambda least: len(least))
def least_of_rows(begin, end, coarse, tree, classes, starts, stops, least):
    # starts, stops (attributes,); least (distinct rows, attributes): filled
    """least[r, d] = least coarse cost that a class of row r pays for another level of attribute d."""
    for row in range(begin, end):
        for d in range(least.shape[1]):
            lowest = np.uint16(65535)
            for i in range(classes.first[row], classes.first[row + 1]):
                for level in range(starts[d], stops[d]):
                    if level != tree.distinct[row, d]:
                        lowest = min(lowest, coarse[i // LANES, level, i % LANES])
            least[row, d] = lowest


@parallel_kernel(lambda least: least.shape[1])
def least_of_nodes(begin, end, change, least):  # change (distinct rows,), least: of `least_of_rows`
    """least[r, d] = least of least[s, d] over the rows s from r to the end of the node of depth d."""
    for d in range(begin, end):
        for row in range(len(least) - 2, -1, -1):
            if change[row + 1] > d:
                least[row, d] = min(least[row, d], least[row + 1, d])


@kernel
def walk(tree, classes, costs, least, block, start, stop, alive, lists, scratch):
    """Offer the classes start .. stop - 1, both multiples of LANES or the end, to the `alive` ones of a block.

    Depth first; a subtree is left as soon as its bound passes everybody's limit, and where many pairs of a small one are
    still within, its blocks are compared as a whole.
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
                    compare(classes, costs, block, done, border, mask, dense, lists, scratch)
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
def limit_by_listed(classes, costs, block, b, indptr, listed, lists):
    """Bound the lists of a block by the greatest key among others that would do: of the member that needs most."""
    rows, home = classes.rows, classes.home
    table, fine, shift = costs.coarse, costs.fine, costs.shift
    limits, coarse = lists.limits, lists.coarse
    attributes, wide = rows.shape[1], table.shape[1] * LANES
    for lane in range(min(LANES, len(rows) - block * LANES)):
        i = block * LANES + lane
        v = neediest(classes, i, b)
        greatest = np.int64(v) if lists.wanted[lane] > b[v] else np.int64(0)  # itself, at no cost
        for slot in range(indptr[v], indptr[v] + b[v]):
            j = home[listed[slot]]
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
def begin_block(classes, costs, block, alive, b, indptr, listed, lists, scratch):
    """Bound a block's lists by what was near before, then offer the blocks beside it; returns the first and the last + 1."""
    n, blocks, wanted = len(classes.rows), len(costs.coarse), lists.wanted
    if len(listed):
        limit_by_listed(classes, costs, block, b, indptr, listed, lists)
    reach = (wanted.max() // LANES + 1) * (1 if len(listed) else UNKNOWN)
    low = max(0, min(block - (reach + 1) // 2, blocks - 1 - reach))
    high = min(blocks, low + reach + 1)
    for step in range(high - low):
        other = low + (block - low + step) % (high - low)
        start, stop = other * LANES, min(n, other * LANES + LANES)
        compare(classes, costs, block, start, stop, alive, True, lists, scratch)
        for lane in range(LANES):
            if 0 < wanted[lane] <= lists.sizes[lane] - (SPARE if len(listed) else 0):
                shrink(lists, lane, costs.shift)
    return low, high


@kernel
def end_block(classes, costs, block, indptr, lists, neighbours, costs_found):
    """Write the lists of a block's members, ascending."""
    for lane in range(min(LANES, len(classes.rows) - block * LANES)):
        i, wanted, start = block * LANES + lane, lists.wanted[lane], lane * lists.room
        if wanted > 0:
            shrink(lists, lane, costs.shift)
            best = np.sort(lists.keys[start : start + wanted])
            for place in range(classes.begin[i], classes.begin[i + 1]):
                v = classes.member[place]
                slot, rank = indptr[v], 0
                while slot < indptr[v + 1]:
                    neighbours[slot] = np.int32(best[rank] & 0xFFFFFFFF)
                    costs_found[slot] = np.int32(best[rank] >> 32)
                    slot += np.int64(neighbours[slot] != v)  # the next one takes its own place
                    rank += 1


@kernel
def search_blocks(
    tree, classes, costs, least, first, last, b, indptr, listed, neighbours, costs_found
):
    """Find the lists of blocks first .. last - 1, which pass over the table together; see `nearest`."""
    n, attributes = classes.rows.shape
    group = last - first
    alive, low, high = (
        np.zeros(group, dtype=np.uint64),
        np.zeros(group, dtype=np.int64),
        np.zeros(group, dtype=np.int64),
    )
    wanted = np.zeros((group, LANES), dtype=np.int64)
    for i in range(first * LANES, min(n, last * LANES)):
        g, lane, most = (
            (i >> LANE_BITS) - first,
            i & (LANES - 1),
            np.int64(b[neediest(classes, i, b)]),
        )
        if most > 0:
            wanted[g, lane] = most + np.int64(classes.begin[i + 1] - classes.begin[i] > 1)
            alive[g] |= np.uint64(1) << np.uint64(lane)
    if wanted.max() == 0:
        return
    room = 2 * wanted.max() + SPARE
    keys, sizes = (
        np.empty((group, LANES * room), dtype=np.int64),
        np.zeros((group, LANES), dtype=np.int64),
    )
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
            lists = Lists(room, wanted[g], keys[g], sizes[g], limits[g], coarse[g])
            low[g], high[g] = begin_block(
                classes, costs, first + g, alive[g], b, indptr, listed, lists, scratch
            )
    stretch = LANES * max(1, STRETCH // (2 * LANES * costs.coarse.shape[1]))
    for start in range(0, n, stretch):
        stop = min(n, start + stretch)
        for g in range(group):
            if alive[g]:
                lists = Lists(room, wanted[g], keys[g], sizes[g], limits[g], coarse[g])
                before, after = min(stop, low[g] * LANES), max(start, high[g] * LANES)
                if start < before:
                    walk(
                        tree,
                        classes,
                        costs,
                        least,
                        first + g,
                        start,
                        before,
                        alive[g],
                        lists,
                        scratch,
                    )
                if after < stop:
                    walk(
                        tree,
                        classes,
                        costs,
                        least,
                        first + g,
                        after,
                        stop,
                        alive[g],
                        lists,
                        scratch,
                    )
    for g in range(group):
        if alive[g]:
            lists = Lists(room, wanted[g], keys[g], sizes[g], limits[g], coarse[g])
            end_block(classes, costs, first + g, indptr, lists, neighbours, costs_found)


@parallel_kernel(lambda begin, end, group: (end - begin + group - 1) // group)
def nearest(
    first,
    last,
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
    # tree: Tree, classes: Classes, costs: Costs of the classes, least: of `least_steps`; b (n,), indptr (n + 1,) by vertex;
    # listed, neighbours, costs_found (sum b,)
    """For every member of blocks begin .. end - 1 the b vertices of smallest (E_ij, vertex j), ascending.

    `listed` holds b vertices that were near under other costs, or nothing. A node bounds E from below: what i pays for
    meeting its levels, and the least that anyone below it pays for meeting i's. Groups of blocks share what they read.
    """
    for number in range(first, last):
        start = begin + number * group
        search_blocks(
            tree, classes, costs, least, start, min(end, start + group), b, indptr, listed, neighbours, costs_found
        )  # fmt: skip
