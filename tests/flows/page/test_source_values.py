"""How often the values of a plan's source occur: counted as the plan types them."""

import datetime as dt
import re
from html import unescape

import numpy as np
import polars as pl
import pytest

from crowdcover.flows.page import plan_views, source_values
from crowdcover.flows.page.source_values import count_values
from tests.flows.page.conftest import post, session_of, visit

PICTURE = re.compile(r'<svg class="bars".*?aria-label="Bar chart of (.*?)"', re.DOTALL)


def names_and_shares(counts):
    return [(each.name, each.share) for each in counts.bars]


def test_few_values_have_a_bar_each_and_the_missing_ones_a_last_one():
    found = count_values(pl.Series(["b", "a", "b", None]))
    assert names_and_shares(found) == [("b", "50.0 %"), ("a", "25.0 %"), ("(missing)", "25.0 %")]
    assert found.summary == "most often b, 50.0 %"
    assert [each.height for each in found.bars] == [30, 15, 15]
    assert [each.is_missing for each in found.bars] == [False, False, True]
    numbers = count_values(pl.Series([9, 9, 10, 8]))
    assert names_and_shares(numbers) == [("8", "25.0 %"), ("9", "50.0 %"), ("10", "25.0 %")]
    assert numbers.summary == "8 to 10; most often 9, 50.0 %"


def test_of_many_texts_the_commonest_have_bars():
    texts = [f"{place:02d}" for place in range(20)]
    found = count_values(pl.Series(texts * 2 + texts[:3] + texts[:1]))
    assert names_and_shares(found)[0] == ("00", "9.1 %")
    assert [each.name for each in found.bars][-1] == "9 other values"
    assert found.summary == "most often 00, 9.1 %"
    long = count_values(pl.Series(["x" * 99, "x" * 99, "y"]))
    assert len(long.bars[0].name) == source_values.LONGEST_EXAMPLE


@pytest.mark.parametrize(
    "values",
    [
        np.arange(1000) % 61,
        np.arange(-400, 5),
        np.linspace(-1.5, 7.25, 333),
        np.arange(30) / 1e6,
        pl.date_range(dt.date(1999, 12, 30), dt.date(2002, 1, 9), eager=True),
        pl.datetime_range(dt.datetime(2020, 1, 1), dt.datetime(2020, 6, 1), "7h", eager=True),
    ],
)
def test_intervals_cover_the_range_and_count_each_row_once(values):
    series = pl.Series(values)
    found = count_values(series)
    assert 6 < len(found.bars) <= source_values.MOST_BARS
    ends = [each.name.split("..") for each in found.bars]
    assert len({each.name for each in found.bars}) == len(found.bars)
    assert sum(float(each.share.removesuffix(" %")) for each in found.bars) == pytest.approx(
        100, abs=1
    )
    if series.dtype == pl.Int64:
        for end, bar in zip(ends, found.bars, strict=True):
            rows = series.is_between(int(end[0]), int(end[-1])).mean()
            assert bar.share == f"{100 * rows:.1f} %"
    if series.dtype.is_temporal():
        assert ends[0][0] == str(series.min())[:10]
        assert ends[-1][-1] == str(series.max())[:10]


@pytest.mark.parametrize(
    ("series", "summary"),
    [
        (pl.Series([f"p{place}" for place in range(99)]), "99 different values"),
        (pl.Series([None, None], dtype=pl.String), None),
        (pl.Series([float("nan"), float("inf")]), None),
        (pl.Series([dt.time(9), dt.time(9)]), "most often 09:00:00, 100.0 %"),
        (pl.Series([True, False, True]), "most often true, 66.7 %"),
    ],
)
def test_values_without_a_picture_or_an_order(series, summary):
    found = count_values(series)
    assert (None if found is None else found.summary) == summary
    assert summary is None or len(found.bars) == summary.count("most") * series.n_unique()


