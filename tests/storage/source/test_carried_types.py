"""Every type of every source is released as docs/plan.md says, with equal values, or refused."""

import datetime
import gzip
import io
import json
import os
import re
import sqlite3
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from anon_core.errors import InputError
from crowdcover.flows.course import release_plan
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.kinds.columns import Column, type_source_column
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.source.sources import Source
from tests.postgres import PASSWORD, USER, missing, running

PLAN = Path(__file__).parents[3] / "docs/plan.md"
REFUSED = None
ROWS = 14  # of each source
DAY, CLOCK = datetime.date(1969, 12, 31), datetime.time(23, 59, 59, 999_999)
LATE = datetime.datetime(2024, 1, 5, 23, 30, 0, 123_456)
MOMENT = LATE.replace(tzinfo=datetime.UTC)
FILES, POSTGRES, DUCKDB, SQLITE, CSV = "Parquet, Arrow", "PostgreSQL", "DuckDB", "SQLite", "CSV"
US, ZONED = pl.Datetime("us"), pl.Datetime("us", "UTC")
UUID = "00000000-0000-0000-0000-0000000000ab"

# The table of docs/plan.md: source, type, released as; and cases of the row.
# Of files: (values, type in the file, released type). Of queries: (SQL, released type, value).
# Of SQLite: (values, released type). Of CSV: (texts, keys of the column, released type, values).
TABLE = [
    (FILES, "Int8 to Int64, UInt8 to UInt64", "the same", [
        ([-(2**7), 2**7 - 1], pl.Int8, pl.Int8),
        ([-(2**15), 2**15 - 1], pl.Int16, pl.Int16),
        ([-(2**31), 2**31 - 1], pl.Int32, pl.Int32),
        ([-(2**63), 2**63 - 1], pl.Int64, pl.Int64),
        ([0, 2**8 - 1], pl.UInt8, pl.UInt8),
        ([0, 2**16 - 1], pl.UInt16, pl.UInt16),
        ([0, 2**32 - 1], pl.UInt32, pl.UInt32),
        ([0, 2**64 - 1], pl.UInt64, pl.UInt64),
    ]),
    (FILES, "Float16", "Float32", [([0.5, -65504.0], pl.Float16, pl.Float32)]),
    (FILES, "Float32, Float64", "the same; NaN stays NaN, beside missing values", [
        ([0.1, float("nan")], pl.Float32, pl.Float32),
        ([0.1, -0.0], pl.Float64, pl.Float64),
        ([float("nan"), float("inf")], pl.Float64, pl.Float64),
    ]),
    (FILES, "Decimal of up to 38 digits", "Decimal", [
        ([Decimal("0.10"), Decimal("-1.25")], pl.Decimal(10, 2), pl.Decimal(10, 2)),
        ([Decimal(10**37), Decimal(1)], pl.Decimal(38, 0), pl.Decimal(38, 0)),
    ]),
    (FILES, "Decimal of more digits", "refused", []),  # polars writes none: see below
    (FILES, "Boolean", "the same", [([True, False], pl.Boolean, pl.Boolean)]),
    (FILES, "String, Categorical, Enum", "String", [
        (["a", "ü, \"b\""], pl.String, pl.String),
        (["a", "b"], pl.Categorical, pl.String),
        (["a", "b"], pl.Enum(["b", "a"]), pl.String),
    ]),
    (FILES, "Date", "Date", [([DAY, datetime.date(9999, 12, 31)], pl.Date, pl.Date)]),
    (FILES, "Date64", "Datetime", []),  # polars writes none: see below
    (FILES, "Datetime, with or without a zone", "the same, in the same zone", [
        ([LATE, datetime.datetime(1900, 1, 1)], pl.Datetime("us"), US),
        ([datetime.datetime(1900, 1, 1)], pl.Datetime("ms"), pl.Datetime("ms")),
        ([LATE], pl.Datetime("ns"), pl.Datetime("ns")),
        ([MOMENT], ZONED, ZONED),
        ([MOMENT], pl.Datetime("us", "America/Chicago"), pl.Datetime("us", "America/Chicago")),
    ]),
    (FILES, "Time", "Time", [([CLOCK, datetime.time(0)], pl.Time, pl.Time)]),
    (FILES, "Null: no value at all", "String", [([None], pl.Null, pl.String)]),
    (FILES, "Duration, Binary, List, Array, Struct, Map", "refused", [
        ([datetime.timedelta(1)], pl.Duration("us"), REFUSED),
        ([b"a"], pl.Binary, REFUSED),
        ([[1]], pl.List(pl.Int64), REFUSED),
        ([[1]], pl.Array(pl.Int64, 1), REFUSED),
        ([{"a": 1}], pl.Struct({"a": pl.Int64}), REFUSED),
    ]),
    (POSTGRES, "smallint, integer, bigint", "Int16, Int32, Int64", [
        ("(-32768)::smallint", pl.Int16, -32768),
        ("2147483647", pl.Int32, 2**31 - 1),
        ("9223372036854775807", pl.Int64, 2**63 - 1),
    ]),
    (POSTGRES, "oid", "Int64", [("4000000000::oid", pl.Int64, 4 * 10**9)]),
    (POSTGRES, "real, double precision", "Float32, Float64", [
        ("0.5::real", pl.Float32, 0.5),
        ("0.1::float8", pl.Float64, 0.1),
        ("'NaN'::float8", pl.Float64, float("nan")),
    ]),
    (POSTGRES, "numeric", "Decimal; refused: more than 38 digits, NaN", [
        ("1.10::numeric", pl.Decimal(38, 2), Decimal("1.10")),
        ("-0.001::numeric(20, 5)", pl.Decimal(38, 5), Decimal("-0.00100")),
        ("(10::numeric ^ 36)::numeric(38, 0)", pl.Decimal(38, 0), Decimal(10**36)),
        ("1e45::numeric", REFUSED, "numeric"),
        ("'NaN'::numeric", REFUSED, "numeric"),
    ]),
    (POSTGRES, "money", "Decimal, in whole units", [
        ("11900::money", pl.Decimal(19, 2), Decimal("11900.00")),
        ("(-0.01)::numeric::money", pl.Decimal(19, 2), Decimal("-0.01")),
    ]),
    (POSTGRES, "boolean", "Boolean", [("true", pl.Boolean, True)]),
    (POSTGRES, "text, varchar, char, uuid, json, jsonb, enum", "String", [
        ("'ü'::text", pl.String, "ü"),
        ("'a'::varchar(3)", pl.String, "a"),
        ("'a'::char(1)", pl.String, "a"),
        (f"'{UUID}'::uuid", pl.String, UUID),
        ("'{}'::json", pl.String, "{}"),
        ("'{}'::jsonb", pl.String, "{}"),
        ("'sad'::mood", pl.String, "sad"),
    ]),
    (POSTGRES, "date, time, timestamp", "Date, Time, Datetime; refused: infinite ones", [
        ("date '1969-12-31'", pl.Date, DAY),
        ("time '23:59:59.999999'", pl.Time, CLOCK),
        ("timestamp '2024-01-05 23:30:00.123456'", US, LATE),
        ("'infinity'::date", REFUSED, "infinite"),
    ]),
    (POSTGRES, "timestamptz", "Datetime in UTC", [
        ("timestamptz '2024-01-05 18:30:00.123456-05'", ZONED, MOMENT),
    ]),
    (POSTGRES, "bytea, arrays, interval, timetz, and any other type", "refused", [
        ("'a'::bytea", REFUSED, "Binary"),
        ("array[1]", REFUSED, "List"),
        ("interval '1 day'", REFUSED, "interval"),
        ("timetz '01:02+02'", REFUSED, "timetz"),
        ("inet '1.2.3.4'", REFUSED, "inet"),
        ("point(1, 2)", REFUSED, "point"),
        ("int4range(1, 3)", REFUSED, "unknown"),
        ("row(1, 2)", REFUSED, "record"),
    ]),
    (DUCKDB, "TINYINT to BIGINT, UTINYINT to UBIGINT", "Int8 to Int64, UInt8 to UInt64", [
        ("(-5)::tinyint", pl.Int8, -5),
        ("9223372036854775807::bigint", pl.Int64, 2**63 - 1),
        ("5::utinyint", pl.UInt8, 5),
        ("18446744073709551615::ubigint", pl.UInt64, 2**64 - 1),
    ]),
    (DUCKDB, "HUGEINT", "Decimal; refused: more than 38 digits", [
        ("(10::hugeint * 10000000000000000000)", pl.Decimal(38, 0), Decimal(10**20)),
        ("170141183460469231731687303715884105727::hugeint", REFUSED, "HUGEINT"),
    ]),
    (DUCKDB, "FLOAT, DOUBLE", "Float32, Float64", [
        ("0.5::float", pl.Float32, 0.5),
        ("0.1::double", pl.Float64, 0.1),
    ]),
    (DUCKDB, "DECIMAL", "Decimal", [
        ("1.10::decimal(10, 2)", pl.Decimal(10, 2), Decimal("1.10")),
        ("1::decimal(38, 0)", pl.Decimal(38, 0), Decimal(1)),
    ]),
    (DUCKDB, "BOOLEAN", "Boolean", [("true", pl.Boolean, True)]),
    (DUCKDB, "VARCHAR, UUID, JSON, ENUM", "String", [
        ("'ü'", pl.String, "ü"),
        (f"'{UUID}'::uuid", pl.String, UUID),
        ("'{}'::json", pl.String, "{}"),
        ("'sad'::mood", pl.String, "sad"),
    ]),
    (DUCKDB, "DATE, TIME, TIMESTAMP", "Date, Time, Datetime; refused: infinite ones", [
        ("date '1969-12-31'", pl.Date, DAY),
        ("time '23:59:59.999999'", pl.Time, CLOCK),
        ("timestamp '2024-01-05 23:30:00.123456'", US, LATE),
        ("'infinity'::date", REFUSED, "infinite"),
    ]),
    (DUCKDB, "TIMESTAMPTZ", "Datetime in UTC, whatever zone the machine has", [
        ("timestamptz '2024-01-05 18:30:00.123456-05'", ZONED, MOMENT),
    ]),
    (DUCKDB, "BLOB, LIST, STRUCT, MAP, INTERVAL, TIMETZ, and any other type", "refused", [
        ("'a'::blob", REFUSED, "Binary"),
        ("[1]", REFUSED, "List"),
        ("{'a': 1}", REFUSED, "Struct"),
        ("map {'a': 1}", REFUSED, "Map|List|Struct"),
        ("interval 1 day", REFUSED, "INTERVAL"),
        ("'01:02:03+02'::timetz", REFUSED, "TIME WITH TIME ZONE"),
        ("'101'::bit", REFUSED, "BIT"),
        ("1::union(a integer, b varchar)", REFUSED, "UNION"),
        ("1::uhugeint", REFUSED, "UHUGEINT"),
    ]),
    (SQLITE, "integers", "Int64", [([2**63 - 1, -(2**63), 0], pl.Int64)]),
    (SQLITE, "reals, also beside whole numbers below 2^53", "Float64", [
        ([0.1, -0.5], pl.Float64),
        ([0.1, 2**53 - 1], pl.Float64),
    ]),
    (SQLITE, "reals beside greater whole numbers", "refused", [
        ([0.5, 2**63 - 1], REFUSED),
        ([2**53, 0.5], REFUSED),
        ([0.5, -(2**53) - 1], REFUSED),
    ]),
    (SQLITE, "texts", "String", [(["a", "007"], pl.String)]),
    (SQLITE, "blobs, also beside other values", "refused", [
        ([b"a", b"b"], REFUSED),
        ([b"a", "a"], REFUSED),
    ]),
    (CSV, 'no kind, `"categorical"`, `"binary"`', "String", [
        (["007", "1.10"], {}, pl.String, ["007", "1.10"]),
        (["a", "b"], {"kind": "categorical"}, pl.String, ["a", "b"]),
        (["yes", "no"], {"kind": "binary"}, pl.String, ["yes", "no"]),
    ]),
    (CSV, '`kind = "numeric"`', "Int64, else Float64; refused: more digits than it keeps", [
        (["9223372036854775807", "-5"], {"kind": "numeric"}, pl.Int64, [2**63 - 1, -5]),
        (["1.10", "1e3"], {"kind": "numeric"}, pl.Float64, [1.1, 1000.0]),
        (["0.30000000000000004", "5"], {"kind": "numeric"}, pl.Float64, [0.1 + 0.2, 5.0]),
        (["0.12345678901234567890", "5"], {"kind": "numeric"}, REFUSED, "round"),
    ]),
    (CSV, '`kind = "date"`', "Date", [
        (["1969-12-31"], {"kind": "date"}, pl.Date, [DAY]),
    ]),
    (CSV, '`kind = "date"`, a `format` with a time', "Datetime", [
        (
            ["2024-01-05 23:30:00.123456"],
            {"kind": "date", "format": "%Y-%m-%d %H:%M:%S%.f"},
            US,
            [LATE],
        ),
        (
            ["2024-01-05 23:30:00.123456"],
            {"kind": "date", "format": "%Y-%m-%d %H:%M:%S.%f"},
            US,
            [LATE],
        ),
        (
            ["20240105233000123456"],
            {"kind": "date", "format": "%Y%m%d%H%M%S%f"},
            US,
            [LATE],
        ),
        (
            ["2024-01-05 23:30 EST"],
            {"kind": "date", "format": "%Y-%m-%d %H:%M %Z"},
            REFUSED,
            "name of a zone",
        ),
        (
            ["01/05/2024 11:30 PM"],
            {"kind": "date", "format": "%m/%d/%Y %I:%M %p"},
            US,
            [datetime.datetime(2024, 1, 5, 23, 30)],
        ),
    ]),
    (CSV, '`kind = "date"`, a `format` with an offset', "Datetime in UTC", [
        (
            ["2024-01-05T18:30:00.123456-05:00"],
            {"kind": "date", "format": "%Y-%m-%dT%H:%M:%S%.f%z"},
            ZONED,
            [MOMENT],
        ),
    ]),
]  # fmt: skip


