"""Lists of the rows that fit each record. Auditors only."""

import numpy as np

from anon_core.jit.kernel import parallel_kernel
from anon_core.measures.table.crowds_kernels import lowest_bit


@parallel_kernel(lambda level: level.shape[1])
def list_fitting(begin, end, level, bitmap, offset, cursor, row):
    # level (attributes, records) indexes bitmap (levels, words): rows offset, offset + 1, ...
    # cursor (records,): where the next row of each goes; row (pairs,): filled; empty: only count
    """List the rows that fit each record, ascending, from its cursor on."""
    attributes, words = level.shape[0], bitmap.shape[1]
    fill = len(row) > 0
    for record in range(begin, end):
        at = cursor[record]
        for w in range(words):
            word = bitmap[level[0, record], w]
            for a in range(1, attributes):
                if word == 0:
                    break
                word &= bitmap[level[a, record], w]
            while word:
                if fill:
                    row[at] = offset + 64 * w + lowest_bit(word)
                at += 1
                word &= word - np.uint64(1)
        cursor[record] = at
