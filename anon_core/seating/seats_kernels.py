"""Which rows each record fits."""

import numpy as np

from anon_core.jit.kernel import kernel, parallel_kernel
from anon_core.jit.lanes import lowest_lane

_WORDS = 256  # of a bitmap that say how rare a level is


@parallel_kernel(lambda codes: codes.shape[1])
def list_fitting_rows(
    begin, end, codes, level_offsets, allowed, start, own_start, own, indptr, rows, found
):
    # codes int32 (attributes, m); allowed uint64 (levels, words of rows); start int64 (m,): words
    # indptr int64 (m + 1,): room in rows; found int64 (m,): filled
    """List the rows that p fits: rows[indptr[p] : indptr[p] + found[p]].

    A row fits if it allows all levels of p; bit r of allowed[level] says that row r allows level.
    First come the rows own[own_start[p] : own_start[p + 1]], ascending, then others from word
    start[p] on, around the table, while there is room. Without `rows` all are counted.
    """
    attributes, words, one = codes.shape[0], allowed.shape[1], np.uint64(1)
    fill = len(rows) > 0
    many = _rows_allowing(allowed)
    level = np.empty(attributes, dtype=np.int64)
    for p in range(begin, end):
        for a in range(attributes):
            one_more, at = level_offsets[a] + codes[a, p], a
            # Rarest level first: words become empty soonest, and the other levels are not read.
            while at and many[level[at - 1]] > many[one_more]:
                level[at] = level[at - 1]
                at -= 1
            level[at] = one_more
        first, last = own_start[p], own_start[p + 1]
        room, total, known = indptr[p + 1] - indptr[p], last - first, first
        for i in range(total if fill else 0):
            rows[indptr[p] + i] = own[first + i]
        after, left = start[p], words
        while left and (total < room or not fill):
            w, left = after, left - 1
            after = 0 if w + 1 == words else w + 1
            # Own rows are passed in the order of words; after the wrap they begin again.
            if w == 0:
                known = first
            word, a = allowed[level[0], w], 1
            while word and a < attributes:
                word &= allowed[level[a], w]
                a += 1
            while word and known < last and own[known] >> 6 <= w:
                if own[known] >> 6 == w:
                    word &= ~(one << np.uint64(own[known] & 63))
                known += 1
            while word and (total < room or not fill):
                if fill:
                    rows[indptr[p] + total] = 64 * w + lowest_lane(word)
                word &= word - one
                total += 1
        found[p] = total


@kernel
def _rows_allowing(allowed):
    """How many rows allow each level, counted in some of the words."""
    found = np.zeros(len(allowed), dtype=np.int64)
    step = max(1, allowed.shape[1] // _WORDS)
    for level in range(len(allowed)):
        for w in range(0, allowed.shape[1], step):
            word = allowed[level, w]
            while word:
                word &= word - np.uint64(1)
                found[level] += 1
    return found
