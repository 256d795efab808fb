"""What attackers conclude from which record fits which row. Auditors only.

`level` and `bitmap` are `level_index` and `bitmap` of Classes; `component` and `record_component`
are `row` and `record` of Components.
"""

import numpy as np
from numba import types
from numba.extending import intrinsic

from anon_core.jit.kernel import kernel, parallel_kernel
from anon_core.measures.table.crowds_kernels import lowest_bit, rows_of

_WORDS = 32  # words of bitmaps joined at a time


@intrinsic
def count_ones(_typing, _word):
    """Number of set bits of a uint64."""

    def generate(_context, builder, _signature, arguments):
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


@parallel_kernel(lambda level: level.shape[1])
def find_tightest(begin, end, level, bitmap, rows_in, rank, least, alike):
    # rank, rows_in by row class; least, alike by record class: filled
    """Find, for each record class, the least rank of its rows, and how many rows have it."""
    for record in range(begin, end):
        words = np.empty(bitmap.shape[1], dtype=np.uint64)
        rows_of(record, level, bitmap, words)
        best, rows = np.int64(-1), np.int64(0)
        for w in range(len(words)):
            word = words[w]
            while word:
                row = 64 * w + lowest_bit(word)
                word &= word - np.uint64(1)
                if best < 0 or rank[row] < best:
                    best, rows = rank[row], np.int64(0)
                if rank[row] == best:
                    rows += rows_in[row]
        least[record], alike[record] = best, rows


@parallel_kernel(lambda level: level.shape[1])
def count_fitting_rows(begin, end, level, bitmap, times, counts):
    # level (known attributes, kinds); a bit of word w of the bitmap stands for times[w] rows
    """Count the rows that fit each kind of records in the attributes that are known.

    Neighbouring rows are alike, most of all in the last attribute: a stretch of them is left as
    soon as none is left that fits.
    """
    for kind in range(begin, end):
        words = np.empty(_WORDS, dtype=np.uint64)
        ones = np.int64(0)
        for first in range(0, bitmap.shape[1], _WORDS):
            stretch = min(_WORDS, bitmap.shape[1] - first)
            some = np.uint64(0)
            for w in range(stretch):
                words[w] = bitmap[level[-1, kind], first + w]
                some |= words[w]
            for a in range(level.shape[0] - 2, -1, -1):
                if some == 0:
                    break
                source = bitmap[level[a, kind], first : first + stretch]
                some = np.uint64(0)
                for w in range(stretch):
                    words[w] &= source[w]
                    some |= words[w]
            if some:
                for w in range(stretch):
                    ones += times[first + w] * count_ones(words[w])
        counts[kind] = ones


@parallel_kernel(lambda level: level.shape[1])
def count_matchable(begin, end, level, bitmap, component, record_component, found):
    """Count, for each record class, the row classes that it fits in its own component."""
    for record in range(begin, end):
        words = np.empty(bitmap.shape[1], dtype=np.uint64)
        rows_of(record, level, bitmap, words)
        same = 0
        for w in range(len(words)):
            word = words[w]
            while word:
                same += component[64 * w + lowest_bit(word)] == record_component[record]
                word &= word - np.uint64(1)
        found[record] = same


@parallel_kernel(lambda first, last: last - first)
def list_matchable(
    begin, end, first, last, level, bitmap, component, record_component, start, listed
):
    """List the row classes that each record class c of [first, last) fits in its own component.

    They start at listed[start[c] - start[first]].
    """
    for record in range(first + begin, min(last, first + end)):
        words = np.empty(bitmap.shape[1], dtype=np.uint64)
        rows_of(record, level, bitmap, words)
        slot = start[record] - start[first]
        for w in range(len(words)):
            word = words[w]
            while word:
                row = 64 * w + lowest_bit(word)
                word &= word - np.uint64(1)
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
