"""Crowds of cells and histories of chains, against all perfect matchings."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from anon_core.errors import InputError
from anon_core.measures.series import MOST_HISTORIES, SeriesCell, count_crowds, count_histories
from tests import naive
from tests.anon_core.series.cells import fitting


def listed(fit):
    """Bool (n, rows) as (start, row)."""
    start = np.concatenate([[0], np.cumsum(fit.sum(axis=1))]).astype(np.int64)
    return start, np.nonzero(fit)[1].astype(np.int32)


@given(fitting(), st.data())
def test_matchable_rows_and_people(own, data):
    n = len(own)
    seat = np.array(data.draw(st.permutations(range(n))))
    person = data.draw(hnp.arrays(np.int64, n, elements=st.integers(0, 3)))
    fit = np.empty_like(own)
    fit[:, seat] = own  # record v sits in row seat[v]
    sits = np.empty(n, dtype=np.int64)
    sits[seat] = person
    rows = naive.possible_rows(fit)
    chain = np.arange(n)
    seated, alone = SeriesCell(chain, *listed(fit), seat), SeriesCell(chain, *listed(own))
    assert count_crowds([seated]).tolist() == [len(each) for each in rows]
    people = [len({int(sits[row]) for row in each}) for each in rows]
    assert count_crowds([seated], person).tolist() == people
    assert count_crowds([alone]).tolist() == [len(each) for each in rows]
    both = count_crowds([alone, seated], np.concatenate([person, person]))
    assert both[n:].tolist() == people


def test_nothing_is_matchable_without_true_seats():
    fit = np.array([[True, True], [False, True]])
    chain = np.arange(2)
    sound = SeriesCell(chain, *listed(np.ones((2, 2), dtype=bool)))
    for seat in ([1, 0], [0, 0]):
        wrong = SeriesCell(chain, *listed(fit), np.array(seat))
        assert count_crowds([wrong]).tolist() == [0, 0]
        assert count_crowds([sound, wrong, sound]).tolist() == [2, 2, 0, 0, 2, 2]


@st.composite
def cells(draw):
    """Up to three cells of chains 0..5, the rows with or without values."""
    linked = draw(st.booleans())
    found = []
    for _ in range(draw(st.integers(1, 3))):
        own = draw(fitting(most_records=6))
        n = len(own)
        chain = np.array(draw(st.permutations(range(6)))[:n], dtype=np.int64)
        seat = np.array(draw(st.permutations(range(n))))
        fit = np.empty_like(own)
        fit[:, seat] = own
        value = draw(hnp.arrays(np.int64, n, elements=st.integers(0, 2))) if linked else None
        found.append((fit, SeriesCell(chain, *listed(fit), seat, value)))
    return found


@given(cells())
def test_histories_by_all_choices_of_rows(drawn):
    found = count_histories([cell for _, cell in drawn])
    assert found.chain.tolist() == sorted({c for _, cell in drawn for c in cell.chain.tolist()})
    for chain, number, rows in zip(found.chain, found.number, found.rows, strict=True):
        own = [
            [(row, cell) for row in naive.possible_rows(fit)[record]]
            for fit, cell in drawn
            for record in np.flatnonzero(cell.chain == chain)
        ]
        linked = [
            choice
            for choice in itertools.product(*own)
            if len({0 if cell.value is None else cell.value[row] for row, cell in choice}) == 1
        ]
        assert number == len(linked)
        assert rows == min(len({choice[at][0] for choice in linked}) for at in range(len(own)))


def test_great_numbers_stop():
    everything = listed(np.ones((64, 64), dtype=bool))
    for versions in (9, 10, 11, 12):
        found = count_histories([SeriesCell(np.arange(64), *everything)] * versions)
        assert set(found.number.tolist()) == {min(MOST_HISTORIES, 64**versions)}
        assert set(found.rows.tolist()) == {64}


def test_many_values_add_up_to_what_can_be_stated():
    value = np.repeat([0, 1], 32)
    everything = listed(np.ones((64, 64), dtype=bool))
    for versions in (11, 12, 13):
        found = count_histories([SeriesCell(np.arange(64), *everything, value=value)] * versions)
        assert set(found.number.tolist()) == {min(MOST_HISTORIES, 2 * 32**versions)}


def test_no_cells():
    assert count_histories([]).chain.tolist() == []


def test_cells_that_contradict_each_other_are_refused():
    pair = listed(np.ones((2, 2), dtype=bool))
    with pytest.raises(InputError, match="either all cells"):
        count_histories(
            [SeriesCell(np.arange(2), *pair), SeriesCell(np.arange(2), *pair, value=np.arange(2))]
        )
    with pytest.raises(InputError, match="at most one record"):
        count_histories([SeriesCell(np.zeros(2, dtype=np.int64), *pair)])
