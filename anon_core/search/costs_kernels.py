"""From counts of differing neighbours to the cost of meeting each level."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.jit.kernel import inlined, kernel, parallel_kernel
from anon_core.jit.lanes import LANES


class Costs(NamedTuple):
    """Cost to each record or class, on its own side, of meeting each level.

    A cost is (coarse << shift) + fine. Sums of coarse costs over any pair stay below 2^16.
    """

    coarse: NDArray[np.uint16]  # (blocks, levels, LANES), zero past the last record
    fine: NDArray[np.uint8]  # likewise; without a shift it has no blocks
    shift: int


class CodedLevels(NamedTuple):
    """Levels of records by place, and where the levels and bits of each attribute begin."""

    codes: NDArray[np.int32]  # (attributes, n)
    blank: NDArray[np.bool_]  # (attributes, n): cells that cost their own record nothing
    level_offsets: NDArray[np.int64]  # (attributes + 1,)
    bit_offsets: NDArray[np.int64]  # (attributes + 1,)
    ordinal: NDArray[np.bool_]  # (attributes,)
    parents: NDArray[np.int32]  # (f,): see `Codebook.parents`


class NeighbourCosts(NamedTuple):
    """Weights by the number of neighbours that differ already, the last for all further ones."""

    lut: NDArray[np.int32]  # (classes, steps): of a bit of a class
    bit_class: NDArray[np.int32]  # (f,)
    cell_lut: NDArray[np.int32]  # (attributes, steps): of the cell, beside its bits


@kernel
def pick_levels(table, block, lane, rows, i):
    """Return the sum of table[block, rows[i, a], lane] over all attributes a, int64."""
    # Unsigned indices: numba asks of a signed one whether it counts from the end.
    total, block, lane, row = np.int64(0), np.uint64(block), np.uint64(lane), np.uint64(i)
    for a in range(np.uint64(rows.shape[1])):
        total += np.int64(table[block, np.uint64(rows[row, a]), lane])
    return total


@inlined
def fill_one_hot(own, blank, counts, lut, bit_class, cell, cost, mine):
    # own int64, blank bool (size,); counts uint16 (levels, LANES); lut int32 (classes, steps)
    # bit_class (levels,), cell (steps,), cost (levels, LANES), mine (LANES,): int32
    """Fill the costs of a one-hot attribute for one block.

    Another level costs the cell's weight and those of two bits: the own level's and that one's.
    """
    size, last = len(own), lut.shape[1] - 1
    for lane in range(size):
        bit = own[lane]
        differing = min(np.int64(counts[bit, lane]), last)
        mine[lane] = cell[differing] + lut[bit_class[bit], differing]
    for q in range(len(cost)):
        weights, count = lut[bit_class[q]], counts[q]
        for lane in range(size):
            other = weights[min(np.int64(count[lane]), last)] + mine[lane]
            cost[q, lane] = np.int32(0) if own[lane] == q or blank[lane] else other


@inlined
def fill_ordinal(own, blank, counts, lut, bit_class, cell, cost):
    # as in `fill_one_hot`, but counts (levels - 1, LANES), bit_class (levels - 1,)
    """Fill the costs of an ordinal attribute for one block.

    Another level costs the cell's weight and those of the thermometer bits between the two levels.
    """
    last = lut.shape[1] - 1
    for lane in range(len(own)):
        # A neighbour that differs does so in the bit below the own level or in the one above it.
        differing = np.int64(counts[own[lane] - 1, lane]) if own[lane] > 0 else np.int64(0)
        if own[lane] < len(cost) - 1:
            differing += np.int64(counts[own[lane], lane])
        whole = np.int32(0) if blank[lane] else cell[min(differing, last)]
        total = whole
        cost[own[lane], lane] = 0
        for q in range(own[lane] + 1, len(cost)):
            if not blank[lane]:
                total += lut[bit_class[q - 1], min(np.int64(counts[q - 1, lane]), last)]
            cost[q, lane] = total
        total = whole
        for q in range(own[lane] - 1, -1, -1):
            if not blank[lane]:
                total += lut[bit_class[q], min(np.int64(counts[q, lane]), last)]
            cost[q, lane] = total


@inlined
def fill_tree(own, blank, counts, lut, bit_class, cell, parent, cost):
    # as in `fill_one_hot`, but counts (bits, LANES), bit_class, parent (bits,)
    """Fill the costs of an attribute with a tree for one block.

    Another level costs the cell's weight and those of the bits of both paths below the node that
    holds both levels.
    """
    last = lut.shape[1] - 1
    for lane in range(len(own)):
        whole = cell[min(np.int64(counts[own[lane], lane]), last)]
        for q in range(len(cost)):
            total, one, other = np.int32(0), own[lane], q
            # A bit stands before the one above it, so the smaller one is never above the other.
            while one != other:
                bit = min(one, other)
                total += lut[bit_class[bit], min(np.int64(counts[bit, lane]), last)]
                if one < other:
                    one = np.int64(parent[one])
                else:
                    other = np.int64(parent[other])
            cost[q, lane] = np.int32(0) if blank[lane] or own[lane] == q else total + whole


@parallel_kernel(lambda costs: len(costs.coarse))
def fill_costs(begin, end, places, coded, prices, counts, costs):
    # places int64 (m,); counts uint16 (f, n), by place; costs: zeros, filled
    """Write what meeting level q costs the record at place j on its own side.

    The cost is the sum of W[j, bit] over the bits in which j and q differ, where W[j, bit] =
    lut[bit_class[bit], min(counts[bit, j], steps - 1)]. A level other than the own one costs in
    addition cell_lut[a, min(neighbours of j that differ in attribute a, steps - 1)]. LANES records
    make a block, so that the costs of one level for one block are contiguous.
    """
    codes, starts, bit_starts = coded.codes, coded.level_offsets, coded.bit_offsets
    widest = most_bits = 0
    for a in range(codes.shape[0]):
        widest = max(widest, starts[a + 1] - starts[a])
        most_bits = max(most_bits, bit_starts[a + 1] - bit_starts[a])
    counted = np.empty((most_bits, LANES), dtype=np.uint16)
    mine = np.empty(LANES, dtype=np.int32)
    owns, blanks = np.empty(LANES, dtype=np.int64), np.empty(LANES, dtype=np.bool_)
    cost = np.zeros((widest, LANES), dtype=np.int32)  # past the last record it stays zero
    for block in range(begin, end):
        here = places[block * LANES : block * LANES + LANES]
        size = len(here)
        own, hidden = owns[:size], blanks[:size]
        if size < LANES:
            cost[:] = 0
        for a in range(codes.shape[0]):
            bits, first = slice(bit_starts[a], bit_starts[a + 1]), starts[a]
            filled = cost[: starts[a + 1] - first]
            for lane in range(size):
                own[lane], hidden[lane] = codes[a, here[lane]], coded.blank[a, here[lane]]
            for bit in range(bit_starts[a + 1] - bit_starts[a]):
                for lane in range(size):
                    counted[bit, lane] = counts[bit_starts[a] + bit, here[lane]]
            classes, cell = prices.bit_class[bits], prices.cell_lut[a]
            if coded.ordinal[a]:
                fill_ordinal(own, hidden, counted, prices.lut, classes, cell, filled)
            elif len(classes) > len(filled):
                above = coded.parents[bits]
                fill_tree(own, hidden, counted, prices.lut, classes, cell, above, filled)
            else:
                fill_one_hot(own, hidden, counted, prices.lut, classes, cell, filled, mine)
            for q in range(len(filled)):
                for lane in range(LANES):
                    costs.coarse[block, first + q, lane] = filled[q, lane] >> costs.shift
                if costs.shift:
                    for lane in range(LANES):
                        costs.fine[block, first + q, lane] = filled[q, lane] & (
                            (1 << costs.shift) - 1
                        )
