"""Nodes of trees, and rows that show one."""

import numpy as np

from anon_core.jit.kernel import kernel, parallel_kernel
from anon_core.tables.levels_kernels import is_hidden

_ONE = np.uint64(1)


@kernel
def join_features(one, other, parent):
    """The lowest feature above or at both, len(parent) for the root."""
    # Features stand before those above them, so the smaller one is never above the other.
    while one != other:
        if one < other:
            one = np.int64(parent[one])
        else:
            other = np.int64(parent[other])
    return one


@parallel_kernel(lambda codes: len(codes))
def close_cells(begin, end, codes, start, parent, spans, hidden):
    # codes (n,); parent (features,), spans (features + 1, 2): of one attribute; start: first bit
    """Let each row hide all features inside the node that it shows, and no other.

    That is the node above the topmost feature of the own path that is hidden.
    """
    for i in range(begin, end):
        shown = np.int64(codes[i])
        at = shown
        while at < len(parent):
            if is_hidden(hidden, i, start + at):
                shown = np.int64(parent[at])
            at = np.int64(parent[at])
        low, high = spans[shown]
        for bit in range(len(parent)):
            inside = bit < shown and low <= spans[bit, 0] and spans[bit, 1] <= high
            place, flag = (start + bit) >> 6, _ONE << np.uint64((start + bit) & 63)
            if inside and low < high:
                hidden[i, place] |= flag
            else:
                hidden[i, place] &= ~flag