def cases_of(source, *, carried=True):
    """The cases of a source, of types that are carried or refused."""
    at = {FILES: 2, SQLITE: 1, CSV: 2}.get(source, 1)
    found = [case for where, _, _, cases in TABLE if where == source for case in cases]
    return [case for case in found if (case[at] is not REFUSED) == carried]


def around(values):
    """Values of all rows: these in turn, and some that are missing."""
    return [None if at % 5 == 4 else values[at % len(values)] for at in range(ROWS)]


def whole(columns):
    """The table with its columns that tell rows apart."""
    frame = {"pid": [f"p{at}" for at in range(ROWS)], "row": list(range(ROWS))}
    return {**frame, "age": [20 + at % 3 for at in range(ROWS)], **columns}


# ---------------------------------------------------------------- the docs


def test_the_table_of_the_docs_is_this_one():
    text = PLAN.read_text("utf-8").partition("### Which values are carried")[2]
    lines = re.findall(
        r"^\| (.+?) \| (.+) \| (.+?) \|$", text.partition("\n\nSome")[0], re.MULTILINE
    )
    assert lines[1:] == [(source, of, released_as) for source, of, released_as, _ in TABLE]


def test_every_row_of_the_table_has_a_case():
    assert [of for _, of, _, cases in TABLE if not cases] == ["Decimal of more digits", "Date64"]


