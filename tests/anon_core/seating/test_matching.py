"""Random matchings: each record fits its row, and each seat has exactly its chosen chance."""

import math
from dataclasses import replace

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from anon_core.anonymizers import Adaptive
from anon_core.seating import chances as chances_module
from anon_core.seating.chances import CHANCE_LIMITS, LEVELLED, UNLIMITED, list_seats, seat_chances
from anon_core.seating.filling_kernels import raise_flow, turn_around
from anon_core.seating.levelling_kernels import SHARE
from anon_core.seating.matching import draw_by_chances, halve_multiplicities, random_matching
from anon_core.tables import encoding
from anon_core.tables.pasts import Pasts
from anon_core.tables.records import MaskedTable
from benchmarks.risk.chances import of_likeliest_row, of_own_row, of_pairs, of_true_row
from tests import naive
from tests.strategies import bit_matrices, tables
from tests.support.masked import unpack
from tests.support.seats import words


def masked_bits(n, f, most_k, seed, least_k=1):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2, (n, f))
    masked = Adaptive(weights="bits").anonymize(
        encoding.from_bits(x, rng.integers(least_k, most_k, n))
    )
    return masked, naive.compatible(x, x, unpack(masked.hidden, f))


def chosen(masked):
    """The chances of the seats, and the same by record and row, in units of 1 / SHARE."""
    chances = seat_chances(list_seats(masked, words(0)(masked.table.records)))
    seats, n = chances.seats, masked.table.records
    by_class = np.zeros((len(seats.size), len(seats.row_size)))
    by_class[np.repeat(np.arange(len(seats.size)), np.diff(seats.indptr)), seats.rows] = of_pairs(
        chances
    )
    assert by_class[seats.record_class, seats.row_class].tolist() == of_own_row(chances).tolist()
    return chances, by_class[seats.record_class][:, seats.row_class].reshape(n, n)


def sums(chances):
    """The sums over the pairs of each class, of records and of rows."""
    seats, held = chances.seats, chances.held.astype(np.int64)
    right = np.zeros(len(seats.row_size), dtype=np.int64)
    np.add.at(right, seats.rows, held)
    return np.add.reduceat(held, seats.indptr[:-1]), right


@pytest.mark.parametrize(("n", "f"), [(63, 5), (64, 5), (65, 9), (300, 7)])
def test_listed_pairs_are_those_of_the_definition(n, f):
    masked, fit = masked_bits(n, f, 12, n)
    seats = list_seats(masked, words(1)(n))
    listed = np.zeros((len(seats.size), len(seats.row_size)), dtype=int)
    np.add.at(listed, (np.repeat(np.arange(len(seats.size)), np.diff(seats.indptr)), seats.rows), 1)
    assert (listed[seats.record_class][:, seats.row_class] == fit).all()
    for c, (begin, end) in enumerate(
        zip(seats.indptr[:-1], seats.indptr[:-1] + seats.owns, strict=True)
    ):
        assert sorted(seats.rows[begin:end]) == sorted(
            set(seats.row_class[seats.record_class == c])
        )


