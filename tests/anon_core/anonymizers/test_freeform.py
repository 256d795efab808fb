"""Freeform generalization against plain code: rounds, their costs, the regular graph."""

import dataclasses
import itertools
import threading

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from anon_core.anonymizers import Freeform
from anon_core.anonymizers.freeform import segments
from anon_core.anonymizers.freeform.assignment_kernels import assign_least
from anon_core.anonymizers.freeform.freeform import HOLDER
from anon_core.anonymizers.freeform.freeform_kernels import (
    RowHolders,
    enter_holders,
    greedy_round,
    lightest_first,
)
from anon_core.anonymizers.freeform.segments import compute_increases
from anon_core.anonymizers.loss_kernels import PROHIBITIVE_LOSS, LevelCells, loss_of, widen_row
from anon_core.errors import InputError
from anon_core.specs.columns import ColumnSpec
from anon_core.steps import State
from anon_core.tables import encoding
from anon_core.tables.demands import of_people
from anon_core.tables.loss import WHOLE_CELL_LOSS, loss_table
from tests.drawn import lost as by_definition
from tests.drawn import with_ages
from tests.observers import Seen
from tests.strategies import tables

METHODS = ("greedy", "sort-greedy", "hungarian")


def made(values, k, seed=0, **settings):
    """A table of a number, a set of words and a flag, and what was made of it."""
    table = with_ages(values, k, np.random.default_rng(seed))
    return table, Freeform(**settings).anonymize(table)


def lost(table, records, loss="rank", exact=0.0):
    """What a row loses that these records hold, by definition."""
    return by_definition(table, loss_table(table.codebook, loss, exact), records)


def rounds(table, **settings):
    """holder (rounds, n) in the given order of the records, and that order."""
    seen = Seen()
    maker = Freeform(segment=0, exchanges=False, **settings)
    maker.anonymize(table, observer=seen)
    few_first = np.argsort([a.levels for a in table.codebook.attributes], kind="stable")
    order = sorted(range(table.records), key=lambda i: table.codes[few_first, i].tolist())
    return table.at(np.array(order)), seen.states[-1].arrays[HOLDER]


small = st.lists(st.integers(0, 9), min_size=4, max_size=7)


@given(small, st.integers(0, 99), st.sampled_from(["rank", "range"]), st.sampled_from([0.0, 0.5]))
def test_greedy_takes_the_first_free_row_of_least_cost(values, seed, loss, exact):
    table, _ = made(values, 2, seed)
    table, holder = rounds(table, method="greedy", loss=loss, exact=exact)
    assert (holder[0] == np.arange(len(values))).all()
    assert sorted(holder[1]) == list(range(len(values)))
    taken = []
    for v in range(len(values)):
        more = {
            r: lost(table, (r, v), loss, exact) - lost(table, (r,), loss, exact)
            for r in range(len(values))
            if r != v and r not in taken
        }
        if not more:  # the last row is its own: then another record makes room
            return
        taken.append(min(more, key=more.__getitem__))
    assert (holder[1][taken] == np.arange(len(values))).all()


@pytest.mark.long
@given(small, st.integers(0, 99))
def test_hungarian_finds_assignments_of_least_cost(values, seed):
    table, _ = made(values, 3, seed)
    table, holder = rounds(table, method="hungarian", exact=0.0)
    n = len(values)
    for done in (1, 2):
        rows = [holder[:done, r].tolist() for r in range(n)]
        more = np.array(
            [
                [lost(table, {*rows[r], v}) - lost(table, rows[r]) for r in range(n)]
                for v in range(n)
            ]
        )
        least = min(
            sum(more[v, r] for v, r in enumerate(order))
            for order in itertools.permutations(range(n))
            if all(v not in rows[r] for v, r in enumerate(order))
        )
        assert sum(more[holder[done, r], r] for r in range(n)) == least


def test_golden_figure_5():
    """Doka et al.: the heaviest perfect matching weighs 16."""
    weight = np.array([[1, 6, 0], [0, 8, 6], [4, 0, 1]])
    costs = np.where(weight == 0, PROHIBITIVE_LOSS, 8 - weight)
    row_of, record_of = np.empty((2, 3), dtype=np.int64)
    assign_least(costs, row_of, record_of)
    assert row_of.tolist() == [1, 2, 0]
    assert weight[np.arange(3), row_of].sum() == 16
    assert record_of.tolist() == [2, 0, 1]


