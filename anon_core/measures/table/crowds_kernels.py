"""Which record fits which row, and which pairs lie in a perfect matching. Auditors only.

`level` and `bitmap` are `level_index` and `bitmap` of Classes.
"""

import numpy as np

from anon_core.jit.kernel import kernel, parallel_kernel
from anon_core.measures.table.bitmap_kernels import (
    count_ones,
    list_words,
    lowest_bit,
    make_room,
    meet_levels,
)


@parallel_kernel(lambda level: len(level))
def count_fitting_rows(begin, end, level, bitmap, rows_in, alike, fitting):
    # alike (words,): rows in each class of a word if these are equally many, else 0
    """Count the rows that each record class fits."""
    place, word = make_room(bitmap)
    for record in range(begin, end):
        rows = np.int64(0)
        for each in range(list_words(level[record], bitmap, place, word)):
            if alike[place[each]]:
                rows += alike[place[each]] * count_ones(word[each])
                continue
            while word[each]:
                rows += rows_in[64 * place[each] + lowest_bit(word[each])]
                word[each] &= word[each] - np.uint64(1)
        fitting[record] = rows


@parallel_kernel(lambda level: len(level))
def count_matchable_rows(
    begin, end, level, bitmap, rows_in, component, record_component, matchable
):
    # rows_in, component by row class
    """Count, for each record class, the rows that it fits in its own component."""
    place, word = make_room(bitmap)
    for record in range(begin, end):
        same = np.int64(0)
        for each in range(list_words(level[record], bitmap, place, word)):
            while word[each]:
                row = 64 * place[each] + lowest_bit(word[each])
                word[each] &= word[each] - np.uint64(1)
                if component[row] == record_component[record]:
                    same += rows_in[row]
        matchable[record] = same


@parallel_kernel(lambda found: len(found))
def count_records(begin, end, level, bitmap, records_in, found):
    # found (parts, row classes): zeros, filled; one thread writes one part
    """Count, for each row class, the records that fit it, as a sum over the parts."""
    parts = found.shape[0]
    place, word = make_room(bitmap)
    for part in range(begin, end):
        for record in range(part, len(level), parts):
            for each in range(list_words(level[record], bitmap, place, word)):
                while word[each]:
                    found[part, 64 * place[each] + lowest_bit(word[each])] += records_in[record]
                    word[each] &= word[each] - np.uint64(1)


@kernel
def _mark_all(count):
    """Bits of so many items, all set, and those of their words, as the words of a `Bitmap`."""
    words = (count + 63) // 64
    fresh, tops = np.zeros(words, np.uint64), np.zeros((words + 63) // 64, np.uint64)
    for item in range(count):
        fresh[item >> 6] |= np.uint64(1) << np.uint64(item & 63)
    for w in range(words):
        tops[w >> 6] |= np.uint64(1) << np.uint64(w & 63)
    return fresh, tops


@kernel
def _unmark(w, bits, fresh, tops):
    """Take items out of a word."""
    fresh[w] &= ~bits
    if fresh[w] == 0:
        tops[w >> 6] &= ~(np.uint64(1) << np.uint64(w & 63))


@kernel
def _find_fresh_row(record, level, bitmap, word_at, fresh, tops):
    """The first row class that a record fits, of those not visited; -1 if there is none.

    Bits only leave `fresh`: a word that holds no row for the record never holds one later.
    """
    begin, levels = word_at[record], level[record]
    for top in range(begin >> 6, len(tops)):
        left = tops[top]
        if top == begin >> 6:
            left &= ~np.uint64(0) << np.uint64(begin & 63)
        if left:
            left &= meet_levels(levels, bitmap.tops, top)
        while left:
            w = 64 * top + lowest_bit(left)
            left &= left - np.uint64(1)
            bits = fresh[w] & meet_levels(levels, bitmap.words, w)
            if bits:
                word_at[record] = w
                return 64 * w + lowest_bit(bits)
    word_at[record] = 64 * len(tops)
    return -1


@kernel
def finish_order(level, bitmap, rows, seated_start, seated, order):
    """First pass of Kosaraju: order record classes as a depth-first search leaves them.

    Arcs: record class -> row classes it fits (bitmap) -> record classes seated there (seated). Each
    of the row classes is visited once, so the scan of a record only moves forward.
    """
    records = len(level)
    fresh, tops = _mark_all(rows)  # rows not visited yet
    reached = np.zeros(records, dtype=np.bool_)
    # A stack of its own: the search may be as deep as there are records, too deep for calls.
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
                # All seats of the row are followed. It is no longer fresh, so it is not entered
                # again.
                row_at[record] = -1
            row = _find_fresh_row(record, level, bitmap, word_at, fresh, tops)
            if row >= 0:
                _unmark(row >> 6, np.uint64(1) << np.uint64(row & 63), fresh, tops)
                row_at[record] = row
                seat_at[record] = seated_start[row]
            else:
                order[finished] = record
                finished += 1
                depth -= 1


@kernel
def _meet_cells(cells, allowed_start, allowed, bits, place, left):
    """Those of the bits `left`, of a column of words, that a level of each of these cells has."""
    a = 0
    while left and a < len(cells):
        start, end = allowed_start[cells[a]], allowed_start[cells[a] + 1]
        union = np.uint64(0) if start < end else ~np.uint64(0)  # an empty list means all levels
        for index in range(start, end):
            union |= bits[allowed[index], place]
        left &= union
        a += 1
    return left


@kernel
def find_components(
    order, records, cell, allowed_start, allowed, seats_start, seats, record_component, component
):
    # records: Bitmap of the record classes by level; cell (rows, attributes) indexes allowed_start
    # record_component, component: -1 everywhere, filled
    """Second pass of Kosaraju on reversed arcs: number the strongly connected components.

    Reversed arcs: record class -> row classes in which it sits (seats) -> record classes that fit
    them. These are the intersection over attributes of the unions of `records` over the levels that
    the row allows.
    """
    fresh, tops = _mark_all(len(record_component))  # records not visited yet
    stack = np.empty(len(record_component), dtype=np.int64)
    count = 0
    for index in range(len(order) - 1, -1, -1):
        # Of those without a number the root finished last. A vertex of another component that
        # reaches it along arcs would have finished later, so reversed arcs lead to its own
        # component only.
        root = order[index]
        if record_component[root] >= 0:
            continue
        record_component[root] = count
        _unmark(root >> 6, np.uint64(1) << np.uint64(root & 63), fresh, tops)
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
                cells = cell[row]
                for top in range(len(tops)):
                    left = _meet_cells(cells, allowed_start, allowed, records.tops, top, tops[top])
                    while left:
                        w = 64 * top + lowest_bit(left)
                        left &= left - np.uint64(1)
                        bits = _meet_cells(
                            cells, allowed_start, allowed, records.words, w, fresh[w]
                        )
                        # Taken out before they are pushed: each record is pushed once, and the
                        # stack cannot overflow.
                        _unmark(w, bits, fresh, tops)
                        while bits:
                            other = 64 * w + lowest_bit(bits)
                            bits &= bits - np.uint64(1)
                            record_component[other] = count
                            stack[depth] = other
                            depth += 1
        count += 1
