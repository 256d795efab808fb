"""Even seats: every record holds whole shares of rows that it fits, none above 1/k."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.anonymizers import Adaptive, Optimal
from anon_core.anonymizers.weights import feature_weights
from anon_core.errors import InfeasibleError, LimitError
from anon_core.seating import matching
from anon_core.seating.even import build_even_rows
from anon_core.seating.matching import draw_by_holders
from anon_core.seating.shares import shares_of
from anon_core.tables import encoding
from anon_core.tables.loss import loss_table
from tests import drawn, naive
from tests.strategies import tables
from tests.support.seats import check_even, few_levels, keep_short, words

WEIGHTS = ("columns", "cells", "bits")


@given(few_levels(), st.sampled_from(WEIGHTS), st.booleans())
def test_against_the_definition(table, weights, masked):
    hidden = np.zeros_like(table.bits)
    if masked:
        hidden = Adaptive(weights=weights).anonymize(table).hidden
    check_even(table, build_even_rows(table, hidden, feature_weights(table.codebook, weights)))


@given(few_levels())
def test_short_lists_are_enough(table):
    """Most rows that a record fits are not listed."""
    with pytest.MonkeyPatch.context() as patch:
        keep_short(patch)
        hidden = np.full_like(table.bits, np.uint64(2**table.codebook.features - 1))
        check_even(
            table, build_even_rows(table, hidden, feature_weights(table.codebook, "columns"))
        )


@pytest.mark.long
def test_exchanges_hide_less_and_even_seats_cost_nothing_with_one_k():
    rng = np.random.default_rng(4)
    centers = rng.integers(0, 2, (40, 24))
    x = centers[rng.integers(0, 40, 600)] ^ (rng.random((600, 24)) < 0.05)
    table = encoding.from_bits(x, np.full(600, 5))
    today = Adaptive(weights="bits").anonymize(table)
    even = Adaptive(weights="bits", seats="even").anonymize(table)
    assert np.bitwise_count(even.hidden).sum() <= np.bitwise_count(today.hidden).sum()
    check_even(table, even)


def test_levels_without_a_small_common_multiple_are_refused():
    assert shares_of(np.array([5, 10, 20])) == 20
    assert shares_of(np.array([1500, 1500])) == 1500
    with pytest.raises(LimitError, match="k of at most 65,536, not 65,537"):
        shares_of(np.array([2**16 + 1]))
    with pytest.raises(LimitError, match="seats = 'matchable'"):
        shares_of(np.arange(5, 101))
    table = encoding.from_bits(np.eye(40, dtype=int), np.arange(1, 41))
    with pytest.raises(LimitError):
        Adaptive(seats="even").admit(table)


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_one_k_of_more_than_a_thousand(whole):
    """Its least common multiple is k itself; `whole` looks at every share by the definition."""
    records, k = (1100, 1009) if whole else (1300, 1100)
    bits = np.random.default_rng(3).integers(0, 2, (records, 6))
    table = encoding.from_bits(bits, np.full(records, k))
    even = Adaptive(seats="even").anonymize(table)
    assert even.holders.shape == (records, k)
    seat = draw_by_holders(table, even.holders, words(5))
    assert sorted(seat) == list(range(records))
    if whole:
        check_even(table, even)


@pytest.mark.long
@given(few_levels(), st.integers(0, 2**32 - 1))
def test_a_seat_is_drawn_among_the_rows_that_a_record_holds(table, seed):
    even = Adaptive(seats="even").anonymize(table)
    seat = draw_by_holders(table, even.holders, words(seed))
    assert sorted(seat) == list(range(table.records))
    assert (naive.shares(table, even.holders)[np.arange(table.records), seat] > 0).all()


@given(few_levels())
def test_shares_are_edges_between_classes_and_rows(table):
    holders = Adaptive(seats="even").anonymize(table).holders
    kind, order = matching._number_by_locality(table)
    edges = matching._list_shares(kind, order, holders, int(kind.max()) + 1)
    pairs = np.stack([kind[holders[order]].ravel(), np.arange(holders.size) // holders.shape[1]])
    expected, count = np.unique(pairs, axis=1, return_counts=True)
    assert np.array_equal(np.stack(edges), [*expected, count])


@pytest.mark.parametrize("unlikely", [pytest.param(False, marks=pytest.mark.slow), True])
def test_each_seat_has_exactly_its_chance(unlikely, monkeypatch):
    """Also where the draw goes on with another matching, which is rare."""
    if unlikely:
        monkeypatch.setattr(matching, "SHARE", 4)
    rng = np.random.default_rng(1)
    table = encoding.from_bits(rng.integers(0, 2, (12, 4)), rng.choice([2, 3], 12))
    even = Adaptive(seats="even").anonymize(table)
    d, draws = even.holders.shape[1], 4000
    seen, stream = np.zeros((12, 12)), words(3)
    for _ in range(draws):
        seen[np.arange(12), draw_by_holders(table, even.holders, stream)] += 1
    expected = naive.shares(table, even.holders) / d
    assert abs(seen / draws - expected).max() < 0.05  # five standard deviations and more


@given(tables(), st.data(), st.booleans())
def test_seats_exist_for_every_k_up_to_the_number_of_records(table, data, short):
    n = table.records
    k = data.draw(st.integers(max(1, n - 2), n) | st.integers(1, n))
    table = replace(table, k=np.full(n, k, dtype=np.int32))
    with pytest.MonkeyPatch.context() as patch:
        if short:
            keep_short(patch)
        weights = feature_weights(table.codebook, "columns")
        check_even(table, build_even_rows(table, np.zeros_like(table.bits), weights))


@pytest.mark.long
@pytest.mark.parametrize("k", [[100], [150], [199], [200], [40, 200], [2, 20, 100]])
def test_seats_exist_where_k_is_many_of_the_records(k):
    """Most lists are shorter than what a row needs."""
    table = drawn.clustered(200, 1)
    table = replace(table, k=np.resize(np.array(k, dtype=np.int32), 200))
    check_even(
        table, build_even_rows(table, table.bits * 0, feature_weights(table.codebook, "columns"))
    )


@pytest.mark.long
def test_crowds_of_200_among_5000_records_have_even_seats():
    table = drawn.clustered(5000, 200)
    holders = Adaptive(seats="even").anonymize(table).holders
    kind = np.unique(table.codes, axis=1, return_inverse=True)[1].ravel()
    size, held = np.bincount(kind), kind[holders]
    assert holders.shape == (5000, 200)
    assert (np.bincount(held.ravel()) == 200 * size).all()
    pairs, times = np.unique(held * 5000 + np.arange(5000)[:, None], return_counts=True)
    assert (times <= size[pairs // 5000]).all()  # one share of 200 for each member


@pytest.mark.long
def test_large_crowds_lose_no_more_than_classes():
    """A partition into classes of k is one way to seat k records in each row."""
    table = drawn.clustered(2000, 100)
    loss = loss_table(table.codebook, "rank")
    even, classes = (
        sum(drawn.lost(table, loss, row) for row in maker.anonymize(table).holders)
        for maker in (Adaptive(seats="even"), Optimal(method="greedy", loss="rank"))
    )
    assert even <= 1.03 * classes


def test_more_rows_than_there_are_cannot_be_held():
    table = encoding.from_bits(np.eye(4, dtype=int), np.full(4, 4))
    table = replace(table, k=np.full(4, 5, dtype=np.int32))
    with pytest.raises(InfeasibleError, match="no even seats"):
        build_even_rows(table, np.zeros_like(table.bits), feature_weights(table.codebook, "bits"))
