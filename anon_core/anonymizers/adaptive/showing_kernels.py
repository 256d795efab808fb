"""Price hidden features by the partners that they keep, show them again, count the rest.

A partner of a vertex differs from it only in features hidden at both. Packed rows `bits` and
`hidden` are (n, words).
"""

import numpy as np
from numba.extending import register_jitable

from anon_core.anonymizers.adaptive.agreement_kernels import find_shown_differences, keep_agreeing
from anon_core.jit.kernel import inlined, kernel, parallel_kernel
from anon_core.jit.lanes import LANES, lowest_lane, tally_bits

_ONE = np.uint64(1)
_HELD = 1024  # partners looked at together
# Odd, near 2^16 by the golden ratio: multiples modulo a power of two lie far apart.
_SCATTER = 40503


@kernel
def refresh_partners(i, bits, hidden, start, partner, size, differing, needed, count):
    # differing (words, _HELD), needed (words,): scratch; count (words * LANES,): filled
    """Drop partners that no longer agree with i, count by feature those that differ.

    Features in which none differs are shown.
    """
    count[:], needed[:] = 0, 0
    words, kept, stop = bits.shape[1], start[i], start[i] + size[i]
    for begin in range(start[i], stop, _HELD):
        held = keep_agreeing(
            bits, hidden, i, partner, kept, begin, min(_HELD, stop - begin), differing
        )
        for w in range(words):
            needed[w] |= tally_bits(count, LANES * w, differing, w * _HELD, held)
        kept += held
    size[i] = kept - start[i]
    for w in range(words):
        hidden[i, w] &= needed[w]


@inlined
def list_offers(
    i,
    hidden,
    settled,
    codes,
    blank,
    count,
    weights,
    cell_weights,
    bit_offsets,
    ordinal,
    limit,
    hides,
    offer,
    price,
):  # settled (n, words); codes, blank (attributes, n); count, weights (f,)
    # cell_weights (attributes,)
    # offer, price (most,): filled, ascending; hides (f,): scratch
    """Features that vertex i could show again, and the cost of each: partners lost per weight.

    With a feature, all features are shown that no other partner differs in; a cell with none left
    is exact. A cost is at most `limit`. Blank cells and settled features stay hidden. Returns the
    number of features (the cheapest, if more than fit) and the cost of the next beyond `limit`.
    """
    found, dearer, size, last = 0, np.inf, 0, 0
    for w in range(hidden.shape[1]):
        word = hidden[i, w]
        while word:  # after `refresh_partners` these are the features in which a partner differs
            hides[size] = LANES * w + lowest_lane(word)
            word &= word - _ONE
            size += 1
    for a in range(len(cell_weights)):
        begin, end = bit_offsets[a], bit_offsets[a + 1]
        mine = begin + codes[a, i]
        first, total = last, 0.0
        middle = first
        while last < size and hides[last] < end:
            total += weights[hides[last]]
            middle += np.int64(hides[last] < mine)
            last += 1
        if total == 0 or blank[a, i]:
            continue
        # Partners with another level: each differs in the own bit or, on a thermometer, in one
        # next to the own level.
        differing = 0
        if not ordinal[a] or mine < end:
            differing += count[mine]
        if ordinal[a] and mine > begin:
            differing += count[mine - 1]
        gain = 0.0
        for step in range(first, last):
            bit = hides[step]
            if not ordinal[a]:
                gain = (
                    weights[bit] + (weights[mine] if count[bit] == count[mine] else 0)
                    if bit != mine
                    else total
                )
            elif step < middle:  # from both ends towards the own level
                gain += weights[bit]
            else:
                bit = hides[last - 1 - (step - middle)]
                gain = weights[bit] + (gain if step > middle else 0)
            if (settled[i, bit >> 6] >> np.uint64(bit & 63)) & _ONE:
                continue
            worth = gain + (cell_weights[a] if count[bit] == differing else 0)
            cost = count[bit] / worth
            if cost > limit:
                dearer = min(dearer, cost)
            elif found < len(offer) or cost < price[found - 1]:
                # The dearest falls out; sorting all would take the square of their number.
                found = min(found + 1, len(offer))
                at = found - 1
                while at > 0 and price[at - 1] > cost:
                    offer[at], price[at] = offer[at - 1], price[at - 1]
                    at -= 1
                offer[at], price[at] = bit, cost
    return found, dearer


@register_jitable
def count_block_turns(records):
    """The least power of two whose blocks of LANES hold all records."""
    blocks = 1
    while blocks * LANES < records:
        blocks *= 2
    return blocks