# ---------------------------------------------------------------- sources


def of_files(folder, ending):
    expected = {
        f"x{at}": pl.Series(around(values)).cast(to)
        if of == pl.Null
        else pl.Series(around(values), dtype=of, strict=False).cast(to)
        for at, (values, of, to) in enumerate(cases_of(FILES))
    }
    held = {
        f"x{at}": pl.Series(around(values), dtype=of, strict=False)
        for at, (values, of, _) in enumerate(cases_of(FILES))
    }
    path = folder / f"s.{ending}"
    frame = pl.DataFrame(whole(held))
    frame.write_parquet(path) if ending == "parquet" else frame.write_ipc(path)
    return {"path": str(path)}, expected, {}


def of_query(source, uri):
    """A query whose rows are around a value of each type."""
    cases = cases_of(source)
    columns = [
        f"case when i % 5 = 4 then null else {sql} end as x{at}"
        for at, (sql, _, _) in enumerate(cases)
    ]
    numbers = {POSTGRES: "generate_series(0, 13) s(i)", DUCKDB: "range(14) s(i)"}[source]
    fixed = "'p' || i as pid, i::int as row, (20 + i % 3)::int as age"
    expected = {
        f"x{at}": pl.Series(around([value]), dtype=to) for at, (_, to, value) in enumerate(cases)
    }
    query = f"select {fixed}, {', '.join(columns)} from {numbers}"
    return {"uri": uri, "query": query}, expected, {}


