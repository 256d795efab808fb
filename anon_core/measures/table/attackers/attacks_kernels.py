"""What attackers conclude from which record fits which row. Auditors only.

`level` and `bitmap` are `level_index` and `bitmap` of Classes; `component` and `record_component`
are `row` and `record` of Components.
"""

import numpy as np
from numba import types
from numba.extending import intrinsic

from anon_core.jit.kernel import kernel, parallel_kernel
from anon_core.measures.table.crowds_kernels import lowest_bit, rows_of

_WORDS = 512  # words of bitmaps joined at a time: those of ten attributes fit the cache


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
def count_partly(begin, end, level, bitmap, times, start, known, counts):
    # a bit of word w of the bitmap stands for times[w] rows; counts (subsets, record classes)
    # known[start[s] : start[s + 1]]: the attributes of subset s
    """Count the rows that each record class fits in the attributes of each subset."""
    for record in range(begin, end):
        room = np.empty(_WORDS, dtype=np.uint64)
        for first in range(0, bitmap.shape[1], _WORDS):
            words = room[: min(_WORDS, bitmap.shape[1] - first)]
            for s in range(counts.shape[0]):
                for w in range(len(words)):
                    words[w] = bitmap[level[known[start[s]], record], first + w]
                for index in range(start[s] + 1, start[s + 1]):
                    source = bitmap[level[known[index], record], first : first + len(words)]
                    for w in range(len(words)):
                        words[w] &= source[w]
                ones = np.int64(0)
                for w in range(len(words)):
                    ones += times[first + w] * count_ones(words[w])
                counts[s, record] += ones


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
