"""Releases and series that older builds began are read as they were; new ones lose no value."""

from pathlib import Path

import polars as pl
import pytest

from anon_core.errors import AnonymityError
from crowdcover.flows.course import release_plan
from crowdcover.flows.outcome import exit_code
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.kinds.columns import type_source_column
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.vault.files import read_json, write_json
from tests.flows.orders import Order
from tests.support.audits import audit_release

COLUMNS = {
    "pid": {"role": "identifier"},
    "age": {"role": "quasi", "kind": "numeric"},
    "seen": {"role": "keep", "kind": "date", "format": "%Y-%m-%d %H:%M:%S"},
    "born": {"role": "quasi", "kind": "date", "format": "%d.%m.%y"},
    "fee": {"role": "sensitive", "kind": "numeric"},
}


def rows(number=60, first=0):
    """Ages that may be -9.0 for missing, times of day, years of two digits."""
    return [
        (
            f"p{first + at}",
            "-9.0" if at % 10 == 3 else f"{20 + at % 30}.0",
            f"2024-01-05 {at % 24:02}:30:00",
            f"{1 + at % 28:02}.0{1 + at % 9}.{60 + at % 20}",
            f"{at / 10}",
        )
        for at in range(number)
    ]


class Dated(Order):
    """A table of these columns; [columns] and [source] may be changed."""

    def __init__(self, folder, **sections):
        super().__init__(folder, **{"columns": {}, **sections})
        self.document["columns"] = {**COLUMNS, **sections.get("columns", {})}
        self.write(source={"missing": ["-9"], **sections.get("source", {})})
        self.write_source(rows())

    def write_source(self, table):
        """Write the table with its own names."""
        columns = list(zip(*table, strict=True))
        if len(columns) == len(COLUMNS):
            pl.DataFrame(dict(zip(COLUMNS, columns, strict=True))).write_csv(self.source)

    def as_older(self):
        """A release as an older build made it, and noted nothing of how it read the source."""
        folder = release_plan(ReleasePlan.load(self.plan).read_as(1)).folder
        for path in self.vault.glob("runs/*/ingest/stage.json"):
            record = read_json(path)
            assert record["facts"].pop("form") == 1
            write_json(path, record)
        for path in self.vault.rglob("version.json"):
            record = read_json(path)
            assert record.pop("form") == 1
            write_json(path, record)
        return Path(folder)


def refused(order, code):
    """What a release says that ends with this code."""
    with pytest.raises(AnonymityError) as caught:
        order.release()
    assert exit_code(caught.value) == code
    return str(caught.value)


def test_a_release_of_an_older_build_goes_on(tmp_path):
    order = Dated(tmp_path)
    folder = order.as_older()
    found = pl.read_parquet(folder / "data.parquet", glob=False)
    assert found["seen"].dtype == pl.Date
    audit = audit_release(folder, order.plan)
    assert audit.passed, audit.findings
    assert Path(order.release()) == folder


@pytest.mark.long
def test_a_series_of_an_older_build_goes_on_as_it_was_begun(tmp_path):
    drift = {"drift": {"utility": 1.0}}  # twelve new people hide among each other
    order = Dated(tmp_path, series={"record": "pid"}, anonymizer={"name": "k-member"}, checks=drift)
    first = order.as_older()
    order.write_source([*rows(), *rows(12, 900)])
    second = Path(order.release())
    assert second.name == "v2"
    found = pl.read_parquet(second / "data.parquet", glob=False)
    assert found["seen"].dtype == pl.Date
    assert (found["since"] == 1).sum() > 0
    for folder in (first, second):
        audit = audit_release(folder, order.plan)
        assert audit.passed, audit.findings


def test_a_new_release_keeps_times_and_says_what_it_needs(tmp_path):
    order = Dated(tmp_path)
    said = refused(order, 3)
    assert "columns.born.format has years of two digits" in said
    order.document["columns"]["born"]["century"] = 1950
    order.write()
    folder = Path(order.release())
    found = pl.read_parquet(folder / "data.parquet", glob=False)
    assert found["seen"].dtype == pl.Datetime("us")
    assert found["seen"].dt.minute().unique().to_list() == [30]
    years = [year for cell in found["born"].to_list() if cell for year in (cell["lo"], cell["hi"])]
    assert {1960 <= year.year <= 1980 for year in years if year is not None} == {True}
    assert audit_release(folder, order.plan).passed


@pytest.mark.long
def test_a_series_with_times_goes_on(tmp_path):
    columns = {"born": {**COLUMNS["born"], "century": 1930}}
    checks = {"drift": {"utility": 1.0}}
    order = Dated(tmp_path, columns=columns, series={"record": "pid"}, checks=checks)
    order.release()
    order.write_source([*rows(), *rows(12, 900)])
    second = Path(order.release())
    found = pl.read_parquet(second / "data.parquet", glob=False)
    assert (second.name, found["seen"].dtype) == ("v2", pl.Datetime("us"))
    assert audit_release(second, order.plan).passed


def test_a_series_refuses_a_header_among_its_rows(tmp_path):
    columns = {"born": {**COLUMNS["born"], "century": 1930}}
    order = Dated(tmp_path, columns=columns, series={"record": "pid"})
    order.write_source([*rows(), tuple(COLUMNS)])
    assert "1 of 61 rows of the source repeat the names" in refused(order, 3)


