"""Keep the smallest of many 64-bit keys, and sort keys."""

import numpy as np

from anon_core.jit.kernel import kernel


@kernel
def keep_smallest(keys, start, size, keep):
    # keys int64: distinct; 1 <= keep <= size
    """Move the `keep` smallest of keys[start : start + size] to the front, in any order.

    Quickselect with the median of three. A partition swaps at every key instead of branching: the
    side of a key cannot be predicted, and a wrong guess costs more than a swap. Returns the largest
    key kept.
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


@kernel
def sort_keys(keys, start, size):
    """Sort keys[start : start + size] by insertion over falling gaps (Shell).

    `np.sort` would add a second of compilation; a list has tens of keys.
    """
    gap = size
    while gap > 1:
        gap = max(np.int64(1), gap * 5 // 11)  # Gonnet and Baeza-Yates
        for place in range(start + gap, start + size):
            key, at = keys[place], place
            while at - gap >= start and keys[at - gap] > key:
                keys[at] = keys[at - gap]
                at -= gap
            keys[at] = key
