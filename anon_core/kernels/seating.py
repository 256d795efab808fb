"""A random walk over perfect matchings."""

import numpy as np
from numba import prange

from anon_core.kernels.jit import kernel, parallel_kernel

CHUNK = 64  # rows compared at a time: one word each, eight to a vector


@kernel
def count_misfits(one, one_column, one_visible, two, two_column, two_visible):
    """How many of a few rows differ visibly in either of two words: slices, so that it becomes vector code."""
    total = 0
    for row in range(len(one_column)):
        differ = ((one ^ one_column[row]) & one_visible[row]) | ((two ^ two_column[row]) & two_visible[row])
        total += np.int64(differ != 0)
    return total


@parallel_kernel
def list_fitting_rows(bits, bit_columns, visible_columns, start, rows, found):
    # bits (n, words), bit_columns, visible_columns (words, n), start (n,), rows (n, most), found (n,)
    """rows[p, :found[p]] = rows that person p fits, from start[p] on around the table, until `most` are found."""
    n, words = bits.shape
    second = min(1, words - 1)
    for person in prange(n):
        total, met, first = 0, 0, start[person]
        while met < n and total < rows.shape[1]:
            size = min(CHUNK, n - first, n - met)
            stop = first + size
            misfits = count_misfits(
                bits[person, 0], bit_columns[0, first:stop], visible_columns[0, first:stop],
                bits[person, second], bit_columns[second, first:stop], visible_columns[second, first:stop],
            )  # fmt: skip
            for row in range(first, stop if misfits < size else first):
                fits = True
                for w in range(words):
                    if (bits[person, w] ^ bit_columns[w, row]) & visible_columns[w, row]:
                        fits = False
                        break
                if fits and total < rows.shape[1]:
                    rows[person, total] = row
                    total += 1
            met += size
            first = 0 if stop == n else stop
        found[person] = total


@kernel
def swap_walk(person, bits, hidden, rows, found, draws):
    # person (n,) by row, changed; bits, hidden (n, words); rows (n, most) and found (n,) by person; draws uint32, in pairs
    """For each pair of draws, let the person of one row and that of another row which they fit change places if both fit.

    A proposal is as likely as its reverse (the lists are fixed), so the walk forgets where it began in favour of the
    uniform distribution over the matchings that it can reach.
    """
    n, shift = np.uint64(len(person)), np.uint64(32)
    for draw in range(0, len(draws) - 1, 2):
        here = (np.uint64(draws[draw]) * n) >> shift
        p = person[here]
        if found[p] == 0:
            continue
        there = rows[p, (np.uint64(draws[draw + 1]) * np.uint64(found[p])) >> shift]
        q = person[there]
        fits = True
        for w in range(bits.shape[1]):
            if (bits[q, w] ^ bits[here, w]) & ~hidden[here, w]:
                fits = False
                break
        if fits:
            person[here], person[there] = q, p
