"""Answers against every table that a tiny release allows."""

import datetime as dt
import itertools

import numpy as np
import polars as pl
import pytest

import crowdcover as cc
from tests.crowdcover.reader.folders import attribute, folder

JOB = attribute("job", labels=("clerk", "nurse", "smith"))
AGE = attribute("age", "numeric", ("(missing)", "20", "30", "40", "50"))
ROWS = {
    "job": ["clerk", "nurse|smith", "*", "clerk|nurse", "smith"],
    "age": ["20..30", "40", "(missing)..20", "*", "30..50"],
    "ill": ["yes", "no", "no", "yes", None],
}
JOBS = {"clerk": ["clerk"], "nurse|smith": ["nurse", "smith"], "clerk|nurse": ["clerk", "nurse"]}
JOBS |= {"smith": ["smith"], "*": ["clerk", "nurse", "smith"]}
AGES = {"20..30": [20, 30], "40": [40], "(missing)..20": [None, 20], "30..50": [30, 40, 50]}
AGES |= {"*": [None, 20, 30, 40, 50]}


@pytest.fixture(scope="module", params=["crowd", "uniform", "em"])
def release(request, tmp_path_factory):
    return cc.read(folder(tmp_path_factory.mktemp("tiny"), [JOB, AGE], ROWS), request.param)


def tables():
    """Every table that the cells allow: lists of (job, age, ill)."""
    cells = [
        list(itertools.product(JOBS[job], AGES[age], [ill]))
        for job, age, ill in zip(*ROWS.values(), strict=True)
    ]
    return list(itertools.product(*cells))


TABLES = tables()
QUESTIONS = [
    ({"job": "clerk"}, lambda job, age, ill: job == "clerk"),
    ({"job": {"clerk", "smith"}}, lambda job, age, ill: job != "nurse"),
    ({"age": None}, lambda job, age, ill: age is None),
    ({"age": 30}, lambda job, age, ill: age == 30),
    ({"age": {20, 50}}, lambda job, age, ill: age in (20, 50)),
    ({"age": cc.above(30)}, lambda job, age, ill: age is not None and age > 30),
    ({"age": cc.at_most(30)}, lambda job, age, ill: age is not None and age <= 30),
    ({"age": cc.below(30)}, lambda job, age, ill: age is not None and age < 30),
    ({"age": cc.between(25, 45)}, lambda job, age, ill: age in (30, 40)),
    ({"ill": "yes"}, lambda job, age, ill: ill == "yes"),
    ({"ill": None}, lambda job, age, ill: ill is None),
    (
        {"job": "nurse", "age": cc.at_least(30), "ill": {"yes", "no"}},
        lambda job, age, ill: job == "nurse" and age is not None and age >= 30 and ill is not None,
    ),
    ({}, lambda job, age, ill: True),
]


@pytest.mark.parametrize(("where", "holds"), QUESTIONS)
def test_certain_and_possible_are_the_extremes_of_all_tables(release, where, holds):
    counts = [sum(holds(*row) for row in table) for table in TABLES]
    count = release.count(where)
    certain, possible, expected = count
    assert (certain, possible) == (min(counts), max(counts))
    assert certain <= expected <= possible
    assert count.error >= count.drawn >= 0
    assert (count.error == 0) == (certain == possible)


@pytest.mark.parametrize("once", [[30], [20, 50], [None, 40]])
def test_a_value_that_a_list_names_twice_counts_once(release, once):
    again = [*once, *once, *(str(value) for value in once if value is not None), float(once[-1])]
    assert release.count({"age": again}) == release.count({"age": once})


def test_uniform_expects_the_mean_over_all_tables(tmp_path):
    release = cc.read(folder(tmp_path, [JOB, AGE], ROWS), "uniform")
    for where, holds in QUESTIONS:
        counts = [sum(holds(*row) for row in table) for table in TABLES]
        count = release.count(where)
        assert count.expected == pytest.approx(np.mean(counts))
        assert count.drawn == pytest.approx(np.std(counts))
    pairs = {(a, b): 0.0 for a in JOBS["*"] for b in AGES["*"]}
    for table in TABLES:
        for job, age, _ in table:
            pairs[job, age] += 1 / len(TABLES)
    for row in release.crosstab("job", "age").iter_rows(named=True):
        for age in AGES["*"]:
            text = "(missing)" if age is None else str(age)
            assert row[text] == pytest.approx(pairs[row["job"], age])


CELLS = {
    "job": [JOBS[cell] for cell in ROWS["job"]],
    "age": [AGES[cell] for cell in ROWS["age"]],
}


