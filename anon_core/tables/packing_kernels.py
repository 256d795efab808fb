"""Levels to packed bits, and packed bits to per-attribute patterns."""

import numpy as np
from numba import prange

from anon_core.jit.kernel import parallel_kernel


@parallel_kernel
def pack_codes(codes, bit_offsets, ordinal, bits):  # codes (attributes, n), bits (n, words) zeroed
    """Set the bits of every record: one per level, or the first `code` bits of a thermometer."""
    one = np.uint64(1)
    for record in prange(codes.shape[1]):
        for a in range(codes.shape[0]):
            start = bit_offsets[a]
            if ordinal[a]:
                for bit in range(start, start + codes[a, record]):
                    bits[record, bit >> 6] |= one << np.uint64(bit & 63)
            else:
                bit = start + codes[a, record]
                bits[record, bit >> 6] |= one << np.uint64(bit & 63)


@parallel_kernel
def unpack_range(bits, start, stop, flags):  # bits (n, words), flags (n, stop - start)
    """Copy features start .. stop - 1 into booleans."""
    for record in prange(bits.shape[0]):
        for bit in range(start, stop):
            flags[record, bit - start] = (
                bits[record, bit >> 6] >> np.uint64(bit & 63)
            ) & np.uint64(1)
