"""How many people sit in the rows of each crowd. Auditors only."""

import numpy as np

from anon_core.jit.kernel import parallel_kernel
from anon_core.measures.table.bitmap_kernels import list_words, lowest_bit, make_room


@parallel_kernel(lambda level: len(level))
def count_people(
    begin, end, level, bitmap, start, person, persons, component, record_component, most, people
):
    # person[start[r] : start[r + 1]]: who sits in rows of class r, each once, below `persons`
    # most (records,); people (records, 2): filled
    """Count the people in the rows that each record class fits, and in those of its component.

    Counting stops at `most`.
    """
    seen = np.full((2, persons), -1, dtype=np.int64)
    place, word = make_room(bitmap)
    for record in range(begin, end):
        words = list_words(level[record], bitmap, place, word)
        for side in range(2):
            count = 0
            for each in range(words):
                bits = word[each]
                while bits and count < most[record]:
                    row = 64 * place[each] + lowest_bit(bits)
                    bits &= bits - np.uint64(1)
                    if side == 1 and component[row] != record_component[record]:
                        continue
                    for at in range(start[row], start[row + 1]):
                        # Stamped with the record, so nothing is cleared between records.
                        fresh = seen[side, person[at]] != record
                        seen[side, person[at]] = record
                        count += np.int64(fresh)
            people[record, side] = min(count, most[record])
