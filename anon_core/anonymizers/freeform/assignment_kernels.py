"""An assignment of least cost, in whole numbers and without Python's lock."""

import numpy as np

from anon_core.anonymizers.loss_kernels import PROHIBITIVE_LOSS
from anon_core.jit.kernel import kernel

_REACHED = np.int64(2**61)  # more than any path is long; with PROHIBITIVE_LOSS it is an int64 still


@kernel
def assign_least(costs, row_of, record_of):  # costs int64 (n, n); row_of, record_of int64 (n,)
    """Give each record v a row r of its own, so that the costs[v, r] sum to least.

    Fills in both directions. PROHIBITIVE_LOSS where v may not have r; an assignment without such
    pairs must exist. Of several assignments of least cost it finds the one that
    `scipy.optimize.linear_sum_assignment` does, which holds Python's lock meanwhile.

    References
    ----------
    Crouse, On implementing 2D rectangular assignment algorithms, IEEE Transactions on Aerospace and
    Electronic Systems 52 (2016): shortest augmenting paths of reduced costs.
    """
    n = len(costs)
    price_of_record, price_of_row = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    # Of each row: how long the shortest path to it is, from which record its last step comes, a bar
    # once the search has reached it, and its place among `rows`, of which the first are open.
    length, last = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    bar, place = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    rows, reached = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    row_of[:], record_of[:] = -1, -1
    for newcomer in range(n):
        rows[:] = np.arange(n)[::-1]
        place[:], length[:], bar[:] = rows, PROHIBITIVE_LOSS, 0
        v, spent, number, r = newcomer, np.int64(0), 0, -1
        while v >= 0:
            reached[number] = v
            number += 1
            base = spent - price_of_record[v]
            spent = _lengthen_paths(base, v, costs[v], price_of_row, length, last, bar)
            r = _find_nearest_row(spent, length, bar, place, record_of)
            end = rows[n - number]
            rows[place[r]], place[end] = end, place[r]
            rows[n - number], bar[r] = r, _REACHED
            v = record_of[r]
        price_of_record[newcomer] += spent
        for v in reached[1:number]:
            price_of_record[v] += spent - length[row_of[v]]
        for row in rows[n - number :]:
            price_of_row[row] -= spent - length[row]
        while r >= 0:
            v = last[r]
            record_of[r] = v
            r, row_of[v] = row_of[v], r


@kernel
def _lengthen_paths(base, v, cost, price, length, last, bar):
    """Let shortest paths go over record v; return the length of the shortest to an open row.

    No path to a row that was reached becomes shorter. The loop has no branch, so that several rows
    are looked at together.
    """
    least = PROHIBITIVE_LOSS
    for r in range(len(cost)):
        through = base + cost[r] - price[r]
        nearer = through < length[r]
        length[r] = through if nearer else length[r]
        last[r] = v if nearer else last[r]
        least = min(least, length[r] + bar[r])
    return least


@kernel
def _find_nearest_row(least, length, bar, place, record_of):
    """Of open rows at this length, the last free one, which ends the search; else the first."""
    best, greatest = -1, -len(length) - 1
    for r in range(len(length)):
        if length[r] + bar[r] == least:
            rank = place[r] if record_of[r] < 0 else -1 - place[r]
            if rank > greatest:
                best, greatest = r, rank
    return best
