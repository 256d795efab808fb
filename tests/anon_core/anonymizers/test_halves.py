"""A half of the records goes ahead: which half, what it leaves, and what comes of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.anonymizers import Adaptive
from anon_core.anonymizers.adaptive import schedule
from anon_core.anonymizers.adaptive.grouping import Grouping
from anon_core.anonymizers.adaptive.halves import MOST_INHERITED, Half, halve_demands, stand_in
from anon_core.engines import farm as dask
from anon_core.engines import local
from anon_core.tables import encoding
from tests import naive
from tests.strategies import tables
from tests.support.large import big_table, traced
from tests.support.masked import features, goes_on_anywhere, kept, unpack, utilities_of


def half_of(table, *, more=False):
    work = Grouping(table, Adaptive())
    return work, Half.of(table, work.graph, work.tree, more=more)


@pytest.fixture
def small_tables_are_large(monkeypatch):
    monkeypatch.setattr(schedule, "WARM_START_RECORDS", 8)


LARGER = tables().filter(
    lambda table: table.records > 2
)  # half of two records cannot demand two rows


@given(LARGER, st.booleans())
def test_one_of_each_two_neighbours_in_the_order_of_levels_and_demands(table, more):
    work, half = half_of(table, more=more)
    n = table.records
    rows = table.codes[work.graph.sorted_by].T.tolist()
    order = sorted(range(n), key=lambda v: (rows[v], table.k[v], v))
    assert half.ranked.tolist() == order
    taken = [order[min(2 * i + more, n - 1)] for i in range((n + 1) // 2)]
    vertices = sorted(taken)
    assert [vertices[v] for v in half.chosen] == taken
    assert (half.table.codes == table.codes[:, vertices]).all()
    assert (half.table.bits == table.bits[vertices]).all()
    assert (half.table.blank == table.blank[:, vertices]).all()
    assert half.table.k.tolist() == [
        1 if table.k[v] == 1 else max(2, -(-int(table.k[v]) // 2)) for v in vertices
    ]
    assert (half.table.k <= half.table.records).all()


@given(tables(), st.data())
def test_counts_that_a_half_leaves_by_their_definition(table, data):
    work, half = half_of(table, more=data.draw(st.booleans()))
    ahead = Grouping(half.table, Adaptive())
    draw = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    held = (
        draw.integers(0, data.draw(st.sampled_from([3, 40, 70_000])), ahead.counts.shape)
        .clip(max=65535)
        .astype(np.uint16)
    )
    half.leave(held, ahead.graph, table, work.graph, work.counts)
    mine, x = features(half.table), features(table)
    crowds, having = [], []
    for v in half.chosen:
        counts = held[:, ahead.graph.place[v]].astype(int)
        crowd = min(MOST_INHERITED, max(half.table.k[v], counts.max()))
        differing = counts.clip(max=crowd)
        crowds.append(crowd)
        having.append(np.where(mine[v], crowd - differing, differing))
    for r, v in enumerate(half.ranked):
        near = [i for i in range(r // 2 - 1, r // 2 + 2) if 0 <= i < len(crowds)]
        near += [r // 2] * (4 - len(near))
        have, everyone = sum(having[i] for i in near), sum(crowds[i] for i in near)
        expected = np.where(x[v], everyone - have, have) * 2 // 4
        assert work.counts[:, work.graph.place[v]].tolist() == expected.tolist()


@given(LARGER)
def test_a_stand_in_is_no_smaller_than_a_half(table):
    other = stand_in(table)
    _, half = half_of(table, more=True)
    assert other.records == half.table.records == other.bits.shape[0] == other.blank.shape[1]
    assert (np.sort(half.table.k) <= other.k).all()
    assert halve_demands(np.array([1, 2, 3, 4, 5, 9], dtype=np.int32)).tolist() == [
        1,
        2,
        2,
        2,
        3,
        5,
    ]


@pytest.mark.long
@pytest.mark.usefixtures("small_tables_are_large")
@pytest.mark.parametrize("cover", ["mce", "lse"])
def test_whoever_went_ahead_everyone_is_hidden(cover):
    @given(
        tables(),
        st.sampled_from([5e-324, 0.5, 20.0]),
        st.sampled_from(["bits", "cells", "columns"]),
        st.booleans(),
    )
    def everyone(table, epsilon, weights, reclaim):
        maker = Adaptive(
            epsilon=epsilon, weights=weights, cover=cover, reclaim=reclaim, max_iterations=3
        )
        masked = maker.anonymize(table)
        assert ("foreseen" in masked.steps[0].figures) == (table.records >= 8)
        x, stars = features(table), unpack(masked.hidden, table.codebook.features)
        fit = naive.compatible(x, x, stars)
        assert (naive.matchable(fit).sum(axis=1) >= table.k).all()

    everyone()


@pytest.mark.long
@pytest.mark.usefixtures("small_tables_are_large")
@given(tables(), st.integers(1, 4), st.randoms(use_true_random=False))
def test_a_run_goes_on_from_any_iteration(table, iterations, random):
    order = np.array(random.sample(range(table.records), table.records))
    goes_on_anywhere(Adaptive(max_iterations=iterations), table, order)


def test_small_tables_and_other_schedules_have_no_half(monkeypatch):
    table = big_table(300, 6, 5)
    assert kept(Adaptive().anonymize(table)) == kept(Adaptive(schedule="falling").anonymize(table))
    monkeypatch.setattr(schedule, "WARM_START_RECORDS", 8)
    assert "foreseen" not in Adaptive(schedule="fixed").anonymize(table).steps[0].figures


def test_iterations_end_near_what_the_half_reached(monkeypatch):
    monkeypatch.setattr(schedule, "WARM_START_RECORDS", 8)
    masked = Adaptive(weights="bits").anonymize(big_table(2000, 9, 12))
    losses = [1 - utility for utility in utilities_of(masked, "weighted_utility")]
    foreseen = set(utilities_of(masked, "foreseen"))
    assert len(foreseen) == 1
    enough = 1.02 * (1 - foreseen.pop())
    for number, loss in enumerate(losses):
        gained = number == 0 or loss <= 0.98 * min(losses[:number])
        last = number == len(losses) - 1 or number == 9
        assert last == (loss <= enough or not gained)


@pytest.mark.slow
def test_engines_agree_on_a_table_large_enough_for_halves():
    table = big_table(schedule.WARM_START_RECORDS + 17, 4, 6)
    order = np.random.default_rng(3).permutation(table.records)
    maker = Adaptive(max_iterations=2)
    one = local.run(maker, table, tie_order=order, threads=1)
    assert "foreseen" in one.steps[0].figures
    assert kept(local.run(maker, table, tie_order=order)) == kept(one)
    assert kept(dask.run(maker, table, tie_order=order, workers=2, threads=2)) == kept(one)


@pytest.mark.long
def test_a_better_start_than_none():
    table = big_table(schedule.WARM_START_RECORDS, 9, 40)
    ahead, plain = (
        utilities_of(Adaptive(max_iterations=1, schedule=each).anonymize(table), "weighted_utility")
        for each in ("multilevel", "falling")
    )
    assert ahead[0] > 0.05 + plain[0]


def one_bit_each(n):
    """A table of a hundred attributes."""
    rng = np.random.default_rng(4)
    return encoding.from_bits(rng.integers(0, 2, (n, 100)), np.full(n, 2))


WEIGHTY = {
    "demands": lambda: big_table(6000, 3, 40),
    "levels": lambda: big_table(6000, 60, 2),
    "attributes": lambda: one_bit_each(6000),
}


@pytest.mark.long
@pytest.mark.parametrize("most", WEIGHTY)
def test_stated_memory_is_an_upper_bound(monkeypatch, most):
    monkeypatch.setattr(schedule, "WARM_START_RECORDS", 1000)
    table, maker = WEIGHTY[most](), Adaptive(max_iterations=2)
    maker.anonymize(table)  # compiles
    masked, peak = traced(lambda: maker.anonymize(table))
    assert "foreseen" in masked.steps[0].figures
    assert peak <= maker.memory(table) <= 3 * peak
