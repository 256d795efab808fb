"""Both parts of a divided cell hide themselves, by the definition."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from anon_core.errors import InputError
from anon_core.series.withdrawing import widen_withdrawal
from tests import naive
from tests.anon_core.series.cells import crowds, fits_of


def groups(*sizes):
    """A cell of groups that hide among themselves only."""
    of = np.repeat(np.arange(len(sizes)), sizes)
    return of[:, None] == of


def arcs(n, *pairs):
    """Everybody fits the own row, and record a that of b for each pair (a, b)."""
    fit = np.eye(n, dtype=bool)
    fit[tuple(zip(*pairs, strict=True))] = True
    return fit


def hidden_in_parts(fit, k, goes, person):
    who = np.arange(len(fit)) if person is None else person
    return all(
        naive.is_crowd(fit[np.ix_(part, part)], k[part], who[part]) for part in (goes, ~goes)
    )


@given(crowds(), st.data())
def test_both_parts_are_crowds(cell, data):
    fit, k, person = cell
    n = len(fit)
    going = data.draw(hnp.arrays(np.bool_, n, elements=st.sampled_from([False, False, True])))
    least = data.draw(st.integers(0, 4))
    goes = widen_withdrawal(fits_of(fit), k, going, person, least=least)
    assert (goes >= going).all()
    assert hidden_in_parts(fit, k, goes, person)
    taken = going if person is None else np.isin(person, person[going])
    assert (goes & ~taken).sum() >= min(least, (~taken).sum())
    if person is not None:
        assert not set(person[goes]) & set(person[~goes])
    if not going.any() and not least:
        assert not goes.any()
    assert (goes == widen_withdrawal(fits_of(fit), k, going, person, least=least)).all()


@pytest.mark.long
@given(crowds(), st.data())
def test_those_who_go_are_enough_where_both_parts_hide(cell, data):
    fit, k, person = cell
    going = data.draw(hnp.arrays(np.bool_, len(fit)))
    if person is not None:
        going = np.isin(person, person[going])
    if hidden_in_parts(fit, k, going, person):
        assert (widen_withdrawal(fits_of(fit), k, going, person) == going).all()


def histories_in_parts(fit, ways, k, goes):
    """Test whether each record keeps k histories in its part, or what the whole cell leaves it."""

    def left(part):
        inside = np.flatnonzero(part)
        rows = naive.possible_rows(fit[np.ix_(inside, inside)])
        return {
            int(v): sum(int(ways[v, inside[row]]) for row in own)
            for v, own in zip(inside, rows, strict=True)
        }

    whole = left(np.ones(len(fit), dtype=bool))
    kept = left(goes) | left(~goes)
    return all(kept[v] >= min(int(k[v]), whole[v]) for v in whole)


@given(crowds(), st.data())
def test_both_parts_keep_histories(cell, data):
    fit, k, person = cell
    n = len(fit)
    going = data.draw(hnp.arrays(np.bool_, n, elements=st.sampled_from([False, False, True])))
    ways = data.draw(hnp.arrays(np.int64, (n, n), elements=st.integers(0, 3)))
    fits = fits_of(fit)
    pairs = ways[fits.record, fits.row]
    goes = widen_withdrawal(fits, k, going, person, ways=pairs, least=data.draw(st.integers(0, 3)))
    assert (goes >= going).all()
    assert hidden_in_parts(fit, k, goes, person)
    assert histories_in_parts(fit, ways, k, goes)


def smallest(fit, k, going):
    """The least number of records that must go, by trying all sets."""
    others = np.flatnonzero(~going)
    for more in range(len(others) + 1):
        for chosen in itertools.combinations(others, more):
            goes = going.copy()
            goes[list(chosen)] = True
            if hidden_in_parts(fit, k, goes, None):
                return int(goes.sum())
    raise AssertionError("the whole cell is an answer")


@pytest.mark.long
def test_hardly_more_go_than_must():
    """Sixty cells of eight records that overlap in three ways."""
    draw = np.random.default_rng(0)
    gone = least = 0
    for number in range(60):
        at, group = draw.random(8) * 8, draw.integers(0, 3, 8)
        near = np.abs(at[:, None] - at) < 2.5
        fit = [
            near,
            (group[:, None] == group) | (draw.random((8, 8)) < 0.15),
            near & ~np.eye(8, k=1, dtype=bool),
        ]
        fit = fit[number % 3] | np.eye(8, dtype=bool)
        most = np.array([len(rows) for rows in naive.possible_rows(fit)])
        k = np.minimum(most, draw.integers(2, 4)).astype(np.int32)
        going = np.arange(8) == draw.integers(8)
        gone += int(widen_withdrawal(fits_of(fit), k, going).sum())
        least += smallest(fit, k, going)
    assert least <= gone <= 1.05 * least


def test_one_history_each_asks_for_no_more_than_crowds():
    fit, k = groups(5, 4), np.full(9, 2, dtype=np.int32)
    fits, going = fits_of(fit), np.arange(9) == 4
    ways = np.ones(len(fits.row), dtype=np.int64)
    assert (widen_withdrawal(fits, k, going, ways=ways) == widen_withdrawal(fits, k, going)).all()


def test_who_keeps_too_few_histories_takes_others_along():
    """Three of six go. Record 0 stays, and only rows 0, 4 and 5 carry what its rows carried."""
    fit, k = groups(6), np.full(6, 3, dtype=np.int32)
    fits, going = fits_of(fit), np.arange(6) > 2
    ways = np.ones((6, 6), dtype=np.int64)
    assert np.flatnonzero(widen_withdrawal(fits, k, going, ways=ways.ravel())).tolist() == [3, 4, 5]
    ways[0, [1, 2, 3]] = 0
    assert widen_withdrawal(fits, k, going, ways=ways.ravel()).all()


def test_a_row_that_is_no_longer_matchable_leaves_no_history():
    """Record 0 needs the row of 2, and only 3, who goes with 4, leads back from there."""
    fit = arcs(5, (0, 1), (1, 0), (0, 2), (2, 3), (3, 0), (3, 4), (4, 3))
    k, going = np.array([2, 2, 1, 2, 2], dtype=np.int32), np.arange(5) == 3
    ways = np.ones((5, 5), dtype=np.int64)
    ways[0, 1] = 0
    fits = fits_of(fit)
    goes = widen_withdrawal(fits, k, going, ways=ways[fits.record, fits.row])
    assert widen_withdrawal(fits, k, going).tolist() == [False, False, False, True, True]
    assert histories_in_parts(fit, ways, k, goes)
    assert goes[0]


def test_a_group_goes_whole_and_no_other():
    fit, k = groups(3, 3, 3), np.full(9, 3, dtype=np.int32)
    going = np.arange(9) == 4
    assert (
        widen_withdrawal(fits_of(fit), k, going).tolist() == [False] * 3 + [True] * 3 + [False] * 3
    )


def test_a_large_group_is_divided():
    fit, k = groups(9), np.full(9, 3, dtype=np.int32)
    assert widen_withdrawal(fits_of(fit), k, np.arange(9) == 4).sum() == 3


def test_a_ring_goes_whole():
    """Records that fit the own row and the next one hide only in the whole ring."""
    fit = np.eye(6, dtype=bool) | np.roll(np.eye(6, dtype=bool), 1, axis=1)
    assert widen_withdrawal(fits_of(fit), np.full(6, 2, dtype=np.int32), np.arange(6) == 0).all()


def test_those_who_go_must_be_led_back_to():
    """Records 0, 1 and 2 have two rows among themselves, but none leads back to 0 without 3."""
    fit = arcs(5, (0, 1), (1, 2), (2, 1), (2, 3), (3, 0), (3, 4), (4, 3))
    assert widen_withdrawal(fits_of(fit), np.full(5, 2, dtype=np.int32), np.arange(5) == 0).all()


def test_those_who_stay_must_be_led_back_to():
    """Records 2, 3 and 4 have two rows among themselves, but only 0, who goes, leads back to 2."""
    fit = arcs(5, (0, 1), (1, 0), (0, 2), (2, 3), (3, 4), (4, 3), (4, 0))
    assert widen_withdrawal(fits_of(fit), np.full(5, 2, dtype=np.int32), np.arange(5) < 2).all()


def test_more_go_by_whole_groups():
    fit, k = groups(5, 2, 3), np.full(10, 2, dtype=np.int32)
    nobody = np.zeros(10, dtype=bool)
    assert np.flatnonzero(widen_withdrawal(fits_of(fit), k, nobody, least=2)).tolist() == [5, 6]
    assert widen_withdrawal(fits_of(fit), k, nobody, least=5).tolist() == [False] * 5 + [True] * 5
    assert widen_withdrawal(fits_of(fit), k, nobody, least=99).all()


def test_records_of_a_person_go_together():
    fit = groups(3, 3, 3)
    person = np.array([0, 1, 2, 0, 3, 4, 5, 6, 7], dtype=np.int32)
    k = np.full(9, 3, dtype=np.int32)
    goes = widen_withdrawal(fits_of(fit), k, np.arange(9) == 1, person)
    assert np.flatnonzero(goes).tolist() == [0, 1, 2, 3, 4, 5]


def test_a_cell_that_hides_nobody_is_refused():
    fit, going = np.eye(3, dtype=bool), np.arange(3) == 0
    with pytest.raises(InputError, match="3 of 3 records do not hide"):
        widen_withdrawal(fits_of(fit), np.full(3, 2, dtype=np.int32), going)


@pytest.mark.parametrize("least", [0, 3])
def test_of_nobody_nobody_goes(least):
    nobody = np.empty(0, dtype=bool)
    k = np.empty(0, dtype=np.int32)
    assert len(widen_withdrawal(fits_of(np.empty((0, 0), dtype=bool)), k, nobody, least=least)) == 0


def test_arrays_of_other_lengths_are_refused():
    fits = fits_of(groups(3))
    k, going = np.full(3, 2, dtype=np.int32), np.zeros(3, dtype=bool)
    for wrong in ((k[:2], going, None), (k, going[:2], None), (k, going, k[:2])):
        with pytest.raises(InputError, match="must be"):
            widen_withdrawal(fits, *wrong)
    with pytest.raises(InputError, match="ways must be"):
        widen_withdrawal(fits, k, going, ways=np.ones(2, dtype=np.int64))


def test_most_of_many_overlapping_crowds_stay():
    """3,000 records in a row, each fits the 12 next ones either way; every 100th goes, k = 5."""
    n = 3000
    place = np.arange(n)
    fit = np.abs(place[:, None] - place) <= 12
    goes = widen_withdrawal(fits_of(fit), np.full(n, 5, dtype=np.int32), place % 100 == 0)
    assert goes.sum() == 30 * 5
