"""Keeping the smallest of many 64-bit keys."""

import numpy as np

from anon_core.jit.kernel import kernel


@kernel
def keep_smallest(keys, start, size, keep):
    """Move the `keep` smallest of keys[start : start + size] to its front (any order) and return the largest of them.

    Quickselect with the median of three. Partitions swap at every key instead of branching: which side a key falls on
    cannot be predicted, and a wrong guess costs more than a swap. 1 <= keep <= size; keys are distinct.
    """
    low, high, target = start, start + size - 1, start + keep - 1
    while low < high:
        middle = (low + high) >> 1
        first, second, third = keys[low], keys[middle], keys[high]
        pivot = max(min(first, second), min(max(first, second), third))
        at = low if pivot == first else middle if pivot == second else high
        keys[at], keys[high] = keys[high], pivot
        border = low
        for place in range(low, high):
            key = keys[place]
            keys[place] = keys[border]
            keys[border] = key
            border += np.int64(key < pivot)
        keys[high], keys[border] = keys[border], pivot
        if target == border:
            return pivot
        if target < border:
            high = border - 1
        else:
            low = border + 1
    return keys[target]
