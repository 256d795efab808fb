"""Values that a plan names take hold, compared in the column's own type, or are refused."""

import datetime
import unicodedata
from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.errors import InputError
from anon_core.specs.columns import ColumnSpec
from anon_core.specs.demands import Demand
from anon_core.tables.demands import list_stated_k
from crowdcover.flows.plan.plan import PlanError, ReleasePlan
from crowdcover.kinds.arrays import convert_to_arrays
from crowdcover.kinds.columns import Column, type_source_column
from crowdcover.kinds.numerals import Numerals
from crowdcover.kinds.table.pipeline.naming import repeats_names
from crowdcover.kinds.table.pipeline.read import read_table
from crowdcover.kinds.table.plan.columns import ColumnSection
from crowdcover.storage.ledger.identifier_spelling import normalize_spelling
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.source.sources import Source

DAY = datetime.date(2024, 1, 5)
MARK = "zq7"


def write(folder, columns, ending="csv"):
    """A table with these columns and one of ages."""
    frame = pl.DataFrame(
        {**columns, "age": [20 + at for at in range(len(next(iter(columns.values()))))]}
    )
    path = folder / f"s.{ending}"
    frame.write_csv(path) if ending == "csv" else frame.write_parquet(path)
    return path


def quasi(name, kind, **keys):
    spec = ColumnSpec(name=name, kind=kind, **keys)
    return Column(name=name, role="quasi", kind=kind, spec=spec, named=spec.order)


AGE = quasi("age", "numeric")


def read(path, column, demand=None, **source):
    demand = demand or Demand(constant=2)
    return read_table(Reading(Source(path=path, **source)), (column, AGE), demand, named=True)


def levels_of(path, column, names, **more):
    """The k of each row, where levels of k name these values."""
    demand = Demand(by=column.name, levels=dict.fromkeys(names, 10), default=2, **more)
    found = read(path, column, demand).k_values
    return list_stated_k(demand, found.height, convert_to_arrays(found)[column.name]).tolist()


# ---------------------------------------------------------------- headers among the rows


def test_rows_that_repeat_the_names_are_refused(tmp_path):
    path, ward = tmp_path / "s.csv", quasi("ward", "categorical")
    path.write_text("ward,age\na,1\nward,age\nb,2\n ward ,age\n")
    with pytest.raises(InputError, match="2 of 4 rows of the source repeat the names"):
        read(path, ward)
    path.write_text("ward,age\na,1\nward,2\nb,2\n")
    assert read(path, ward).table.height == 3


# ---------------------------------------------------------------- identifiers


def test_identifiers_that_may_be_two_numbers_are_refused(tmp_path):
    path = write(tmp_path, {"id": ["1.000", "2.500", "\uff11.000", "7"]})
    with pytest.raises(
        InputError, match=r"column 'id': 3 of 4 identifiers are written like 1\.000"
    ):
        read(path, Column(name="id", role="identifier"))
    codes = read(path, Column(name="id", role="identifier", kind="categorical"))
    assert normalize_spelling(codes.identifiers["id"]).to_list() == ["1.000", "2.500", "1.000", "7"]


@pytest.mark.parametrize(
    "ids",
    [
        pl.Series([1.25, 2.125, 3.0]),
        pl.Series(["1.000", "2.000", "3.000"]).cast(pl.Decimal(9, 3)),
        pl.Series(["1,000", "1000.000", "1.000.000"]),
        pl.Series(["0.125", "01.000", "A1.000"]),
    ],
)
def test_identifiers_that_mean_one_thing_are_read(tmp_path, ids):
    path = write(tmp_path, {"id": ids}, "parquet")
    assert read(path, Column(name="id", role="identifier")).table.height == 3


# ---------------------------------------------------------------- levels of k

