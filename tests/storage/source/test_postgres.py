"""PostgreSQL by adbc, against a cluster of this test run; skipped without its programs."""

import datetime
import os
import tomllib
from contextlib import closing

import numpy as np
import pytest

from anon_core.errors import InputError
from anon_core.specs.columns import ColumnSpec
from anon_core.specs.demands import Demand
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.flows.runs.partitions import backfill_partitions
from crowdcover.kinds.arrays import convert_to_arrays
from crowdcover.kinds.columns import Column
from crowdcover.kinds.table.pipeline.encode import encode_records
from crowdcover.kinds.table.starter.writing import propose_plan
from crowdcover.storage.places.credentials import without_password
from crowdcover.storage.source.sources import Source
from tests.flows.orders import HEADER, Order, data_bytes, people
from tests.postgres import PASSWORD, USER, missing, running
from tests.support.audits import audit_release
from tests.support.readings import between
from tests.support.sources import fingerprint, header, read, read_order
from tests.support.visits import RANGE, release_one, visited, visits

MARK = "zq7"

TABLE = f"""
create type mood as enum ('sad', 'glad');
create table people (
    name text, age integer, big bigint, height double precision, price numeric(8, 2),
    born date, seen timestamp, zoned timestamptz, ok boolean, code char(4), mood mood,
    nothing text, tags text[], photo bytea, doc jsonb, who uuid
);
insert into people values
    ('{MARK} ann', 31, 9007199254740993, 1.5, 10.10, '1990-02-28', '2020-01-31 23:59',
     '2020-01-31 12:00Z', true, 'a', 'sad', null, array['{MARK}'], '\\xff',
     '{{"a": "{MARK}"}}', '00000000-0000-0000-0000-000000000001'),
    ('bob', 40, 5, 2.5, 7, '1969-12-31', '1999-12-31', '1999-12-31 12:00Z', false, 'bb', 'glad',
     null, null, null, null, null),
    (null, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
     null);
create table empty (a text);
create sequence of_people;
"""


@pytest.fixture(scope="module")
def server():
    """(host, port) of a cluster that asks for a password."""
    if reason := missing():
        pytest.skip(reason)
    pytest.importorskip(
        "adbc_driver_postgresql",
        reason="the driver is not installed: pip install 'crowdcover[postgres]'",
    )
    with running() as cluster:
        cluster.run(TABLE)
        yield cluster.host, cluster.port


@pytest.fixture
def source(server):
    host, port = server

    def of(query, user=USER, password=PASSWORD, database="postgres"):
        uri = f"postgresql://{user}:{password}@{host}:{port}/{database}"
        return Source(uri=uri, query=query)

    return of


def quiet(error):
    while error is not None:
        assert MARK not in str(error) + repr(error)
        error = error.__cause__ or error.__context__


def quasi(name, kind="categorical"):
    return Column(name=name, role="quasi", kind=kind, spec=ColumnSpec(name=name, kind=kind))


def column(people, name, kind="categorical"):
    """The values of a column by name, records in the order of ann, bob, nobody."""
    frame = read(people, [], [Column(name="age", role="keep"), quasi(name, kind)])
    values = convert_to_arrays(frame[[name]])[name]
    return values[[frame["age"].to_list().index(age) for age in (31, 40, None)]].tolist()


@pytest.mark.long
def test_names_and_types(source):
    people = source("select * from people")
    assert header(people)[:4] == ["name", "age", "big", "height"]
    assert column(people, "name") == [f"{MARK} ann", "bob", None]
    assert column(people, "code") == ["a", "bb", None]
    assert column(people, "mood") == ["sad", "glad", None]
    assert column(people, "ok", "binary") == ["true", "false", None]
    assert column(people, "nothing") == [None, None, None]
    np.testing.assert_array_equal(column(people, "height", "numeric"), [1.5, 2.5, np.nan])
    np.testing.assert_array_equal(column(people, "price", "numeric"), [10.1, 7, np.nan])
    np.testing.assert_array_equal(column(people, "ok", "numeric"), [1, 0, np.nan])
    np.testing.assert_array_equal(column(people, "nothing", "numeric"), [np.nan] * 3)
    np.testing.assert_array_equal(column(people, "born", "date"), [7363, -1, np.nan])
    np.testing.assert_array_equal(column(people, "seen", "date"), [18292, 10956, np.nan])
    with pytest.raises(InputError, match=r"'zoned' holds moments .* state columns.zoned.timezone"):
        column(people, "zoned", "date")
    kept = read(people, [], [Column(name=name, role="keep") for name in ("age", "big", "born")])
    assert set(kept.rows()) == {
        (31, 9007199254740993, datetime.date(1990, 2, 28)),
        (40, 5, datetime.date(1969, 12, 31)),
        (None, None, None),
    }


