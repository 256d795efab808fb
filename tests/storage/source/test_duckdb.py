"""DuckDB files as sources: what a query selects, read-only, and refusals that name no value."""

import datetime
import decimal
import sys
from pathlib import Path

import pytest

from anon_core.errors import InputError
from crowdcover.flows.plan.document import read_document
from crowdcover.storage.source.databases import query_database
from tests.support.sources import MARK, quiet

duckdb = pytest.importorskip(
    "duckdb", reason="the driver is not installed: pip install 'crowdcover[duckdb]'"
)

TABLE = f"""
create type mood as enum ('sad', 'glad');
create table people as select
    i as age, '{MARK} ' || i as name, date '2020-01-01' + i::integer as born,
    (i * 1.5)::decimal(8, 2) as price, i::hugeint as huge, (i % 2)::varchar as code,
    case when i % 2 = 0 then 'sad'::mood else 'glad'::mood end as mood,
    case when i = 0 then null else i end as holes, interval 1 day as span
from range(6) rows(i)
"""


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    """A DuckDB file with one table."""
    path = tmp_path_factory.mktemp("duck") / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(TABLE)
    return path


def asked(database, statement):
    rows = query_database(f"duckdb:///{database}", statement)
    return rows.unpack_columns(rows.names), rows.sha256


def test_values_arrive_in_their_types(database):
    frame, _ = asked(database, "select * exclude (span) from people order by age desc")
    rows = {row["age"]: row for row in frame.rows(named=True)}
    assert sorted(rows) == list(range(6))
    assert rows[3] == {
        "age": 3,
        "name": f"{MARK} 3",
        "born": datetime.date(2020, 1, 4),
        "price": decimal.Decimal("4.50"),
        "huge": decimal.Decimal(3),
        "code": "1",
        "mood": "glad",
        "holes": 3,
    }
    assert rows[0]["holes"] is None


def test_the_order_of_the_answer_decides_nothing(database):
    one = asked(database, "select age, name from people order by age")
    other = asked(database, "select name, age from people order by age desc")
    assert one[0].equals(other[0].select("age", "name"))
    assert one[1] == other[1]


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (f"select {MARK} from people", "source.query names a column that is not there"),
        (f"select 1 from {MARK}", "source.query names a table or schema that is not there"),
        (f"select {MARK}(1)", "source.query calls a function that is not there"),
        (f"selec {MARK}", "source.query is not one statement"),
        (f"select '{MARK}'::integer", "correct its casts"),
        (f"insert into people (name) values ('{MARK}')", "source.query is not one SELECT"),
        (f"select 1; select '{MARK}'", "source.query is not one SELECT"),
        (f"copy people to '{MARK}.csv'", "source.query is not one SELECT"),
        (f"attach '{MARK}.duckdb' as other", "source.query is not one SELECT"),
        ("", "source.query is not one SELECT"),
        ("select span from people", "column 'span' of type INTERVAL, which is not read"),
    ],
)
def test_refusals_name_no_value(database, statement, words, capfd):
    with pytest.raises(InputError, match=words) as caught:
        asked(database, statement)
    quiet(caught.value)
    assert MARK not in "".join(capfd.readouterr())


def test_a_file_that_is_not_there_is_not_made(tmp_path):
    with pytest.raises(InputError, match=r"people\.duckdb was not found; correct source\.uri"):
        asked(tmp_path / "people.duckdb", "select 1")
    assert list(tmp_path.iterdir()) == []


def test_reading_leaves_nothing_beside_the_database(database):
    asked(database, "select * exclude (span) from people")
    assert [path.name for path in database.parent.iterdir()] == ["people.duckdb"]


def test_without_the_driver(database, monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(InputError, match=r"DuckDB needs the driver: pip install 'crowdcover\[duck"):
        asked(database, "select 1")


def test_paths_start_at_the_plans_folder(tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text('[source]\nuri = "duckdb:///people.duckdb"\nquery = "select 1"\n')
    assert read_document(plan, [])["source"]["uri"] == f"duckdb:///{tmp_path / 'people.duckdb'}"
    moved = read_document(plan, ["source.uri=duckdb:///other.duckdb"])["source"]["uri"]
    assert moved == f"duckdb:///{Path.cwd() / 'other.duckdb'}"
