"""Means of groups and quantiles, against every table that a tiny release allows."""

import datetime as dt
import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import crowdcover as cc
from tests.crowdcover.reader.folders import attribute, folder

AGES = ("(missing)", "20", "30", "40", "50")
NUMBERS = (None, 20, 30, 40, 50)
AGE = attribute("age", "numeric", AGES)
JOB = attribute("job", labels=("clerk", "nurse"))
PAY = attribute("pay", "numeric", ("..100", "100..300", "300.."), inner_edges=[100, 300])
JOBS = {"clerk": ["clerk"], "nurse": ["nurse"], "*": ["clerk", "nurse"]}


def spell(low, high):
    return AGES[low] if low == high else f"{AGES[low]}..{AGES[high]}"


CELLS = {
    spell(low, high): NUMBERS[low : high + 1]
    for low, high in itertools.combinations_with_replacement(range(5), 2)
}
ROWS = st.lists(
    st.tuples(st.sampled_from([*CELLS]), st.sampled_from([*JOBS])), min_size=1, max_size=4
)


def read(place, rows, **more):
    ages, jobs = zip(*rows, strict=True)
    return cc.read(folder(place, [AGE, JOB], {"age": ages, "job": jobs}), **more)


def list_tables(rows):
    """Every table that the cells allow: lists of (age, job)."""
    return itertools.product(*[itertools.product(CELLS[age], JOBS[job]) for age, job in rows])


@given(rows=ROWS)
def test_means_of_groups_lie_between_the_extremes_of_all_tables(tmp_path_factory, rows):
    found = read(tmp_path_factory.mktemp("means"), rows).mean("age", by="job")
    for job, expected, error, lo, hi in found.iter_rows():
        means = [
            np.mean(held)
            for table in list_tables(rows)
            if (held := [age for age, its in table if its == job and age is not None])
        ]
        if not means:
            assert math.isnan(lo)
            assert math.isnan(hi)
            continue
        assert (lo, hi) == pytest.approx((min(means), max(means)))
        assert lo - 1e-9 <= expected <= hi + 1e-9
        assert error >= 0


@given(rows=ROWS)
def test_even_weights_expect_what_all_tables_say(tmp_path_factory, rows):
    """A ratio of sums: the sum of numbers and the count of rows over all tables."""
    found = read(tmp_path_factory.mktemp("even"), rows, estimator="uniform").mean("age", by="job")
    for job, expected, *_ in found.iter_rows():
        held = [age for t in list_tables(rows) for age, its in t if its == job and age is not None]
        assert expected == pytest.approx(np.mean(held) if held else math.nan, nan_ok=True)


def test_the_mean_of_one_group_is_the_mean(tmp_path):
    rows = [("20..30", "nurse"), ("(missing)..40", "nurse"), ("50", "nurse"), ("30..50", "nurse")]
    release = read(tmp_path, rows)
    whole, (of_nurses,) = release.mean("age"), release.mean("age", by="job").rows()[1:]
    assert of_nurses[0] == "nurse"
    assert of_nurses[1:] == pytest.approx((whole.expected, whole.error, whole.lo, whole.hi))


@pytest.mark.long
@given(rows=ROWS, q=st.sampled_from([0.1, 0.25, 0.5, 0.75, 0.9]))
def test_quantiles_lie_between_the_extremes_of_all_tables(tmp_path_factory, rows, q):
    found = read(tmp_path_factory.mktemp("quantiles"), rows).quantile("age", q)
    quantiles = [
        np.quantile(held, q, method="inverted_cdf")
        for table in list_tables(rows)
        if (held := [age for age, _ in table if age is not None])
    ]
    if not quantiles:
        assert math.isnan(found.expected)
        return
    assert (found.lo, found.hi) == (min(quantiles), max(quantiles))
    assert found.lo <= found.expected <= found.hi
    assert found.error >= 0


def test_the_median_of_exact_cells_is_exact(tmp_path):
    found = read(tmp_path, [(age, "nurse") for age in AGES[1:4]]).median("age")
    assert found == cc.Quantile(30, 0, 30, 30)


def test_a_quantile_within_a_group_is_a_share_of_it(tmp_path):
    cells = ["..100"] * 2 + ["100..300"] * 8
    release = cc.read(folder(tmp_path, [PAY], {"pay": cells}))
    found = release.quantile("pay", 0.6)
    assert found.expected == pytest.approx(101 + 199 / 2)  # of the whole numbers 101 to 300
    assert (found.lo, found.hi) == (100, 300)
    assert release.quantile("pay", 0.1).lo == -math.inf


def test_dates_have_quantiles_in_days(tmp_path):
    days = [dt.date(2024, 1, day) for day in (1, 3, 9)]
    found = cc.read(folder(tmp_path, [JOB], {"job": ["nurse"] * 3, "day": days})).median("day")
    assert found.expected == found.lo == (days[1] - dt.date(1970, 1, 1)).days