HOLDS = {
    "whole reals": (pl.Series([1.0, 2.0, 1.0]), "categorical", "1"),
    "short reals": (pl.Series([0.1, 2.0, 0.1], dtype=pl.Float32), "categorical", "0.10"),
    "decimals": (pl.Series(["1.50", "2.00", "1.50"]).cast(pl.Decimal(10, 2)), "categorical", "1.5"),
    "small integers": (pl.Series([1, 2, 1], dtype=pl.UInt8), "categorical", "1.0"),
    "great integers": (
        pl.Series([2**64 - 1, 2, 2**64 - 1], dtype=pl.UInt64),
        "categorical",
        str(2**64 - 1),
    ),
    "truth": (pl.Series([True, False, True]), "binary", "True"),
    "days": (pl.Series([DAY, datetime.date(2024, 1, 6), DAY]), "categorical", "2024-01-05"),
    "moments": (
        pl.Series([datetime.datetime(2024, 1, 5 + at) for at in (0, 1, 0)]),
        "categorical",
        "2024-01-05",
    ),
    "clock": (
        pl.Series([datetime.time(8), datetime.time(9), datetime.time(8)]),
        "categorical",
        "08:00",
    ),
    "codes": (pl.Series(["a", "b", "a"], dtype=pl.Categorical), "categorical", "a"),
    "numbers": (pl.Series([1.0, 2.0, 1.0]), "numeric", "1"),
    "dates": (pl.Series([DAY, datetime.date(2024, 1, 6), DAY]), "date", "2024-01-05"),
}  # fmt: skip


@pytest.mark.parametrize("case", HOLDS)
def test_levels_of_k_are_compared_in_the_type_of_the_column(tmp_path, case):
    series, kind, name = HOLDS[case]
    path = write(tmp_path, {"g": series}, "parquet")
    assert levels_of(path, quasi("g", kind), [name]) == [10, 2, 10]


@pytest.mark.parametrize(("texts", "name"), [
    (["1.0", "2.0", "1.0"], "1"),
    (["01", "2", "1"], "1.00"),
    (["1e0", "2", "+1"], "1"),
])  # fmt: skip
def test_levels_of_numbers_in_a_csv_file_are_numbers(tmp_path, texts, name):
    path = write(tmp_path, {"g": texts})
    assert levels_of(path, quasi("g", "numeric"), [name]) == [10, 2, 10]


def test_levels_of_dates_in_a_csv_file_are_days(tmp_path):
    path = write(tmp_path, {"g": ["05.01.2024", "06.01.2024", "05.01.2024"]})
    spec = ColumnSpec(name="g", kind="date")
    column = Column(name="g", role="quasi", kind="date", date_format="%d.%m.%Y", spec=spec)
    for name in ("2024-01-05", "05.01.2024", " 5.1.2024 "):
        assert levels_of(path, column, [name]) == [10, 2, 10]


@pytest.mark.parametrize(("form", "cells", "name", "more"), [
    ("%d.%m.%y", ["05.01.24", "06.01.24", "05.01.24"], "05.01.24", {"century": 1950}),
    ("%d %B %Y", ["5 January 2024", "6 January 2024", "05 January 2024"], "5 January 2024", {}),
    ("%m/%d/%Y", ["01/05/2024", "05/01/2024", "01/05/2024"], "01/05/2024", {}),
    (
        "%Y-%m-%dT%H:%M:%S%z",
        ["2024-01-05T13:00:00+01:00", "2024-01-05T13:00:00+00:00", "2024-01-05T12:00:00+00:00"],
        "2024-01-05T12:00:00+00:00",
        {},
    ),
])  # fmt: skip
def test_levels_of_dates_are_written_as_the_column_writes_them(tmp_path, form, cells, name, more):
    path = write(tmp_path, {"g": cells})
    column = Column(name="g", role="keep", kind="date", date_format=form, public=True, **more)
    assert levels_of(path, column, [name]) == [10, 2, 10]


@pytest.mark.parametrize(("numerals", "cells", "name"), [
    (Numerals(decimal=","), ["1,5", "2,5", "1,50"], "1,5"),
    (Numerals(decimal=","), ["1,5", "2,5", "1,50"], "1.5"),
    (Numerals(thousands="."), ["1.234", "1", "1234"], "1.234"),
    (Numerals(thousands=" ", decimal=","), ["1\u00a0234,0", "1", "1234"], "1 234"),
    (Numerals(strip="€"), ["10 €", "20 €", "€ 10.0"], "10"),
])  # fmt: skip
def test_levels_of_numbers_are_written_as_the_column_writes_them(tmp_path, numerals, cells, name):
    path = write(tmp_path, {"g": cells})
    column = replace(quasi("g", "numeric"), numerals=numerals)
    assert levels_of(path, column, [name]) == [10, 2, 10]


