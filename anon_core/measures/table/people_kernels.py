"""How many people sit in the rows of each crowd. Auditors only."""

import numpy as np

from anon_core.jit.kernel import parallel_kernel
from anon_core.measures.table.crowds_kernels import lowest_bit, rows_of


@parallel_kernel(lambda level: level.shape[1])
def count_people(
    begin, end, level, bitmap, start, person, persons, component, record_component, most, people
):
    # person[start[r] : start[r + 1]]: who sits in rows of class r, each once, below `persons`
    # most (records,); people (records, 2): filled
    """Count the people in the rows that each record class fits, and in those of its component.

    Counting stops at `most`.
    """
    seen = np.full((2, persons), -1, dtype=np.int64)
    words = np.empty(bitmap.shape[1], dtype=np.uint64)
    for record in range(begin, end):
        rows_of(record, level, bitmap, words)
        for side in range(2):
            count = 0
            for w in range(len(words)):
                word = words[w]
                while word and count < most[record]:
                    row = 64 * w + lowest_bit(word)
                    word &= word - np.uint64(1)
                    if side == 1 and component[row] != record_component[record]:
                        continue
                    for place in range(start[row], start[row + 1]):
                        fresh = seen[side, person[place]] != record
                        seen[side, person[place]] = record
                        count += np.int64(fresh)
            people[record, side] = min(count, most[record])
