"""Lists of the rows that fit each record. Auditors only."""

import numpy as np

from anon_core.jit.kernel import parallel_kernel
from anon_core.measures.table.bitmap_kernels import count_ones, list_words, lowest_bit, make_room


@parallel_kernel(lambda level: len(level))
def list_fitting(begin, end, level, bitmap, offset, cursor, row):
    # level (records, attributes) of a Bitmap of rows offset, offset + 1, ...
    # cursor (records,): where the next row of each goes; row (pairs,): filled; empty: only count
    """List the rows that fit each record, ascending, from its cursor on."""
    place, word = make_room(bitmap)
    fill = len(row) > 0
    for record in range(begin, end):
        at = cursor[record]
        for each in range(list_words(level[record], bitmap, place, word)):
            if not fill:
                at += count_ones(word[each])
                continue
            while word[each]:
                row[at] = offset + 64 * place[each] + lowest_bit(word[each])
                word[each] &= word[each] - np.uint64(1)
                at += 1
        cursor[record] = at