@given(st.integers(1, 30), st.integers(0, 20), st.integers(0, 2**32 - 1))
def test_least_assignments_are_those_of_scipy(n, greatest, seed):
    """Ties, too: they decide bytes of releases. A cycle of allowed pairs is always left."""
    random = np.random.default_rng(seed)
    costs = random.integers(0, greatest + 1, (n, n))
    forbidden = random.random((n, n)) < 0.3
    forbidden[np.arange(n), np.roll(np.arange(n), 1)] = False
    row_of, record_of = np.empty((2, n), dtype=np.int64)
    assign_least(np.where(forbidden, PROHIBITIVE_LOSS, costs), row_of, record_of)
    assert row_of.tolist() == linear_sum_assignment(np.where(forbidden, np.inf, costs))[1].tolist()
    assert record_of[row_of].tolist() == list(range(n))


@pytest.mark.parametrize("method", ["greedy", "sort-greedy"])
def test_a_record_without_a_row_makes_others_move(method):
    """Lemma 5.1: all records are alike, so each takes the first row, and the last finds its own."""
    table, _ = made([5] * 6, 2)
    same = dataclasses.replace(table, codes=np.zeros_like(table.codes))
    space = Freeform()._space(same, 2)
    space.holder[0] = np.arange(6)
    row_of = np.full(6, -1, dtype=np.int64)
    if method == "greedy":
        greedy_round(1, row_of, space)
    else:
        costs = np.where(np.eye(6, dtype=bool), PROHIBITIVE_LOSS, 0)
        pairs = np.argsort(costs, axis=None, kind="stable")
        lightest_first(pairs, costs, 1, row_of, space)
    assert sorted(row_of) == list(range(6))
    assert (row_of != np.arange(6)).all()
    assert (space.holder[1][row_of] == np.arange(6)).all()


@given(
    st.lists(st.integers(0, 9), min_size=12, max_size=40),
    st.lists(st.sampled_from([1, 2, 3, 5]), min_size=40, max_size=40),
    st.sampled_from(METHODS),
    st.sampled_from([0, 12]),
    st.booleans(),
)
def test_nobody_holds_more_than_its_part_of_a_row(values, k, method, segment, exchanges):
    k = k[: len(values)]
    settings = {"method": method, "segment": segment, "exchanges": exchanges}
    table, masked = made(values, k, **settings)
    holders, shares = masked.holders, max(k)
    assert holders.shape == (len(values), shares)
    held = np.zeros((table.records, table.records), dtype=int)
    np.add.at(held, (holders, np.arange(len(values))[:, None]), 1)
    if not exchanges:  # then equal records hold shares in common
        assert (held.sum(axis=1) == shares).all()
        assert (held * np.array(k)[:, None] <= shares).all()
    for row, records in enumerate(holders):
        seen = table.bits[records] ^ table.bits[row]
        assert (seen & ~masked.hidden[row] == 0).all()


def test_the_sorted_and_the_least_lose_less_and_exchanges_least():
    rng = np.random.default_rng(3)
    loss = {}
    for method in METHODS:
        for exchanges in (False, True):
            _, masked = made(
                rng.integers(0, 30, 300), 5, segment=0, method=method, exchanges=exchanges, exact=0
            )
            loss[method, exchanges] = 1 - masked.steps[-1].figures["weighted_utility"]
            rng = np.random.default_rng(3)
    assert loss["hungarian", False] < loss["sort-greedy", False] < loss["greedy", False]
    assert all(loss[method, True] < loss[method, False] for method in METHODS)


def test_more_weight_on_exact_cells_keeps_more_of_them():
    """By weight, where one assignment decides: a dearer part of a least sum does not grow."""
    rng = np.random.default_rng(4)
    values = rng.integers(0, 30, 300)
    shown = []
    for exact in (0.0, 2.0):
        table, masked = made(values, 2, exact=exact, segment=0, exchanges=False)
        book = table.codebook
        exact_cells = 0.0
        for a, pair in zip(book.attributes, itertools.pairwise(book.bit_offsets), strict=True):
            mask = np.uint64((1 << int(pair[1])) - (1 << int(pair[0])))
            exact_cells += a.weight * (masked.hidden[:, 0] & mask == 0).sum()
        shown.append(exact_cells)
    assert shown[1] > shown[0]


def test_a_segment_is_worked_on_by_itself():
    rng = np.random.default_rng(5)
    table, _ = made(rng.integers(0, 30, 90), 3)
    settings = {"method": "hungarian", "exchanges": False}
    order = np.lexsort(
        table.codes[np.argsort([a.levels for a in table.codebook.attributes], kind="stable")][::-1]
    )
    whole = Freeform(segment=30, **settings).anonymize(table)
    for begin in (0, 30, 60):
        part = order[begin : begin + 30]
        alone = Freeform(segment=0, **settings).anonymize(table.at(part))
        assert (alone.hidden == whole.hidden[part]).all()


