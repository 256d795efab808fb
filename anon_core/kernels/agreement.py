"""Pairs that differ only in features hidden at both ends, listed.

Packed rows `bits` and `hidden` are (n, words), feature l at bit l % 64 of word l // 64.
"""

import numpy as np
from numba import prange

from anon_core.kernels.jit import kernel, parallel_kernel
from anon_core.kernels.lanes import apart, lowest_lane

ONE = np.uint64(1)
CHUNK = 32  # words of a bitmap joined at a time: a list that is full early ends its scan early


@kernel
def is_hidden(hidden, i, bit):
    """Whether feature `bit` is hidden at vertex i."""
    return (hidden[i, bit >> 6] >> np.uint64(bit & 63)) & ONE != 0


@parallel_kernel
def map_allowed(codes, hidden, level_offsets, bit_offsets, ordinal, allowed):
    # codes (attributes, n), allowed (levels, words of vertices) zeroed
    """Bit i of allowed[level] = vertex i reads as possibly that level, given what it hides."""
    for a in prange(codes.shape[0]):
        level, bit = level_offsets[a], bit_offsets[a]
        levels = level_offsets[a + 1] - level
        for i in range(codes.shape[1]):
            word, flag, own = i >> 6, ONE << np.uint64(i & 63), codes[a, i]
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
            elif is_hidden(hidden, i, bit + own):
                for q in range(levels):
                    if is_hidden(hidden, i, bit + q):
                        allowed[level + q, word] |= flag


@kernel
def join_maps(allowed, levels, first, joined):
    """joined[:] = words from `first` on of the intersection of the maps of some levels; returns whether any bit is set."""
    size = min(len(joined), allowed.shape[1] - first)
    joined[:] = 0
    joined[:size] = allowed[levels[len(levels) - 1], first : first + size]
    for index in range(len(levels) - 2, -1, -1):
        source = allowed[levels[index], first : first + size]
        some = np.uint64(0)
        for w in range(size):
            joined[w] &= source[w]
            some |= joined[w]
        if some == 0:
            return False
    return True


@parallel_kernel
def list_agreeing(bits, hidden, distinct, first, layout, allowed, twins, indptr, listed, size):
    # distinct (rows, attributes) indexes allowed; row r is that of layout[first[r] : first[r + 1]]; indptr (n + 1,): room
    """listed[indptr[v] : indptr[v] + size[v]] = the first vertices that agree with v, ascending, as many as there is room.

    Vertices of v's own row (twins, which agree whatever is hidden) are listed only if asked for.
    """
    for row in prange(len(distinct)):
        joined = np.empty(CHUNK, dtype=np.uint64)
        wanting = 0
        for place in range(first[row], first[row + 1]):
            v = layout[place]
            wanting += indptr[v + 1] - indptr[v]
        chunk = 0
        while wanting > 0 and chunk < allowed.shape[1]:
            if join_maps(allowed, distinct[row], chunk, joined):
                for place in range(first[row], first[row + 1]):
                    v = layout[place]
                    slot, stop = indptr[v] + size[v], indptr[v + 1]
                    begin = slot
                    for w in range(CHUNK if slot < stop else 0):
                        word = joined[w]
                        while word and slot < stop:
                            u = 64 * (chunk + w) + lowest_lane(word)
                            word &= word - ONE
                            distant = np.uint64(0)
                            for q in range(bits.shape[1]):
                                distant |= bits[u, q] ^ bits[v, q]
                            if u != v and (twins or distant) and apart(bits, hidden, u, v) == 0:
                                listed[slot] = u
                                slot += 1
                    size[v] += slot - begin
                    wanting -= slot - begin
            chunk += CHUNK


@kernel
def join_lists(indptr, listed, size, start, partner, degree):
    # degree (n,): filled; partner is filled where it has entries, else degrees are only counted
    """Make the lists mutual: u is a partner of v where either list holds the other.

    A list that lacks v although both agree is full, and all that it holds comes before v.
    """
    fill = len(partner) > 0
    last = np.empty(len(size), dtype=listed.dtype)
    for v in range(len(size)):
        last[v] = listed[indptr[v] + size[v] - 1] if size[v] else -1
        for slot in range(size[v] if fill else 0):
            partner[start[v] + slot] = listed[indptr[v] + slot]
        degree[v] = size[v]
    for v in range(len(size)):
        for slot in range(indptr[v], indptr[v] + size[v]):
            u = listed[slot]
            if last[u] < v:
                if fill:
                    partner[start[u] + degree[u]] = v
                degree[u] += 1
