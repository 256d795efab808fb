"""From counts of differing neighbours to the cost of meeting each level."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.jit.kernel import kernel, parallel_kernel
from anon_core.jit.lanes import LANES


class Costs(NamedTuple):
    """What meeting each level costs each record on its own side, or what stands for it: (coarse << shift) + fine."""

    coarse: NDArray[
        np.uint16
    ]  # (blocks, levels, LANES), zero past the last one; sums over any pair stay below 2^16
    fine: NDArray[np.uint8]  # likewise; without a shift it has no blocks
    shift: int


@kernel
def fill_one_hot(own, blank, counts, lut, bit_class, cell, cost, mine):
    # own, blank (size,), counts (levels, LANES), lut (classes, steps), bit_class (levels,), cell (steps,),
    # cost (levels, LANES), mine (LANES,)
    """A level that is not a record's own costs it the cell's weight and those of two bits: its own level's and that one's."""
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


@kernel
def fill_ordinal(own, blank, counts, lut, bit_class, cell, cost):
    # own, blank (size,), counts (levels - 1, LANES), lut (classes, steps), bit_class (levels - 1,), cell (steps,)
    # cost (levels, LANES)
    """Another level costs a record the cell's weight and those of all thermometer bits between its own and that one."""
    last = lut.shape[1] - 1
    for lane in range(len(own)):
        # Who differs does so in the bit below the own level or in the one above it.
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


@parallel_kernel(lambda coarse: coarse.shape[0])
def fill_costs(
    first,
    last,
    places,
    codes,
    blank,
    counts,
    lut,
    bit_class,
    cell_lut,
    level_offsets,
    bit_offsets,
    ordinal,
    shift,
    coarse,
    fine,
):  # places (m,); codes, blank (attributes, n), counts (f, n), lut (classes, steps), cell_lut (attributes, steps)
    # coarse, fine (blocks, levels, LANES) zeroed
    """Write what meeting level q costs who is at place j on its own side: sum over bits where j and q differ of W[j, bit].

    W[j, bit] = lut[bit_class[bit], min(counts[bit, j], steps - 1)]. Any level but the own one costs in addition
    cell_lut[a, min(neighbours of j that differ in attribute a, steps - 1)]. LANES of them make a block, so that the costs
    of one level for one block are contiguous.
    """
    for block in range(first, last):
        fill_block(
            places, codes, blank, counts, lut, bit_class, cell_lut, level_offsets, bit_offsets, ordinal, shift, block,
            coarse, fine,
        )  # fmt: skip


@kernel
def fill_block(
    places, codes, blank, counts, lut, bit_class, cell_lut, level_offsets, bit_offsets, ordinal, shift, block, coarse, fine
):  # fmt: skip
    """The costs of one block."""
    here = places[block * LANES : block * LANES + LANES]
    size, widest = len(here), 0
    for a in range(codes.shape[0]):
        widest = max(widest, level_offsets[a + 1] - level_offsets[a])
    cost = np.zeros(
        (widest, LANES), dtype=np.int32
    )  # of one attribute; past the last one it stays zero
    counted = np.empty((widest, LANES), dtype=np.uint16)
    own, hidden, mine = (
        np.empty(size, dtype=np.int64),
        np.empty(size, dtype=np.bool_),
        np.empty(LANES, dtype=np.int32),
    )
    for a in range(codes.shape[0]):
        bits, first = slice(bit_offsets[a], bit_offsets[a + 1]), level_offsets[a]
        costs = cost[: level_offsets[a + 1] - first]
        for lane in range(size):
            own[lane], hidden[lane] = codes[a, here[lane]], blank[a, here[lane]]
        for bit in range(bit_offsets[a + 1] - bit_offsets[a]):
            for lane in range(size):
                counted[bit, lane] = counts[bit_offsets[a] + bit, here[lane]]
        if ordinal[a]:
            fill_ordinal(own, hidden, counted, lut, bit_class[bits], cell_lut[a], costs)
        else:
            fill_one_hot(own, hidden, counted, lut, bit_class[bits], cell_lut[a], costs, mine)
        for q in range(len(costs)):
            for lane in range(LANES):
                coarse[block, first + q, lane] = costs[q, lane] >> shift
            if shift:
                for lane in range(LANES):
                    fine[block, first + q, lane] = costs[q, lane] & ((1 << shift) - 1)