def crowd(col, k):
    """The chance of each value behind each cell, as docs/reader.md says: three plain steps."""
    cells = CELLS[col]
    anchors = cells if col == "job" else [sorted({cell[0], cell[-1]}, key=str) for cell in cells]
    held = [min(1.0, 1.5 * len(each) / k) for each in anchors]

    def chance(row, value, share):
        cell, ends = cells[row], anchors[row]
        at_ends = held[row] * (value in ends) / len(ends)
        free = share[value] / sum(share[each] for each in cell) if value in cell else 0.0
        return at_ends + (1 - held[row]) * free

    values = JOBS["*"] if col == "job" else AGES["*"]
    even = dict.fromkeys(values, 1.0)
    stepped = {
        value: (sum(chance(row, value, even) for row in range(5)) / 5) ** 0.75 for value in values
    }
    return {value: [chance(row, value, stepped) for row in range(5)] for value in values}


@pytest.mark.parametrize("k", [2, 4, 9])
@pytest.mark.parametrize("col", ["job", "age"])
def test_the_default_weighs_as_its_page_says(tmp_path, col, k):
    release = cc.read(folder(tmp_path, [JOB, AGE], ROWS, k=k))
    cells = CELLS[col]
    for value, chances in crowd(col, k).items():
        count = release.count({col: value})
        drawn = sum(chance * (1 - chance) for chance in chances)
        even = sum((value in cell) / len(cell) for cell in cells)
        assert count.expected == pytest.approx(sum(chances))
        assert count.drawn == pytest.approx(drawn**0.5, abs=1e-9)
        apart = sum(chances) - even
        assert count.error == pytest.approx((drawn + apart**2) ** 0.5, abs=1e-9)
    given = {value: chances for value, chances in crowd("age", k).items() if value is not None}
    total = sum(value * sum(chances) for value, chances in given.items())
    assert release.mean("age").expected == pytest.approx(total / sum(map(sum, given.values())))


def test_means_lie_between_the_extremes_of_all_tables(release):
    means = []
    for table in TABLES:
        ages = [age for _, age, _ in table if age is not None]
        means.append(np.mean(ages))
    mean = release.mean("age")
    assert (mean.lo, mean.hi) == (pytest.approx(min(means)), pytest.approx(max(means)))
    assert mean.lo < mean.expected < mean.hi
    assert 0 < mean.error < mean.hi - mean.lo


def test_frequencies_are_the_counts_of_each_level(release):
    frame = release.frequencies("job")
    for row in frame.iter_rows(named=True):
        count = release.count({"job": row["job"]})
        assert (row["certain"], row["possible"]) == (count.certain, count.possible)
        assert row["expected"] == pytest.approx(count.expected)
        assert row["error"] == pytest.approx(count.error)
    assert frame["expected"].sum() == pytest.approx(5)
    assert frame["share"].sum() == pytest.approx(1)


def test_frequencies_within_groups(release):
    frame = release.frequencies("ill", by="job")
    for job, ill in itertools.product(JOBS["*"], ["yes", "no", None]):
        text = "(missing)" if ill is None else ill
        row = frame.row(by_predicate=(pl.col("job") == job) & (pl.col("ill") == text), named=True)
        count = release.count({"job": job, "ill": ill})
        assert (row["certain"], row["possible"]) == (count.certain, count.possible)
        assert row["expected"] == pytest.approx(count.expected)
        assert row["error"] == pytest.approx(count.error)
    assert (
        frame.group_by("job").agg(pl.col("share").sum())["share"].to_list()
        == [pytest.approx(1)] * 3
    )


def test_groups_of_numbers_are_read_by_their_bounds(tmp_path):
    pay = attribute("pay", "numeric", ("..100", "100..300", "300.."), inner_edges=[100, 300])
    release = cc.read(folder(tmp_path, [pay], {"pay": ["..100", "100..300", "300..", "*"]}))
    assert release.count({"pay": cc.at_most(100)}).certain == 1
    assert release.count({"pay": cc.above(100)}).certain == 2
    asked = release.count({"pay": cc.above(200)})
    assert (asked.certain, asked.possible) == (1, 3)
    assert asked.expected == pytest.approx(1 + 0.5 + 0.5)  # of `*`: a half, by symmetry
    mean = release.mean("pay")
    assert (mean.lo, mean.hi) == (-np.inf, np.inf)
    # Open groups are taken to be as wide as their neighbour: -99..100, 101..300, 301..500.
    assert mean.expected == pytest.approx(200.5)
    bounds = release.bounds()
    assert bounds["pay.lo"].to_list() == [None, 100, 300, None]
    assert bounds["pay.hi"].to_list() == [100, 300, None, None]


