"""Halving the edges of a multigraph in which every degree is even, by fair coins."""

import numpy as np

from anon_core.jit.kernel import kernel


@kernel
def halve_counts(owner, row, count, odd, odd_owner, odd_row):
    # count (edges,): changed; odd int32, odd_owner, odd_row (edges,): filled from the front
    """Halve the counts, rounded down; list the edges whose counts were odd, and their ends."""
    m = 0
    for e in range(len(count)):
        if count[e] & 1:
            odd[m], odd_owner[m], odd_row[m] = e, owner[e], row[e]
            m += 1
        count[e] >>= 1
    return m


@kernel
def count_shares(kind, holders, held):
    # kind int32 (n,); holders int32 (n, D); held int64 (kinds,): filled
    """Count the shares that each kind holds."""
    for row in range(len(holders)):
        for share in range(holders.shape[1]):
            held[kind[holders[row, share]]] += 1


@kernel
def list_shares(kind, order, holders, start, owner, row, count):
    # order int32 (n,): rows by place; start int64 (kinds,): of the shares of each kind
    # owner, row, count int32 (shares,): filled; count, 0 before, stays 0 where shares joined others
    """List the edges kind - place, by kind and then by place, and the shares of each."""
    free = start.copy()
    for place in range(len(order)):
        for share in range(holders.shape[1]):
            c = kind[holders[order[place], share]]
            at = free[c]
            # Places ascend, so an edge that is there already is the last one of its kind.
            if at > start[c] and row[at - 1] == place:
                count[at - 1] += 1
            else:
                owner[at], row[at], count[at] = c, place, 1
                free[c] += 1


@kernel
def drop_empty_edges(owner, row, count):  # (edges,) each: changed
    """Move the edges that are left to the front, in their order; return their number."""
    left = 0
    for e in range(len(count)):
        if count[e] > 0:
            owner[left], row[left], count[left] = owner[e], row[e], count[e]
            left += 1
    return left


@kernel
def pair_ends(vertex, vertices, words, order, mate):
    # vertex int32 (m,): of each edge, each vertex an even number of times; words uint32 (m,)
    # order int32 (m,): scratch; mate int32 (m,): filled
    """mate[e] = the edge that e is paired with at its vertex, after a shuffle by the words."""
    start = np.zeros(vertices + 1, dtype=np.int64)
    for e in range(len(vertex)):
        start[vertex[e] + 1] += 1
    for v in range(vertices):
        start[v + 1] += start[v]
    free = start[:-1].copy()
    for e in range(len(vertex)):
        order[free[vertex[e]]] = e
        free[vertex[e]] += 1
    for v in range(vertices):
        for last in range(start[v + 1] - 1, start[v], -1):
            # Scaled words favour some places by 2^-32 at most for each. The chances of the halves
            # are exact for any pairing, so only the coins must be fair.
            pick = start[v] + np.int64(
                (np.uint64(words[last]) * np.uint64(last - start[v] + 1)) >> np.uint64(32)
            )
            order[last], order[pick] = order[pick], order[last]
    # Each vertex has an even number of edges, so no pair spans two vertices.
    for place in range(0, len(vertex) - 1, 2):
        e, f = order[place], order[place + 1]
        mate[e], mate[f] = f, e


@kernel
def toss_cycle_coins(
    left_mate, right_mate, coins, up
):  # coins uint32, a bit an edge; up (m,): filled
    """up[e] = 0 or 1, in turn along each cycle of mates: of two mates one is up.

    The coin of a cycle's first edge decides which.
    """
    up[:] = -1
    for first in range(len(up)):
        if up[first] >= 0:
            continue
        coin = (coins[first >> 5] >> np.uint32(first & 31)) & np.uint32(1)
        e = first
        while True:
            up[e] = coin
            e = left_mate[e]
            # Mates at left and right ends take turns, so the cycle closes after an even number
            # of edges.
            up[e] = 1 - coin
            e = right_mate[e]
            if e == first:
                break
