"""Grow groups by pairs of least loss of sum c^2 / s, the measure of Ward."""

import numpy as np

from anon_core.anonymizers.smooth.neighbours_kernels import BEYOND_DISTANCE, insert_by_key
from anon_core.jit.kernel import kernel, parallel_kernel

_FRACTION = 16  # bits of a loss below one


@kernel
def compute_ward_loss(square_a, square_b, dot, a, b):
    """Return what sum c^2 / s loses where groups of a and b records join, in 2^-16, rounded down.

    square: sum of c^2 of a group; dot: sum of the products of their c.
    """
    above = square_a * b * b + square_b * a * a - 2 * dot * a * b
    below = a * b * (a + b)
    return ((above // below) << _FRACTION) + ((above % below) << _FRACTION) // below


@kernel
def compute_target_size(need, level):
    """Return the size that a group of this need aims at: need / 2^level, rounded up."""
    return (need + (1 << level) - 1) >> level


@kernel
def sum_group_squares(counts):
    """Return the sum of c^2 of each group."""
    square = np.zeros(len(counts.start) - 1, dtype=np.int64)
    for g in range(len(square)):
        for at in range(counts.start[g], counts.start[g + 1]):
            square[g] += np.int64(counts.held[at]) ** 2
    return square


@parallel_kernel(lambda partner: len(partner))
def propose_partners(begin, end, loss, partner, level, items, groups, members, counts, near):
    # loss int64, partner int32 (groups, offers); groups: Grown
    """List for each group the groups among its members' neighbours with which it loses least.

    A pair may join while neither has reached the target of the greater need.
    """
    held = np.zeros(items, dtype=np.int64)
    asked = np.full(len(partner), -1, dtype=np.int32)
    for g in range(begin, end):
        loss[g], partner[g] = BEYOND_DISTANCE, -1
        asked[g] = g
        for at in range(counts.start[g], counts.start[g + 1]):
            held[counts.item[at]] = counts.held[at]
        for v in members.record[members.start[g] : members.start[g + 1]]:
            for u in near[v]:
                other = groups.group[u] if u >= 0 else g
                if asked[other] == g:
                    continue
                asked[other] = g
                aim = compute_target_size(max(groups.need[g], groups.need[other]), level)
                if groups.size[g] >= aim or groups.size[other] >= aim:
                    continue
                dot = np.int64(0)
                for at in range(counts.start[other], counts.start[other + 1]):
                    dot += held[counts.item[at]] * counts.held[at]
                lost = compute_ward_loss(
                    groups.square[g], groups.square[other], dot, groups.size[g], groups.size[other]
                )
                insert_by_key(lost, other, loss[g], partner[g])
        for at in range(counts.start[g], counts.start[g + 1]):
            held[counts.item[at]] = 0


@kernel
def join_pairs(lightest, partner, label):
    # lightest: places in `partner` by their loss; label int32 (groups,): receives the lower number
    """Join the pairs in the order of their loss, each group at most once; return how many."""
    offers, joined = partner.shape[1], 0
    for g in range(len(label)):
        label[g] = -1
    for place in lightest:
        a, b = np.int32(place // offers), partner[place // offers, place % offers]
        if b >= 0 and label[a] < 0 and label[b] < 0:
            label[a] = label[b] = min(a, b)
            joined += 1
    for g in range(len(label)):
        if label[g] < 0:
            label[g] = g
    return joined
