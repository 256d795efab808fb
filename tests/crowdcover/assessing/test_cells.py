"""Cells as others write them overlap where the sets that they mean share a value."""

import datetime as dt
import math
from decimal import Decimal

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.errors import InputError, LimitError
from crowdcover.assessing import ranges
from crowdcover.assessing.cells import read_column
from crowdcover.assessing.hierarchies import read_nodes

LINE = [each / 2 for each in range(-8, 41)]  # halves: an end that is left out lies between them
BETWEEN = ["{}..{}", "{}-{}", "{}~{}", "{},{}", "{} to {}", "[{}, {}]", "[{};{}]"]
OPEN = {"[{}, {}[": (0, 1), "[{},{})": (0, 1), "]{}, {}]": (1, 0), "({},{})": (1, 1)}


@st.composite
def numeric_cells(draw):
    """A cell of numbers as text, and the halves that it allows."""
    low = draw(st.integers(0, 15))
    high = draw(st.integers(low, 16))
    form = draw(st.sampled_from(["one", "between", "open", "least", "most", "set", "all"]))
    if form == "one":
        return str(low), {low}
    if form == "between":
        inside = {each for each in LINE if low <= each <= high}
        return draw(st.sampled_from(BETWEEN)).format(low, high), inside
    if form == "open":
        text = draw(st.sampled_from(list(OPEN)))
        left, right = OPEN[text]
        high += 1
        inside = {x for x in LINE if low <= x <= high and (x != low or not left)}
        return text.format(low, high), {x for x in inside if x != high or not right}
    if form == "least":
        text, strict = draw(st.sampled_from([(">={}", 0), (">{}", 1), ("{}+", 0), ("{}..", 0)]))
        return text.format(low), {x for x in LINE if x > low or (x == low and not strict)}
    if form == "most":
        text, strict = draw(st.sampled_from([("<={}", 0), ("<{}", 1), ("≤{}", 0), ("..{}", 0)]))
        return text.format(low), {x for x in LINE if x < low or (x == low and not strict)}
    if form == "set":
        text = draw(st.sampled_from(["{}|{}", "{{{}, {}}}"]))
        return text.format(low, high), {low, high}
    return draw(st.sampled_from(["*", "***", None])), set(LINE)


@given(st.lists(numeric_cells(), min_size=1, max_size=12))
def test_numbers_overlap_where_their_sets_do(drawn):
    column, _ = read_column(pl.Series([text for text, _ in drawn], dtype=pl.String))
    found = column.overlap(column)[np.ix_(column.cell, column.cell)]
    expected = [[bool(a & b) for _, b in drawn] for _, a in drawn]
    assert found.tolist() == expected


@st.composite
def text_cells(draw):
    """A cell of codes as text, and the codes that it allows."""
    codes = ["10010", "10020", "12345", "60280", "90100"]
    form = draw(st.sampled_from(["one", "set", "prefix", "all"]))
    if form == "one":
        code = draw(st.sampled_from(codes))
        return f"z{code}", {code}
    if form == "set":
        some = draw(st.lists(st.sampled_from(codes), min_size=2, max_size=4, unique=True))
        join = draw(st.sampled_from(["|", "~", ","]))
        text = join.join(f"z{code}" for code in some)
        return (f"{{{text}}}" if join == "," and draw(st.booleans()) else text), set(some)
    if form == "prefix":
        start = draw(st.sampled_from(codes))[: draw(st.integers(0, 4))]
        held = {code for code in codes if code.startswith(start)}
        return f"z{start}".ljust(6, "*"), held
    return "*", set(codes)


@given(st.lists(text_cells(), min_size=1, max_size=12))
def test_texts_overlap_where_their_sets_do(drawn):
    column, _ = read_column(pl.Series([text for text, _ in drawn], dtype=pl.String))
    found = column.overlap(column)[np.ix_(column.cell, column.cell)]
    assert found.tolist() == [[bool(a & b) for _, b in drawn] for _, a in drawn]


def overlaps(values, **how):
    column, _ = read_column(values, **how)
    return column.overlap(column)[np.ix_(column.cell, column.cell)].tolist()


def test_a_comma_with_a_blank_behind_it_parts_no_set():
    assert overlaps(pl.Series(["Smith, Ann", "Smith", "Ann"])) == np.eye(3, dtype=bool).tolist()


