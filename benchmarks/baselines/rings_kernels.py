"""Parts of a table and rings within them; the rows of `cells` are scratch groups."""

import numpy as np

from anon_core.anonymizers.loss_kernels import PROHIBITIVE_LOSS, compute_loss_increase, widen_row
from anon_core.jit.kernel import kernel
from benchmarks.baselines.cells_kernels import restart


@kernel
def furthest(v, members, cells):
    """The place of the member that loses most in a pair with record v; the first of equals."""
    best, place = np.int64(-1), np.int64(0)
    restart(0, v, cells)
    for i in range(len(members)):
        cost = compute_loss_increase(members[i], 0, PROHIBITIVE_LOSS, cells)
        if cost > best:
            best, place = cost, np.int64(i)
    return place


@kernel
def split(members, k, left, cells):
    """Part the members by two seeds far apart; bool left (m,) says who joins the first.

    Each member joins the side that then loses less. A side of fewer than k takes those members of
    the other that cost it least.
    """
    one = furthest(members[0], members, cells)
    two = furthest(members[one], members, cells)
    restart(0, members[one], cells)
    restart(1, members[two], cells)
    left[:] = False
    left[one] = True
    for i in range(len(members)):
        if i not in (one, two):
            v = members[i]
            here = compute_loss_increase(v, 0, PROHIBITIVE_LOSS, cells)
            left[i] = here < compute_loss_increase(v, 1, here + 1, cells)
            widen_row(v, 0 if left[i] else 1, cells)
    few = left.sum() < k
    side = 0 if few else 1
    restart(side, members[one if few else two], cells)
    for i in range(len(members)):
        if left[i] == few:
            widen_row(members[i], side, cells)
    while min(left.sum(), len(members) - left.sum()) < k:
        best, place = PROHIBITIVE_LOSS, -1
        for i in range(len(members)):
            if left[i] != few:
                cost = compute_loss_increase(members[i], side, best, cells)
                if cost < best:
                    best, place = cost, i
        left[place] = few
        widen_row(members[place], side, cells)


@kernel
def ring(members, cells):
    """Bring members into an order in which each is followed by the nearest that is left."""
    for i in range(len(members) - 1):
        restart(0, members[i], cells)
        best, place = PROHIBITIVE_LOSS, i + 1
        for j in range(i + 1, len(members)):
            cost = compute_loss_increase(members[j], 0, best, cells)
            if cost < best:
                best, place = cost, j
        members[i + 1], members[place] = members[place], members[i + 1]
