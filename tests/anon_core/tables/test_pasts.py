"""Histories so far, by value, against dictionaries."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.errors import InputError
from anon_core.tables.pasts import Pasts

BY_VALUE = st.lists(
    st.dictionaries(st.integers(0, 5), st.integers(0, 9), max_size=4), min_size=1, max_size=6
)


def pasts_of(by_value, value):
    pairs = [sorted(own.items()) for own in by_value]
    return Pasts(
        np.array(value, dtype=np.int64),
        np.cumsum([0, *map(len, pairs)]),
        np.array([j for own in pairs for j, _ in own], dtype=np.int64),
        np.array([number for own in pairs for _, number in own], dtype=np.int64),
    )


@given(BY_VALUE, st.data())
def test_ways_with_a_value(by_value, data):
    pasts = pasts_of(by_value, [0] * len(by_value))
    asked = data.draw(
        st.lists(st.tuples(st.integers(0, len(by_value) - 1), st.integers(0, 9)), min_size=1)
    )
    record, value = np.array(asked).T
    expected = [by_value[v].get(j, 0) if by_value[v] else 1 for v, j in asked]
    assert pasts.ways_with(record, value).tolist() == expected


@given(BY_VALUE, st.data())
def test_some_of_the_records(by_value, data):
    places = data.draw(st.lists(st.integers(0, len(by_value) - 1)))
    some = pasts_of(by_value, range(len(by_value))).at(np.array(places, dtype=np.int64))
    expected = pasts_of([by_value[at] for at in places], places)
    for name in ("value", "start", "values", "ways"):
        assert getattr(some, name).tolist() == getattr(expected, name).tolist()


def test_records_that_never_had_a_row():
    pasts = Pasts.of_values(np.array([3, 1]))
    assert pasts.ways_with(np.array([0, 1]), np.array([7, 1])).tolist() == [1, 1]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (([0], [0], [], []), "rise from 0"),
        (([0], [0, 2], [1], [1]), "rise from 0"),
        (([0], [0, 1], [1], []), "ways for each"),
        (([0, 0], [0, 2, 1], [1], [1]), "ways for each"),
        (([0], [0, 2], [1, 1], [1, 1]), "must rise"),
    ],
)
def test_arrays_that_do_not_fit_together(arrays, message):
    with pytest.raises(InputError, match=message):
        Pasts(*(np.array(each, dtype=np.int64) for each in arrays))
