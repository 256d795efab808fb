"""minCostFlow of Doka et al. (section 8): the k assignments of least total first cost.

The cost of a pair is what the row would lose if it held this record besides its own only, so the
sum is not what the rows lose. HiGHS solves it: a program over a network has whole solutions, so no
branching is needed; scipy brings no solver of flows with costs. Pairs are priced and added until
the solution is within 10^-6 of the bound that the prices give. That needs fewer than all n^2.
"""

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

from anon_core.anonymizers.freeform.freeform_kernels import RowHolders
from anon_core.anonymizers.freeform.segments import compute_increases
from anon_core.anonymizers.loss_kernels import PROHIBITIVE_LOSS, LevelCells

NEAR = 3  # times k pairs of each record to begin with
MORE = 10  # pairs of each record that are added at a time
GAP = 1e-6  # of the bound: below it only pairs of equal price are added


def first_costs(table, loss):
    """What row r loses if record v holds it, too: float64 (n, n), costs[v, r]; own: inf."""
    n = table.records
    holder = np.arange(n, dtype=np.int32)[None]
    space = RowHolders(LevelCells.of(table, loss), holder, np.ones(n, dtype=np.int64))
    costs = compute_increases(1, space)
    return np.where(costs < PROHIBITIVE_LOSS, costs / loss.whole.max(), np.inf)


def flow(costs, k):
    """Who holds each row, int32 (n, k), own record first: the least sum of costs."""
    n = len(costs)
    cyclic = np.arange(n)[:, None] + np.arange(1, k)
    near = np.argsort(costs, axis=1, kind="stable")[:, : min(n - 1, NEAR * k)]
    chosen = np.zeros((n, n), dtype=np.bool_)
    chosen[np.arange(n)[:, None], cyclic % n] = True
    chosen[np.arange(n)[:, None], near] = True
    chosen |= chosen.T
    while True:
        record, row = np.nonzero(chosen)
        pairs = np.arange(len(record))
        ends = coo_array(
            (np.ones(2 * len(pairs)), (np.append(record, n + row), np.tile(pairs, 2)))
        ).tocsr()
        found = linprog(
            costs[record, row], A_eq=ends, b_eq=np.full(2 * n, k - 1), bounds=(0, 1),
            method="highs",
        )  # fmt: skip
        dual = found.eqlin.marginals
        reduced = np.where(chosen, 0.0, costs - dual[:n, None] - dual[n:])
        if -np.minimum(reduced, 0).sum() <= GAP * max(1.0, found.fun):
            break
        better = np.argsort(reduced, axis=1, kind="stable")[:, :MORE]
        chosen[np.arange(n)[:, None], better] |= np.take_along_axis(reduced, better, 1) < 0
    held = found.x > 0.5
    order = np.argsort(row[held], kind="stable")
    return np.column_stack([np.arange(n), record[held][order].reshape(n, k - 1)]).astype(np.int32)
