"""Levels to packed bits, and packed bits to per-attribute patterns."""

import numpy as np

from anon_core.jit.kernel import parallel_kernel


@parallel_kernel(lambda codes: codes.shape[1])
def pack_codes(
    first, last, codes, bit_offsets, ordinal, parents, bits
):  # codes (attributes, n), parents (f,), bits (n, words) zeroed
    """Set the bits of every record: one per level, or the first `code` bits of a thermometer.

    In a tree the bits of all nodes above the level are set, too.
    """
    one = np.uint64(1)
    for record in range(first, last):
        # Attributes share words, so threads divide records: no two of them write one word.
        for a in range(codes.shape[0]):
            start = bit_offsets[a]
            if ordinal[a]:
                for bit in range(start, start + codes[a, record]):
                    bits[record, bit >> 6] |= one << np.uint64(bit & 63)
            else:
                bit = start + codes[a, record]
                while bit < bit_offsets[a + 1]:
                    bits[record, bit >> 6] |= one << np.uint64(bit & 63)
                    bit = start + parents[bit]


@parallel_kernel(lambda bits: len(bits))
def unpack_range(first, last, bits, start, stop, flags):  # bits (n, words), flags (n, stop - start)
    """Copy features start .. stop - 1 into booleans."""
    for record in range(first, last):
        for bit in range(start, stop):
            flags[record, bit - start] = (
                bits[record, bit >> 6] >> np.uint64(bit & 63)
            ) & np.uint64(1)