def test_a_release_can_be_made_of_it(source):
    people = source("select name as who, age, ok, coalesce(age, 1) / 20 as k from people")
    columns = (
        Column(name="who", role="identifier"),
        quasi("age", "numeric"),
        quasi("ok", "binary"),
        Column(name="k", role="drop"),
    )
    demand = Demand(column="k", infeasible="drop")
    with pytest.raises(InputError, match="column 'k': 1 of 3 records hold no whole k"):
        encode_records(*read_order(people, columns, demand), columns, demand)
    people = source("select name as who, age, ok, coalesce(age, 20) / 20 as k from people")
    frame, k = read_order(people, columns, demand)
    assert frame.columns == ["age", "ok"]
    table, kept, _ = encode_records(frame, k, columns, demand)
    assert kept.all()
    assert sorted(table.k.tolist()) == [1, 1, 2]


def test_the_order_of_rows_decides_nothing(source):
    there, back = (
        source("select * from people order by age"),
        source("select * from people order by age desc nulls last, name"),
    )
    assert fingerprint(there) == fingerprint(back)
    wanted = [Column(name=name, role="keep") for name in ("name", "age", "price")]
    assert read(there, [], wanted).equals(read(back, [], wanted))
    assert fingerprint(there) != fingerprint(source("select * from people where age is not null"))


@pytest.mark.parametrize("kind", ["numeric", "date"])
def test_refusals_of_types_are_counts(source, kind):
    with pytest.raises(InputError, match="column 'name': 2 of 3 values are no") as caught:
        read(source("select name from people"), [], [quasi("name", kind)])
    quiet(caught.value)
    with pytest.raises(InputError, match=r"column 'big': 1 of 3 numbers reach 2\*\*53") as caught:
        read(source("select big from people"), [], [quasi("big", "numeric")])
    assert "9007" not in str(caught.value)


@pytest.mark.long
@pytest.mark.parametrize(
    "query",
    [
        f"select {MARK} from people",
        f"select * from {MARK}",
        f"selec {MARK}",
        "select name::integer from people",  # the server's own message quotes the cell
        "select 1 / (age - 31) from people",
        f"select pg_terminate_backend(pg_backend_pid()), '{MARK}'",
        "",
    ],
)
def test_failures_tell_no_query_and_no_cell(source, query):
    for work in (header, fingerprint, lambda people: read(people, [], [quasi("name")])):
        with pytest.raises(
            InputError, match=r"the database did not answer source.query|holds no table|no rows"
        ) as caught:
            work(source(query))
        quiet(caught.value)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"password": "zq7wrong"}, "refused the login; correct the user in source.uri"),
        ({"user": "zq7other"}, "refused the login; correct the user in source.uri"),
        ({"database": "zq7none"}, "the server has no database of that name; correct source.uri"),
        ({"password": ""}, "asks for a password and none was found; name one by source.credential"),
        ({"database": "postgres?zq7=1"}, "source.uri is not understood; correct its parameters"),
        ({"database": "postgres?sslmode=require"}, "correct its sslmode"),
    ],
)
def test_failures_tell_no_password(source, wrong, words, capfd):
    with pytest.raises(InputError, match=words) as caught:
        header(source("select 1 as a", **wrong))
    quiet(caught.value)
    written = capfd.readouterr()
    assert MARK not in written.out + written.err