def test_typed_cells():
    day = dt.date(2020, 1, 1)
    intervals = [
        {"lo": 1, "hi": 3, "missing": False},
        {"lo": 3, "hi": None, "missing": False},
        {"lo": None, "hi": 0, "missing": None},
        {"lo": None, "hi": None, "missing": True},
    ]
    assert overlaps(pl.Series(intervals)) == [
        [1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1],
    ]  # fmt: skip
    assert overlaps(pl.Series([["a", "b"], ["b"], ["c"]])) == [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
    assert overlaps(pl.Series([day, day, None, dt.date(2021, 1, 1)])) == [
        [1, 1, 1, 0], [1, 1, 1, 0], [1, 1, 1, 1], [0, 0, 1, 1],
    ]  # fmt: skip
    assert overlaps(pl.Series([1.5, math.nan, 2.0])) == [[1, 1, 0], [1, 1, 1], [0, 1, 1]]
    assert overlaps(pl.Series([True, False, True])) == [[1, 0, 1], [0, 1, 0], [1, 0, 1]]


@pytest.mark.parametrize(
    "values",
    [
        [dt.time(1), dt.time(2, 0, 0, 1), dt.time(1)],
        [dt.timedelta(1), dt.timedelta(1, 1), dt.timedelta(1)],
        [Decimal("1.5"), Decimal("1.6"), Decimal("1.5")],
        [dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, 1), dt.datetime(2020, 1, 1)],
    ],
)
def test_values_of_every_type(values):
    assert overlaps(pl.Series(values)) == [[1, 0, 1], [0, 1, 0], [1, 0, 1]]


def test_dates_in_intervals():
    cells = ["2020-01-01", "2019-12-31..2020-01-05", "2020-01-06/2020-02-01", "[2020-01-05, )"]
    assert overlaps(pl.Series(cells)) == [
        [1, 1, 0, 0], [1, 1, 0, 1], [0, 0, 1, 1], [0, 1, 1, 1],
    ]  # fmt: skip


def test_nodes_of_a_hierarchy(tmp_path):
    file = tmp_path / "jobs.csv"
    file.write_text("nurse;health;*\ndoctor;health;*\n\nclerk;office;*\n")
    for tree in (file, {"health": ["nurse", "doctor"], "office": ["clerk"]}):
        cells = pl.Series(["nurse", "health", "clerk", "office", "*"])
        assert overlaps(cells, nodes=read_nodes(tree)) == [
            [1, 1, 0, 0, 1], [1, 1, 0, 0, 1], [0, 0, 1, 1, 1], [0, 0, 1, 1, 1], [1, 1, 1, 1, 1],
        ]  # fmt: skip
    with pytest.raises(InputError, match="its lines are leaf;node"):
        read_nodes(tmp_path / "absent.csv")


def test_values_of_a_source_are_no_sets():
    cells, source = read_column(pl.Series(["a", "a|b", "*"]), pl.Series(["a|b", "b", None]))
    assert cells.overlap(source).tolist() == [[0, 0, 0], [0, 1, 0], [1, 1, 1]]


def test_texts_that_only_look_like_intervals():
    phones = pl.Series(["555-1234", "600-700"])
    assert overlaps(phones) == [[1, 1], [1, 1]]
    assert overlaps(phones, as_text=True) == [[1, 0], [0, 1]]


def test_words_that_stand_for_everything():
    assert overlaps(pl.Series(["NA", "a"])) == [[1, 0], [0, 1]]
    assert overlaps(pl.Series(["NA", "a"]), suppressed=["NA"]) == [[1, 1], [1, 1]]


def test_too_many_cells_are_refused(monkeypatch):
    monkeypatch.setattr(ranges, "MOST_PAIRS", 8)
    column, _ = read_column(pl.Series([1, 2, 3]))
    with pytest.raises(LimitError, match="3 different values; round it"):
        column.overlap(column)


def test_blocks_change_nothing(monkeypatch):
    column, _ = read_column(pl.Series([f"{a}|{a + 2}" for a in range(9)]))
    whole = column.overlap(column)
    monkeypatch.setattr(ranges, "_BLOCK", 1)
    assert (column.overlap(column) == whole).all()


def test_cells_of_a_kind_without_order_are_refused():
    with pytest.raises(InputError, match="neither values nor sets"):
        read_column(pl.Series([b"a", b"b"]))
