"""From counts of differing neighbours to the cost of meeting each level."""

import numpy as np
from numba import prange

from anon_core.kernels.jit import kernel, parallel_kernel


@kernel
def differing(counts, bit, own, levels, ordinal, j):
    """How many neighbours of j have another level of the attribute that begins at `bit`.

    They differ in the own bit, or, on a thermometer, in the bit below the own level or in the one above it.
    """
    if not ordinal:
        return np.int64(counts[bit + own, j])
    below = np.int64(counts[bit + own - 1, j]) if own > 0 else 0
    return below + (np.int64(counts[bit + own, j]) if own < levels - 1 else 0)


@parallel_kernel
def fill_cost_table(codes, blank, counts, lut, bit_class, cell_lut, level_offsets, bit_offsets, ordinal, table):
    # codes, blank (attributes, n), counts (f, n), lut (classes, steps), cell_lut (attributes, steps)
    # table (blocks, levels, lanes) zeroed
    """Write what meeting level q costs record j on its own side: sum over bits where j and q differ of W[j, bit].

    W[j, bit] = lut[bit_class[bit], min(counts[bit, j], steps - 1)]. Any level but the own one costs in addition
    cell_lut[a, min(neighbours of j that differ in attribute a, steps - 1)]. Records lie in blocks of lanes, so that the
    costs of one level for one block are contiguous.
    """
    n, lanes, last = codes.shape[1], table.shape[2], lut.shape[1] - 1
    for block in prange(table.shape[0]):
        for lane in range(min(lanes, n - block * lanes)):
            j = block * lanes + lane
            for a in range(codes.shape[0]):
                if blank[a, j]:
                    continue
                own, level, bit = codes[a, j], level_offsets[a], bit_offsets[a]
                levels = level_offsets[a + 1] - level
                cell = cell_lut[a, min(differing(counts, bit, own, levels, ordinal[a], j), last)]
                if ordinal[a]:
                    cost = cell
                    for q in range(own + 1, levels):
                        cost += lut[bit_class[bit + q - 1], min(counts[bit + q - 1, j], last)]
                        table[block, level + q, lane] = cost
                    cost = cell
                    for q in range(own - 1, -1, -1):
                        cost += lut[bit_class[bit + q], min(counts[bit + q, j], last)]
                        table[block, level + q, lane] = cost
                else:
                    mine = cell + lut[bit_class[bit + own], min(counts[bit + own, j], last)]
                    for q in range(levels):
                        if q != own:
                            table[block, level + q, lane] = mine + lut[bit_class[bit + q], min(counts[bit + q, j], last)]
