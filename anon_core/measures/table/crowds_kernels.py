"""Which record fits which row, and which pairs lie in a perfect matching. Auditors only."""

import numpy as np

from anon_core.jit.kernel import kernel, parallel_kernel

_STRETCH = 8  # words of records that are looked at together


@kernel
def and_into(words, first, end, bitmap, levels, levels_count):
    """words[first:end] &= union of the bitmaps of the given levels; returns the bits that are left.

    An empty list means all levels.
    """
    some = np.uint64(0)
    for w in range(first, end):
        union = ~np.uint64(0) if levels_count == 0 else np.uint64(0)
        for index in range(levels_count):
            union |= bitmap[levels[index], w]
        words[w] &= union
        some |= words[w]
    return some


@kernel
def rows_of(record, level, bitmap, words):
    """words = the rows that a record fits: they allow its level in every attribute."""
    for w in range(len(words)):  # a slice assigned would compile numba's error texts, for 2 s
        words[w] = bitmap[level[0, record], w]
    for a in range(1, level.shape[0]):
        source = bitmap[level[a, record]]
        for w in range(len(words)):
            words[w] &= source[w]


@parallel_kernel(lambda level: level.shape[1])
def count_crowd_rows(
    begin, end, level, bitmap, rows_in, component, record_component, compatible, matchable
):
    # level (attributes, records) indexes bitmap (levels, words); rows_in, component by row class
    """Count, for each record class, the rows it fits, and those of them in its own component."""
    for record in range(begin, end):
        words = np.empty(bitmap.shape[1], dtype=np.uint64)
        rows_of(record, level, bitmap, words)
        fits, same = 0, 0
        for w in range(len(words)):
            word = words[w]
            while word:
                row = 64 * w + lowest_bit(word)
                word &= word - np.uint64(1)
                fits += rows_in[row]
                if component[row] == record_component[record]:
                    same += rows_in[row]
        compatible[record] = fits
        matchable[record] = same


@parallel_kernel(lambda found: len(found))
def count_records(begin, end, level, bitmap, records_in, found):
    # found (parts, row classes): zeros, filled; one thread writes one part
    """Count, for each row class, the records that fit it, as a sum over the parts."""
    parts = found.shape[0]
    for part in range(begin, end):
        words = np.empty(bitmap.shape[1], dtype=np.uint64)
        for record in range(part, level.shape[1], parts):
            rows_of(record, level, bitmap, words)
            for w in range(len(words)):
                word = words[w]
                while word:
                    found[part, 64 * w + lowest_bit(word)] += records_in[record]
                    word &= word - np.uint64(1)


@kernel
def lowest_bit(word):
    """Index of the lowest set bit of a word that is not zero."""
    low = word & (~word + np.uint64(1))
    index = 0
    if low & np.uint64(0xFFFFFFFF00000000):
        index += 32
    if low & np.uint64(0xFFFF0000FFFF0000):
        index += 16
    if low & np.uint64(0xFF00FF00FF00FF00):
        index += 8
    if low & np.uint64(0xF0F0F0F0F0F0F0F0):
        index += 4
    if low & np.uint64(0xCCCCCCCCCCCCCCCC):
        index += 2
    if low & np.uint64(0xAAAAAAAAAAAAAAAA):
        index += 1
    return index


@kernel
def finish_order(level, bitmap, seated_start, seated, order):
    """First pass of Kosaraju: order record classes as a depth-first search leaves them.

    Arcs: record class -> row classes it fits (bitmap) -> record classes seated there (seated). Each
    row is visited once, so the scan of a record only moves forward.
    """
    records, words = level.shape[1], bitmap.shape[1]
    fresh = np.full(words, ~np.uint64(0), dtype=np.uint64)  # rows not visited yet
    reached = np.zeros(records, dtype=np.bool_)
    stack = np.empty(records, dtype=np.int64)
    word_at = np.zeros(records, dtype=np.int64)
    row_at = np.full(records, -1, dtype=np.int64)
    seat_at = np.zeros(records, dtype=np.int64)
    finished = 0
    for root in range(records):
        if reached[root]:
            continue
        reached[root] = True
        stack[0] = root
        depth = 1
        while depth:
            record = stack[depth - 1]
            row = row_at[record]
            if row >= 0:
                moved = False
                while seat_at[record] < seated_start[row + 1]:
                    other = seated[seat_at[record]]
                    seat_at[record] += 1
                    if not reached[other]:
                        reached[other] = True
                        stack[depth] = other
                        depth += 1
                        moved = True
                        break
                if moved:
                    continue
                row_at[record] = -1
            found = False
            # Bits only leave `fresh`: a word that holds no row for this record never holds one
            # later.
            while word_at[record] < words:
                w = word_at[record]
                word = fresh[w]
                for a in range(level.shape[0] - 1, -1, -1):  # the last one sorts the rows
                    if word == 0:
                        break
                    word &= bitmap[level[a, record], w]
                if word:
                    row = 64 * w + lowest_bit(word)
                    fresh[w] &= ~(word & (~word + np.uint64(1)))
                    row_at[record] = row
                    seat_at[record] = seated_start[row]
                    found = True
                    break
                word_at[record] += 1
            if not found:
                order[finished] = record
                finished += 1
                depth -= 1


@kernel
def find_components(
    order,
    record_bitmap,
    cell,
    allowed_start,
    allowed,
    seats_start,
    seats,
    record_component,
    component,
):
    # cell (attributes, rows) indexes allowed_start
    # record_component, component: -1 everywhere, filled
    """Second pass of Kosaraju on reversed arcs: number the strongly connected components.

    Reversed arcs: record class -> row classes in which it sits (seats) -> record classes that fit
    them. These are the intersection over attributes of the unions of record_bitmap over the levels
    that the row allows.
    """
    words = record_bitmap.shape[1]
    one = np.uint64(1)
    fresh = np.zeros(words, dtype=np.uint64)  # records not visited yet
    for record in range(len(record_component)):
        fresh[record >> 6] |= one << np.uint64(record & 63)
    stack = np.empty(len(record_component), dtype=np.int64)
    found = np.empty(words, dtype=np.uint64)
    count = 0
    for index in range(len(order) - 1, -1, -1):
        # Of those without a number the root finished last. A vertex of another component that
        # reaches it along arcs would have finished later, so reversed arcs lead to its own
        # component only.
        root = order[index]
        if record_component[root] >= 0:
            continue
        record_component[root] = count
        fresh[root >> 6] &= ~(one << np.uint64(root & 63))
        stack[0] = root
        depth = 1
        while depth:
            depth -= 1
            record = stack[depth]
            for seat in range(seats_start[record], seats_start[record + 1]):
                row = seats[seat]
                # A row has one arc to each record seated in it, so it is entered once for all of
                # them.
                if component[row] >= 0:
                    continue
                component[row] = count
                for first in range(0, words, _STRETCH):
                    end = min(words, first + _STRETCH)
                    some = np.uint64(0)
                    for w in range(first, end):
                        found[w] = fresh[w]
                        some |= found[w]
                    for a in range(cell.shape[0] - 1, -1, -1):
                        if some == 0:
                            break
                        start = allowed_start[cell[a, row]]
                        levels = allowed_start[cell[a, row] + 1] - start
                        some = and_into(found, first, end, record_bitmap, allowed[start:], levels)
                    if some == 0:
                        continue
                    for w in range(first, end):
                        word = found[w]
                        fresh[w] &= ~word
                        while word:
                            other = 64 * w + lowest_bit(word)
                            word &= word - one
                            record_component[other] = count
                            stack[depth] = other
                            depth += 1
        count += 1
