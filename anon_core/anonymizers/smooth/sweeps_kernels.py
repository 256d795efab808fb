"""Records that change groups or places where that raises J, the Jaccard similarity.

With J = p / q, a change of `true` by dT and of `created` by dR raises J iff q dT - p dR > 0
(Dinkelbach): all in whole numbers.
"""

import numpy as np

from anon_core.anonymizers.smooth.state_kernels import (
    enter_group,
    leave_group,
    load_counts,
    measure_group,
    unload_counts,
)
from anon_core.jit.kernel import kernel, parallel_kernel


@kernel
def count_after_joining(rows, groups, v, g, held):
    """Return `true` and `created` of a group if v joined; held: its counts.

    With s + 1 members an item of c = s / 2 is kept no more unless v holds it.
    """
    size = groups.size[g]
    kept, true = groups.kept[g], groups.true[g]
    lost = groups.edge[g] if size % 2 == 0 else 0
    for item in rows.indices[rows.indptr[v] : rows.indptr[v + 1]]:
        c = np.int64(held[item])
        # Held by c + 1 of s + 1 afterwards, so kept if 2 c + 1 >= s.
        if 2 * c >= size:
            true += 1
            lost -= 2 * c == size
        elif 2 * c + 1 >= size:
            kept += 1
            true += c + 1
    kept, true = kept - lost, true - lost * (size // 2)
    return true, (size + 1) * kept - true


@kernel
def count_after_leaving(rows, groups, v, g, held):
    """Return `true` and `created` of a group if its member v left; held: its counts.

    With s - 1 members an item of c = (s - 1) / 2 is kept unless v holds it.
    """
    size = groups.size[g]
    kept, true = groups.kept[g], groups.true[g]
    won = groups.edge[g] if size % 2 == 1 else 0
    for item in rows.indices[rows.indptr[v] : rows.indptr[v + 1]]:
        c = np.int64(held[item])
        # Held by c - 1 of s - 1 afterwards, so kept if 2 c > s.
        if 2 * c > size:
            true -= 1
        elif 2 * c == size:
            kept -= 1
            true -= c
        elif 2 * c == size - 1:
            won -= 1
    kept, true = kept + won, true + won * (size // 2)
    return true, (size - 1) * kept - true


@kernel
def change_by_removal(c, size):
    """Return what `true` and `kept` change by where one member less of `size` holds an item."""
    if 2 * c < size:
        return 0, 0
    if 2 * c - 2 >= size:
        return -1, 0
    return -c, -1


@kernel
def change_by_addition(c, size):
    """Return what `true` and `kept` change by where one member more of `size` holds an item."""
    if 2 * c >= size:
        return 1, 0
    if 2 * c + 2 >= size:
        return c + 1, 1
    return 0, 0


@kernel
def gain_of_swap(rows, groups, v, w, held_a, held_b):
    """Return q dT - p dR if v of group a and w of group b change places."""
    a, b = groups.group[v], groups.group[w]
    size_a, size_b = groups.size[a], groups.size[b]
    i, end_i = rows.indptr[v], rows.indptr[v + 1]
    j, end_j = rows.indptr[w], rows.indptr[w + 1]
    true, kept_a, kept_b = np.int64(0), np.int64(0), np.int64(0)
    while i < end_i or j < end_j:
        if i < end_i and j < end_j and rows.indices[i] == rows.indices[j]:
            # What both hold changes nothing in either group.
            i += 1
            j += 1
            continue
        if j >= end_j or (i < end_i and rows.indices[i] < rows.indices[j]):
            item = rows.indices[i]
            i += 1
            of_a = change_by_removal(np.int64(held_a[item]), size_a)
            of_b = change_by_addition(np.int64(held_b[item]), size_b)
        else:
            item = rows.indices[j]
            j += 1
            of_a = change_by_addition(np.int64(held_a[item]), size_a)
            of_b = change_by_removal(np.int64(held_b[item]), size_b)
        true += of_a[0] + of_b[0]
        kept_a += of_a[1]
        kept_b += of_b[1]
    # All members of a group release a kept item: `true` and `created` add up to size times kept.
    created = size_a * kept_a + size_b * kept_b - true
    return groups.whole[1] * true - groups.whole[0] * created


@kernel
def gain_of_move(rows, groups, v, b, held_a, held_b):
    """Return q dT - p dR if v goes to group b."""
    a = groups.group[v]
    true_a, created_a = count_after_leaving(rows, groups, v, a, held_a)
    true_b, created_b = count_after_joining(rows, groups, v, b, held_b)
    true = true_a + true_b - groups.true[a] - groups.true[b]
    created = created_a + created_b - groups.created[a] - groups.created[b]
    return groups.whole[1] * true - groups.whole[0] * created


@kernel
def may_leave(rows, groups, v):
    """Whether the group of v is large enough for the others without it."""
    a = groups.group[v]
    member = groups.first[a]
    while member >= 0:
        if member != v and rows.k[member] >= groups.size[a]:
            return False
        member = groups.after[member]
    return groups.size[a] > 1


@parallel_kernel(lambda to: len(to))
def find_best_moves(begin, end, first, to, with_whom, rows, near, groups, items):
    # to, with_whom int32 (records,): receive the group to go to and who comes back; -1: none
    """Find the move or swap that raises J most for records from `first` on; nobody moves."""
    held_a, held_b = np.zeros((2, items), dtype=np.int32)
    asked = np.full(len(groups.size), -1, dtype=np.int32)
    for v in range(first + begin, first + end):
        best, to[v - first], with_whom[v - first] = np.int64(0), -1, -1
        a = groups.group[v]
        asked[a] = v
        load_counts(groups, a, held_a)
        free = may_leave(rows, groups, v)
        # A far record shares few items, so only groups of near ones are tried, each once.
        for u in near[v]:
            b = groups.group[u] if u >= 0 else a
            if asked[b] == v:
                continue
            asked[b] = v
            load_counts(groups, b, held_b)
            if free and groups.size[b] + 1 >= rows.k[v]:
                gain = gain_of_move(rows, groups, v, b, held_a, held_b)
                if gain > best:
                    best, to[v - first], with_whom[v - first] = gain, b, -1
            w = groups.first[b]
            while w >= 0:
                if rows.k[w] <= groups.size[a] and rows.k[v] <= groups.size[b]:
                    gain = gain_of_swap(rows, groups, v, w, held_a, held_b)
                    if gain > best:
                        best, to[v - first], with_whom[v - first] = gain, b, w
                w = groups.after[w]
            unload_counts(groups, b, held_b)
        unload_counts(groups, a, held_a)


@kernel
def move_record(rows, groups, v, b, w):
    """Let v go to group b, and w, if not -1, to the group of v."""
    a = groups.group[v]
    leave_group(rows, groups, v)
    if w >= 0:
        leave_group(rows, groups, w)
        enter_group(rows, groups, w, a)
    enter_group(rows, groups, v, b)
    measure_group(groups, a)
    measure_group(groups, b)


@kernel
def apply_moves(first, to, with_whom, rows, groups, items):
    """Make the moves found that still raise J, in order; return how many."""
    held_a, held_b = np.zeros((2, items), dtype=np.int32)
    made = 0
    for place in range(len(to)):
        v, w = first + place, with_whom[place]
        if to[place] < 0:
            continue
        a, b = groups.group[v], to[place] if w < 0 else groups.group[w]
        if a == b:
            continue
        # Earlier moves may have changed both groups since this one was found.
        load_counts(groups, a, held_a)
        load_counts(groups, b, held_b)
        if w < 0:
            fits = groups.size[b] + 1 >= rows.k[v] and may_leave(rows, groups, v)
            gain = gain_of_move(rows, groups, v, b, held_a, held_b)
        else:
            fits = rows.k[w] <= groups.size[a] and rows.k[v] <= groups.size[b]
            gain = gain_of_swap(rows, groups, v, w, held_a, held_b)
        unload_counts(groups, a, held_a)
        unload_counts(groups, b, held_b)
        if fits and gain > 0:
            move_record(rows, groups, v, b, w)
            made += 1
    return made


@kernel
def place_waiting_records(waiting, need, rows, near, groups, items):
    # waiting int64 (records,), need int64 (groups,): the greatest k of the members
    """Put each waiting record into that group of its neighbours, below 2k, that gains most.

    Returns how many found one.
    """
    held_b = np.zeros(items, dtype=np.int32)
    asked = np.full(len(groups.size), -1, dtype=np.int32)
    placed = 0
    for v in waiting:
        best, to = np.int64(-(2**62)), np.int32(-1)
        for u in near[v]:
            b = groups.group[u] if u >= 0 else np.int32(-1)
            if b < 0 or asked[b] == v:
                continue
            asked[b] = v
            large = groups.size[b] >= 2 * max(need[b], rows.k[v])
            if large or groups.size[b] + 1 < rows.k[v]:
                continue
            load_counts(groups, b, held_b)
            true, created = count_after_joining(rows, groups, v, b, held_b)
            unload_counts(groups, b, held_b)
            gain = groups.whole[1] * (true - groups.true[b])
            gain -= groups.whole[0] * (created - groups.created[b])
            if gain > best:
                best, to = gain, b
        if to >= 0:
            enter_group(rows, groups, v, to)
            measure_group(groups, to)
            need[to] = max(need[to], rows.k[v])
            placed += 1
    return placed
