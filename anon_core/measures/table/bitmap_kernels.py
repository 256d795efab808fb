"""Items that have one level of each attribute, by the bits of a `Bitmap`. Auditors only."""

import numpy as np
from numba import types
from numba.extending import intrinsic

from anon_core.jit.kernel import kernel


@intrinsic
def count_ones(_typing, _word):
    """Number of set bits of a uint64."""

    def generate(_context, builder, _signature, arguments):
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


@kernel
def lowest_bit(word):
    """Index of the lowest set bit of a word that is not zero."""
    return count_ones((word & (~word + np.uint64(1))) - np.uint64(1))


@kernel
def mark_items(cell, start, allowed, words):
    # allowed[start[c] : start[c + 1]]: levels of cell c, as rows of words (levels, words): filled
    """Set the bit of each item in the words of every level that its cell allows."""
    for item in range(len(cell)):
        bit = np.uint64(1) << np.uint64(item & 63)
        for at in range(start[cell[item]], start[cell[item] + 1]):
            words[allowed[at], item >> 6] |= bit


@kernel
def meet_levels(levels, bits, place):
    """Bits that all levels have in a column of words."""
    # A local array of levels, side by side: loads of level[a, record] took ten times as long.
    left, a = bits[levels[0], place], 1
    while left and a < len(levels):
        left &= bits[levels[a], place]
        a += 1
    return left


@kernel
def make_room(bitmap):
    """Return room for the places and the bits that `list_words` lists."""
    words = bitmap.words.shape[1]
    return np.empty(words, dtype=np.int64), np.empty(words, dtype=np.uint64)


@kernel
def list_words(levels, bitmap, place, word):
    # levels (attributes,) of a bitmap; place, word: of `make_room`, filled
    """List the words that hold items with each of these levels; returns how many.

    Word place[i] of the bitmap holds the items word[i].
    """
    words, tops, count = bitmap.words, bitmap.tops, 0
    for top in range(tops.shape[1]):
        left = meet_levels(levels, tops, top)
        while left:
            w = 64 * top + lowest_bit(left)
            left &= left - np.uint64(1)
            bits = meet_levels(levels, words, w)
            if bits:
                place[count], word[count] = w, bits
                count += 1
    return count
