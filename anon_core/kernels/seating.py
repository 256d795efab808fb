"""A random walk over perfect matchings."""

import numpy as np
from numba import prange

from anon_core.kernels.jit import kernel, parallel_kernel
from anon_core.kernels.lanes import lowest_lane


@parallel_kernel
def list_fitting_rows(codes, level_offsets, allowed, start, rows, found):
    # codes (attributes, n), allowed (levels, words of rows), start (n,) words, rows (n, most), found (n,)
    """rows[p, :found[p]] = rows that person p fits, from word start[p] on around the table, until `most` are found.

    Bit r of allowed[level] says that row r may hold that level; whose levels all are allowed fits.
    """
    attributes, words, one = codes.shape[0], allowed.shape[1], np.uint64(1)
    for person in prange(codes.shape[1]):
        total, step = 0, 0
        while step < words and total < rows.shape[1]:
            w = (start[person] + step) % words
            step += 1
            word = allowed[level_offsets[0] + codes[0, person], w]
            a = 1
            while word and a < attributes:
                word &= allowed[level_offsets[a] + codes[a, person], w]
                a += 1
            while word and total < rows.shape[1]:
                rows[person, total] = 64 * w + lowest_lane(word)
                word &= word - one
                total += 1
        found[person] = total


@kernel
def swap_walk(person, bits, hidden, rows, found, draws):
    # person (n,) by row, changed; bits, hidden (n, words); rows (n, most) and found (n,) by person; draws uint32, in pairs
    """For each pair of draws, let the person of one row and that of another row which they fit change places if both fit.

    Where all fitting rows are listed a proposal is as likely as its reverse, so the walk forgets where it began in favour of
    the uniform distribution over the matchings that it can reach; where lists are cut short, nearly so.
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
