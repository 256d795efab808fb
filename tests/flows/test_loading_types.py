"""Rows of every type and name arrive in a database as they are, or are refused."""

import datetime
import decimal
import json

import polars as pl
import pytest

from crowdcover.storage.targets.base import CONVERTED_ROWS, TargetError
from crowdcover.storage.targets.loading import ReleaseTables, load_version, run_in_transaction

CELLS = {
    "text": (pl.String, ["a", "", None, "q\"u'o\n\\N\t"]),
    "small": (pl.Int8, [1, -1, None, 127]),
    "natural": (pl.UInt64, [2**64 - 1, 0, None, 1]),
    "wide": (pl.Int128, [2**100, -(2**126), None, 0]),
    "real": (pl.Float64, [0.1, float("inf"), None, -1e300]),
    "single": (pl.Float32, [0.5, -0.25, None, 2.0]),
    "truth": (pl.Boolean, [True, False, None, True]),
    "day": (pl.Date, [datetime.date(1, 1, 1), datetime.date(9999, 12, 31), None, None]),
    "moment": (
        pl.Datetime("us"),
        [datetime.datetime(1969, 12, 31, 23, 59, 59, 999999)] + [None] * 3,
    ),
    "clock": (pl.Time, [datetime.time(1, 2, 3, 4), datetime.time(0), None, None]),
    "price": (pl.Decimal(12, 2), [decimal.Decimal("1.50"), decimal.Decimal("-0.10"), None, None]),
    "kind": (pl.Categorical, ["x", "y", None, "x"]),
    "bytes": (pl.Binary, [b"a", b"\xff\x00", None, b""]),
    "nothing": (pl.Null, [None] * 4),
    "set": (pl.List(pl.String), [["a", "b"], [None, "c"], None, []]),
    "numbers": (pl.List(pl.UInt32), [[1, 2**32 - 1], [], None, [3]]),
}
NESTED = {
    "interval": (
        pl.Struct({"lo": pl.Date, "hi": pl.Date, "missing": pl.Boolean}),
        [
            {"lo": datetime.date(2020, 1, 1), "hi": None, "missing": False},
            {"lo": None, "hi": None, "missing": True},
            None,
            {"lo": None, "hi": None, "missing": None},
        ],
    ),
    "intervals": (
        pl.List(pl.Struct({"lo": pl.Float64, "hi": pl.Float64})),
        [[{"lo": 1.5, "hi": 1e300}, None], [], None, [{"lo": None, "hi": 2.0}]],
    ),
}
ODD = ["key", "Age", "age", "ctid", "a.b", 'q"u', "it's", "a\x00b", "^a$", "é" * 60, "x" * 70,
       "x" * 71, "select", "key_"]  # fmt: skip


def frame_of(cells):
    frame = pl.DataFrame({name: pl.Series(each, dtype=of) for name, (of, each) in cells.items()})
    return frame.with_row_index("row").with_columns(pl.col("row").cast(pl.Int32))


def load(database, frame, name="people", version="v1", **stated):
    stated = {"manifest": f"hash of {name} {version}", **stated}
    parts = frame if isinstance(frame, dict) else {"": frame.lazy()}
    made = ReleaseTables(name, version, stated["manifest"], parts)
    return run_in_transaction(database.uri, lambda session: load_version(session, made, None, []))


@pytest.mark.long
def test_cells_arrive_in_their_types(database):
    frame = frame_of(CELLS)
    load(database, frame)
    rows = [list(row) for row in database.ask('select * from "people" order by "row"')]
    expected = [list(row) for row in frame.rows()]
    if database.is_postgres:  # its driver answers numeric by texts
        for name in ("natural", "wide", "price"):
            place = frame.columns.index(name)
            for row in rows:
                row[place] = None if row[place] is None else decimal.Decimal(row[place])
    assert rows == expected
    types = database.types("people_v1")
    assert types == database.types("people")
    wanted = ("numeric", "numeric(12,2)") if database.is_postgres else ("UBIGINT", "DECIMAL(12,2)")
    assert (types["natural"], types["price"]) == wanted
    assert types["day"].lower() == "date"
    assert types["set"] == ("text[]" if database.is_postgres else "VARCHAR[]")