@pytest.mark.long
def test_a_series_refuses_names_that_its_source_lacks(tmp_path):
    columns = {"born": {**COLUMNS["born"], "century": 1930}}
    order = Dated(tmp_path, columns=columns, series={"record": "pid"})
    order.write(source={"missing": ["-9", "-8"]})
    assert "has the 2nd of 2 texts in source.missing" in refused(order, 3)
    order.write(source={"optional": ["-8"]})
    assert Path(order.release()).name == "v1"


@pytest.mark.long
@pytest.mark.parametrize("century", [1900, 1950, 1969, 2000])
def test_the_century_is_the_plans(tmp_path, century):
    born = {"role": "keep", "kind": "date", "format": "%d.%m.%y", "century": century}
    order = Dated(tmp_path, columns={"born": born})
    found = pl.read_parquet(Path(order.release()) / "data.parquet", glob=False)["born"]
    years = {century + (60 + at % 20 - century) % 100 for at in range(60)}
    assert set(found.dt.year().to_list()) == years


def test_numbers_are_rounded_as_stated(tmp_path):
    columns = {
        "born": {"role": "drop"},
        "fee": {"role": "sensitive", "kind": "numeric", "round": 0},
    }
    order = Dated(tmp_path, columns=columns)
    found = pl.read_parquet(Path(order.release()) / "data.parquet", glob=False)["fee"]
    assert set(found.to_list()) <= {float(whole) for whole in range(7)}


@pytest.mark.long
@pytest.mark.parametrize(("zone", "days"), [("Asia/Tokyo", {6}), ("America/Chicago", {5})])
def test_moments_have_days_in_the_zone_that_the_plan_states(tmp_path, zone, days):
    order = Dated(tmp_path, columns={"born": {"role": "drop"}})
    moments = pl.datetime_range(
        pl.datetime(2024, 1, 5, 16), pl.datetime(2024, 1, 5, 22), "10m", eager=True, time_zone="UTC"
    )
    path = tmp_path / "people.parquet"
    columns = zip(*rows(len(moments)), strict=True)
    frame = pl.DataFrame(dict(zip(COLUMNS, columns, strict=True)))
    frame.with_columns(seen=moments, age=pl.col("age").cast(pl.Float64)).write_parquet(path)
    seen = {"role": "quasi", "kind": "date"}
    order.document["columns"]["seen"] = seen
    order.write(source={"path": str(path)})
    assert "state columns.seen.timezone" in refused(order, 3)
    order.document["columns"]["seen"] = {**seen, "timezone": zone}
    order.write()
    plan = ReleasePlan.load(order.plan)
    column = next(each for each in plan.data.columns if each.name == "seen")
    raw = Reading(plan.data.source).columns([], ["seen"])
    assert days <= set(type_source_column(raw, column, ()).dt.day().to_list()) <= {5, 6}
    assert audit_release(Path(order.release()), order.plan).passed


@pytest.mark.parametrize(("key", "value", "words"), [
    ("timezone", "Mars/Olympus", "columns.seen.timezone is the name of no zone"),
    ("century", 1950, "columns.seen.century belongs to years of two digits"),
    ("round", 2, "columns.seen.round belongs to kind = 'numeric'"),
])  # fmt: skip
def test_conversions_that_a_column_has_no_use_for(tmp_path, key, value, words):
    order = Dated(tmp_path, columns={"seen": {**COLUMNS["seen"], key: value}})
    assert words in refused(order, 2)


def test_times_without_a_zone_need_none(tmp_path):
    seen = {**COLUMNS["seen"], "timezone": "America/Chicago"}
    order = Dated(tmp_path, columns={"seen": seen, "born": {"role": "drop"}})
    assert "column 'seen' has times without a zone" in refused(order, 3)


def test_a_duckdb_release_of_an_older_build_goes_on(tmp_path, monkeypatch):
    duckdb = pytest.importorskip("duckdb", reason="pip install 'crowdcover[duckdb]'")
    path = tmp_path / "s.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "create table t as select 'p' || i as pid, 20 + i % 9 as age, "
            "timestamptz '2024-01-05 23:30:00-05:00' + to_hours((i % 5)::int) as seen "
            "from range(60) r(i)"
        )
    connect = duckdb.connect

    def connect_elsewhere(*arguments, **options):
        connection = connect(*arguments, **options)
        connection.execute("set global TimeZone = 'America/New_York'")
        return connection

    monkeypatch.setattr(duckdb, "connect", connect_elsewhere)
    order = Order(tmp_path)
    seen = {"role": "keep", "kind": "date"}
    order.document |= {
        "source": {"uri": f"duckdb:///{path}", "query": "select * from t"},
        "columns": {name: COLUMNS[name] for name in ("pid", "age")} | {"seen": seen},
    }
    order.write()
    folder = Dated.as_older(order)
    days = pl.read_parquet(folder / "data.parquet", glob=False)["seen"]
    assert {day.day for day in days} == {5, 6}
    assert audit_release(folder, order.plan).passed
    assert Path(order.release()) == folder
