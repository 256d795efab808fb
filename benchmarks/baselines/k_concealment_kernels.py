"""Rows that cover k records, records that fit k rows."""

import numpy as np

from anon_core.anonymizers.loss_kernels import PROHIBITIVE_LOSS, compute_loss_increase, widen_row
from anon_core.jit.kernel import kernel, parallel_kernel


@parallel_kernel(lambda covers: len(covers))
def cover(begin, end, covers, turn, cells):  # covers int64 (n, k), turn (n, k): 0 the lightest
    """Let each row take records that make it lose least more until it covers k."""
    most = turn.max() + 1
    costs, lightest = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    for r in range(begin, end):
        covers[r, 0] = r
        for share in range(1, covers.shape[1]):
            costs[:] = PROHIBITIVE_LOSS
            for v in range(len(covers)):
                cost = compute_loss_increase(v, r, costs[-1], cells)
                if cost >= costs[-1] or (covers[r, :share] == v).any():
                    continue
                place = most - 1
                while place > 0 and cost < costs[place - 1]:
                    costs[place], lightest[place] = costs[place - 1], lightest[place - 1]
                    place -= 1
                costs[place], lightest[place] = cost, v
            found = min(turn[r, share], (costs < PROHIBITIVE_LOSS).sum() - 1)
            covers[r, share] = lightest[found]
            widen_row(covers[r, share], r, cells)


@parallel_kernel(lambda fits: len(fits))
def count_fits(begin, end, fits, cells):  # fits int64 (n,)
    """Count the rows that each record fits."""
    for v in range(begin, end):
        fits[v] = 0
        for r in range(len(fits)):
            fits[v] += compute_loss_increase(v, r, 1, cells) == 0


@kernel
def price(v, both, costs, cells):  # costs int64 (n,)
    """costs[r] = what it takes that v fits row r; with `both`, that r's record fits row v, too.

    PROHIBITIVE_LOSS where it takes nothing; returns how many these are.
    """
    there = 0
    for r in range(len(costs)):
        costs[r] = compute_loss_increase(v, r, PROHIBITIVE_LOSS, cells)
        if both:
            costs[r] += compute_loss_increase(r, v, PROHIBITIVE_LOSS, cells)
        if costs[r] == 0:
            costs[r] = PROHIBITIVE_LOSS
            there += 1
    return there


@kernel
def seat(pairs, cells):  # pairs int64 (2, m): rows, records
    """Widen rows until the records fit them; returns the pairs."""
    for i in range(pairs.shape[1]):
        widen_row(pairs[1, i], pairs[0, i], cells)
    return pairs