def of_sqlite(folder):
    cases = cases_of(SQLITE)
    columns = whole({f"x{at}": around(values) for at, (values, _) in enumerate(cases)})
    path = folder / "s.db"
    with sqlite3.connect(path) as connection:
        connection.execute(f"create table t ({', '.join(columns)})")
        marks = ", ".join("?" * len(columns))
        connection.executemany(
            f"insert into t values ({marks})", zip(*columns.values(), strict=True)
        )
    connection.close()
    expected = {
        f"x{at}": pl.Series(around(values), dtype=to, strict=False)
        for at, (values, to) in enumerate(cases)
    }
    return {"uri": f"sqlite:///{path}", "query": "select * from t"}, expected, {}


def of_csv(folder):
    cases = cases_of(CSV)
    columns = whole({f"x{at}": around(texts) for at, (texts, *_) in enumerate(cases)})
    path = folder / "s.csv"
    pl.DataFrame(columns).write_csv(path)
    expected = {
        f"x{at}": pl.Series(around(values), dtype=to) for at, (_, _, to, values) in enumerate(cases)
    }
    return {"path": str(path)}, expected, {f"x{at}": keys for at, (_, keys, *_) in enumerate(cases)}


@pytest.fixture(scope="module")
def duck(tmp_path_factory):
    """The address of a DuckDB file."""
    duckdb = pytest.importorskip("duckdb", reason="pip install 'crowdcover[duckdb]'")
    path = tmp_path_factory.mktemp("duck") / "s.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("create type mood as enum ('sad', 'glad')")
    return f"duckdb:///{path}"


