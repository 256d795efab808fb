"""Numbers drawn by what they are for: no state, so any thread may draw any of them."""

import numpy as np

from anon_core.jit.kernel import kernel


@kernel
def mix_bits(number):  # uint64
    """Return a number whose every bit depends on all bits of the one given (SplitMix64)."""
    number += np.uint64(0x9E3779B97F4A7C15)
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return number ^ (number >> np.uint64(31))