def test_the_plan_shows_a_picture_of_each_column_that_is_counted_as_it_is_typed(planned, order):
    client = visit(planned)
    page = client.get("/plan").text
    pictures = dict(unescape(each).split(": ", 1) for each in PICTURE.findall(page))
    assert {"age", "city", "smokes", "diagnosis"} <= pictures.keys()
    assert "ssn" not in pictures
    source = pl.read_csv(order.source, infer_schema=False)
    yes = (source["smokes"] == "yes").mean()
    assert f"yes: {100 * yes:.1f} %" in pictures["smokes"]
    assert ".." in pictures["age"]
    changed = unescape(post(client, planned, "/plan", **{"kind:age": "categorical"}).text)
    assert re.search(r'Bar chart of age: [^"]*other values', changed)


@pytest.mark.parametrize("limit", ["QUICK_BYTES", "QUICK_ROWS"])
def test_a_large_source_is_counted_when_it_is_asked_for(order, monkeypatch, limit):
    monkeypatch.setattr(source_values, limit, 80)
    session = session_of(order.plan)
    client = visit(session)
    page = client.get("/plan").text
    assert PICTURE.findall(page) == []
    assert 'class="example"' in page
    assert "Count the values of all rows" in page
    page = post(client, session, "/plan/values").text
    assert len(PICTURE.findall(page)) >= 4
    assert "Count the values of all rows" not in page
    changed = post(client, session, "/plan", **{"role:note": "drop"}).text
    assert len(PICTURE.findall(changed)) >= 4


def test_the_source_is_read_again_only_if_its_section_or_a_column_changed(planned, monkeypatch):
    read = []

    def count_read(document, *, whole):
        read.append(whole)
        return source_values.read_source_values(document, whole=whole)

    monkeypatch.setattr(plan_views, "read_source_values", count_read)
    client = visit(planned)
    kept = planned.values
    post(client, planned, "/plan", k="6", approval="required", effort="0")
    post(client, planned, "/plan/text", text=planned.draft.text + "# a remark\n")
    assert (read, planned.values) == ([], kept)
    post(client, planned, "/plan", **{"kind:age": "categorical"})
    assert read == [False]
    post(client, planned, "/plan/values")
    post(client, planned, "/plan", **{"kind:age": "numeric"})
    assert read == [False, True, True]  # a person asked for all rows
    text = planned.draft.text.replace("people.csv", "other.csv")
    post(client, planned, "/plan/text", text=text)
    assert read[3:] == [False]  # but not for those of another file


def test_after_a_failed_read_a_large_source_is_not_counted_unasked(order, monkeypatch):
    held = order.source.read_bytes()
    order.source.unlink()
    session = session_of(order.plan)
    client = visit(session)
    order.source.write_bytes(held)
    monkeypatch.setattr(source_values, "QUICK_BYTES", 80)
    page = post(client, session, "/plan", k="6").text
    assert PICTURE.findall(page) == []
    assert 'class="example"' in page
    assert "Count the values of all rows" in page


@pytest.mark.parametrize(
    ("values", "is_shown"),
    [
        (np.linspace(-(2**63), 2**63 - 1025, 99).astype(np.int64), True),
        (np.arange(99, dtype=np.uint64) * 9 * 10**16 + 2**63, True),
        (np.linspace(-0.8, 0.8, 99) * 1e308, True),
        (np.append(np.linspace(-1, 1, 99), [1.7e308, -1.7e308]), False),
    ],
)
def test_a_column_of_a_wide_range_leaves_the_others_their_values(tmp_path, values, is_shown):
    table = {"far": values, "near": np.arange(len(values)) % 3}
    lists = pl.Series([[each] for each in range(len(values))])
    pl.DataFrame({**table, "lists": lists}).write_parquet(tmp_path / "wide.parquet")
    document = {"source": {"path": str(tmp_path / "wide.parquet")}, "columns": {}}
    found = source_values.read_source_values(document, whole=False)
    assert len(found.counts["near"].bars) == 3
    assert found.examples["near"] == ("0", "1", "2")
    assert len(found.examples["far"]) == source_values.EXAMPLES
    assert ("far" in found.counts) == is_shown
    assert "lists" not in found.counts
    if is_shown:
        assert len(found.counts["far"].bars) == source_values.MOST_BARS
        assert len({each.share for each in found.counts["far"].bars}) < 4


def test_a_source_that_cannot_be_read_has_no_values(planned, order):
    client = visit(planned)
    order.source.write_bytes(b'"age\nbroken')
    page = post(client, planned, "/plan/values")
    assert page.status_code == 200
    assert PICTURE.findall(page.text) == []