@pytest.fixture(scope="module")
def server():
    """The address of a PostgreSQL server of this test run."""
    if reason := missing():
        pytest.skip(reason)
    pytest.importorskip("adbc_driver_postgresql", reason="pip install 'crowdcover[postgres]'")
    with running() as cluster:
        cluster.run("create type mood as enum ('sad', 'glad')")
        yield f"postgresql://{USER}:{PASSWORD}@{cluster.host}:{cluster.port}/postgres"


SOURCES = ("parquet", "arrow", POSTGRES, DUCKDB, SQLITE, CSV)


@pytest.fixture(params=SOURCES)
def made(request, tmp_path):
    """[source] of a plan, the expected columns, and keys of columns."""
    name = request.param
    if name in ("parquet", "arrow"):
        return of_files(tmp_path, name)
    if name == POSTGRES:
        return of_query(name, request.getfixturevalue("server"))
    if name == DUCKDB:
        return of_query(name, request.getfixturevalue("duck"))
    return of_sqlite(tmp_path) if name == SQLITE else of_csv(tmp_path)


def plan_of(folder, source, names, keys):
    fixed = {
        "pid": {"role": "identifier"},
        "row": {"role": "keep", "kind": "numeric"},
        "age": {"role": "quasi", "kind": "numeric"},
    }
    roles = ("keep", "sensitive")
    carried = {name: {"role": roles[at % 2], **keys.get(name, {})} for at, name in enumerate(names)}
    return {
        "name": "r",
        "source": source,
        "columns": {**fixed, **carried},
        "privacy": {"k": 2},
        "publish": {"path": str(folder / "releases"), "vault": str(folder / "vault")},
    }


