"""What attackers conclude from which record fits which row. Auditors only.

`level` and `bitmap` are `level_index` and `bitmap` of Classes; `component` and `record_component`
are `row` and `record` of Components.
"""

import numpy as np

from anon_core.jit.kernel import kernel, parallel_kernel
from anon_core.measures.table.bitmap_kernels import list_words, lowest_bit, make_room


@parallel_kernel(lambda level: len(level))
def find_tightest(begin, end, level, bitmap, rows_in, rank, least, alike):
    # rank, rows_in by row class; least, alike by record class: filled
    """Find, for each record class, the least rank of its rows, and how many rows have it."""
    place, word = make_room(bitmap)
    for record in range(begin, end):
        best, rows = np.int64(-1), np.int64(0)
        for each in range(list_words(level[record], bitmap, place, word)):
            while word[each]:
                row = 64 * place[each] + lowest_bit(word[each])
                word[each] &= word[each] - np.uint64(1)
                if best < 0 or rank[row] < best:
                    best, rows = rank[row], np.int64(0)
                if rank[row] == best:
                    rows += rows_in[row]
        least[record], alike[record] = best, rows


@parallel_kernel(lambda first, last: last - first)
def list_matchable(
    begin, end, first, last, level, bitmap, component, record_component, start, listed
):
    """List the row classes that each record class c of [first, last) fits in its own component.

    They start at listed[start[c] - start[first]].
    """
    place, word = make_room(bitmap)
    for record in range(first + begin, min(last, first + end)):
        slot = start[record] - start[first]
        for each in range(list_words(level[record], bitmap, place, word)):
            while word[each]:
                row = 64 * place[each] + lowest_bit(word[each])
                word[each] &= word[each] - np.uint64(1)
                if component[row] == record_component[record]:
                    listed[slot] = row
                    slot += 1


@parallel_kernel(lambda first, last: last - first)
def balance_records(begin, end, first, last, start, listed, rows_in, row_weight, record_weight):
    """Weigh record classes [first, last) so that each of their records expects one row."""
    for record in range(first + begin, min(last, first + end)):
        expected = 0.0
        for slot in range(start[record] - start[first], start[record + 1] - start[first]):
            expected += rows_in[listed[slot]] * row_weight[listed[slot]]
        record_weight[record] = 1 / expected


@kernel
def expect_records(first, last, start, listed, records_in, record_weight, expected):
    # expected by row class: added to in the order of record classes, so threads change no digit
    """Add up how many records of classes [first, last) a row of weight 1 expects."""
    for record in range(first, last):
        share = records_in[record] * record_weight[record]
        for slot in range(start[record] - start[first], start[record + 1] - start[first]):
            expected[listed[slot]] += share


@parallel_kernel(lambda first, last: last - first)
def find_likeliest(begin, end, first, last, start, listed, weights, greatest, tight):
    # weights: rows_in, row_weight and rank by row class, least rank by record class
    """Find, for record classes [first, last), the greatest weight of a row.

    Beside it the weight of all rows of the least rank.
    """
    rows_in, row_weight, rank, least = weights
    for record in range(first + begin, min(last, first + end)):
        best, total = 0.0, 0.0
        for slot in range(start[record] - start[first], start[record + 1] - start[first]):
            row = listed[slot]
            best = max(best, row_weight[row])
            if rank[row] == least[record]:
                total += rows_in[row] * row_weight[row]
        greatest[record], tight[record] = best, total
