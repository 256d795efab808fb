"""Rows left of a person's crowd when releases that show the person are compared. Auditors only."""

import numpy as np

from anon_core.jit.kernel import parallel_kernel
from anon_core.measures.table.bitmap_kernels import list_words, lowest_bit, make_room


@parallel_kernel(lambda record: len(record))
def list_crowds(first, last, level, bitmap, start, value, number, record, begin, listed, count):
    # level, bitmap: `level_index`, `bitmap` of Classes
    # start (row classes + 1,) into value, number: how often a class of rows carries each value
    # record (persons,): class, -1 if the person is not in the release
    # begin (persons,) into listed, count: filled
    """List the values that the rows of each person's crowd carry, and how many rows carry each.

    A value may be listed twice.
    """
    place, word = make_room(bitmap)
    for person in range(first, last):
        if record[person] < 0:
            continue
        at = begin[person]
        for each in range(list_words(level[record[person]], bitmap, place, word)):
            while word[each]:
                row = 64 * place[each] + lowest_bit(word[each])
                word[each] &= word[each] - np.uint64(1)
                for held in range(start[row], start[row + 1]):
                    listed[at] = value[held]
                    count[at] = number[held]
                    at += 1


@parallel_kernel(lambda parts: parts)
def exclude_differing_rows(first, last, begin, present, listed, count, link, links, parts, crowd):
    # begin (releases, persons + 1) into listed, count; present, crowd (releases, persons)
    # link (releases, values): what a value shows in the columns that its own release and another
    # one carry, below `links`
    """Exclude rows that agree with no row left in another release, until no further row goes.

    `crowd` gets the number of rows left. Two rows agree if all columns that both releases carry
    agree. `count` is set to 0 for excluded rows.
    """
    releases, persons = present.shape
    for part in range(first, last):
        seen = np.zeros(links, dtype=np.int64)
        stamp = np.int64(0)
        for person in range(part, persons, parts):
            changed = True
            while changed:
                changed = False
                for one in range(releases):
                    for other in range(releases):
                        if one == other or not present[one, person] or not present[other, person]:
                            continue
                        # A new stamp forgets what was seen, without clearing `links` entries for
                        # each pair of releases.
                        stamp += 1
                        for at in range(begin[other, person], begin[other, person + 1]):
                            if count[at]:
                                seen[link[one, listed[at]]] = stamp
                        for at in range(begin[one, person], begin[one, person + 1]):
                            if count[at] and seen[link[other, listed[at]]] != stamp:
                                count[at] = 0
                                changed = True
            for one in range(releases):
                rows = np.int64(0)
                for at in range(begin[one, person], begin[one, person + 1]):
                    rows += count[at]
                crowd[one, person] = rows if present[one, person] else -1
