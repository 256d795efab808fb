"""Which levels a row with hidden features may have."""

import numpy as np

from anon_core.jit.kernel import kernel, parallel_kernel

_ONE = np.uint64(1)


@kernel
def is_hidden(hidden, i, bit):
    """Whether feature `bit` is hidden in row i."""
    return (hidden[i, bit >> 6] >> np.uint64(bit & 63)) & _ONE != 0


@parallel_kernel(lambda codes: codes.shape[0])
def map_allowed(begin, end, codes, hidden, level_offsets, bit_offsets, ordinal, allowed):
    # codes (attributes, n), hidden (n, words), allowed (levels, words of rows) zeroed
    """Set bit i of allowed[level] if row i, given its hidden features, may have that level."""
    # Levels of an attribute are rows of `allowed` of their own: no two threads write one word.
    for a in range(begin, end):
        level, bit = level_offsets[a], bit_offsets[a]
        levels = level_offsets[a + 1] - level
        for i in range(codes.shape[1]):
            word, flag, own = i >> 6, _ONE << np.uint64(i & 63), codes[a, i]
            allowed[level + own, word] |= flag
            if ordinal[a]:
                q = own
                while q > 0 and is_hidden(hidden, i, bit + q - 1):
                    q -= 1
                    allowed[level + q, word] |= flag
                q = own
                while q < levels - 1 and is_hidden(hidden, i, bit + q):
                    q += 1
                    allowed[level + q, word] |= flag
            # Where the own bit is shown, it is 1 and rules out every other level.
            elif is_hidden(hidden, i, bit + own):
                for q in range(levels):
                    if is_hidden(hidden, i, bit + q):
                        allowed[level + q, word] |= flag
