"""Bits of a word."""

import numpy as np

from anon_core.jit.kernel import kernel


@kernel
def count_set_bits(word):
    """Return the number of set bits of a uint64; LLVM knows it as one instruction."""
    # Sums of 2, of 4 and of 8 neighbouring bits; the product adds all bytes into the highest one.
    word -= word >> np.uint64(1) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + (
        word >> np.uint64(2) & np.uint64(0x3333333333333333)
    )
    word = word + (word >> np.uint64(4)) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64(word * np.uint64(0x0101010101010101) >> np.uint64(56))
