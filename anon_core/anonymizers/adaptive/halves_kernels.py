"""Extend counts from the sampled half to all vertices."""

import numpy as np

from anon_core.jit.kernel import parallel_kernel

_ONE = np.uint64(1)
_REACH = 1  # pairs on either side that a mean is taken over
# Bits: those and twice the own pair are four, and crowds of the whole are twice as large.
_WIDTH = 1
_BLOCK = 512


def inherit_counts(held, held_at, demands, chosen, at, rows, most, counts):
    # vertices of the whole as they are ranked: at (n,), rows (n, words); counts (f, n): filled
    # of each two of them the chosen one: held_at, demands (m,), chosen (m, words); held (f, m)
    """counts[l, at[r]] = twice the mean number of members that differ from r in feature l.

    The mean is over the crowds of r's pair and of the pairs near by. The own pair counts twice, and
    once more for each pair that is missing at the ends. A crowd is as large as demanded or as the
    greatest of its counts, at most `most`.
    """
    crowd = np.minimum(demands, most)
    widen_crowds(held, held_at, most, crowd)
    fill_inherited(held, held_at, chosen, at, rows, crowd, counts)


@parallel_kernel(lambda held_at: (len(held_at) + _BLOCK - 1) // _BLOCK)
def widen_crowds(first, last, held, held_at, most, crowd):  # crowd (m,): changed
    """A crowd is at least as large as the greatest of its counts, at most `most`."""
    m = len(held_at)
    for block in range(first, last):
        for bit in range(len(held)):
            for i in range(_BLOCK * block, min(_BLOCK * block + _BLOCK, m)):
                crowd[i] = max(crowd[i], min(np.int32(held[bit, held_at[i]]), most))


@parallel_kernel(lambda held: len(held))
def fill_inherited(begin, end, held, held_at, chosen, at, rows, crowd, counts):
    """Fill the counts of each feature from crowds of known sizes, see `inherit_counts`."""
    m = len(held_at)
    for bit in range(begin, end):
        word, shift = bit >> 6, np.uint64(bit & 63)
        having = np.empty(m, dtype=np.int32)  # of each crowd, those who have the feature
        for i in range(m):
            differing = min(np.int32(held[bit, held_at[i]]), crowd[i])
            having[i] = crowd[i] - differing if (chosen[i, word] >> shift) & _ONE else differing
        first, last, everyone, with_it = 0, 0, 0, 0
        for i in range(m):
            while last < min(i + _REACH + 1, m):
                everyone += crowd[last]
                with_it += having[last]
                last += 1
            if first < i - _REACH:
                everyone -= crowd[first]
                with_it -= having[first]
                first += 1
            missing = 2 * _REACH + 2 - (last - first)
            have = with_it + missing * having[i]
            lack = everyone + missing * crowd[i] - have
            for r in range(2 * i, min(2 * i + 2, len(at))):
                counts[bit, at[r]] = (lack if (rows[r, word] >> shift) & _ONE else have) >> _WIDTH
