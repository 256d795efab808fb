"""Metric facility location with a lower bound: Algorithm 2 of Epasto et al., lines 2-5."""

import heapq

import numpy as np

from anon_core.jit.kernel import kernel, parallel_kernel

SCALE = 16  # bits of a cost below one
_NOWHERE = np.int64(2**62)


@kernel
def compute_hamming_distance(rows, u, v):
    """Return the Hamming distance of two records."""
    i, end_i = rows.indptr[u], rows.indptr[u + 1]
    j, end_j = rows.indptr[v], rows.indptr[v + 1]
    distance = np.int64(end_i - i + end_j - j)
    while i < end_i and j < end_j:
        a, b = rows.indices[i], rows.indices[j]
        distance -= 2 * (a == b)
        i += a <= b
        j += b <= a
    return distance


@parallel_kernel(lambda opening: len(opening))
def compute_opening_costs(begin, end, opening, distance, factor, rows, near):
    # opening int64 (n,), distance int64 (n, most); factor in 2^-16
    """Return what each facility costs: factor * sum of the distances of the k nearest records.

    The record itself is one of the k. Costs and distances are in 2^-16.
    """
    for v in range(begin, end):
        cost = np.int64(0)
        for at in range(near.shape[1]):
            distance[v, at] = _NOWHERE
            if near[v, at] >= 0:
                distance[v, at] = compute_hamming_distance(rows, v, near[v, at]) << SCALE
                cost += (distance[v, at] >> SCALE) * factor if at + 1 < rows.k[v] else 0
        opening[v] = cost


@kernel
def cheapest_star(v, opening, distance, near, paid):
    """Return the least cost for each record that a facility would connect, and how many.

    paid int64 (n,): what each record pays now, -1 while it is not connected. A connected record
    offers what it would save.
    """
    cost, members = opening[v], 0
    if paid[v] >= 0:
        cost -= paid[v]
    for at in range(near.shape[1]):
        if near[v, at] >= 0 and paid[near[v, at]] > distance[v, at]:
            cost -= paid[near[v, at]] - distance[v, at]
    cost = max(cost, 0)
    least, most = _NOWHERE, 0
    if paid[v] < 0:
        members = 1
        least, most = cost, 1
    for at in range(near.shape[1]):
        u = near[v, at]
        if u < 0 or distance[v, at] >= least:
            break
        if paid[u] < 0:
            cost += distance[v, at]
            members += 1
            if cost // members < least:
                least, most = cost // members, members
    return least, most


@kernel
def greedy_stars(opening, distance, near):
    """Open facilities by the cheapest star (Jain, Mahdian and Saberi, JMS); return them.

    Stale prices of the queue are computed anew when their turn comes.
    """
    n = len(opening)
    paid, opened = np.full(n, -1, dtype=np.int64), np.zeros(n, dtype=np.bool_)
    queue = [(cheapest_star(v, opening, distance, near, paid)[0], np.int64(v)) for v in range(n)]
    heapq.heapify(queue)
    left = n
    while left and queue:
        _, v = heapq.heappop(queue)
        price, members = cheapest_star(v, opening, distance, near, paid)
        if members == 0:
            continue
        if queue and (price, v) > queue[0]:
            heapq.heappush(queue, (price, v))
            continue
        opened[v], opening[v] = True, 0
        if paid[v] < 0:
            members -= 1
            left -= 1
        paid[v] = 0
        for at in range(near.shape[1]):
            u = near[v, at]
            if u < 0:
                break
            if paid[u] >= 0:
                paid[u] = min(paid[u], distance[v, at])
            elif members:
                paid[u] = distance[v, at]
                members -= 1
                left -= 1
        heapq.heappush(queue, (price, v))
    return np.flatnonzero(opened)


@kernel
def nearest_of(rows, v, centres, open_, marked):
    """Return the number of the open centre nearest to a record, the first of equals, -1: none."""
    for item in rows.indices[rows.indptr[v] : rows.indptr[v + 1]]:
        marked[item] = True
    best, found = _NOWHERE, -1
    for c in range(len(centres)):
        if open_[c]:
            distance = rows.indptr[centres[c] + 1] - rows.indptr[centres[c]]
            for item in rows.indices[rows.indptr[centres[c]] : rows.indptr[centres[c] + 1]]:
                distance -= 2 * marked[item]
            if distance < best:
                best, found = distance, c
    for item in rows.indices[rows.indptr[v] : rows.indptr[v + 1]]:
        marked[item] = False
    return found


@parallel_kernel(lambda group: len(group))
def assign_to_nearest(begin, end, group, centres, items, rows):
    """Assign each record to the nearest facility."""
    marked, open_ = np.zeros(items, dtype=np.bool_), np.ones(len(centres), dtype=np.bool_)
    for v in range(begin, end):
        group[v] = nearest_of(rows, v, centres, open_, marked)


@kernel
def close_small(group, share, centres, items, rows):  # share in 2^-16
    """Close facilities of fewer than a share of their members' greatest k, in rounds.

    The records of a round's facilities go to the nearest ones left. If all are too small, the
    largest stays, the first of equals.
    """
    marked, open_ = np.zeros(items, dtype=np.bool_), np.ones(len(centres), dtype=np.bool_)
    size, need = np.zeros((2, len(centres)), dtype=np.int64)
    for v in range(len(group)):
        size[group[v]] += 1
        need[group[v]] = max(need[group[v]], rows.k[v])
    while True:
        closing = open_ & (size << SCALE < share * need)
        if (closing == open_).all() and len(centres):
            closing[np.argmax(np.where(open_, size, -1))] = False
        if not closing.any():
            return
        open_ &= ~closing
        size[closing] = 0
        for v in range(len(group)):
            if closing[group[v]]:
                group[v] = nearest_of(rows, v, centres, open_, marked)
                size[group[v]] += 1
                need[group[v]] = max(need[group[v]], rows.k[v])


@kernel
def sort_cluster_members(members, need, rows):
    """Order the members of a cluster so that `need` at a time are near each other."""
    out = members.copy()
    distance = np.empty(len(out), dtype=np.int64)
    for first in range(0, len(out) - 2 * need + 1, need):
        for at in range(first, len(out)):
            distance[at] = compute_hamming_distance(rows, out[first], out[at])
        out[first:] = out[first:][np.argsort(distance[first:], kind="mergesort")]
    return out