@pytest.mark.parametrize(("column", "cells", "name"), [
    (
        replace(quasi("g", "numeric"), numerals=Numerals(decimal=",", thousands=".")),
        ["1.234", "1,234", "1.234,0"],
        "1.234",
    ),
    (
        Column(name="g", role="keep", kind="date", date_format="%Y-%d-%m"),
        ["2024-05-01", "2024-01-05", "2024-05-01"],
        "2024-01-05",
    ),
])  # fmt: skip
def test_a_name_that_has_two_readings_names_one_value(tmp_path, column, cells, name):
    path = write(tmp_path, {"g": cells})
    assert levels_of(path, replace(column, public=True), [name]) == [10, 2, 10]


APART = unicodedata.normalize("NFD", "zürich")


@pytest.mark.parametrize(("cells", "name"), [
    (["zürich", "ulm", "zürich"], APART),
    ([APART, "ulm", APART], "zürich"),
    (["zürich", "ulm", APART], "zürich"),
    (["ulm", "bonn", " ulm "], " ulm\t"),
    ([" 01", "02", "01\u00a0"], "01"),
])  # fmt: skip
def test_levels_of_texts_differ_in_blanks_and_marks(tmp_path, cells, name):
    path = write(tmp_path, {"g": cells})
    assert levels_of(path, quasi("g", "categorical"), [name]) == [10, 2, 10]


@pytest.mark.parametrize(("series", "kind", "names"), [
    (pl.Series([1.0, 2.0]), "numeric", ("1", "2", "1.0")),
    (pl.Series(["1", "2"]), "numeric", ("01", "2", "1e0")),
    (pl.Series(["zürich", "ulm"]), "categorical", ("zürich", "ulm", APART)),
    (pl.Series(["ulm", "bonn"]), "categorical", ("ulm", "bonn", "ulm ")),
    (pl.Series([DAY, datetime.date(2024, 1, 6)]), "date", ("2024-01-05", MARK, "05.01.2024")),
    (pl.Series([True, False]), "binary", ("True", "False", "true")),
])  # fmt: skip
def test_two_levels_of_one_value_are_refused(tmp_path, series, kind, names):
    path = write(tmp_path, {"g": series}, "parquet")
    column = quasi("g", kind)
    said = r"1 and 3 of the 3 values in privacy\.k\.levels \(column 'g'\) name one value"
    if kind == "date":
        path = write(tmp_path, {"g": series.dt.strftime("%d.%m.%Y")})
        column = replace(column, date_format="%d.%m.%Y")
    with pytest.raises(InputError, match=said) as caught:
        levels_of(path, column, names)
    assert MARK not in str(caught.value)


def test_an_order_has_no_blanks_around_its_names(tmp_path):
    section = ColumnSection(
        role="quasi",
        kind="categorical",
        encoding="ordinal",
        order=[" low", APART, "high "],
        optional=["high "],
    )
    path = write(tmp_path, {"g": ["low ", "zürich", "low"]})
    column = section.column("g")
    assert read(path, column).table["g"].to_list() == ["low", APART, "low"]
    assert (column.named, column.optional) == (("low", APART, "high"), ("high",))


@pytest.mark.parametrize("cell", [APART, "zürich"])
def test_a_marker_is_compared_without_its_form(tmp_path, cell):
    path = write(tmp_path, {"g": [cell, "ulm"]})
    for marker in (APART, "zürich"):
        found = read(path, Column(name="g", role="keep"), missing=(marker,))
        assert found.table["g"].to_list() == [None, "ulm"]


@pytest.mark.parametrize("texts", [
    ["1.0", "2.0", "1.0"],
    ["01", "02", "01"],
    ["A", "B", "A"],
    ["", "2", "3"],
    ["x 1", "2", "3"],
])  # fmt: skip
@pytest.mark.parametrize("name", ["1", "a", MARK])
def test_a_level_that_no_row_has_is_refused(tmp_path, texts, name):
    path = write(tmp_path, {"g": texts})
    with pytest.raises(InputError, match="no row of column 'g' has the 1st of 1 values") as caught:
        levels_of(path, quasi("g", "categorical"), [name])
    assert MARK not in str(caught.value)
    assert "privacy.k.optional" in str(caught.value)
    optional = ("zq8", "zq9")
    names = [*optional, texts[1]]
    assert 10 in levels_of(path, quasi("g", "categorical"), names, optional=optional)


