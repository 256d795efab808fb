"""How near the default comes to what programs prove, on drawn tables."""

import numpy as np
import pytest

from anon_core.anonymizers import LocalSearch, Optimal
from anon_core.measures.table.utility import utility
from anon_core.tables.loss import loss_table
from benchmarks import released_cells
from benchmarks.baselines.freeform_program import freeform_program
from tests.drawn import clustered, drawn, lost

DEFAULT = LocalSearch(seats="even")


def loss_of(made):
    return utility(made.table.codebook.ordinal, released_cells(made)).gcp


@pytest.mark.slow
def test_no_even_rows_lose_less_than_the_least_and_few_lose_much_more():
    ratios = []
    for seed in range(6):
        k = 3 + seed % 2
        table = drawn(10 + seed % 3, k, seed)
        loss = loss_table(table.codebook, "rank")
        solved = freeform_program(table, loss, k)
        assert solved.proved
        made = DEFAULT.anonymize(table)
        found, least = (
            sum(lost(table, loss, row) for row in holders.tolist())
            for holders in (made.holders, solved.holders)
        )
        ratios.append(found / least)
    assert min(ratios) > 1 - 1e-9  # losses are in whole parts, rounded
    assert np.mean(ratios) < 1.05


@pytest.mark.slow
def test_it_loses_as_little_as_the_best_classes():
    ratios = []
    for seed in range(6):
        size, k = (40, 80, 120)[seed % 3], (3, 4, 5)[seed // 3 % 3]
        table = clustered(size, k, 5, seed) if seed % 2 else drawn(size, k, seed)
        best = Optimal(method="exact", loss="rank").anonymize(table)
        ratios.append(loss_of(DEFAULT.anonymize(table)) / loss_of(best))
    assert np.mean(ratios) < 1.03
