"""The bounds of a shift that masked cells tell, against every table that the cells allow."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.measures.table.shown_drift import (
    Spans,
    find_share_bounds,
    shift_of_categories,
    shift_of_numbers,
)
from tests import naive

LEVELS = 3
CELLS = st.lists(
    st.lists(st.booleans(), min_size=LEVELS, max_size=LEVELS).filter(any), min_size=1, max_size=3
)
ENDS = st.sampled_from([-np.inf, 0.0, 1.0, 2.0, 3.0])
SPANS = st.lists(
    st.tuples(ENDS, ENDS, st.booleans()).map(lambda each: whole(*each)), min_size=1, max_size=2
)


def whole(one, other, excludes):
    """An interval that is not empty."""
    low, high = min(one, other), max(one, other)
    return low, high, excludes and low < high


def held(cells):
    """Every table of levels that these cells allow."""
    return product(*[[level for level in range(LEVELS) if cell[level]] for cell in cells])


def bounds_of(cells):
    levels = np.array(cells, dtype=np.bool_)
    least, greatest = find_share_bounds(np.arange(len(cells), dtype=np.int32), levels)
    return {level: (least[level], greatest[level]) for level in range(LEVELS)}


@given(CELLS, CELLS)
def test_the_shift_of_every_allowed_table_is_within_the_bounds(was, now):
    least, greatest = shift_of_categories(bounds_of(was), bounds_of(now))
    shifts = [
        naive.shift([str(level) for level in one], [str(level) for level in other], ordered=False)
        for one in held(was)
        for other in held(now)
    ]
    assert least <= min(shifts) + 1e-12
    assert max(shifts) <= greatest + 1e-12
    if all(sum(cell) == 1 for cell in (*was, *now)):
        assert least == pytest.approx(greatest) == pytest.approx(shifts[0])


def spans(intervals):
    low, high, excludes = zip(*intervals, strict=True)
    return Spans(np.array(low), np.array(high), np.array(excludes, dtype=np.bool_))


def numbers(interval):
    """Numbers of an interval, its ends and those right after and between them."""
    low, high, excludes = interval
    among = [-np.inf, -1.0, 0.0, 0.1, 1.0, 1.1, 2.0, 2.1, 3.0]
    return [each for each in among if low <= each <= high and not (excludes and each == low)]


def farthest(was, now):
    """The Kolmogorov-Smirnov distance by its definition."""
    return max(
        abs(np.mean([each <= t for each in was]) - np.mean([each <= t for each in now]))
        for t in (*was, *now)
    )


@given(SPANS, SPANS)
def test_numbers_of_every_allowed_table_shift_within_the_bounds(was, now):
    least, greatest = shift_of_numbers(spans(was), spans(now))
    shifts = [
        farthest(one, other)
        for one in product(*map(numbers, was))
        for other in product(*map(numbers, now))
    ]
    assert least <= min(shifts) + 1e-12
    assert max(shifts) <= greatest + 1e-12
    assert greatest <= max(shifts) + 1e-12 or len(was) + len(now) > 2  # alone: reached
    if all(low == high for low, high, _ in (*was, *now)):
        assert least == pytest.approx(greatest) == pytest.approx(shifts[0])


def test_groups_that_end_elsewhere_are_compared_truthfully():
    """Half of the rows up to 30, then all of them up to 20."""
    was = spans([(-np.inf, 30.0, True), (30.0, np.inf, True)])
    now = spans([(-np.inf, 20.0, True), (-np.inf, 20.0, True)])
    assert shift_of_numbers(was, now) == (0.5, 1.0)
