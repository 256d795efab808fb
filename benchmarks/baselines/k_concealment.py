"""k-concealment, agglomerative (Gionis, Mazza and Tassa, ICDE 2008; Tassa et al., TDP 2012).

Only abstracts were at hand. The three steps are those of (k, 1)-, (k, k)-anonymity and
k-concealment. The randomization is ours: each record that joins a row is drawn from the `choices`
that cost least, so that nobody can tell from a row which record it was made from by running the
program again.
"""

import numpy as np

from anon_core.anonymizers.loss_kernels import LevelCells
from anon_core.measures.table.crowds import crowds
from benchmarks import released_cells
from benchmarks.baselines.k_concealment_kernels import count_fits, cover, price, seat
from benchmarks.baselines.released import of_pairs


def k_concealment(table, loss, k, *, choices=1, seed=0):
    """Rows and records, int64 (m,) each, of pairs that must fit, so that all have k matchable rows.

    1. Each row takes records that make it lose least more, until it covers k.
    2. A record that fits fewer than k rows widens those that cost least.
    3. A record with fewer than k matchable rows changes places with others: both rows are widened.
    """
    n, cells = table.records, LevelCells.of(table, loss)
    covers = np.empty((n, k), dtype=np.int64)
    cover(covers, np.random.default_rng(seed).integers(0, choices, (n, k)), cells)
    pairs = [np.stack([np.repeat(np.arange(n), k), covers.ravel()])]
    fits, costs = np.empty((2, n), dtype=np.int64)
    count_fits(fits, cells)
    for v in np.flatnonzero(fits < k).tolist():
        there = price(v, False, costs, cells)  # noqa: FBT003
        rows = np.argsort(costs, kind="stable")[: max(0, k - there)]
        pairs.append(seat(np.stack([rows, np.full_like(rows, v)]), cells))
    while len(lacking := _lacking(table, pairs, k)):
        for v, more in lacking.tolist():
            price(v, True, costs, cells)  # noqa: FBT003
            rows = np.argsort(costs, kind="stable")[:more]
            own = np.full_like(rows, v)
            pairs.append(seat(np.stack([np.append(rows, own), np.append(own, rows)]), cells))
    return np.concatenate(pairs, axis=1)


def _lacking(table, pairs, k):
    """Records with fewer than k matchable rows and how many they lack, int64 (m, 2)."""
    released = released_cells(of_pairs(table, *np.concatenate(pairs, axis=1)))
    demanded = np.full(table.records, k, dtype=np.int32)
    found = crowds(table.codes, demanded, released, np.arange(table.records)).matchable
    short = np.flatnonzero(found < k)
    return np.stack([short, k - found[short]], axis=1)