def test_dates_and_others(tmp_path):
    day = attribute("day", "date", ("2020-01-01", "2020-01-03"), values=[18262.0, 18264.0])
    town = attribute("town", labels=("Bonn", "Ulm", "(other)"), has_other=True)
    rows = {"day": ["2020-01-01", "2020-01-01..2020-01-03"], "town": ["(other)", "Bonn"]}
    release = cc.read(folder(tmp_path, [day, town], rows))
    first = release.count({"day": dt.date(2020, 1, 1)})
    assert (first.certain, first.possible) == (1, 2)
    assert release.count({"day": cc.above(dt.date(2020, 1, 1))}).possible == 1
    assert release.bounds()["day.hi"].to_list() == [dt.date(2020, 1, 1), dt.date(2020, 1, 3)]
    assert tuple(release.count({"town": "Bonn"}))[:2] == (1, 1)
    assert tuple(release.count({"town": "Jena"}))[:2] == (0, 1)  # it may be another town
    assert tuple(release.count({"town": "(other)"}))[:2] == (1, 1)


def test_members_sum_to_one(release):
    members = release.members("job")
    assert members.columns == ["job=clerk", "job=nurse", "job=smith"]
    expected = [[1, 0, 0], [0, 0.5, 0.5], [1 / 3] * 3, [0.5, 0.5, 0], [0, 0, 1]]
    assert members.to_numpy() == pytest.approx(np.array(expected))
    assert release.members().shape == (5, 8)


def test_sets_list_what_a_cell_allows(release):
    sets = release.sets()
    assert sets["job"].to_list() == [JOBS[cell] for cell in ROWS["job"]]
    assert sets["age"].to_list()[2] == ["(missing)", "20"]
    assert release.frame()["job"].to_list() == ROWS["job"]


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda r: r.count({"town": "Bonn"}), "no column 'town'; it has 'job', 'age', 'ill'"),
        (lambda r: r.count({"job": "baker"}), "release.levels('job') lists them"),
        (lambda r: r.count({"age": {20, 33}}), "names 1 value"),
        (lambda r: r.count({"job": set()}), "names no value"),
        (lambda r: r.count({"job": None}), "None means missing"),
        (lambda r: r.count({"job": cc.above(3)}), "holds categories"),
        (lambda r: r.count({"age": cc.above("3")}), "give a number"),
        (lambda r: r.mean("job"), "use frequencies('job')"),
        (lambda r: r.crosstab("job", "job"), "two different columns"),
        (lambda r: r.frequencies("job", by="x"), "no column 'x'"),
        (lambda r: r.complete(0), "m of at least 1"),
    ],
)
def test_wrong_questions_are_told_what_to_do(release, ask, words):
    with pytest.raises(cc.ReleaseError) as refusal:
        ask(release)
    assert words in str(refusal.value)
    assert "baker" not in str(refusal.value)


def test_a_release_shows_its_columns(release):
    words = repr(release)
    assert "tiny v1: 5 rows, k = 2" in words
    assert "age: masked, numeric, 5 levels" in words
    assert "clerk" not in words + repr(release.column("job")) + repr(release.weights("job"))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("kind", ["numeric", "date"])
def test_one_group_of_all_numbers_says_that_nothing_is_known(tmp_path, kind, missing):
    labels = ("(missing)", "..") if missing else ("..",)
    entry = {"values": [[None, None]], "inner_edges": [], "lower": "excluded"}
    asked = attribute("x", kind, labels, **entry)
    cells = ["..", "*", ".."]
    release = cc.read(folder(tmp_path, [asked, JOB], {"x": cells, "job": ["clerk"] * 3}))
    value = 5 if kind == "numeric" else dt.date(2024, 3, 5)
    for question in (value, cc.above(value), cc.between(value, value)):
        count = release.count({"x": question})
        assert (count.certain, count.possible) == (0, 3)
        assert 0 < count.expected < 3
        assert count.error > 0
    mean = release.mean("x")
    assert np.isnan([mean.expected, mean.error]).all()
    assert (mean.lo, mean.hi) == (-np.inf, np.inf)
    assert release.frequencies("x")["x"].to_list() == list(labels)
    assert release.complete(1)[0]["x"].null_count() == 3
    assert release.bounds()["x.lo"].null_count() == 3


def test_one_number_within_an_interval_has_no_share_of_it(tmp_path):
    """The expected count was 0 for a third of all rows."""
    groups = ("..2.5", "2.5..4.5", "4.5..")
    pay = attribute("pay", "numeric", groups, inner_edges=[2.5, 4.5])
    release = cc.read(folder(tmp_path, [pay], {"pay": [*groups, "*"]}))
    with pytest.raises(cc.ReleaseError, match=r"'pay' shows intervals.*between\(lo, hi\)"):
        release.count({"pay": 3.25})
    assert release.count({"pay": cc.between(3, 3.5)}).expected > 0
    assert release.count({"pay": "2.5..4.5"}).certain == 1
