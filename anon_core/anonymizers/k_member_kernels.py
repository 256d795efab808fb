"""Grow groups of one size, each from one record, by the records that make it lose least.

Where records had rows before, a group must also leave each of its members enough histories: rows
that carry a value which the member's earlier rows allow.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.jit.kernel import kernel
from anon_core.tables.trees_kernels import join_features


class GroupDemands(NamedTuple):
    """What earlier rows of each record demand of its group.

    Attributes
    ----------
    value : int64 (n,)
        What each record carries in columns that never change.
    start, values, ways : int64 (n + 1,), int64 (pairs,), int64 (pairs,)
        Histories of record v so far, by value: see `Pasts`.
    by_value, holder, held : int64 (values + 1,), int64 (pairs,), int64 (pairs,)
        The reverse: records with histories of value j, and how many.
    own : int64 (n,)
        Histories with the own value.
    need : int64 (n,)
        Histories that a record must keep; 0 for one that never had a row.
    price : int
        What a missing history costs.
    """

    value: NDArray[np.int64]
    start: NDArray[np.int64]
    values: NDArray[np.int64]
    ways: NDArray[np.int64]
    by_value: NDArray[np.int64]
    holder: NDArray[np.int64]
    held: NDArray[np.int64]
    own: NDArray[np.int64]
    need: NDArray[np.int64]
    price: np.int64


class Prices(NamedTuple):
    """What groups lose by what they hide.

    Attributes
    ----------
    starts, bit_starts : int64 (attributes + 1,)
        First level and first bit of each attribute.
    ordinal : bool (attributes,)
    parents : int32 (f,)
        See `Codebook.parents`.
    bit : int64 (f,)
        Weight of each bit.
    node : int64 (f + attributes,)
        Weight of the bits on two paths below a node, see `LossTable.node`.
    """

    starts: NDArray[np.int64]
    bit_starts: NDArray[np.int64]
    ordinal: NDArray[np.bool_]
    parents: NDArray[np.int32]
    bit: NDArray[np.int64]
    node: NDArray[np.int64]


@kernel
def enter_levels(levels, present, price, prices):
    # levels (attributes,) of the record that joins; present, price (levels,)
    """Enter a record's levels into a group; return the price that the record had.

    price[q] = weight of the bits that a member of level q would hide in addition. A group hides the
    bits of a thermometer between its levels, the one-hot bits of its levels if there are two, and
    what is inside the node of a tree that holds them all.
    """
    paid, starts, bit_starts, ordinal = 0, prices.starts, prices.bit_starts, prices.ordinal
    bit_weight = prices.bit
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
        first, end = bit_starts[a], bit_starts[a + 1]
        if end - first > stop - start:
            above, node = prices.parents[first:end], prices.node[first + a : end + a + 1]
            now = node[join_features(low - start, high - start, above)]
            for q in range(start, stop):
                least, most = min(low, q) - start, max(high, q) - start
                price[q] = node[join_features(least, most, above)] - now
            continue
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
def find_furthest(rows, left, size, price):
    """Return the place in left[:size] of the greatest price, the smallest record of equals."""
    best, place = np.int64(-1), 0
    for i in range(size):
        cost = np.int64(0)
        for q in rows[left[i]]:
            cost += price[q]
        # `left` is in no order once records were taken out, so ties are decided by number.
        if cost > best or (cost == best and left[i] < left[place]):
            best, place = cost, i
    return place


@kernel
def find_nearest(rows, left, size, price, links, members, history_counts, gain, least):
    # left[:size]: who has no group; members: those of the group so far; told (n,): histories of
    # each record with their rows; gain (values,): missing histories that a row of it would add
    """Return the place of the record that costs the group least, the first of equals; or -1.

    A record costs what the group's rows lose, and what histories it would still lack if all places
    left were of use to it, less those that it adds to others. A group that is large enough takes
    only records that add some.
    """
    best, place = np.int64(2**62), -1
    for i in range(size):
        record = left[i]
        added = gain[links.value[record]]
        if members >= least and added == 0:
            continue
        cost = np.int64(0)
        for q in rows[record]:
            cost += price[q]
        lacks = links.need[record] - links.own[record] - history_counts[record]
        lacks -= max(0, least - members - 1)
        cost = (members + 1) * cost + links.price * (max(0, lacks) - added)
        if place < 0 or cost < best or (cost == best and record < left[place]):
            best, place = cost, i
    return place


@kernel
def add_row(links, record, sign, history_counts):
    """Add the row of a record to the histories of all, or take it away by sign = -1."""
    value = links.value[record]
    for at in range(links.by_value[value], links.by_value[value + 1]):
        history_counts[links.holder[at]] += sign * links.held[at]


@kernel
def fill_gain(links, members, count, history_counts, gain):
    # members[:count]; gain (values,): filled
    """Count the histories that members lack, and that one more row of each value would add."""
    gain[:] = 0
    for record in members[:count]:
        lacks = links.need[record] - history_counts[record]
        if lacks > 0:
            for at in range(links.start[record], links.start[record + 1]):
                gain[links.values[at]] += min(lacks, links.ways[at])


@kernel
def grow_groups(rows, prices, links, least, group):  # rows (n, attributes), group (n,)
    """Cut the records into groups of `least`, or a few more where histories ask for them.

    Fewer than `least` records are left; they keep -1. A group begins with the record furthest from
    the one that the last group began with.
    """
    n, levels = len(rows), prices.starts[-1]
    left, size, groups = np.arange(n), n, 0
    present, price = np.zeros(levels, dtype=np.bool_), np.zeros(levels, dtype=np.int64)
    members, history_counts = np.empty(2 * least, dtype=np.int64), np.zeros(n, dtype=np.int64)
    gain = np.zeros(len(links.by_value) - 1, dtype=np.int64)
    group[:] = -1
    enter_levels(rows[0], present, price, prices)
    while size >= least:
        place, count = find_furthest(rows, left, size, price), 0
        present[:], price[:] = False, 0
        while place >= 0:
            record = left[place]
            enter_levels(rows[record], present, price, prices)
            members[count], group[record] = record, groups
            count += 1
            size -= 1
            left[place] = left[size]
            add_row(links, record, 1, history_counts)
            fill_gain(links, members, count, history_counts, gain)
            place = -1
            if count < least or (count < len(members) and gain.any()):
                place = find_nearest(
                    rows, left, size, price, links, count, history_counts, gain, least
                )
        for record in members[:count]:
            add_row(links, record, -1, history_counts)
        groups += 1
        present[:], price[:] = False, 0
        enter_levels(rows[members[0]], present, price, prices)


@kernel
def fill_groups(
    rows, prices, links, members, first, group
):  # members: the records by group; those of group g are members[first[g] : first[g + 1]]
    """Give each record without a group to the one that then loses least, the first of equals.

    Groups that leave the record enough histories come before all others.
    """
    rest = np.flatnonzero(group < 0)
    best = np.full((2, len(rest)), 2**62, dtype=np.int64)
    found = np.full((2, len(rest)), -1, dtype=np.int64)
    levels = prices.starts[-1]
    present, price = np.zeros(levels, dtype=np.bool_), np.zeros(levels, dtype=np.int64)
    carried = np.zeros(len(links.by_value) - 1, dtype=np.int64)  # members by value
    for number in range(len(first) - 1 if len(rest) else 0):
        present[:], price[:], lost = False, 0, 0
        carried[:] = 0
        size = first[number + 1] - first[number]
        for slot in range(first[number], first[number + 1]):
            paid = enter_levels(rows[members[slot]], present, price, prices)
            lost += paid if slot > first[number] else 0
            carried[links.value[members[slot]]] += 1
        for i in range(len(rest)):
            more = np.int64(0)
            for q in rows[rest[i]]:
                more += price[q]
            # (size + 1) (lost + more) - size lost: by how much the group's loss grows.
            loss = lost + (size + 1) * more
            history_counts = links.own[rest[i]]
            for at in range(links.start[rest[i]], links.start[rest[i] + 1]):
                history_counts += links.ways[at] * carried[links.values[at]]
            short = np.int64(history_counts < links.need[rest[i]])
            if loss < best[short, i]:
                best[short, i] = loss
                found[short, i] = number
    group[rest] = np.where(found[0] >= 0, found[0], found[1])