def test_a_server_that_is_not_there(source, capfd):
    address = source("select 1 as a").uri.rsplit(":", 1)[0]
    with pytest.raises(InputError, match=r"no server answers at the host and port") as caught:
        header(Source(uri=f"{address}:1/postgres", query="select 1 as a"))
    quiet(caught.value)
    written = capfd.readouterr()
    assert MARK not in written.out + written.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("select zq7 from people", "42703.*names a column that is not there"),
        ("select 1 from zq7", "42P01.*names a table or schema that is not there"),
        ("select zq7(1)", "42883.*calls a function that is not there"),
        ("selec zq7", "42601.*give one SELECT"),
        ("select 1; select 'zq7'", "42601.*give one SELECT"),
        ("delete from people where name = 'zq7'", "25006.*writes, and a source is only read"),
        ("select 'zq7'::integer", "22P02.*correct its casts"),
        ("select * from pg_authid where rolname = 'zq7'", "42501.*grant select"),
    ],
)
def test_a_query_that_is_refused(source, words, told):
    """Each message says what to correct, and quotes nothing."""
    poor = {}
    if "pg_authid" in words:
        written(source("").uri, "create role poor login password 'p'")
        poor = {"user": "poor", "password": "p"}
    with pytest.raises(InputError, match=f"source.query .*{told}") as caught:
        header(source(words, **poor))
    quiet(caught.value)


def test_tables_that_are_too_small_or_unclear(source):
    with pytest.raises(InputError, match="the source has no rows"):
        read(source("select a from empty"), [], [quasi("a")])
    with pytest.raises(InputError, match="the source has 1 row;"):
        read(source("select name as a from people where age = 31"), [], [quasi("a")])
    with pytest.raises(
        InputError, match=r"occur more than once|check source.uri and source.query"
    ) as caught:
        header(source("select name as a, age as a from people"))
    quiet(caught.value)


@pytest.mark.long
@pytest.mark.parametrize(
    "words",
    ["select 'infinity'::date as a union select '2020-01-01'", "select '1 day'::interval as a"],
)
def test_values_that_no_table_holds(source, words):
    for work in (header, fingerprint, lambda people: read(people, [], [quasi("a")])):
        with pytest.raises(InputError, match=r"source.query selects .*; cast") as caught:
            work(source(words))
        quiet(caught.value)


@pytest.mark.parametrize("name", ["tags", "photo"])
def test_types_that_no_table_of_text_holds(source, name):
    people = source("select * from people")
    with pytest.raises(
        InputError, match=f"column '{name}' holds (List|Array|Binary); convert it or"
    ) as caught:
        read(people, [], [quasi(name)])
    quiet(caught.value)
    assert read(people, [], [Column(name="age", role="keep")]).height == 3


def test_a_starter_plan_is_read_without_its_password(source, monkeypatch):
    bare, words = source("").uri, "select name, age, mood, zoned, tags from people"
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    plan = propose_plan(Source(uri=without_password(bare), query=words))
    parsed = tomllib.loads(plan)
    assert {name: column["role"] for name, column in parsed["columns"].items()} == {
        "name": "identifier",
        "age": "quasi",
        "mood": "quasi",
        "zoned": "quasi",
        "tags": "drop",
    }
    assert MARK + "password" not in plan
    assert f"{MARK} ann" not in plan
    again = Source(uri=parsed["source"]["uri"], query=parsed["source"]["query"])
    assert header(again) == ["name", "age", "mood", "zoned", "tags"]
    monkeypatch.delenv("PGPASSWORD")
    with pytest.raises(InputError, match="none was found"):
        header(again)
    monkeypatch.setenv("ZQ7PASSWORD", PASSWORD)
    named = Source(uri=again.uri, query=again.query, credentials="env:ZQ7PASSWORD")
    assert header(named) == ["name", "age", "mood", "zoned", "tags"]


# ---------------------------------------------------------------- of one moment


def test_a_query_runs_in_a_transaction_of_one_moment_that_writes_nothing(source):
    names = ("transaction_isolation", "transaction_read_only")
    settings = source(
        "select current_setting(name) as value from unnest(array['{}', '{}']) name".format(*names)
    )
    found = read(settings, [], [Column(name="value", role="keep")])
    assert sorted(found["value"].to_list()) == ["on", "repeatable read"]
    with pytest.raises(InputError, match="the database did not answer"):
        header(source("select nextval('of_people') as a, 'b' as b"))


