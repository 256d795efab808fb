"""k-concealment: every record keeps k matchable rows, by definition and by the auditor."""

import numpy as np
import pytest

from anon_core.measures.table.crowds import crowds
from anon_core.tables.loss import loss_table
from benchmarks import released_cells
from benchmarks.baselines.k_concealment import k_concealment
from benchmarks.baselines.released import of_pairs
from tests import naive
from tests.drawn import drawn, lost


@pytest.mark.parametrize("choices", [1, 3])
@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2))])
def test_each_record_has_k_matchable_rows(choices, seed):
    table = drawn(25, 5, seed)
    rows, records = k_concealment(table, loss_table(table.codebook, "rank"), 5, choices=choices)
    assert np.bincount(rows).min() >= 5
    released = released_cells(of_pairs(table, rows, records))
    fit = np.ones((25, 25), dtype=bool)
    for a in range(len(table.codes)):
        fit &= released.levels[a][released.cell[a]].T[table.codes[a]]
    assert naive.matchable(fit).sum(axis=1).min() >= 5
    counted = crowds(table.codes, table.k, released, np.arange(25))
    assert (counted.matchable == naive.matchable(fit).sum(axis=1)).all()


def test_the_lightest_of_all_records_join_first():
    table = drawn(25, 2, seed=1)
    loss = loss_table(table.codebook, "rank")
    rows, records = k_concealment(table, loss, 2)
    for r, v in zip(rows[1:50:2].tolist(), records[1:50:2].tolist(), strict=True):
        assert lost(table, loss, [r, v]) == min(
            lost(table, loss, [r, u]) for u in range(25) if u != r
        )