@pytest.mark.long
def test_carried_values_are_released_equal(made, tmp_path, monkeypatch):
    source, expected, keys = made
    if PASSWORD in source.get("uri", ""):
        monkeypatch.setenv("PGPASSWORD", PASSWORD)
        source["uri"] = source["uri"].replace(f":{PASSWORD}@", "@")
    folder = Path(release_plan(ReleasePlan.of(plan_of(tmp_path, source, expected, keys))).folder)
    found = pl.read_parquet(folder / "data.parquet", glob=False).sort("row")
    right = pl.DataFrame(expected)
    assert found.select(right.columns).schema == right.schema
    for name in right.columns:
        assert found[name].eq_missing(right[name]).all(), name
    text = gzip.decompress((folder / "data.csv.gz").read_bytes())
    written = pl.read_csv(text, infer_schema=False)
    written = written.sort(pl.col("row").cast(pl.Int64)).select(right.columns)
    assert written.equals(pl.read_csv(io.BytesIO(right.write_csv().encode()), infer_schema=False))


READ = """
import hashlib, json, sys
import numpy as np
import polars as pl
from crowdcover.kinds.columns import type_source_column
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.storage.source.reading import Reading
for line in sys.stdin:
    data = ReleasePlan.of(json.loads(line)).data
    reading = Reading(data.source)
    raw = reading.columns([], [column.name for column in data.columns])
    typed = {c.name: type_source_column(raw, c, ()) for c in data.columns}
    frame = pl.DataFrame(typed).sort("row")
    print(reading.sha256, hashlib.sha256(frame.write_csv().encode()).hexdigest())
"""