def test_cut_lists_hold_the_own_rows_and_no_row_that_does_not_fit(monkeypatch):
    masked, fit = masked_bits(300, 7, 12, 300)
    whole = len(list_seats(masked, words(1)(300)).rows)
    monkeypatch.setattr(chances_module, "MOST_LISTED_PAIRS", whole // 2)
    seats = list_seats(masked, words(1)(300))
    assert len(seats.size) <= len(seats.rows) <= whole // 2 + len(seats.size)
    chances, by_seat = chosen(masked)
    assert (by_seat[~fit] == 0).all()
    assert (sums(chances)[0] == SHARE * seats.size).all()
    assert fit[np.arange(300), random_matching(masked, words(2))].all()


@given(table=tables(), seed=st.integers(0, 2**32 - 1))
def test_chances_are_doubly_stochastic_and_the_matching_perfect(table, seed):
    masked = Adaptive().anonymize(table)
    chances, by_seat = chosen(masked)
    seats = chances.seats
    left, right = sums(chances)
    assert (chances.held >= 0).all()
    assert (left == SHARE * seats.size).all()
    assert (right == SHARE * seats.row_size).all()
    seat = random_matching(masked, words(seed))
    assert sorted(seat) == list(range(table.records))
    assert (by_seat[np.arange(table.records), seat] > 0).all()
    apart = (table.bits ^ table.bits[seat]) & ~masked.hidden[seat]
    assert not apart.any()


@given(matrix=bit_matrices(most_records=16))
def test_limits_are_kept_where_a_flow_keeps_them(matrix):
    x, k = matrix
    masked = Adaptive(weights="bits").anonymize(encoding.from_bits(x, k))
    chances, _ = chosen(masked)
    seats = chances.seats
    owner = np.repeat(np.arange(len(seats.size)), np.diff(seats.indptr))
    own = np.arange(len(owner)) - seats.indptr[owner] < seats.owns[owner]
    fewer = np.minimum(seats.size[owner], seats.row_size[seats.rows])
    more = np.maximum(seats.size[owner], seats.row_size[seats.rows])
    for most in CHANCE_LIMITS[CHANCE_LIMITS.index(LEVELLED) :]:
        share = np.where(own, *most)
        shares = np.minimum(share, 2**40) * fewer * more // seats.k[owner]
        exact = np.minimum(SHARE * fewer, shares)
        if greatest_flow(seats, owner, exact) == SHARE * len(k):
            # A limit of several equal pairs is rounded down to a multiple: this is the most lost.
            if (
                greatest_flow(seats, owner, exact - fewer) == SHARE * len(k)
                or most == CHANCE_LIMITS[-1]
            ):
                assert (chances.held <= exact).all()
            return
    pytest.fail("no limits let everyone sit")


def greatest_flow(seats, owner, limit):
    """By scipy."""
    classes, rows = len(seats.size), len(seats.row_size)
    source, sink = classes + rows, classes + rows + 1
    tails = np.concatenate([np.full(classes, source), owner, classes + np.arange(rows)])
    heads = np.concatenate([np.arange(classes), classes + seats.rows, np.full(rows, sink)])
    room = np.concatenate(
        [SHARE * seats.size, np.maximum(0, limit), SHARE * seats.row_size]
    ).astype(np.int32)
    return maximum_flow(
        csr_array((room, (tails, heads)), shape=(sink + 1, sink + 1)), source, sink
    ).flow_value


@given(st.data())
def test_filling_gives_a_maximum_flow_from_any_flow(data):
    left_size, right_size = data.draw(st.integers(1, 7)), data.draw(st.integers(1, 7))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    joined = rng.random((left_size, right_size)) < data.draw(st.sampled_from([0.2, 0.5, 0.9]))
    owner, rows = (part.astype(np.int32) for part in np.nonzero(joined))
    indptr = np.searchsorted(owner, np.arange(left_size + 1))
    left, right = rng.integers(0, 20, left_size), rng.integers(0, 20, right_size)
    start = np.searchsorted(np.sort(rows), np.arange(right_size + 1))
    slot, back = np.empty_like(rows), np.empty_like(rows)
    turn_around(indptr, rows, start, slot, back)
    held, limit = np.zeros(len(rows), dtype=np.int32), np.zeros(len(rows), dtype=np.int32)
    has, wants = left.copy(), right.copy()
    for _ in range(3):
        limit += rng.integers(0, 9, len(rows)).astype(np.int32)
        raise_flow(indptr, rows, limit, held, has, wants, start, slot, back)
        assert (held >= 0).all()
        assert (held <= limit).all()
        assert (np.bincount(owner, held, left_size) == left - has).all()
        assert (np.bincount(rows, held, right_size) == right - wants).all()
        source, sink = left_size + right_size, left_size + right_size + 1
        tails = np.concatenate(
            [np.full(left_size, source), owner, left_size + np.arange(right_size)]
        )
        heads = np.concatenate([np.arange(left_size), left_size + rows, np.full(right_size, sink)])
        room = np.concatenate([left, limit, right]).astype(np.int32)
        whole = maximum_flow(
            csr_array((room, (tails, heads)), shape=(sink + 1, sink + 1)), source, sink
        ).flow_value
        assert held.sum() == whole


@given(n=st.integers(1, 9), layers=st.sampled_from([2, 4, 16, 64]), seed=st.integers(0, 2**32 - 1))
def test_a_halving_halves_every_degree_and_each_edge_by_a_fair_coin(n, layers, seed):
    """The halves of opposite coins sum to the whole.

    So the expected half of each edge is exactly half of it.
    """
    rng = np.random.default_rng(seed)
    whole = sum(np.eye(n, dtype=np.int64)[rng.permutation(n)] for _ in range(layers))
    owner, row = (part.astype(np.int32) for part in np.nonzero(whole))
    count = whole[owner, row]
    given_words = [rng.integers(0, 2**32, 3 * n * n, dtype=np.uint32) for _ in range(3)]
    halves = []
    for flip in (np.uint32(0), np.uint32(2**32 - 1)):
        supply = iter([given_words[0], given_words[1], given_words[2] ^ flip])
        halves.append(
            halve_multiplicities(
                owner, row, count, (n, n), lambda number, supply=supply: next(supply)[:number]
            )
        )
        assert (np.bincount(owner, halves[-1], n) == layers // 2).all()
        assert (np.bincount(row, halves[-1], n) == layers // 2).all()
        assert (abs(2 * halves[-1] - count) <= 1).all()
    assert (halves[0] + halves[1] == count).all()


@pytest.mark.long
def test_seats_are_drawn_as_often_as_their_chances_say():
    """A correct draw fails once in 10^10 times, by Hoeffding's bound over all seats."""
    masked, _ = masked_bits(24, 4, 9, 3)
    chances, by_seat = chosen(masked)
    assert len(chances.seats.size) < 24  # some records are equal
    draw, draws = words(4), 4000
    seen = np.zeros((24, 24))
    for _ in range(draws):
        seen[np.arange(24), draw_by_chances(chances, draw)] += 1
    assert abs(seen / draws - by_seat).max() < math.sqrt(math.log(2 * 24 * 24 * 1e10) / (2 * draws))


@pytest.mark.long
@pytest.mark.parametrize("most_k", [6, 30])
def test_an_insider_who_guesses_the_own_row_gains_little(most_k):
    masked, _ = masked_bits(400, 9, most_k, 5, least_k=5)
    chances, _ = chosen(masked)
    k, own = masked.table.k, of_own_row(chances)
    assert own.mean() <= (1 / k).mean()
    assert (own * k > 1.5).mean() <= 0.05
    assert (own * k <= 3 + 1e-9).all()
    assert (of_true_row(chances) <= of_likeliest_row(chances) + 1e-9).all()


def test_the_same_words_give_the_same_matching_whatever_the_threads():
    masked, _ = masked_bits(300, 7, 12, 5)
    usual, seats = numba.get_num_threads(), []
    try:
        for threads, seed in ((1, 1), (min(2, usual), 1), (usual, 1), (usual, 2)):
            numba.set_num_threads(threads)
            seats.append(random_matching(masked, words(seed)))
    finally:
        numba.set_num_threads(usual)
    assert seats[0].tolist() == seats[1].tolist() == seats[2].tolist()
    assert seats[0].tolist() != seats[3].tolist()


@pytest.mark.parametrize("seed", range(3))
def test_records_with_pasts_keep_the_chances_of_the_holders_though_equal_rows_are_crowds(seed):
    """Six distinct records hide all, so that each fits each row, but two hold each row."""
    n = 6
    x = (np.arange(n)[:, None] >> np.arange(3)) & 1
    table = replace(
        encoding.from_bits(x, np.full(n, 2)), pasts=Pasts.of_values(np.zeros(n, dtype=np.int64))
    )
    holders = np.stack([np.arange(n), np.roll(np.arange(n), 1)], axis=1).astype(np.int32)
    hidden = np.full_like(table.bits, 2**3 - 1)
    seat = random_matching(MaskedTable(table, hidden, holders=holders), words(seed))
    assert all(record in holders[row] for record, row in enumerate(seat))


@pytest.mark.parametrize("hides", ["nothing", "everything"])
@pytest.mark.parametrize("kind", ["alike", "all different"])
@pytest.mark.parametrize("n", [1, 2, 16])
def test_extreme_masks(n, kind, hides):
    x = (
        np.zeros((n, 4), dtype=int)
        if kind == "alike"
        else (np.arange(n)[:, None] >> np.arange(4)) & 1
    )
    table = encoding.from_bits(x, np.full(n, max(1, n // 2)))
    hidden = np.full_like(table.bits, 0 if hides == "nothing" else 2**4 - 1)
    masked = MaskedTable(table, hidden)
    _, by_seat = chosen(masked)
    alone = hides == "nothing" and kind == "all different"
    assert by_seat == pytest.approx(np.eye(n) if alone else np.full((n, n), 1 / n), abs=0.01)
    assert sorted(random_matching(masked, words(6))) == list(range(n))


def test_classes_whose_chances_pass_32_bits():
    n = 40_000
    table = encoding.from_bits(np.zeros((n, 2), dtype=int), np.full(n, 5))
    masked = MaskedTable(table, np.zeros_like(table.bits))
    chances = seat_chances(list_seats(masked, words(0)(n)))
    assert chances.held.tolist() == [n * SHARE]
    seat = random_matching(masked, words(1))
    assert (np.sort(seat) == np.arange(n)).all()
    assert (seat == np.arange(n)).sum() < 40  # one is expected


def test_limits_rise_until_there_are_none():
    assert CHANCE_LIMITS[-1] == (UNLIMITED, UNLIMITED)
    assert (np.diff(np.array(CHANCE_LIMITS, dtype=np.int64), axis=0) >= 0).all()
