"""Labels of partitions, ranges of them, and the reading of the rows of one."""

import stat
from datetime import date, timedelta

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdcover.storage.source.partitions import (
    FORMS,
    Picked,
    is_label,
    labels_of,
    range_of,
    write_rows,
)
from crowdcover.storage.source.sources import Source

DAYS = st.dates(min_value=date(1000, 1, 1), max_value=date(9998, 12, 31))
BY = st.sampled_from(sorted(FORMS))


def naive(day, by):
    """The label of one day, by the standard library."""
    year, week, _ = day.isocalendar()
    return {
        "day": f"{day.year:04}-{day.month:02}-{day.day:02}",
        "week": f"{year:04}-W{week:02}",
        "month": f"{day.year:04}-{day.month:02}",
        "quarter": f"{day.year:04}-Q{(day.month + 2) // 3}",
        "year": f"{day.year:04}",
    }[by]


def label(day, by):
    return labels_of(pl.Series([day], dtype=pl.Date), by)[0]


@given(DAYS, BY)
def test_labels_are_those_of_the_calendar(day, by):
    assert label(day, by) == naive(day, by)
    assert is_label(label(day, by), by)


@given(DAYS, DAYS, BY)
def test_labels_are_in_the_order_of_time(one, other, by):
    if one <= other:
        assert label(one, by) <= label(other, by)


@given(DAYS, BY)
def test_partitions_have_no_gaps(day, by):
    """Days beside each other have one label, or labels of partitions beside each other."""
    between = [label(day + timedelta(days=step), by) for step in range(2)]
    assert len(set(between)) == 1 or between[0] < between[1]


def test_a_row_without_a_date_has_no_label():
    assert labels_of(pl.Series([None, date(2014, 3, 5)], dtype=pl.Date), "month").to_list() == [
        None,
        "2014-03",
    ]


@pytest.mark.parametrize("by", sorted(FORMS))
def test_the_example_in_a_refusal_is_a_label(by):
    assert [each for each in FORMS if is_label(FORMS[by][1], each)] == [by]


@pytest.mark.parametrize(
    ("text", "by", "ends"),
    [
        ("2013-08..2015-12", "month", ("2013-08", "2015-12")),
        ("2014-03..2014-03", "month", ("2014-03", "2014-03")),
        ("2014-Q4..2015-Q1", "quarter", ("2014-Q4", "2015-Q1")),
        ("2014-W52..2015-W01", "week", ("2014-W52", "2015-W01")),
        ("2015-12..2013-08", "month", None),
        ("2013-08", "month", None),
        ("2013-8..2013-12", "month", None),
        ("2013-13..2014-01", "month", None),
        ("2013..2014", "month", None),
        ("2013-08...2013-09", "month", None),
        ("../../x..2014-01", "month", None),
    ],
)
def test_ranges(text, by, ends):
    assert range_of(text, by) == ends


def rows():
    return pl.DataFrame({"name": ["c", "a", "b"], "when": ["3", "1", "2"]})


def test_the_fingerprint_is_of_the_rows_in_any_order():
    one = Picked(Source(path="x.csv"), rows())
    assert one.sha256 == Picked(Source(uri="sqlite:///y"), rows().reverse()).sha256
    assert one.sha256 != Picked(Source(), rows().head(2)).sha256


def test_rows_that_were_written_read_the_same(tmp_path):
    path = tmp_path / "2014-03.arrow"
    write_rows(rows(), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    one, other = Picked(Source(), rows()), Picked.kept(Source(), path)
    assert one.sha256 == other.sha256
    path.unlink()
    other.keep(tmp_path)
    other.close()
    again = other.again()
    assert again.sha256 == one.sha256
    assert again.columns([], ["name"])["name"].to_list() == ["a", "b", "c"]


def test_a_partition_may_have_one_row(tmp_path):
    one = Picked(Source(), rows().head(1))
    one.keep(tmp_path)
    assert one.again().columns([], ["name"]).height == 1