@pytest.mark.parametrize(("texts", "near"), [
    (["1", "1.0", "2", "1.0"], 2),
    (["1", "01", "2", "3"], 1),
    (["ulm", "Ulm", "ULM", "bonn"], 2),
    (["a b", "a  b", "a\u00a0b", "c"], 2),
])  # fmt: skip
def test_rows_whose_level_is_spelt_otherwise_are_counted(tmp_path, texts, near):
    path = write(tmp_path, {"g": texts})
    with pytest.raises(
        InputError, match=rf"column 'g': {near} of 4 rows have a value that differs"
    ):
        levels_of(path, quasi("g", "categorical"), [texts[0]])
    both = levels_of(path, quasi("g", "categorical"), sorted(set(texts)))
    assert both == [10] * 4


# ---------------------------------------------------------------- orders


@pytest.mark.parametrize(("values", "order"), [
    (pl.Series([3.0, 1.0, 2.0]), ("1", "2", "3")),
    (pl.Series([3, 1, 2], dtype=pl.Int8), ("1.0", "2.0", "3.0")),
    (pl.Series([True, False, True]), ("False", "True")),
    (pl.Series(["1.0", "2.0", "2.0"]).cast(pl.Decimal(5, 1)), ("1", "2")),
    (pl.Series([DAY, datetime.date(2024, 1, 6), DAY]), ("2024-01-05", "2024-01-06")),
])  # fmt: skip
def test_an_order_is_compared_in_the_type_of_the_column(tmp_path, values, order):
    path = write(tmp_path, {"g": values}, "parquet")
    column = quasi("g", "categorical", encoding="ordinal", order=order)
    assert set(read(path, column).table["g"].to_list()) == set(order)


def test_a_place_of_an_order_that_no_row_has_is_refused(tmp_path):
    path = write(tmp_path, {"g": ["low", "high", "low"]})
    column = quasi("g", "categorical", encoding="ordinal", order=("low", MARK, "high"))
    with pytest.raises(InputError, match=r"has the 2nd of 3 values in columns\.g\.order") as caught:
        read(path, column)
    assert MARK not in str(caught.value)


def test_parts_of_a_source_need_not_have_all_names(tmp_path):
    path = write(tmp_path, {"g": ["low", "high", "low"]})
    column = quasi("g", "categorical", encoding="ordinal", order=("low", "middle", "high"))
    assert read(path, column, whole=False, missing=("?",)).table.height == 3


# ---------------------------------------------------------------- missing

NUMBERS = ["-9.0", "57.0", "43.0", "-9"]


@pytest.mark.parametrize(("cells", "marker", "gone"), [
    (NUMBERS, "-9", 2),
    (NUMBERS, "-9.00", 2),
    (["-9", "57", "43", "12"], "-9.0", 1),
    (["9e2", "57.5", "43", "900.0"], "900", 2),
    (["099", "57", "43", "99"], "99", 2),
])  # fmt: skip
def test_markers_of_numbers_are_numbers(tmp_path, cells, marker, gone):
    path = write(tmp_path, {"g": cells})
    assert read(path, quasi("g", "numeric"), missing=(marker,)).table["g"].null_count() == gone
    carried = Column(name="g", role="sensitive", kind="numeric")
    assert read(path, carried, missing=(marker,)).table["g"].null_count() == gone


@pytest.mark.parametrize(("series", "marker"), [
    (pl.Series([-9.0, 1.5]), "-9"),
    (pl.Series([-9.5, 1.5], dtype=pl.Float32), "-9.50"),
    (pl.Series([-9, 1], dtype=pl.Int16), "-9.0"),
    (pl.Series(["-9.00", "1.00"]).cast(pl.Decimal(6, 2)), "-9"),
    (pl.Series([datetime.date(1900, 1, 1), DAY]), "1900-01-01"),
    (pl.Series([datetime.datetime(1900, 1, 1), datetime.datetime(2024, 1, 5)]), "1900-01-01"),
])  # fmt: skip
@pytest.mark.parametrize("kind", [None, "own"])
def test_markers_are_compared_in_the_type_of_the_column(tmp_path, series, marker, kind):
    of = "date" if series.dtype.is_temporal() else "numeric"
    column = Column(name="g", role="keep", kind=of if kind else None)
    path = write(tmp_path, {"g": series}, "parquet")
    assert read(path, column, missing=(marker,)).table["g"].is_null().to_list() == [True, False]


