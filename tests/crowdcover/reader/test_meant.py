"""A value in a question is understood in the column's type, however Python writes it."""

import datetime as dt
from decimal import Decimal
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import crowdcover as cc
from crowdcover.reader.answers.meant import find_meaning, find_same_values
from tests.crowdcover.reader.folders import attribute, folder

ONES = [1, 1.0, "1", "1.0", "+1", "1e0", np.int64(1), np.int8(1), np.float32(1), np.uint64(1)]
ONES += [Decimal("1.00"), Fraction(2, 2), np.array(1), np.str_("1"), [1], {1.0}, np.array([1])]
ONES += [pl.Series([1]), range(1, 2)]


def read(place, entries, rows, **more):
    return cc.read(folder(place, entries, rows, **more))


@pytest.mark.parametrize("labels", [("1", "2"), ("1.0", "2.0"), ("2", "1e0")])
@pytest.mark.parametrize("data", ["data.parquet", "data.csv.gz"])
def test_a_category_of_numbers_may_be_asked_by_number(tmp_path, labels, data):
    one, two = sorted(labels, key=float)
    sex = attribute("SEX", labels=labels)
    rows = {"SEX": [one, two, f"{labels[0]}|{labels[1]}"]}
    release = read(tmp_path, [sex], rows, data=data)
    for value in ONES:
        assert tuple(release.count({"SEX": value}))[:2] == (1, 2)
    assert release.count({"SEX": {1, 2}}).certain == 3


@pytest.mark.parametrize(
    "values", [[1, 2, 2], [1.0, 2.0, 2.5], ["1", "2", "x"], ["1.0", "a", None]]
)
def test_a_kept_column_may_be_asked_by_number(tmp_path, values):
    release = read(tmp_path, [attribute("a", labels=("x", "y"))], {"a": ["x"] * 3, "n": values})
    for value in [1, 1.0, "1", np.int64(1), Decimal(1), [1]]:
        assert tuple(release.count({"n": value}))[:2] == (1, 1)


def test_a_column_of_numbers_may_be_asked_by_text(tmp_path):
    entry = attribute("age", "numeric", ("(missing)", "1", "20", "30"))
    release = read(tmp_path, [entry], {"age": ["1", "20..30", "(missing)"]})
    for value in ONES:
        assert tuple(release.count({"age": value}))[:2] == (1, 1)
    assert tuple(release.count({"age": "20"}))[:2] == (0, 1)
    assert release.count({"age": cc.above(np.int32(1))}).certain == 1
    with pytest.raises(cc.ReleaseError, match="give a number"):
        release.count({"age": True})


def test_a_leading_zero_is_no_number(tmp_path):
    release = read(tmp_path, [attribute("code", labels=("01", "1", "02"))], {"code": ["01", "1"]})
    assert release.count({"code": "01"}).certain == 1
    assert release.count({"code": 1}).certain == 1
    with pytest.raises(cc.ReleaseError, match="none of its 3 levels"):
        release.count({"code": 2})


DAYS = [dt.date(2024, 3, 5), "2024-03-05", dt.datetime(2024, 3, 5), np.datetime64("2024-03-05")]
DAYS += [[dt.date(2024, 3, 5)], np.array(["2024-03-05"], dtype="datetime64[D]")]


@pytest.mark.parametrize("value", DAYS)
def test_a_day_may_be_a_date_or_its_text(tmp_path, value):
    day = attribute("day", "date", ("2024-03-05", "2024-03-07"))
    day["values"] = ["2024-03-05", "2024-03-07"]
    town = attribute("when", labels=("2024-03-05", "never"))
    rows = {"day": ["2024-03-05", "*"], "when": ["2024-03-05", "never"]}
    rows |= {"kept": [dt.date(2024, 3, 5), None], "text": ["2024-03-05", "2024-03-06"]}
    release = read(tmp_path, [day, town], rows)
    assert tuple(release.count({"day": value}))[:2] == (1, 2)
    for name in ("when", "kept", "text"):
        assert tuple(release.count({name: value}))[:2] == (1, 1)


def test_ends_of_intervals_may_be_iso_texts(tmp_path):
    rows = {"a": ["x", "y"], "day": [dt.date(2024, 3, 5), dt.date(2024, 3, 8)]}
    release = read(tmp_path, [attribute("a", labels=("x", "y"))], rows)
    assert release.count({"day": cc.between("2024-03-05", dt.date(2024, 3, 6))}).certain == 1
    assert release.count({"day": cc.above("2024-03-05")}).certain == 1
    for end in ("2024-02-30", "yesterday", 5, dt.datetime(2024, 3, 5, 1)):
        with pytest.raises(cc.ReleaseError, match=r"give a datetime\.date"):
            release.count({"day": cc.above(end)})


@pytest.mark.parametrize(
    "labels", [("false", "true"), ("False", "True"), ("0", "1"), ("FALSE", "TRUE")]
)
def test_truth_values(tmp_path, labels):
    entry = attribute("ill", "binary", labels)
    release = read(tmp_path, [entry], {"ill": [labels[1], "*"], "kept": [True, None]})
    for value in (True, np.bool_(True), labels[1]):
        assert tuple(release.count({"ill": value}))[:2] == (1, 2)
    assert tuple(release.count({"kept": "true"}))[:2] == (1, 1)


def test_all_other_categories_may_be_a_number_unless_it_is_named(tmp_path):
    entry = attribute("n", labels=("1", "2", "(other)"), has_other=True)
    release = read(tmp_path, [entry], {"n": ["1", "(other)", "2"]})
    assert tuple(release.count({"n": 7}))[:2] == (0, 1)
    assert tuple(release.count({"n": 1.0}))[:2] == (1, 1)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), b"1", object(), 1j, Decimal("nan")])
def test_what_is_no_value_is_refused(tmp_path, value):
    entries = [attribute("n", labels=("1", "2")), attribute("age", "numeric", ("1", "2"))]
    release = read(tmp_path, entries, {"n": ["1", "2"], "age": ["1", "2"]})
    for name in ("n", "age"):
        with pytest.raises(cc.ReleaseError):
            release.count({name: value})


def test_meanings():
    assert find_meaning(10**30) == find_meaning("1" + "0" * 30) != find_meaning(10**30 + 1)
    assert find_meaning("1e999") == ("number", Fraction(10) ** 999)
    assert find_meaning("1e9999") == ("text", "1e9999")
    assert find_meaning(0.1) == find_meaning(np.float32(0.1)) == find_meaning("0.10")
    assert find_same_values(["0.1", "x"], "0.1").tolist() == [True, False]
    assert find_meaning(None) is None