def test_intervals_are_json_in_postgresql_and_structs_in_duckdb(database):
    frame = frame_of(NESTED)
    load(database, frame)
    types = database.types("people")
    rows = database.ask('select interval, intervals from "people" order by "row"')
    if not database.is_postgres:
        assert types["interval"] == "STRUCT(lo DATE, hi DATE, missing BOOLEAN)"
        assert rows == frame.drop("row").rows()
        return
    assert (types["interval"], types["intervals"]) == ("jsonb", "jsonb")
    for found, row in zip(rows, frame.drop("row").rows(), strict=True):
        for cell, expected in zip(found, row, strict=True):
            said = json.loads(json.dumps(expected, default=str))
            assert (cell is None and said is None) or json.loads(cell, parse_int=float) == said
    [(lo,)] = database.ask(
        "select (interval ->> 'lo')::date::text from people where interval ->> 'missing' = 'false'"
    )
    assert lo == "2020-01-01"


def test_moments_finer_than_a_database_holds_are_refused(database):
    nanoseconds = pl.Series([1_000, 1_001]).cast(pl.Datetime("ns"))
    frame = pl.DataFrame({"^when$": nanoseconds})
    if not database.is_postgres:
        load(database, frame)
        assert database.types("people")["^when$"] == "TIMESTAMP_NS"
        return
    with pytest.raises(TargetError, match=r"'\^when\$' has times finer than microseconds"):
        load(database, frame)
    assert database.relations() == {}
    load(database, frame.head(1))


def test_odd_names_of_columns(database):
    frame = pl.DataFrame({name: [number] for number, name in enumerate(ODD)})
    renamed = load(database, frame).renamed
    names = [renamed.get(name, name) for name in ODD]
    assert database.ask('select * from "people"') == [tuple(range(len(ODD)))]
    assert list(database.types("people")) == names
    assert len(set(names)) == len(ODD)
    changed = {"a\x00b"} | (
        {"ctid", "é" * 60, "x" * 70, "x" * 71} if database.is_postgres else {"Age", "age"}
    )
    assert set(renamed) == changed
    if database.is_postgres:
        assert all(len(name.encode()) <= 63 for name in names)
        [(said,)] = database.ask(
            "select col_description('people_v1'::regclass, attnum) from pg_attribute "
            f"where attname = '{renamed['x' * 70]}' and attrelid = 'people_v1'::regclass"
        )
        assert said == "x" * 70


def test_long_names_of_releases_do_not_collide(database):
    names = ["long." + "n" * 150 + end for end in "ab"]
    done = [load(database, pl.DataFrame({"key": [name]}), name) for name in names]
    assert len({each.views[0] for each in done} | {each.tables[0] for each in done}) == 4
    for name, each in zip(names, done, strict=True):
        assert database.ask(f'select key from "{each.views[0]}"') == [(name,)]
        assert (each.views[0] == name) == (not database.is_postgres)


def test_many_rows_in_batches(database):
    rows = 3 * CONVERTED_ROWS + 7
    frame = pl.DataFrame({"key": pl.int_range(rows, eager=True), "text": ["t"] * rows})
    load(database, frame)
    sums = "select count(*)::bigint, sum(key)::bigint, count(text)::bigint from people"
    assert database.ask(sums) == [(rows, rows * (rows - 1) // 2, rows)]


def test_no_rows(database):
    load(database, pl.DataFrame(schema={"key": pl.String, "set": pl.List(pl.String)}))
    assert database.ask("select * from people") == []


def test_a_text_that_postgresql_cannot_hold_is_refused_without_the_text(database):
    frame = pl.DataFrame({"key": ["good", "zq7\x00zq7"]})
    if not database.is_postgres:
        load(database, frame)
        assert database.ask("select key from people") == [("good",), ("zq7\x00zq7",)]
        return
    with pytest.raises(TargetError, match="such as NUL") as refused:
        load(database, frame)
    assert "zq7" not in str(refused.value) + repr(refused.value)
    assert (refused.value.__cause__, refused.value.__context__) == (None, None)
    assert database.relations() == {}
