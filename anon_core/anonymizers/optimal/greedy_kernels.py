"""Greedy search: groups that take, one by one, the record of which they lose least."""

import numpy as np

from anon_core.anonymizers.loss_kernels import NEVER, increase, loss_of, widen
from anon_core.jit.kernel import kernel


@kernel
def grow(k, cells, group):  # k (n,), group (n,) filled with -1
    """Number the group of each record; -1: too few were left to make a group.

    Returns the row of cells that stands for each group: that of its first record.
    """
    n = len(k)
    after, head = np.arange(1, n + 1), 0  # the records that are left, in order
    groups = 0
    rows = np.empty(n, dtype=np.int64)
    while head < n:
        first, size, most = head, 1, k[head]
        head = after[head]
        while size < most and head < n:
            best, before, place = NEVER, -1, -1
            last, v = -1, head
            while v < n:
                cost = increase(v, first, best, cells)
                if cost < best:
                    best, before, place = cost, last, v
                    if best == 0:
                        break
                last, v = v, after[v]
            if before < 0:
                head = after[place]
            else:
                after[before] = after[place]
            widen(place, first, cells)
            group[place] = groups
            size, most = size + 1, max(most, k[place])
        group[first] = groups
        if size < most:
            for v in range(n):
                if group[v] == groups:
                    group[v] = -1
            break
        rows[groups] = first
        groups += 1
    return rows[:groups].copy()


@kernel
def place_rest(k, cells, rows, sequential, group):  # rows (groups,), group (n,)
    """Give each record without a group to the one that then loses least more, in order.

    `sequential`: groups count with those who joined before; else as they were grown. A record joins
    a group that is large enough for it, if there is one.
    """
    size = np.zeros(len(rows), dtype=np.int64)
    for g in group:
        if g >= 0:
            size[g] += 1
    grown, losses = size.copy(), np.empty(len(rows), dtype=np.int64)
    for g in range(len(rows)):
        losses[g] = loss_of(rows[g], cells)
    rest = np.flatnonzero(group < 0)
    for v in rest:
        best, place, enough = NEVER, 0, False
        for g in range(len(rows)):
            cost = losses[g] + (grown[g] + 1) * increase(v, rows[g], NEVER, cells)
            fits = size[g] + 1 >= k[v]
            if (fits and not enough) or (fits == enough and cost < best):
                best, place, enough = cost, g, fits
        group[v] = place
        size[place] += 1
        if sequential:
            widen(v, rows[place], cells)
            grown[place] += 1
            losses[place] = loss_of(rows[place], cells)
