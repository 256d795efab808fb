"""Baselines whose rows are held by k records each: rings, the flow, and the program."""

import itertools

import numpy as np
import pytest

from anon_core.anonymizers import Freeform
from anon_core.anonymizers.loss_kernels import LevelCells
from anon_core.measures.table.utility import utility
from anon_core.tables.loss import WHOLE_CELL_LOSS, loss_table
from benchmarks import released_cells
from benchmarks.baselines.flow import first_costs, flow
from benchmarks.baselines.freeform_program import freeform_program
from benchmarks.baselines.released import of_classes, of_holders
from benchmarks.baselines.rings import parts, rings
from benchmarks.baselines.uniform_draw import uniform_draw
from tests.drawn import check_even, drawn, lost


def loss_of(table, loss, holders):
    return sum(lost(table, loss, row) for row in holders.tolist())


def regular(n, k):
    """All ways to have k records hold each row, own record first, and each record k rows."""
    choices = [
        [(r, *others) for others in itertools.combinations([v for v in range(n) if v != r], k - 1)]
        for r in range(n)
    ]
    for rows in itertools.product(*choices):
        if (np.bincount(np.ravel(rows)) == k).all():
            yield np.array(rows)


@pytest.mark.parametrize("n", [7, 40, pytest.param(61, marks=pytest.mark.slow)])
def test_rings_are_even_and_each_column_is_an_assignment(n):
    table = drawn(n, 4)
    holders = rings(table, loss_table(table.codebook, "rank"), 4)
    check_even(holders, 4)
    assert all(sorted(column) == list(range(n)) for column in holders.T.tolist())
    assert sorted(uniform_draw(holders, 2).tolist()) == list(range(n))


def test_parts_have_k_to_2k_minus_1_records_and_stay_together_where_equal():
    table = drawn(90, 5)
    cells = LevelCells.of(table, loss_table(table.codebook, "rank"))
    found = list(parts(90, 5, cells))
    assert sorted(np.concatenate(found).tolist()) == list(range(90))
    assert {5 <= len(part) <= 9 for part in found} == {True}


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("exact", [0.0, 0.25])
def test_the_program_finds_the_least_loss_of_all_regular_graphs(seed, exact):
    table = drawn(5, 3, seed)
    loss = loss_table(table.codebook, "rank", exact)
    solved = freeform_program(table, loss, 3)
    assert solved.proved
    check_even(solved.holders, 3)
    least = min(loss_of(table, loss, holders) for holders in regular(5, 3))
    assert loss_of(table, loss, solved.holders) == pytest.approx(least, rel=1e-7)
    assert solved.loss == pytest.approx(least / WHOLE_CELL_LOSS)


def test_no_freeform_method_loses_less_than_the_program():
    table = drawn(9, 3, seed=4)
    loss = loss_table(table.codebook, "rank")
    least = loss_of(table, loss, freeform_program(table, loss, 3).holders)
    for method in ("greedy", "sort-greedy", "hungarian"):
        for exchanges in (False, True):
            made = Freeform(method=method, exact=0.0, exchanges=exchanges).anonymize(table)
            assert loss_of(table, loss, made.holders) >= least * (1 - 1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_the_flow_has_the_least_sum_of_first_costs(seed):
    table = drawn(5, 3, seed)
    costs = first_costs(table, loss_table(table.codebook, "rank"))
    holders = flow(costs, 3)
    check_even(holders, 3)

    def total(rows):
        return sum(costs[v, row[0]] for row in rows for v in row[1:])

    assert total(holders) == pytest.approx(min(total(rows) for rows in regular(5, 3)))


def test_the_flow_prices_pairs_that_it_left_out_at_first():
    """Records that are nearest to many must take far rows: an assignment says what is least."""
    from scipy.optimize import linear_sum_assignment

    table = drawn(60, 2, seed=3, levels=60)
    costs = first_costs(table, loss_table(table.codebook, "rank"))
    holders = flow(costs, 2)
    check_even(holders, 2)
    record, row = linear_sum_assignment(np.where(np.isinf(costs), 1e9, costs))
    found = costs[holders[:, 1], np.arange(60)].sum()
    assert found == pytest.approx(costs[record, row].sum())


def test_released_rows_lose_what_their_holders_and_classes_say():
    table = drawn(30, 3)
    loss = loss_table(table.codebook, "rank")
    weight = loss.whole / loss.whole.max()
    holders = rings(table, loss, 3)
    classes = np.array_split(np.arange(30), 9)
    for made, rows in (
        (of_holders(table, holders), holders.tolist()),
        (of_classes(table, classes), [c for c in classes for _ in c]),
    ):
        ncp = utility(table.codebook.ordinal, released_cells(made)).ncp
        total = sum(lost(table, loss, row) for row in rows)
        assert 30 * (ncp @ weight) == pytest.approx(total / WHOLE_CELL_LOSS)
