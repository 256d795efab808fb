"""Lists of pairs that differ only in features hidden at both ends.

Packed rows `bits` and `hidden` are (n, words), feature l at bit l % 64 of word l // 64.
"""

import numpy as np

from anon_core.jit.kernel import inlined, kernel, parallel_kernel
from anon_core.jit.lanes import CHUNK_WORDS, lowest_lane, meet_maps
from anon_core.tables.levels_kernels import is_hidden

_ONE = np.uint64(1)


@kernel
def find_shown_differences(bits, hidden, u, v):
    """Return what rows u and v differ in and either shows, uint64: zero where they agree."""
    one, two, differs = np.uintp(u), np.uintp(v), np.uint64(0)
    for w in range(bits.shape[1]):
        differs |= (bits[one, w] ^ bits[two, w]) & ~(hidden[one, w] & hidden[two, w])
    return differs


@kernel
def keep_agreeing(bits, hidden, i, partner, kept, begin, size, differing):
    """Move those of partner[begin : begin + size] that agree with i to partner[kept:].

    Two rows of `bits` (n, words) agree if they differ in no feature that either of them shows.
    differing[w, q] = word w of what the q-th of the moved ones differs in. kept <= begin. Returns
    how many agree.
    """
    # LLVM unrolls the inner loop where the number of words is a constant: 2 to 4 times faster.
    words, where = bits.shape[1], (np.uint64(kept), np.uint64(begin), np.uint64(begin + size))
    if words == 1:
        return _move_agreeing(np.uint64(1), bits, hidden, i, partner, where, differing)
    if words == 2:
        return _move_agreeing(np.uint64(2), bits, hidden, i, partner, where, differing)
    if words == 3:
        return _move_agreeing(np.uint64(3), bits, hidden, i, partner, where, differing)
    return _move_agreeing(np.uint64(words), bits, hidden, i, partner, where, differing)


@inlined
def _move_agreeing(words, bits, hidden, i, partner, where, differing):
    (kept, begin, end), own, moved = where, np.uint64(i), np.uint64(0)
    for at in range(begin, end):
        u, visible = np.uint64(partner[at]), np.uint64(0)
        # A partner that does not agree is overwritten by the next one: no branch to guess.
        partner[kept + moved] = partner[at]
        for w in range(words):
            differs = bits[own, w] ^ bits[u, w]
            differing[w, moved] = differs
            visible |= differs & ~(hidden[own, w] & hidden[u, w])
        moved += np.uint64(visible == 0)
    return np.int64(moved)


@kernel
def keep_exact(v, hidden, distinct, row, own_bits, having, first, joined, exact, fitting):
    # exact (attributes,) int32: scratch
    """fitting[:] = those of `joined` that have v's level wherever v may have that level only.

    Words of maps from `first` on.
    """
    count = 0
    for a in range(distinct.shape[1]):
        level = distinct[row, a]
        exact[count] = level
        count += np.int64(
            not (
                is_hidden(hidden, v, own_bits[level, 0]) or is_hidden(hidden, v, own_bits[level, 1])
            )
        )
    meet_maps(fitting, joined, having, first, having.shape[1], exact, 0, count)


@parallel_kernel(lambda distinct: len(distinct))
def list_agreeing(
    begin,
    end,
    bits,
    hidden,
    distinct,
    first,
    layout,
    own_bits,
    having,
    allowed,
    twins,
    indptr,
    listed,
    size,
):
    # distinct (rows, attributes) indexes the maps; row r is that of layout[first[r] : first[r + 1]]
    # indptr (n + 1,): room
    # own_bits (levels, 2): see `Codebook`
    # having, allowed (levels, words of vertices, whole chunks)
    """listed[indptr[v] : indptr[v] + size[v]] = first vertices that agree with v, ascending.

    As many as there is room. Vertices of v's own row (twins) agree whatever is hidden; they are
    listed if `twins`.
    """
    attributes, width = distinct.shape[1], allowed.shape[1]
    half = attributes // 2  # levels of the first half are frequent and exclude few
    anyone = np.full(CHUNK_WORDS, ~np.uint64(0))
    for row in range(begin, end):
        levels, joined, fitting = (
            row * attributes,
            np.empty(CHUNK_WORDS, dtype=np.uint64),
            np.empty(CHUNK_WORDS, dtype=np.uint64),
        )
        exact = np.empty(attributes, dtype=np.int32)
        wanting = 0
        for place in range(first[row], first[row + 1]):
            v = layout[place]
            wanting += indptr[v + 1] - indptr[v]
        chunk = np.int64(0)  # a constant would compile `keep_exact` once more
        while wanting > 0 and chunk < width:
            some = meet_maps(
                joined, anyone, allowed, chunk, width, distinct, levels + half, attributes - half
            )
            if some and meet_maps(joined, joined, allowed, chunk, width, distinct, levels, half):
                for place in range(first[row], first[row] if twins else first[row + 1]):
                    w = (layout[place] >> 6) - chunk
                    if 0 <= w < CHUNK_WORDS:
                        joined[w] &= ~(_ONE << np.uint64(layout[place] & 63))
                for place in range(first[row], first[row + 1]):
                    v = layout[place]
                    slot, stop = indptr[v] + size[v], indptr[v + 1]
                    if slot == stop:
                        continue
                    keep_exact(
                        v, hidden, distinct, row, own_bits, having, chunk, joined, exact, fitting
                    )
                    for w in range(CHUNK_WORDS):
                        word = fitting[w]
                        if chunk + w == v >> 6:
                            word &= ~(_ONE << np.uint64(v & 63))
                        while word and slot < stop:
                            u = 64 * (chunk + w) + lowest_lane(word)
                            word &= word - _ONE
                            # Where they do not agree the next one takes the slot: no branch.
                            listed[slot] = u
                            slot += np.int64(find_shown_differences(bits, hidden, u, v) == 0)
                    wanting -= slot - indptr[v] - size[v]
                    size[v] = slot - indptr[v]
            chunk += CHUNK_WORDS


@kernel
def join_lists(indptr, listed, size, start, partner, degree):
    # degree (n,): filled; partner is filled where it has entries, else degrees are only counted
    """Make the lists mutual: u is a partner of v where either list holds the other.

    A list that lacks v although both agree is full, and all its entries come before v.
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
