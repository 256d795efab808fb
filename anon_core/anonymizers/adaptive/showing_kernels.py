"""Hidden features priced by the partners that they keep, shown again, and counted.

A partner of a vertex differs from it only in features hidden at both. Packed rows `bits` and `hidden` are (n, words).
"""

import numpy as np
from numba.extending import register_jitable

from anon_core.anonymizers.adaptive.agreement_kernels import apart
from anon_core.jit.kernel import inlined, kernel, parallel_kernel
from anon_core.jit.lanes import LANES, keep_agreeing, lowest_lane, tally

ONE = np.uint64(1)
HELD = 1024  # partners looked at together
SCATTER = 40503  # odd, near 2^16 by the golden ratio: multiples modulo a power of two lie far apart


@kernel
def refresh(i, bits, hidden, start, partner, size, differing, needed, count):
    # differing (words, HELD), needed (words,): scratch; count (words * LANES,): filled
    """Drop the partners that agree with i no longer, count by feature those that differ, show what none differs in."""
    count[:], needed[:] = 0, 0
    words, kept, stop = bits.shape[1], start[i], start[i] + size[i]
    for begin in range(start[i], stop, HELD):
        held = keep_agreeing(
            bits, hidden, i, partner, kept, begin, min(HELD, stop - begin), differing
        )
        for w in range(words):
            needed[w] |= tally(count, LANES * w, differing, w * HELD, held)
        kept += held
    size[i] = kept - start[i]
    for w in range(words):
        hidden[i, w] &= needed[w]


@inlined
def offers(
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
):  # settled (n, words); codes, blank (attributes, n); count, weights (f,); cell_weights (attributes,)
    # offer, price (most,): filled, ascending; hides (f,): scratch
    """Features that vertex i could show again and what each costs: partners lost per weight shown.

    With a feature all those are shown that no other partner differs in, and where none is left the cell is exact.
    At most `limit` is paid; blank cells stay hidden, and what is settled. Returns how many features there are, the cheapest
    ones if there are more than fit, and what the next one beyond `limit` costs.
    """
    found, dearer, size, last = 0, np.inf, 0, 0
    for w in range(hidden.shape[1]):
        word = hidden[i, w]
        while word:  # after `refresh` these are the features in which a partner differs
            hides[size] = LANES * w + lowest_lane(word)
            word &= word - ONE
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
        differing = 0  # partners with another level, each in the own bit or, on a thermometer, in one next to the own level
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
            if (settled[i, bit >> 6] >> np.uint64(bit & 63)) & ONE:
                continue
            worth = gain + (cell_weights[a] if count[bit] == differing else 0)
            cost = count[bit] / worth
            if cost > limit:
                dearer = min(dearer, cost)
            elif found < len(offer) or cost < price[found - 1]:
                found = min(
                    found + 1, len(offer)
                )  # the dearest falls out: to sort all takes their square
                at = found - 1
                while at > 0 and price[at - 1] > cost:
                    offer[at], price[at] = offer[at - 1], price[at - 1]
                    at -= 1
                offer[at], price[at] = bit, cost
    return found, dearer


@register_jitable
def turns(records):
    """The least power of two whose blocks of LANES hold all records."""
    blocks = 1
    while blocks * LANES < records:
        blocks *= 2
    return blocks


@inlined
def mark_offered(i, bits, start, partner, size, offered, differing, several, mark, marks):
    # mark (HELD,): scratch; marks (slots,) uint16
    """Put first the partners that differ from i in what it offers: bit q of marks[slot] = in feature offered[i, q].

    After them marks[slot] is 0. Unless `refresh` took several rounds, `differing` still holds what it found.
    """
    front, stop = start[i], start[i] + size[i]
    for begin in range(start[i], stop, HELD):
        held = min(HELD, stop - begin)
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
                mark[slot] |= ((differing[word, slot] >> shift) & ONE) << rank
        for slot in range(held):
            if mark[slot]:
                partner[front], partner[begin + slot] = partner[begin + slot], partner[front]
                marks[front] = mark[slot]
                front += 1
    if front < stop:
        marks[front] = 0


@parallel_kernel(lambda size: turns(len(size)))
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
):  # settled (n, words); codes, blank (attributes, n); spare (n,): agreeing vertices beyond those needed
    # cheapest (n,); offered (n, most)
    """offered[i] = features that i could show for at most `limit`, cheapest first, then -1; see `mark_offered` for the marks.

    cheapest[i] = what the next dearer feature of i cost when last looked at: where `limit` does not pay it, i is left alone.
    """
    most, blocks = offered.shape[1], turns(len(size))
    # The first vertices have the longest lists: they are dealt out to all threads.
    for turn in range(begin, end):
        block = turn * SCATTER & (blocks - 1)
        count, needed = (
            np.empty(LANES * bits.shape[1], dtype=np.int32),
            np.empty(bits.shape[1], dtype=np.uint64),
        )
        differing, mark = (
            np.empty((bits.shape[1], HELD), dtype=np.uint64),
            np.empty(HELD, dtype=np.uint64),
        )
        hides = np.empty(len(weights), dtype=np.int64)
        offer, price = np.empty(most, dtype=np.int64), np.empty(most)
        for i in range(LANES * block, min(LANES * block + LANES, len(size))):
            offered[i, 0] = -1
            if size[i] == 0 or spare[i] <= 0 or cheapest[i] > limit:
                continue
            several = size[i] > HELD
            # Threads show what no partner needs while others look: no pair that agrees differs there.
            refresh(i, bits, hidden, start, partner, size, differing, needed, count)
            found, cheapest[i] = offers(
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
    """Vertex by vertex, show what is offered if all who agree no longer then can spare each other; else it is settled.

    Who cannot spare a vertex never will, and stays: what is refused once is refused for ever.
    """
    most = np.int64(0)
    for i in range(len(size)):
        most = max(most, size[i])
    ends, mask = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    for i in range(len(size)):
        if offered[i, 0] < 0:
            continue
        held, refused = (
            0,
            0,
        )  # what i shows drops the partners that differ there, so who cannot spare i stays and refuses
        for slot in range(start[i], start[i] + size[i]):
            if marks[slot] == 0:
                break
            mark = marks[slot] & ~refused
            if mark and apart(bits, hidden, i, partner[slot]) == 0:
                if spare[partner[slot]] <= 0:
                    refused |= mark
                else:
                    ends[held], mask[held] = partner[slot], mark
                    held += 1
        for index in range(offered.shape[1]):
            bit = offered[i, index]
            if bit < 0:
                break
            flag, lost = ONE << np.uint64(bit & 63), 0
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
    """counts[l, p] = number of partners of layout[p] that still agree and differ from it in feature l, at most `most`."""
    for block in range(first, last):
        count, needed = (
            np.empty(LANES * bits.shape[1], dtype=np.int32),
            np.empty(bits.shape[1], dtype=np.uint64),
        )
        differing = np.empty((bits.shape[1], HELD), dtype=np.uint64)
        for place in range(LANES * block, min(LANES * block + LANES, len(layout))):
            refresh(layout[place], bits, hidden, start, partner, size, differing, needed, count)
            for bit in range(len(counts)):
                counts[bit, place] = min(count[bit], most)
