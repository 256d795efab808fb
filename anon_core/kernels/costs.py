"""From counts of differing neighbours to the cost of meeting each level."""

from numba import prange

from anon_core.kernels.jit import parallel_kernel


@parallel_kernel
def fill_cost_table(codes, blank, counts, lut, bit_class, level_offsets, bit_offsets, ordinal, table):
    # codes, blank (attributes, n), counts (f, n), lut (classes, steps), table (blocks, levels, lanes) zeroed
    """Write what meeting level q costs record j on its own side: sum over bits where j and q differ of W[j, bit].

    W[j, bit] = lut[bit_class[bit], min(counts[bit, j], steps - 1)]. Records lie in blocks of lanes, so that the costs of
    one level for one block are contiguous.
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
                if ordinal[a]:
                    cost = 0
                    for q in range(own + 1, levels):
                        cost += lut[bit_class[bit + q - 1], min(counts[bit + q - 1, j], last)]
                        table[block, level + q, lane] = cost
                    cost = 0
                    for q in range(own - 1, -1, -1):
                        cost += lut[bit_class[bit + q], min(counts[bit + q, j], last)]
                        table[block, level + q, lane] = cost
                else:
                    mine = lut[bit_class[bit + own], min(counts[bit + own, j], last)]
                    for q in range(levels):
                        if q != own:
                            table[block, level + q, lane] = mine + lut[bit_class[bit + q], min(counts[bit + q, j], last)]
