"""Pairs that differ only in features hidden at both ends: listed, thinned, counted.

Packed rows `bits` and `hidden` are (n, words), feature l at bit l % 64 of word l // 64.
"""

import numpy as np
from numba import prange

from anon_core.kernels.jit import kernel, parallel_kernel
from anon_core.kernels.lanes import LANES, apart, lowest_lane, tally

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
    # degree (n,) zeroed; partner is filled where it has entries, else degrees are only counted
    """Make the lists mutual: u is a partner of v where either list holds the other.

    A list that lacks v although both agree is full, and all that it holds comes before v.
    """
    fill = len(partner) > 0
    for v in range(len(size)):
        for slot in range(indptr[v], indptr[v] + size[v]):
            u = listed[slot]
            if fill:
                partner[start[v] + degree[v]] = u
            degree[v] += 1
            if size[u] == 0 or listed[indptr[u] + size[u] - 1] < v:
                if fill:
                    partner[start[u] + degree[u]] = v
                degree[u] += 1


@kernel
def refresh(i, bits, hidden, start, partner, size, count):
    """Drop the partners that agree with i no longer, count by feature those that differ, show what none differs in."""
    count[:] = 0
    kept = start[i]
    for slot in range(start[i], start[i] + size[i]):
        u = partner[slot]
        if apart(bits, hidden, i, u) == 0:
            partner[kept] = u
            kept += 1
            for w in range(bits.shape[1]):
                tally(count, LANES * w, bits[i, w] ^ bits[u, w], 1)
    size[i] = kept - start[i]
    show_unneeded(i, hidden, count)


@kernel
def show_unneeded(i, hidden, count):
    """Hide at i no feature in which no partner differs."""
    for w in range(hidden.shape[1]):
        word = hidden[i, w]
        while word:
            bit = lowest_lane(word)
            word &= word - ONE
            if count[64 * w + bit] == 0:
                hidden[i, w] &= ~(ONE << np.uint64(bit))


@kernel
def offers(own, blank, count, weights, cell_weights, bit_offsets, ordinal, limit, offer, price):
    # own, blank, cell_weights (attributes,): of one vertex; count, weights (f,); offer, price: filled, ascending by price
    """Features that the vertex could show again and what each costs: partners lost per weight shown.

    With a feature all those are shown that no other partner differs in, and where none is left the cell is exact.
    At most `limit` is paid; blank cells stay hidden. Returns how many features there are, and what the next dearer one costs.
    """
    found, dearer = 0, np.inf
    for a in range(len(own)):
        begin, end = bit_offsets[a], bit_offsets[a + 1]
        mine = begin + own[a]
        total = 0.0
        for bit in range(begin, 0 if blank[a] else end):
            total += weights[bit] * (count[bit] > 0)
        if total == 0:
            continue
        differing = 0  # partners with another level, each in the own bit or, on a thermometer, in one next to the own level
        if not ordinal[a] or mine < end:
            differing += count[mine]
        if ordinal[a] and mine > begin:
            differing += count[mine - 1]
        gain = 0.0
        for step in range(end - begin):
            bit = begin + step
            if ordinal[a] and bit >= mine:  # from both ends towards the own level
                bit = end - 1 - (bit - mine)
                gain = 0.0 if bit == end - 1 else gain
            if count[bit] == 0:
                continue
            if ordinal[a]:
                gain += weights[bit]
            elif bit == mine:
                gain = total
            else:
                gain = weights[bit] + (weights[mine] if count[bit] == count[mine] else 0)
            worth = gain + (cell_weights[a] if count[bit] == differing else 0)
            cost = count[bit] / worth
            if cost > limit:
                dearer = min(dearer, cost)
            else:
                at = found
                while at > 0 and price[at - 1] > cost:
                    offer[at], price[at] = offer[at - 1], price[at - 1]
                    at -= 1
                offer[at], price[at] = bit, cost
                found += 1
    return found, dearer


@parallel_kernel
def price_features(
    bits,
    hidden,
    codes,
    blank,
    weights,
    cell_weights,
    bit_offsets,
    ordinal,
    limit,
    start,
    partner,
    size,
    spare,
    cheapest,
    offered,
):  # codes, blank (attributes, n); spare (n,): agreeing vertices beyond those needed; cheapest (n,); offered (n, most)
    """offered[i] = features that i could show for at most `limit`, cheapest first, then -1.

    cheapest[i] = what the next dearer feature of i cost when last looked at: where `limit` does not pay it, i is left alone.
    """
    most = offered.shape[1]
    for block in prange((len(size) + LANES - 1) // LANES):
        count = np.empty(LANES * bits.shape[1], dtype=np.int32)
        offer, price = np.empty(len(weights), dtype=np.int64), np.empty(len(weights))
        for i in range(LANES * block, min(LANES * block + LANES, len(size))):
            offered[i, 0] = -1
            if size[i] == 0 or spare[i] <= 0 or cheapest[i] > limit:
                continue
            # Threads show what no partner needs while others look: no pair that agrees differs there.
            refresh(i, bits, hidden, start, partner, size, count)
            found, cheapest[i] = offers(
                codes[:, i], blank[:, i], count, weights, cell_weights, bit_offsets, ordinal, limit, offer, price
            )  # fmt: skip
            for index in range(min(found, most)):
                offered[i, index] = offer[index]
            if found < most:
                offered[i, found] = -1


@kernel
def show_offered(bits, hidden, start, partner, size, spare, offered):
    """Vertex by vertex, show what is offered if all who agree no longer then can spare each other."""
    for i in range(len(size)):
        for index in range(offered.shape[1]):
            bit = offered[i, index]
            if bit < 0:
                break
            word, flag = bit >> 6, ONE << np.uint64(bit & 63)
            lost, stop = 0, start[i] + size[i]
            for slot in range(start[i], stop):
                u = partner[slot]
                if (bits[u, word] ^ bits[i, word]) & flag and apart(bits, hidden, i, u) == 0:
                    lost += 1
                    if spare[u] <= 0 or lost > spare[i]:
                        lost = -1
                        break
            if lost < 0:
                continue
            kept = start[i]
            for slot in range(start[i], stop):
                u = partner[slot]
                if (bits[u, word] ^ bits[i, word]) & flag:
                    spare[u] -= np.int64(apart(bits, hidden, i, u) == 0)
                else:
                    partner[kept] = u
                    kept += 1
            spare[i] -= lost
            size[i] = kept - start[i]
            hidden[i, word] &= ~flag


@parallel_kernel
def count_partners(bits, hidden, layout, start, partner, size, most, counts):  # layout (m,), counts (f, m): filled
    """counts[l, p] = number of partners of layout[p] that still agree and differ from it in feature l, at most `most`."""
    for block in prange((len(layout) + LANES - 1) // LANES):
        count = np.empty(LANES * bits.shape[1], dtype=np.int32)
        for place in range(LANES * block, min(LANES * block + LANES, len(layout))):
            refresh(layout[place], bits, hidden, start, partner, size, count)
            for bit in range(len(counts)):
                counts[bit, place] = min(count[bit], most)