def test_a_marker_of_dates_may_be_a_day(tmp_path):
    path = write(tmp_path, {"g": ["01/01/1900", "01/05/2024"]})
    column = Column(name="g", role="keep", kind="date", date_format="%m/%d/%Y")
    for marker in ("1900-01-01", "01/01/1900"):
        assert read(path, column, missing=(marker,)).table["g"].to_list() == [None, DAY]


def test_a_marker_of_texts_is_a_text(tmp_path):
    path = write(tmp_path, {"g": ["-9.0", "-9", "a"]})
    found = read(path, Column(name="g", role="keep"), missing=("-9",)).table["g"]
    assert found.to_list() == ["-9.0", None, "a"]


@pytest.mark.parametrize("marker", ["-8", "NA", MARK])
def test_a_marker_that_no_cell_has_is_refused(tmp_path, marker):
    path = write(tmp_path, {"g": NUMBERS})
    with pytest.raises(InputError, match=r"has the 2nd of 2 texts in source\.missing") as caught:
        read(path, quasi("g", "numeric"), missing=("-9", marker))
    assert MARK not in str(caught.value)
    found = read(path, quasi("g", "numeric"), missing=("-9", marker), optional=(marker,))
    assert found.table.height == 4


def test_readings_of_older_builds_stay_as_they_were(tmp_path):
    path = write(tmp_path, {"g": NUMBERS})
    column = Column(name="g", role="keep", kind="numeric", form=1)
    found = read(path, column, missing=("-9", "NA"), form=1)
    assert found.table["g"].to_list() == [-9.0, 57.0, 43.0, None]
    frame = pl.DataFrame({"g": [datetime.datetime(2024, 1, 5, 23)]})
    assert type_source_column(
        frame, Column(name="g", role="keep", kind="date", form=1), ()
    ).to_list() == [DAY]


# ---------------------------------------------------------------- the plan


def document(**sections):
    return {
        "name": "r",
        "source": {"path": "s.csv", "missing": ["NA"], **sections.get("source", {})},
        "columns": {
            "g": {
                "role": "quasi",
                "kind": "categorical",
                "encoding": "ordinal",
                "order": ["a", "b"],
                **sections.get("column", {}),
            }
        },
        "privacy": {"k": {"by": "g", "levels": {"a": 5}, "default": 2, **sections.get("k", {})}},
    }


@pytest.mark.parametrize("where", ["source", "column", "k"])
def test_what_need_not_occur_is_stated(where):
    names = {"source": "NA", "column": "b", "k": "a"}
    plain = ReleasePlan.of(document())
    for optional in (True, [names[where]]):
        plan = ReleasePlan.of(document(**{where: {"optional": optional}}))
        assert plan.sha256 == plain.sha256  # it only allows a release
        of = {"source": plan.data.source, "column": plan.data.columns[0], "k": plan.data.demand}
        assert names[where] in of[where].optional
    with pytest.raises(PlanError, match=r"optional names 1 values that .* does not") as caught:
        ReleasePlan.of(document(**{where: {"optional": [MARK]}}))
    assert MARK not in str(caught.value)
    with pytest.raises(PlanError, match=r"optional.* must be"):
        ReleasePlan.of(document(**{where: {"optional": 5}}))


@given(
    st.lists(
        st.lists(st.sampled_from(["a", " b", "b ", "xb", "^c$", "", None]), min_size=3, max_size=3)
    )
)
def test_rows_that_repeat_the_names_hold_each_name(rows):
    names = ["a", "b", " ^c$ "]
    columns = {
        name: pl.Series(name, [row[place] for row in rows], pl.String)
        for place, name in enumerate(names)
    }
    found = repeats_names(columns).to_list()
    assert found == [[(cell or "").strip() for cell in row] == ["a", "b", "^c$"] for row in rows]