def test_open_groups_end_where_they_are_assumed_to(tmp_path):
    cells = ["..100", "100..300", "300..", "*"]
    release = cc.read(folder(tmp_path, [PAY], {"pay": cells}))
    assert (release.mean("pay").lo, release.mean("pay").hi) == (-math.inf, math.inf)
    told = release.assume("pay", lo=0, hi=1000)
    mean = told.mean("pay")
    assert (mean.lo, mean.hi) == ((0 + 100 + 300 + 0) / 4, (100 + 300 + 1000 + 1000) / 4)
    (table,) = told.complete(1, seed=3)
    assert table["pay"].min() >= 0
    assert 300 < table["pay"][2] <= 1000
    assert release.mean("pay").hi == math.inf  # as it was
    wide = [told.complete(1, seed=seed)[0]["pay"][2] for seed in range(40)]
    assert max(wide) > 500 > min(wide)  # without it, up to 500


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda release: release.quantile("job"), "holds categories, which have no quantile"),
        (lambda release: release.quantile("age", 1.5), "between 0 and 1"),
        (lambda release: release.quantile("age", "0.5"), "between 0 and 1"),
        (lambda release: release.mean("age", by="age"), "two different columns"),
        (lambda release: release.assume("age", hi=90), "no group that is open"),
        (lambda release: release.assume("job", hi=90), "a column of numbers"),
        (lambda release: release.assume("age"), "lo or hi"),
    ],
)
def test_wrong_questions_are_told_what_to_do(tmp_path, ask, words):
    with pytest.raises(cc.ReleaseError, match=words):
        ask(read(tmp_path, [("20", "nurse")]))


def test_an_end_below_other_values_is_refused(tmp_path):
    release = cc.read(folder(tmp_path, [PAY], {"pay": ["..100", "300.."]}))
    for wrong in ({"hi": 200}, {"lo": 150}):
        with pytest.raises(cc.ReleaseError, match="values beyond this end"):
            release.assume("pay", **wrong)


@pytest.mark.long
@given(rows=ROWS, weights=st.lists(st.integers(0, 3), min_size=4, max_size=4))
def test_a_row_of_weight_w_answers_as_w_rows(tmp_path_factory, rows, weights):
    """But for errors: w rows are drawn each by itself, one of weight w is not."""
    weights = weights[: len(rows)]
    if not sum(weights):
        return
    place = tmp_path_factory.mktemp("weighed")
    ages, jobs = zip(*rows, strict=True)
    cells = {"age": ages, "job": jobs, "w": weights}
    one = cc.read(folder(place / "one", [AGE, JOB], cells), "uniform").weigh("w")
    many = [row for row, weight in zip(rows, weights, strict=True) for _ in range(weight)]
    other = read(place / "many", many, estimator="uniform")
    where = {"age": cc.at_least(30), "job": "nurse"}
    (certain, possible, expected), count = other.count(where), one.count(where)
    assert (count.certain, count.possible) == (certain, possible)
    assert count.expected == pytest.approx(expected)
    chances = [
        np.mean([(each or 0) >= 30 for each in CELLS[age]])
        * np.mean([each == "nurse" for each in JOBS[job]])
        for age, job in rows
    ]
    drawn = sum(w**2 * c * (1 - c) for w, c in zip(weights, chances, strict=True))
    assert count.drawn == pytest.approx(math.sqrt(drawn), abs=1e-9)
    for asked in (
        lambda release: release.frequencies("age").drop("error"),
        lambda release: release.frequencies("age", by="job").drop("error"),
        lambda release: release.crosstab("job", "age"),
        lambda release: release.mean("age", by="job").drop("error"),
    ):
        found, wanted = asked(one), asked(other)
        assert found.columns == wanted.columns
        for name in found.columns:
            assert found[name].to_list() == pytest.approx(wanted[name].to_list(), nan_ok=True)
    found, wanted = one.median("age"), other.median("age")
    ends = (wanted.expected, wanted.lo, wanted.hi)
    assert (found.expected, found.lo, found.hi) == pytest.approx(ends, nan_ok=True)


def test_weights_that_are_not_whole_give_counts_that_are_not(tmp_path):
    rows = {"age": ["20", "20..30"], "job": ["nurse", "*"], "w": [0.5, 1.25]}
    release = cc.read(folder(tmp_path, [AGE, JOB], rows)).weigh("w")
    count = release.count({"job": "nurse"})
    assert (count.certain, count.possible) == (0.5, 1.75)
    assert release.frequencies("job")["possible"].to_list() == [1.25, 1.75]


@pytest.mark.parametrize("wrong", [[-1, 2], [None, 2], ["a", "b"], None])  # None: a masked one
def test_a_weight_is_a_number_in_each_row(tmp_path, wrong):
    rows = {"age": ["20", "20..30"], "job": ["nurse", "*"]}
    rows |= {} if wrong is None else {"w": wrong}
    release = cc.read(folder(tmp_path, [AGE, JOB], rows))
    with pytest.raises(cc.ReleaseError, match="is no weight"):
        release.weigh("age" if wrong is None else "w")
