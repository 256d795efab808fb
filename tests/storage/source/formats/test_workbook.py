"""Workbooks: types of cells, sheets, rows that are blank."""

import datetime

import polars as pl
import pytest

from anon_core.errors import InputError
from crowdcover.kinds.section import PlanError, SourceSection
from crowdcover.kinds.table.starter.writing import propose_plan
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.source.sources import Source
from tests.storage.source.formats.workbooks import ods, xlsx

DAY, MOMENT = datetime.date(2020, 2, 29), datetime.datetime(2020, 2, 29, 18, 0)


def reading(folder, content, **settings):
    path = folder / "book.xlsx"
    path.write_bytes(content)
    return Reading(Source(path=path, **settings))


def test_cells_keep_their_types(tmp_path):
    rows = [
        ["n", "f", "t", "b", "d", "m", "mixed", "blank"],
        [1, 0.1, "007", True, DAY, MOMENT, 5, None],
        [20, 2, "x", False, DAY, MOMENT, "low", None],
        [None, 2.5, "1,5", None, None, DAY, 2.5, None],
    ]
    found = reading(tmp_path, xlsx(rows))
    frame = found.columns([], found.header)
    types = [pl.Int64, pl.Float64, pl.String, pl.Boolean, pl.Date, pl.Datetime("us")]
    assert frame.dtypes == [*types, pl.String, pl.Null]
    assert frame["m"].to_list() == [MOMENT, MOMENT, datetime.datetime(2020, 2, 29)]
    assert frame["mixed"].to_list() == ["5", "low", "2.5"]
    assert frame["t"].to_list() == ["007", "x", "1,5"]
    assert frame["d"].to_list() == [DAY, DAY, None]


def test_blank_rows_and_margins_do_not_count(tmp_path):
    rows = [[], [None, "a", "b"], [], [None, 1, 2], [None, None, None], [None, 3, 4], []]
    found = reading(tmp_path, xlsx(rows))
    assert found.header == ["a", "b"]
    assert found.columns([], ["b", "a"]).rows() == [(2, 1), (4, 3)]


def test_a_sheet_without_names(tmp_path):
    found = reading(tmp_path, xlsx([["x", 1], ["y", 2]]), header=False)
    assert found.header == 2
    assert found.columns(["who", "n"], ["n"]).rows() == [(1,), (2,)]
    with pytest.raises(InputError, match="the sheet has 2 columns, not 3"):
        found.columns(["who", "n", "k"], ["n"])


def test_one_of_several_sheets_is_named(tmp_path):
    content = xlsx([["a"], [1], [2]], [], [["b"], [3], [4]])
    with pytest.raises(InputError, match=r"has 2 sheets with cells; name one by source.sheet: She"):
        _ = reading(tmp_path, content).header
    assert reading(tmp_path, content, sheet="Sheet3").columns([], ["b"]).rows() == [(3,), (4,)]
    with pytest.raises(InputError, match=r"no sheet of the name in source.sheet; it has: Sheet1, "):
        _ = reading(tmp_path, content, sheet="Sheet9").header


@pytest.mark.parametrize("content", [xlsx([]), xlsx([[], []]), ods([])])
def test_a_workbook_of_nothing(tmp_path, content):
    with pytest.raises(InputError, match="is empty"):
        _ = reading(tmp_path, content).header


@pytest.mark.parametrize("content", [b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(999), b"PK\3\4x"])
def test_a_workbook_that_is_damaged_or_closed(tmp_path, content):
    with pytest.raises(InputError, match=r"looks like a workbook.*export the sheet as CSV"):
        _ = reading(tmp_path, content).header


def test_a_starter_plan_looks_at_the_first_row_of_a_sheet(tmp_path):
    path = tmp_path / "people.xlsx"
    path.write_bytes(xlsx([["name", "age"], *([f"p{n}", 20 + n % 9] for n in range(60))]))
    plan = propose_plan(Source(path=path))
    assert "[columns.age]" in plan
    path.write_bytes(xlsx([[f"p{n % 7}", 20 + n % 9] for n in range(60)]))
    plan = propose_plan(Source(path=path))
    assert "header = false" in plan
    assert "[columns.column_2]" in plan
    assert "p0" not in plan
    path.write_bytes(b'{"a": 1}\n{"a": 2}\n')
    with pytest.raises(PlanError, match="are about CSV files and workbooks"):
        propose_plan(Source(path=path), header=True)


def test_a_sheet_belongs_to_a_workbook(tmp_path):
    with pytest.raises(InputError, match="workbook, the source is json lines"):
        _ = reading(tmp_path, b'{"a": 1}', sheet="Sheet1").header
    with pytest.raises(PlanError, match=r"source.sheet belongs to a workbook"):
        SourceSection(uri="sqlite:///x", query="select 1", sheet="Sheet1").source()