@pytest.mark.long
def test_a_table_that_is_written_to_is_released_as_it_was(source, tmp_path, monkeypatch):
    """Rows come, go and change while the release runs."""
    name = f"people_{os.urandom(4).hex()}"
    orders = [Order(tmp_path / each) for each in ("still", "live")]
    rows = ", ".join(str(row) for row in people())
    admin = source(f"select * from {name} order by random()")
    written(admin.uri, f"create table {name} ({', '.join(f'{each} text' for each in HEADER)})")
    written(admin.uri, f"insert into {name} values {rows}")
    for order in orders:
        order.write(source=of_plan(admin))
        del order.document["source"]["path"]
        order.write()
        order.fix_seed()
    undisturbed = data_bytes(orders[0].release())

    def change():
        written(admin.uri, f"update {name} set age = (age::integer + 1)::text")
        written(admin.uri, f"delete from {name} where city = 'ulm'")
        written(admin.uri, f"insert into {name} select * from {name} limit 3")

    between(monkeypatch, change)
    assert data_bytes(orders[1].release()) == undisturbed
    with pytest.raises(InputError, match="the vault knows no release of this plan and this source"):
        audit_release(orders[1].folder_of_v1, orders[1].plan)


def of_plan(admin):
    """A source as a plan states it: its password lies in the environment."""
    os.environ["ZQ7PASSWORD"] = PASSWORD
    return {
        "uri": without_password(admin.uri),
        "query": admin.query,
        "credentials": "env:ZQ7PASSWORD",
    }


def in_postgres(order, source, header, rows):
    """Put rows into a new table, and let the order read it; returns name and URI."""
    name = f"people_{os.urandom(4).hex()}"
    admin = source(f"select * from {name} order by random()")
    values = ", ".join(str(row) for row in rows)
    written(admin.uri, f"create table {name} ({', '.join(f'{each} text' for each in header)})")
    written(admin.uri, f"insert into {name} values {values}")
    del order.document["source"]["path"]
    order.write(source=of_plan(admin))
    return name, admin.uri


@pytest.mark.slow
def test_versions_are_of_one_moment_while_their_table_is_written_to(source, tmp_path, monkeypatch):
    """Each version shows the people of the moment when it began."""
    sections = {"series": {"record": "ssn"}, "checks": {"drift": "off"}}
    order = Order(tmp_path, people(), **sections)
    name, uri = in_postgres(order, source, HEADER, people())
    between(monkeypatch, lambda: written(uri, f"delete from {name} where note = 'note-3'"))
    first = order.release()
    assert "note-3" in order.rows()["note"].to_list()
    assert audit_release(first, order.plan).passed
    more = ", ".join(str(row) for row in people(20, draws=5, first=500))
    change = f"update {name} set age = '44'; insert into {name} values {more}"
    between(monkeypatch, lambda: [written(uri, each) for each in change.split("; ")])
    second = order.release()
    assert second.name == "v2"
    assert "note-3" not in order.rows("v2")["note"].to_list()
    assert order.rows("v2").height == len(people()) - 1
    monkeypatch.undo()
    third = order.release()
    assert order.rows(third.name).height == len(people()) - 1 + 20
    for folder in (first, second, third):
        assert audit_release(folder, order.plan).passed


@pytest.mark.slow
def test_a_backfill_is_of_one_moment(source, tmp_path):
    """All months are those of the table when the backfill began, also if it is written to."""
    order = visited(tmp_path)
    name, uri = in_postgres(order, source, HEADER, visits())

    def made(named):
        written(uri, f"delete from {name} where junk > '2014-03'")
        written(uri, f"update {name} set age = '50'")
        return release_one(order.plan, named)

    plan = ReleasePlan.load(order.plan)
    folders = [folder for _, folder in backfill_partitions(plan, RANGE, made)]
    assert [folder.name for folder in folders] == ["v1", "v2", "v3", "v4", "v5"]
    assert order.rows("v5")["note"].sort().to_list() == sorted(row[5] for row in visits())
    assert audit_release(folders[-1], order.plan).passed


def written(uri, words):
    from adbc_driver_postgresql import dbapi

    with (
        closing(dbapi.connect(uri, autocommit=True)) as connection,
        closing(connection.cursor()) as cursor,
    ):
        cursor.execute(words)
