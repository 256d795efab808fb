"""Keeping the smallest of many 64-bit keys."""

from anon_core.kernels.jit import kernel


@kernel
def keep_smallest(keys, size, keep):
    """Move the `keep` smallest of keys[:size] to the front (any order) and return the largest of them.

    Hoare's selection with the median of three; 1 <= keep <= size. Keys are distinct.
    """
    low, high, target = 0, size - 1, keep - 1
    while low < high:
        middle = (low + high) >> 1
        first, second, third = keys[low], keys[middle], keys[high]
        pivot = max(min(first, second), min(max(first, second), third))
        i, j = low, high
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                i += 1
                j -= 1
        if target <= j:
            high = j
        elif target >= i:
            low = i
        else:
            break
    return keys[target]