@pytest.mark.parametrize("method", METHODS)
def test_two_threads_work_on_segments_and_make_the_same_bytes(method, monkeypatch):
    table, _ = made(np.random.default_rng(5).integers(0, 30, 300), [2, 3, 5] * 100)
    maker, alone = Freeform(method=method, segment=25), segments.assign_rows
    monkeypatch.setattr(numba, "get_num_threads", lambda: 1)
    expected = maker.anonymize(table)
    both, met = threading.Barrier(2), []

    def meeting(*arguments):
        if not met:
            both.wait(60)
            met.append(threading.get_ident())
        return alone(*arguments)

    monkeypatch.setattr(segments, "assign_rows", meeting)
    monkeypatch.setattr(numba, "get_num_threads", lambda: 2)
    masked = maker.anonymize(table)
    assert len(set(met)) == 2
    assert (masked.hidden == expected.hidden).all()
    assert (masked.holders == expected.holders).all()
    assert masked.steps == expected.steps


def test_ranges_count_by_width_and_missing_values_as_a_whole_cell():
    columns = {"a": np.array([0.0, 10.0, 100.0, np.nan]), "b": np.array([*"xyzx"], dtype=object)}
    specs = [
        ColumnSpec(name="a", kind="numeric", encoding="ordinal", bins=None),
        ColumnSpec(name="b", kind="categorical"),
    ]
    book = encoding.fit(specs, columns, 1, None)
    loss = loss_table(book, "range")
    assert loss.position[:4].tolist() == [
        -WHOLE_CELL_LOSS,
        0,
        round(WHOLE_CELL_LOSS / 10),
        WHOLE_CELL_LOSS,
    ]
    assert loss.step[1] == WHOLE_CELL_LOSS // 3  # definition 8: (count - 1) / |a|
    ranks = loss_table(book, "rank")
    assert ranks.position[:4].tolist() == [
        0,
        round(WHOLE_CELL_LOSS / 3),
        round(2 * WHOLE_CELL_LOSS / 3),
        WHOLE_CELL_LOSS,
    ]
    assert ranks.step[1] == WHOLE_CELL_LOSS // 2


@pytest.mark.parametrize(
    "wrong",
    [{"method": "best"}, {"loss": "ranks"}, {"segment": -1}, {"exact": -0.1}, {"exact": np.nan}],
)
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        Freeform(**wrong)


def test_people_with_several_records_are_refused():
    table, _ = made(range(8), 2)
    with pytest.raises(InputError, match="local-search"):
        Freeform().admit(of_people(table, np.arange(8, dtype=np.int32) // 2))


@pytest.mark.parametrize("spoil", [lambda h: h[:, :-1], lambda h: h * 0, lambda h: h.astype(float)])
def test_a_checkpoint_of_another_table_is_refused(spoil):
    table, masked = made(range(12), 2)
    seen = Seen()
    Freeform().anonymize(table, observer=seen)
    state = seen.states[0]
    with pytest.raises(InputError, match="no rounds of this table"):
        Freeform().anonymize(
            table, resume=State({HOLDER: spoil(state.arrays[HOLDER])}, state.steps)
        )
    again = Freeform().anonymize(table, resume=state)
    assert (again.hidden == masked.hidden).all()


@given(tables(), st.integers(0, 3), st.integers(0, 99), st.sampled_from(["rank", "range"]))
def test_costs_are_what_rows_lose_more(table, done, seed, loss):
    """Rows of several holders; a record that took a row as often as it may is prohibited."""
    rng, n = np.random.default_rng(seed), table.records
    cells = LevelCells.of(table, loss_table(table.codebook, loss))
    holder = np.full((done + 1, n), -1, dtype=np.int32)
    space = RowHolders(cells, holder, rng.integers(1, 3, n))
    for t in range(done):
        holder[t] = rng.permutation(n)
        enter_holders(t, space)
    costs = compute_increases(done, space)
    for r in range(n):
        for v in range(n):
            if (holder[:done, r] == v).sum() >= space.most[v]:
                assert costs[v, r] == PROHIBITIVE_LOSS
            else:
                wider = cells._replace(
                    low=cells.low.copy(), high=cells.high.copy(), member=cells.member.copy()
                )
                widen_row(v, r, wider)
                assert costs[v, r] == loss_of(r, wider) - loss_of(r, cells)