@pytest.mark.long
def test_the_zone_of_the_machine_changes_nothing(request, tmp_path):
    sources = [of_files(tmp_path, "parquet"), of_sqlite(tmp_path), of_csv(tmp_path)]
    environment = dict(os.environ)
    environment.pop("PGTZ", None)
    if not missing():
        uri = request.getfixturevalue("server")
        sources.append(of_query(POSTGRES, uri.replace(f":{PASSWORD}@", "@")))
        environment["PGPASSWORD"] = PASSWORD
    sources.append(of_query(DUCKDB, request.getfixturevalue("duck")))
    plans = [json.dumps(plan_of(tmp_path, *each)) for each in sources]
    answers = {
        subprocess.run(
            [sys.executable, "-c", READ],
            input="\n".join(plans),
            env={**environment, "TZ": zone},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for zone in ("UTC", "America/New_York", "Asia/Kathmandu")
    }
    assert len(answers) == 1
    assert len(answers.pop().splitlines()) == len(plans)


# ---------------------------------------------------------------- refusals


def keep(source, **keys):
    """Read column x of a source."""
    raw = Reading(source).columns(["x", "b"], ["x"])
    named = {{"format": "date_format"}.get(key, key): value for key, value in keys.items()}
    return type_source_column(raw, Column(name="x", role="keep", **named), ())


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
@pytest.mark.parametrize("at", range(len(cases_of(FILES, carried=False))))
def test_types_of_files_that_are_refused(tmp_path, ending, at):
    values, of, _ = cases_of(FILES, carried=False)[at]
    path = tmp_path / f"s.{ending}"
    frame = pl.DataFrame({"x": pl.Series(values * 3, dtype=of)})
    frame.write_parquet(path) if ending == "parquet" else frame.write_ipc(path)
    with pytest.raises(InputError, match=rf"column 'x' holds {of.base_type().__name__}"):
        keep(Source(path=path))


def test_arrow_types_that_polars_has_not(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    wide = arrow.array([Decimal(10**50), None], arrow.decimal256(60, 0))
    days = arrow.array([DAY, None], arrow.date64())
    map_ = arrow.array([[("a", 1)], None], arrow.map_(arrow.string(), arrow.int64()))
    path = tmp_path / "s.parquet"
    parquet.write_table(arrow.table({"x": wide}), path)
    with pytest.raises(InputError, match="column 'x' holds decimals of 60 digits, and 38 are read"):
        keep(Source(path=path))
    parquet.write_table(arrow.table({"x": map_}), path)
    with pytest.raises(InputError, match=r"column 'x' holds (Map|List)"):
        keep(Source(path=path))
    path = tmp_path / "s.arrow"
    with arrow.OSFile(str(path), "wb") as file:
        table = arrow.table({"x": days})
        with arrow.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
    assert keep(Source(path=path)).to_list() == [datetime.datetime(1969, 12, 31), None]


@pytest.mark.parametrize(("sql", "words"), [
    (sql, words) for sql, _, words in cases_of(POSTGRES, carried=False)
])  # fmt: skip
def test_types_of_postgresql_that_are_refused(server, sql, words):
    with pytest.raises(InputError, match=rf"column 'x'.*({words})"):
        keep(Source(uri=server, query=f"select {sql} as x union all select null"))


@pytest.mark.parametrize(("sql", "words"), [
    (sql, words) for sql, _, words in cases_of(DUCKDB, carried=False)
])  # fmt: skip
def test_types_of_duckdb_that_are_refused(duck, sql, words):
    with pytest.raises(InputError, match=rf"column 'x'.*({words})"):
        keep(Source(uri=duck, query=f"select {sql} as x union all select null"))


@pytest.mark.parametrize("values", [values for values, _ in cases_of(SQLITE, carried=False)])
def test_values_of_sqlite_that_are_refused(tmp_path, values):
    path = tmp_path / "s.db"
    connection = sqlite3.connect(path)
    connection.execute("create table t (x, b)")
    connection.executemany("insert into t values (?, 1)", [(each,) for each in values])
    connection.commit()
    connection.close()
    source = Source(uri=f"sqlite:///{path}", query="select * from t")
    with pytest.raises(InputError, match="column 'x'") as caught:
        keep(source)
    assert str(values[0]) not in str(caught.value).replace("2**53", "")
    assert Reading(source).columns([], ["b"]).height == len(values)  # where the plan drops x


@pytest.mark.parametrize(("texts", "keys", "words"), [
    (texts, keys, words) for texts, keys, _, words in cases_of(CSV, carried=False)
])  # fmt: skip
def test_texts_that_are_refused(tmp_path, texts, keys, words):
    path = tmp_path / "s.csv"
    pl.DataFrame({"x": texts * 2, "b": 1}).write_csv(path)
    with pytest.raises(InputError, match=words) as caught:
        keep(Source(path=path), **keys)
    assert texts[0] not in str(caught.value)


@pytest.mark.parametrize(("word", "number"), [(np.uint64, np.float64), (np.uint32, np.float32)])
def test_bits_within_nan_are_dropped_as_a_column_is_typed(word, number):
    """No reader shows them, but a released file would hold them, beside the key of the row."""
    values = np.array([1.5, np.nan, np.nan, -np.nan], dtype=number)
    values.view(word)[1:3] += np.array([7, 8], dtype=word)
    column = Column(name="dose", role="sensitive")
    typed = type_source_column(pl.DataFrame({"dose": values}), column, ())
    assert typed.dtype == pl.Series(values).dtype
    bits = typed.to_numpy().view(word)
    assert bits[1:].tolist() == 3 * [np.array([np.nan], dtype=number).view(word)[0]]
    assert typed[0] == 1.5
