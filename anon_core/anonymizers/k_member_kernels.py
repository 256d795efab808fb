"""Grow groups of one size, each from one record, by the records that make it lose least."""

import numpy as np

from anon_core.jit.kernel import kernel


@kernel
def join(levels, present, price, starts, bit_starts, ordinal, bit_weight):
    # levels (attributes,) of the record that joins; present, price (levels,)
    # starts, bit_starts (attributes + 1,)
    """Enter a record's levels into a group; return the price that the record had.

    price[q] = weight of the bits that a member of level q would hide in addition. A group hides the
    bits of a thermometer between its levels, and the one-hot bits of its levels if there are two.
    """
    paid = 0
    for a in range(len(levels)):
        paid += price[levels[a]]
        if present[levels[a]]:
            continue
        present[levels[a]] = True
        start, stop = starts[a], starts[a + 1]
        low, high, count = stop, start, 0
        for q in range(start, stop):
            if present[q]:
                low, high, count = min(low, q), q, count + 1
        alone = bit_weight[bit_starts[a] + low - start] if count == 1 and not ordinal[a] else 0
        loss = 0
        for q in range(low - 1, start - 1, -1):
            loss += bit_weight[bit_starts[a] + q - start]
            price[q] = loss
        price[low : high + 1] = 0
        loss = 0
        for q in range(high + 1, stop):
            loss += bit_weight[bit_starts[a] + q - 1 - start] if ordinal[a] else 0
            price[q] = loss
        if not ordinal[a]:
            for q in range(start, stop):
                price[q] = 0 if present[q] else alone + bit_weight[bit_starts[a] + q - start]
    return paid


@kernel
def extreme(rows, left, size, price, sign):
    """Return the place in left[:size] of the least sign * price, the smallest record of equals."""
    best, place = np.int64(2**62), 0
    for i in range(size):
        cost = np.int64(0)
        for q in rows[left[i]]:
            cost += price[q]
        cost = cost * sign
        if cost < best or (cost == best and left[i] < left[place]):
            best, place = cost, i
    return place


@kernel
def grow_groups(
    rows, starts, bit_starts, ordinal, bit_weight, least, group
):  # rows (n, attributes), group (n,)
    """Cut the records into groups of `least`; return how many. Fewer than `least` keep -1.

    A group begins with the record furthest from the one that the last group began with.
    """
    n, levels = len(rows), starts[-1]
    left, size, groups = np.arange(n), n, 0
    present, price = np.zeros(levels, dtype=np.bool_), np.zeros(levels, dtype=np.int64)
    group[:] = -1
    join(rows[0], present, price, starts, bit_starts, ordinal, bit_weight)
    while size >= least:
        sign = -1
        seed = np.int64(0)
        for member in range(least):
            place = extreme(rows, left, size, price, sign)
            record = left[place]
            if member == 0:
                present[:], price[:], sign, seed = False, 0, 1, record
            join(rows[record], present, price, starts, bit_starts, ordinal, bit_weight)
            group[record] = groups
            size -= 1
            left[place] = left[size]
        groups += 1
        present[:], price[:] = False, 0
        join(rows[seed], present, price, starts, bit_starts, ordinal, bit_weight)
    return groups


@kernel
def place_rest(rows, starts, bit_starts, ordinal, bit_weight, members, least, group):
    # members (groups * least,): the records by group
    """Give each record left to the grown group that then loses least, the first of equals."""
    rest = np.flatnonzero(group < 0)
    best = np.full(len(rest), 2**62, dtype=np.int64)
    present, price = np.zeros(starts[-1], dtype=np.bool_), np.zeros(starts[-1], dtype=np.int64)
    for begin in range(0, len(members) if len(rest) else 0, least):
        present[:], price[:], lost = False, 0, 0
        for slot in range(begin, begin + least):
            paid = join(
                rows[members[slot]], present, price, starts, bit_starts, ordinal, bit_weight
            )
            lost += paid if slot > begin else 0
        for i in range(len(rest)):
            more = np.int64(0)
            for q in rows[rest[i]]:
                more += price[q]
            loss = lost + (least + 1) * more
            if loss < best[i]:
                best[i] = loss
                group[rest[i]] = begin // least