@inlined
def mark_offered(i, bits, start, partner, size, offered, differing, several, mark, marks):
    # mark (_HELD,): scratch; marks (slots,) uint16
    """Put the partners first that differ from i in an offered feature.

    Bit q of marks[slot] says that the partner differs in offered[i, q]; after them marks[slot] is
    0. Unless `refresh_partners` took several rounds, `differing` still holds its result.
    """
    front, stop = start[i], start[i] + size[i]
    for begin in range(start[i], stop, _HELD):
        held = min(_HELD, stop - begin)
        for slot in range(held if several else 0):
            u = np.uintp(partner[begin + slot])
            for w in range(bits.shape[1]):
                differing[w, slot] = bits[i, w] ^ bits[u, w]
        mark[:held] = 0
        for index in range(offered.shape[1]):
            bit = offered[i, index]
            if bit < 0:
                break
            word, shift, rank = bit >> 6, np.uint64(bit & 63), np.uint64(index)
            for slot in range(held):
                mark[slot] |= ((differing[word, slot] >> shift) & _ONE) << rank
        for slot in range(held):
            if mark[slot]:
                partner[front], partner[begin + slot] = partner[begin + slot], partner[front]
                marks[front] = mark[slot]
                front += 1
    if front < stop:
        marks[front] = 0


@parallel_kernel(lambda size: count_block_turns(len(size)))
def price_features(
    begin,
    end,
    bits,
    hidden,
    settled,
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
    marks,
):  # settled (n, words); codes, blank (attributes, n)
    # spare (n,): agreeing vertices beyond those needed
    # cheapest (n,); offered (n, most)
    """offered[i] = features that i could show for at most `limit`, cheapest first, then -1.

    For the marks see `mark_offered`. cheapest[i] = the cost of the next dearer feature of i at the
    last look; a vertex whose cost exceeds `limit` is skipped.
    """
    most, blocks = offered.shape[1], count_block_turns(len(size))
    # The first vertices have the longest lists; scattering deals them out to all threads.
    for turn in range(begin, end):
        block = turn * _SCATTER & (blocks - 1)
        count, needed = (
            np.empty(LANES * bits.shape[1], dtype=np.int32),
            np.empty(bits.shape[1], dtype=np.uint64),
        )
        differing, mark = (
            np.empty((bits.shape[1], _HELD), dtype=np.uint64),
            np.empty(_HELD, dtype=np.uint64),
        )
        hides = np.empty(len(weights), dtype=np.int64)
        offer, price = np.empty(most, dtype=np.int64), np.empty(most)
        for i in range(LANES * block, min(LANES * block + LANES, len(size))):
            offered[i, 0] = -1
            if size[i] == 0 or spare[i] <= 0 or cheapest[i] > limit:
                continue
            several = size[i] > _HELD
            # Other threads may read while this shows a feature; no agreeing pair differs in it.
            refresh_partners(i, bits, hidden, start, partner, size, differing, needed, count)
            found, cheapest[i] = list_offers(
                i,
                hidden,
                settled,
                codes,
                blank,
                count,
                weights,
                cell_weights,
                bit_offsets,
                ordinal,
                limit,
                hides,
                offer,
                price,
            )
            for index in range(min(found, most)):
                offered[i, index] = offer[index]
            if found < most:
                offered[i, found] = -1
            if found > 0:
                mark_offered(
                    i, bits, start, partner, size, offered, differing, several, mark, marks
                )


@kernel
def show_offered(bits, hidden, settled, start, partner, size, spare, offered, marks):
    """Show each offered feature whose lost partners can all spare the vertex, and it them.

    Any other is settled: a partner that cannot spare a vertex never can, so a refused feature is
    not offered again.
    """
    most = np.int64(0)
    for i in range(len(size)):
        most = max(most, size[i])
    ends, mask = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    for i in range(len(size)):
        if offered[i, 0] < 0:
            continue
        # Showing drops the partners that differ; one that cannot spare i refuses.
        held, refused = 0, 0
        for slot in range(start[i], start[i] + size[i]):
            if marks[slot] == 0:
                break
            mark = marks[slot] & ~refused
            if mark and find_shown_differences(bits, hidden, i, partner[slot]) == 0:
                if spare[partner[slot]] <= 0:
                    refused |= mark
                else:
                    ends[held], mask[held] = partner[slot], mark
                    held += 1
        for index in range(offered.shape[1]):
            bit = offered[i, index]
            if bit < 0:
                break
            flag, lost = _ONE << np.uint64(bit & 63), 0
            kept = (refused >> index) & 1
            for q in range(0 if kept else held):
                lost += (mask[q] >> index) & 1
            if kept or lost > spare[i]:
                settled[i, bit >> 6] |= flag
                continue
            for q in range(held if lost else 0):
                if (mask[q] >> index) & 1:
                    spare[ends[q]] -= 1
                    mask[q] = 0
            spare[i] -= lost
            hidden[i, bit >> 6] &= ~flag


@parallel_kernel(lambda layout: (len(layout) + LANES - 1) // LANES)
def count_partners(
    first, last, bits, hidden, layout, start, partner, size, most, counts
):  # layout (m,), counts (f, m): filled
    """counts[l, p] = partners of layout[p] that agree and differ in feature l, at most `most`."""
    for block in range(first, last):
        count, needed = (
            np.empty(LANES * bits.shape[1], dtype=np.int32),
            np.empty(bits.shape[1], dtype=np.uint64),
        )
        differing = np.empty((bits.shape[1], _HELD), dtype=np.uint64)
        for place in range(LANES * block, min(LANES * block + LANES, len(layout))):
            refresh_partners(
                layout[place], bits, hidden, start, partner, size, differing, needed, count
            )
            for bit in range(len(counts)):
                counts[bit, place] = min(count[bit], most)
