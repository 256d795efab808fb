"""How far a column has moved, against the definition."""

import json
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from anon_core.measures.table.drift import (
    Profile,
    add_earlier_categories,
    by_chance,
    measure_drift,
    summarize_column,
)
from tests import naive

NUMBERS = st.lists(
    st.sampled_from([float("nan"), -2.0, 0.0, 0.5, 3.0, 1e6]), min_size=1, max_size=12
)
TEXTS = st.lists(st.sampled_from([None, "a", "b", "(missing)", "", "d|e"]), min_size=1, max_size=12)
PAIRS = st.one_of(
    st.tuples(st.sampled_from(["numeric", "date"]), NUMBERS, NUMBERS),
    st.tuples(st.just("categorical"), TEXTS, TEXTS),
)


def column(kind, values):
    return np.array(values, dtype=object if kind in ("categorical", "binary") else np.float64)


def moved(kind, before, now):
    """What is remembered goes through a file."""
    remembered = json.loads(json.dumps(asdict(summarize_column(kind, column(kind, before)))))
    return measure_drift(Profile(**remembered), column(kind, now))


@given(PAIRS)
def test_it_is_what_the_definition_says(tables):
    kind, before, now = tables
    found = moved(kind, before, now)
    assert found.shift == pytest.approx(naive.shift(before, now, kind != "categorical"))
    if kind == "categorical":
        new = {value for value in now if value is not None} - set(before)
        gone = {value for value in before if value is not None} - set(now)
        assert (found.new, found.gone) == (len(new), len(gone))
        assert found.new_records == sum(value in new for value in now)
        assert found.gone_records == sum(value in gone for value in before)
    else:
        assert (found.new, found.new_records, found.gone, found.gone_records) == (0, 0, 0, 0)


@given(PAIRS, st.randoms(use_true_random=False), st.integers(1, 3))
def test_a_column_never_drifts_from_itself_in_any_order_however_often(tables, chance, times):
    kind, before, _ = tables
    again = before * times
    chance.shuffle(again)
    found = moved(kind, before, again)
    assert (found.shift, found.new, found.gone) == (0.0, 0, 0)


@given(st.integers(0, 2**32), st.floats(0.2, 5), st.floats(-3, 3), st.sampled_from([1, 3, 1000]))
def test_many_numbers_are_compared_to_within_a_percent(seed, scale, by, grid):
    """No quantile moves past more records than the shift, wherever a plan sets its edges."""
    draw = np.random.default_rng(seed)
    before, now = (
        np.round(table * grid) / grid
        for table in (draw.normal(size=700), draw.normal(size=300) * scale + by)
    )
    exact = stats.ks_2samp(before, now).statistic
    found = moved("numeric", before, now).shift
    assert found <= exact + 1e-12
    assert exact <= found + 0.011


@pytest.mark.parametrize(("kind", "value"), [("numeric", 3.0), ("categorical", "a")])
def test_a_table_without_records_has_changed_as_far_as_can_be(kind, value):
    dtype = np.float64 if kind == "numeric" else object
    some, none = np.array([value] * 4, dtype=dtype), np.array([], dtype=dtype)
    assert measure_drift(summarize_column(kind, some), none).shift == 1
    assert measure_drift(summarize_column(kind, none), some).shift == 1
    assert measure_drift(summarize_column(kind, none), none).shift == 0


def test_a_constant_that_becomes_another_has_moved_as_far_as_can_be():
    for now in (4.0, 6.0):
        assert moved("numeric", [5.0] * 9, [now] * 4).shift == 1.0
    assert moved("numeric", [np.nan] * 3, [1.0] * 2).shift == 1.0
    assert moved("categorical", [None] * 3, ["a"] * 2).shift == 1.0


def test_categories_known_from_before_the_last_table_are_not_new_when_they_come_back():
    first, second, third = (column("categorical", list(texts)) for texts in ("aab", "aac", "abcd"))
    known = add_earlier_categories(
        summarize_column("categorical", second), summarize_column("categorical", first)
    )
    found = measure_drift(known, third)
    assert (found.new, found.new_records, found.gone) == (1, 1, 0)
    assert measure_drift(known, second).gone == 0
    assert measure_drift(summarize_column("categorical", second), third).new == 2
    assert add_earlier_categories(known, summarize_column("numeric", np.array([1.0]))) == known


def test_what_is_remembered_is_not_shown():
    shown = repr(summarize_column("categorical", column("categorical", ["secret", "secret", None])))
    assert shown == "Profile(kind='categorical', records=3, missing=1)"


@pytest.mark.long
def test_chance_alone_hardly_ever_moves_a_column_farther():
    draw = np.random.default_rng(2)
    for n, m in ((90, 90), (50, 400), (1000, 1000)):
        bound = by_chance(n, m)
        assert bound == pytest.approx(
            stats.kstwobign.isf(0.001) * np.sqrt((n + m) / (n * m)), rel=1e-3
        )
        far = [
            moved("numeric", draw.normal(size=n), draw.normal(size=m)).shift > bound
            for _ in range(200)
        ]
        assert sum(far) <= 3
        texts = [draw.choice(list("aaabbcd"), size) for size in (n, m)]
        assert moved("categorical", *(each.tolist() for each in texts)).shift <= bound
