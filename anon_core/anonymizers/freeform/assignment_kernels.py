"""An assignment of least cost, in whole numbers and without Python's lock."""

import numpy as np

from anon_core.anonymizers.loss_kernels import PROHIBITIVE_LOSS
from anon_core.jit.kernel import kernel


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
    path, reached = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    length, rows = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    row_of[:], record_of[:] = -1, -1
    for newcomer in range(n):
        for place in range(n):
            rows[place], length[place] = n - 1 - place, PROHIBITIVE_LOSS
        v, spent, number, found = newcomer, np.int64(0), 0, False
        # The first `left` rows are open; behind them stand those that the search has reached.
        left = n
        while not found:
            reached[number] = v
            number += 1
            base, cost = spent - price_of_record[v], costs[v]
            least, best = PROHIBITIVE_LOSS, -1
            for place in range(left):
                r = rows[place]
                through = base + cost[r] - price_of_row[r]
                if through < length[r]:
                    length[r], path[r] = through, v
                # Of equally near rows, one that is free ends the search.
                if length[r] < least or (length[r] == least and record_of[r] < 0):
                    least, best = length[r], place
            spent = least
            r = rows[best]
            left -= 1
            rows[best], rows[left] = rows[left], r
            found, v = record_of[r] < 0, record_of[r]
        price_of_record[newcomer] += spent
        for v in reached[1:number]:
            price_of_record[v] += spent - length[row_of[v]]
        for r in rows[left:]:
            price_of_row[r] -= spent - length[r]
        r = rows[left]
        while r >= 0:
            v = path[r]
            record_of[r] = v
            r, row_of[v] = row_of[v], r
