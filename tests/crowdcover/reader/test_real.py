"""Releases that the anonymizers made, held against the table behind them."""

import datetime as dt

import numpy as np
import polars as pl
import pytest

import crowdcover as cc
from benchmarks.analyst.releases import made
from crowdcover.reader.answers import evidence
from crowdcover.reader.answers.evidence import compute_fitting_share
from crowdcover.reader.coded.cells import Sets
from crowdcover.reader.coded.columns import Column, list_level_values
from crowdcover.reader.coded.levels import of_attribute
from crowdcover.reader.coded.texts import masks_of
from tests.crowdcover.reader.folders import attribute

PLAN = """
name = "drawn"
[source]
path = "x"
[columns.age]
role = "quasi"
kind = "numeric"
bins = "none"
[columns.town]
role = "quasi"
kind = "categorical"
[columns.job]
role = "quasi"
kind = "categorical"
[columns.day]
role = "quasi"
kind = "date"
bins = {quantiles = 6}
[columns.ill]
role = "sensitive"
[privacy]
k = 5
"""


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """People in towns and jobs of very different size, released at k = 5."""
    generator, people = np.random.default_rng(2), 1500
    place = tmp_path_factory.mktemp("drawn")
    names = [f"t{town:02d}" for town in range(30)]
    days = np.datetime64("2020-01-01") + generator.integers(0, 900, people)
    frame = pl.DataFrame(
        {
            "age": np.clip(generator.normal(40, 15, people), 0, 90).astype(int),
            "town": [names[town] for town in generator.zipf(1.6, people).clip(max=30) - 1],
            "job": [f"j{job}" for job in generator.geometric(0.4, people).clip(max=8)],
            "day": days.astype("datetime64[D]"),
            "ill": generator.choice(["yes", "no"], people),
        }
    )
    frame.write_csv(place / "drawn.csv")
    return made(PLAN, str(place / "drawn.csv"), place / "release")


SICK = pl.col("ill") == "yes"
SINCE = dt.date(2021, 6, 1)
QUESTIONS = [
    ({"age": cc.above(50)}, pl.col("age") > 50),
    ({"age": cc.between(20, 29), "ill": "yes"}, pl.col("age").is_between(20, 29) & SICK),
    ({"town": {"t00", "t07"}}, pl.col("town").is_in(["t00", "t07"])),
    ({"town": "t03", "job": "j1"}, (pl.col("town") == "t03") & (pl.col("job") == "j1")),
    ({"day": cc.at_least(SINCE)}, pl.col("day") >= SINCE),
    ({"day": cc.below(SINCE), "age": 40}, (pl.col("day") < SINCE) & (pl.col("age") == 40)),
]


@pytest.mark.long
@pytest.mark.parametrize(("where", "holds"), QUESTIONS)
def test_counts_hold_the_truth(drawn, where, holds):
    certain, possible, expected = cc.read(drawn.folder).count(where)
    assert certain <= drawn.truth.filter(holds).height <= possible
    assert certain < expected < possible


def test_frequencies_and_means_hold_the_truth(drawn):
    release, truth = cc.read(drawn.folder), drawn.truth
    for column in ("town", "job"):
        true = dict(truth[column].value_counts().iter_rows())
        for row in release.frequencies(column).iter_rows(named=True):
            assert row["certain"] <= true.get(row[column], 0) <= row["possible"]
    mean = release.mean("age")
    assert mean.lo <= truth["age"].mean() <= mean.hi
    assert abs(mean.expected - truth["age"].mean()) <= 3 * mean.error


def test_the_default_is_nearer_than_uniform_and_em(drawn):
    """Each of them is far off where the other is not; exact rows alone are worst."""
    wrong = {}
    for way in ("crowd", "uniform", "em", "exact"):
        release = cc.read(drawn.folder, "crowd" if way == "exact" else way)
        wrong[way] = 0.0
        for column in ("town", "job"):
            frame = release.frequencies(column)
            true = frame.join(drawn.truth[column].value_counts(), on=column, how="left")["count"]
            found = frame["certain"] if way == "exact" else frame["expected"]
            found = found * (1500 / found.sum())
            wrong[way] += (found - true).abs().sum() / 2
    assert wrong["crowd"] < min(wrong["uniform"], wrong["em"])
    assert max(wrong["uniform"], wrong["em"]) < wrong["exact"]


def test_common_values_that_were_masked_are_noticed(monkeypatch):
    """Both members of each set stand in exact rows: weights are even."""
    levels = of_attribute(attribute("x", labels=("a", "b", "c")))
    other = of_attribute(attribute("y", labels=("u", "v")))

    def columns(cells, beside):
        masks, values = masks_of(levels, cells), masks_of(other, beside)
        rows = np.arange(len(cells))
        return [
            Column(each, Sets.of(allowed), rows, "quasi", list_level_values(each))
            for each, allowed in ((levels, masks), (other, values))
        ]

    assert compute_fitting_share(columns(["a", "b", "a|b", "a|b"], ["u", "u", "u", "*"])) == 2 / 3
    assert compute_fitting_share(columns(["a", "b", "a|b"], ["u", "v", "u"])) == 0
    assert compute_fitting_share(columns(["a|c", "a", "*"], ["u", "u", "u"])) == 0
    assert compute_fitting_share(columns(["a", "b"], ["u", "v"])) == 0
    assert compute_fitting_share([]) == 0

    # Of more exact rows than are looked at, the last ones count as much as the first.
    monkeypatch.setattr(evidence, "_RECORDS", 3)
    exact = ["a", "a", "b", "b", "c", "c"]
    assert compute_fitting_share(columns([*exact, "b|c"], [*"uvuvuv", "*"])) == 1 / 2
