"""Groups that records join and leave: members, counts and figures, kept up to date."""

from typing import NamedTuple

import numpy as np

from anon_core.jit.kernel import kernel


class ChangingGroups(NamedTuple):
    """Groups with room to change. s = size, c = members that hold an item; kept: 2 c >= s."""

    group: np.ndarray  # int32 (n,), -1: in none
    size: np.ndarray  # int64 (groups,)
    first: np.ndarray  # int32 (groups,): a member, -1: none
    after: np.ndarray  # int32 (n,): the next member, -1: none
    ahead: np.ndarray  # int32 (n,): the member before, -1: none
    start: np.ndarray  # int64 (groups,): where its items begin in the pool
    length: np.ndarray  # int64 (groups,): its items, ascending
    room: np.ndarray  # int64 (groups,): places from `start` on
    item: np.ndarray  # int32 (pool,)
    held: np.ndarray  # int32 (pool,): c, at least 1
    used: np.ndarray  # int64 (1,): places of the pool that are given away
    kept: np.ndarray  # int64 (groups,): items kept
    true: np.ndarray  # int64 (groups,): sum of c over the items kept
    created: np.ndarray  # int64 (groups,): sum of s - c over the items kept
    edge: np.ndarray  # int64 (groups,): items with c == s // 2, which one record less may keep
    whole: np.ndarray  # int64 (2,): J as a fraction: sum of `true`, entries + sum of `created`


@kernel
def load_counts(groups, g, held):  # held int32 (items,), 0 everywhere
    """Spread the counts of a group over all items."""
    for at in range(groups.start[g], groups.start[g] + groups.length[g]):
        held[groups.item[at]] = groups.held[at]


@kernel
def unload_counts(groups, g, held):
    """Set the counts of a group to 0 again."""
    for at in range(groups.start[g], groups.start[g] + groups.length[g]):
        held[groups.item[at]] = 0


@kernel
def measure_group(groups, g):
    """Count what a group keeps, and bring J up to date."""
    size, kept, true, edge = groups.size[g], np.int64(0), np.int64(0), np.int64(0)
    for at in range(groups.start[g], groups.start[g] + groups.length[g]):
        c = np.int64(groups.held[at])
        if 2 * c >= size:
            kept += 1
            true += c
        edge += c == size // 2
    created = size * kept - true
    groups.whole[0] += true - groups.true[g]
    groups.whole[1] += created - groups.created[g]
    groups.kept[g], groups.true[g], groups.created[g], groups.edge[g] = kept, true, created, edge


@kernel
def compact_pool(groups, wide, more):
    """Move all groups to the front of the pool, each with its share of half of what is free.

    One of them, `wide`, gets room for `more` items beside its share.
    """
    total = groups.length.sum()
    # Not negative: the record that brings these items is in no group, so total + more <= entries.
    slack = (len(groups.item) - total - more) // (2 * len(groups.size))
    item, count, place = groups.item.copy(), groups.held.copy(), np.int64(0)
    for g in range(len(groups.size)):
        start, length = groups.start[g], groups.length[g]
        groups.item[place : place + length] = item[start : start + length]
        groups.held[place : place + length] = count[start : start + length]
        groups.start[g], groups.room[g] = place, length + slack + (more if g == wide else 0)
        place += groups.room[g]
    groups.used[0] = place


@kernel
def widen_group(groups, g, more):
    """Give a group room for `more` items beyond its own."""
    wanted = groups.length[g] + more
    if wanted <= groups.room[g]:
        return
    if groups.used[0] + wanted > len(groups.item):
        compact_pool(groups, g, more)
        return
    start, place = groups.start[g], groups.used[0]
    for at in range(groups.length[g]):
        groups.item[place + at] = groups.item[start + at]
        groups.held[place + at] = groups.held[start + at]
    groups.start[g], groups.room[g] = place, wanted
    groups.used[0] += wanted


@kernel
def enter_group(rows, groups, v, g):
    """Let a record join; `measure_group` is due."""
    begin, end = rows.indptr[v], rows.indptr[v + 1]
    widen_group(groups, g, end - begin)
    start = groups.start[g]
    old, new, fresh = start + groups.length[g] - 1, end - 1, np.int64(0)
    at = start
    for place in range(begin, end):  # how many items the group lacks
        while at <= old and groups.item[at] < rows.indices[place]:
            at += 1
        if at > old or groups.item[at] != rows.indices[place]:
            fresh += 1
    place = old + fresh
    while new >= begin:
        wanted = rows.indices[new]
        if old >= start and groups.item[old] >= wanted:
            both = groups.item[old] == wanted
            groups.item[place] = groups.item[old]
            groups.held[place] = groups.held[old] + both
            old -= 1
            new -= both
        else:
            groups.item[place], groups.held[place] = wanted, 1
            new -= 1
        place -= 1
    groups.length[g] += fresh
    head = groups.first[g]
    groups.after[v], groups.ahead[v] = head, -1
    if head >= 0:
        groups.ahead[head] = v
    groups.first[g], groups.group[v] = v, g
    groups.size[g] += 1


@kernel
def leave_group(rows, groups, v):
    """Let a record leave its group; `measure_group` is due."""
    g = groups.group[v]
    begin, end = rows.indptr[v], rows.indptr[v + 1]
    place, start = groups.start[g], groups.start[g]
    for at in range(start, start + groups.length[g]):
        item, count = groups.item[at], groups.held[at]
        if begin < end and rows.indices[begin] == item:
            begin += 1
            count -= 1
        if count:
            groups.item[place], groups.held[place] = item, count
            place += 1
    groups.length[g] = place - start
    before, after = groups.ahead[v], groups.after[v]
    if before >= 0:
        groups.after[before] = after
    else:
        groups.first[g] = after
    if after >= 0:
        groups.ahead[after] = before
    groups.group[v] = -1
    groups.size[g] -= 1


@kernel
def link_members(group, groups):
    """Link the members of each group, ascending, and measure it; the counts are there."""
    for v in range(len(group) - 1, -1, -1):
        g = group[v]
        groups.ahead[v] = -1
        if g < 0:
            groups.after[v] = -1
            continue
        head = groups.first[g]
        groups.after[v] = head
        if head >= 0:
            groups.ahead[head] = v
        groups.first[g] = v
        groups.size[g] += 1
    for g in range(len(groups.size)):
        measure_group(groups, g)
