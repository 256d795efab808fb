"""Releases in PostgreSQL and DuckDB: all or nothing, versions behind a view, grants."""

import json
import shutil

import polars as pl
import pytest

from crowdcover.storage.targets.duck import DuckSession
from crowdcover.storage.targets.postgres import PostgresSession
from tests.flows.orders import Order, people
from tests.flows.processes import die_at, run
from tests.kinds.graph.orders import GraphOrder
from tests.kinds.matrix.orders import MatrixOrder
from tests.support.commands import call, refusal
from tests.support.retracting import retract
from tests.support.targets import Database

WORDS = "crowdcover.storage.targets"


@pytest.fixture(scope="module")
def nodes(tmp_path_factory):
    """A release of two tables: its rows, and nodes.csv."""
    codes = [f"{region}{part}{end}" for region in "169" for part in "01" for end in "02"]
    rows = [(*row[:2], codes[i % len(codes)], *row[3:]) for i, row in enumerate(people(200))]
    city = {"role": "quasi", "kind": "categorical", "hierarchy": {"prefix": [2, 1]}}
    return Order(tmp_path_factory.mktemp("nodes"), rows, columns={"city": city}).release()


@pytest.fixture
def second(nodes, tmp_path):
    """The same content as version 2, in a folder of its own."""
    return copy_as(nodes, tmp_path / "v2", version="v2")


def copy_as(folder, place, **stated):
    """A copy whose manifest states something else; its catalogue names no version then."""
    shutil.copytree(folder, place)
    manifest = json.loads((place / "manifest.json").read_text())
    manifest |= {"texts": "of another program", **stated}
    (place / "manifest.json").write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
    return place


def load(capsys, folder, database, *arguments, code=0):
    answer = call(capsys, "load", folder, "--into", database.into, *arguments)
    if code:
        return refusal(answer, code)
    assert answer[0] == 0, answer
    return answer[1]


def normalize(cell):
    """A cell in one form: PostgreSQL gives intervals as the text of JSON, keys in its own order."""
    if isinstance(cell, dict | list):
        cell = json.dumps(cell, default=str)
    if isinstance(cell, str) and cell[:1] in {"[", "{"}:
        return json.dumps(json.loads(cell, parse_int=float), sort_keys=True)
    return repr(cell)


def same_rows(database, view, frame):
    """Whether a view shows the rows of a frame."""
    names = ", ".join(f'"{name}"' for name in frame.columns)
    found = database.ask(f'select {names} from "{view}"')
    return sorted([*map(normalize, row)] for row in found) == sorted(
        [*map(normalize, row)] for row in frame.rows()
    )


@pytest.mark.long
def test_a_table_with_its_nodes(nodes, database, capsys):
    text = load(capsys, nodes, database)
    assert text.splitlines()[-1] == "people_v1, people_v1_nodes: loaded"
    assert "people, people_nodes show v1" in text
    frame = pl.read_parquet(nodes / "data.parquet")
    assert same_rows(database, "people", frame)
    assert same_rows(database, "people_v1", frame)
    lines = pl.read_csv(nodes / "nodes.csv", infer_schema=False)
    assert lines.height
    assert same_rows(database, "people_nodes", lines)


@pytest.mark.long
@pytest.mark.parametrize("kind", [MatrixOrder, GraphOrder])
def test_other_kinds(kind, tmp_path, database, capsys):
    order = kind(tmp_path / "order")
    folder = order.release()
    load(capsys, folder, database)
    file = "rows.parquet" if kind is MatrixOrder else "edges.parquet"
    assert same_rows(database, order.name, pl.read_parquet(folder / file))
    if kind is MatrixOrder:
        labels = json.loads((folder / "codebook.json").read_text())["items"]
        assert sorted(database.ask("select * from likes_items")) == list(enumerate(labels))


@pytest.mark.long
def test_a_release_of_csv_alone_has_texts(tmp_path, database, capsys):
    order = Order(tmp_path / "order", publish={"formats": ["csv"]})
    folder = order.release()
    load(capsys, folder, database)
    frame = pl.read_csv(folder / "data.csv.gz", infer_schema=False)
    assert same_rows(database, "people", frame)
    assert set(database.types("people").values()) <= {"text", "VARCHAR"}


def test_a_second_call_does_nothing_and_another_content_is_refused(
    nodes, database, capsys, tmp_path
):
    load(capsys, nodes, database)
    entries = database.ask("select * from crowdcover_releases")
    document = json.loads(load(capsys, nodes, database, "--json"))
    assert (document["state"], document["shows"]) == ("stands already", "v1")
    assert database.ask("select * from crowdcover_releases") == entries
    other = copy_as(nodes, tmp_path / "other", created="2001-01-01T00:00:00+00:00")
    assert "another release is loaded as people v1" in load(capsys, other, database, code=1)
    assert "another release is loaded" in load(capsys, other, database, "--remove", code=1)
    assert database.ask("select * from crowdcover_releases") == entries


@pytest.mark.long
def test_the_view_shows_the_newest_version_that_is_left(nodes, second, database, capsys, tmp_path):
    tenth = copy_as(nodes, tmp_path / "v10", version="v10")
    (tenth / "nodes.csv").unlink()
    manifest = json.loads((tenth / "manifest.json").read_text())
    del manifest["files"]["nodes.csv"]
    frame = pl.read_parquet(tenth / "data.parquet").drop("note").head(9)
    frame.write_parquet(tenth / "data.parquet")
    manifest["files"]["data.parquet"] = hash_of(tenth / "data.parquet")
    (tenth / "manifest.json").write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")

    load(capsys, tenth, database)
    assert database.relations().keys() == {"people", "people_v10", "crowdcover_releases"}
    load(capsys, second, database)
    assert "people shows v10" in load(capsys, nodes, database)
    assert same_rows(database, "people", frame)
    assert "people_nodes" not in database.relations()

    text = load(capsys, tenth, database, "--remove")
    assert text.splitlines() == ["people, people_nodes show v2", "people_v10: removed"]
    assert same_rows(database, "people", pl.read_parquet(nodes / "data.parquet"))
    assert "people_v10" not in database.relations()
    assert "was not there" in load(capsys, tenth, database, "--remove")
    load(capsys, nodes, database, "--remove")
    assert same_rows(database, "people", pl.read_parquet(nodes / "data.parquet"))
    load(capsys, second, database, "--remove")
    assert database.relations().keys() == {"crowdcover_releases"}
    load(capsys, second, database)
    assert same_rows(database, "people", pl.read_parquet(nodes / "data.parquet"))


def hash_of(path):
    from crowdcover.storage.shelf.content import hash_released_file

    return hash_released_file(path)


@pytest.mark.long
def test_what_was_changed_or_retracted_is_not_loaded(tmp_path, database, capsys):
    order = Order(tmp_path / "order")
    folder = order.release()
    load(capsys, folder, database)
    changed = tmp_path / "changed"
    shutil.copytree(folder, changed)
    with (changed / "data.parquet").open("ab") as file:
        file.write(b"x")
    other = Database(database.uri.replace("target", "other"))
    assert "changed: data.parquet" in load(capsys, changed, other, code=3)
    assert retract(order) == 0
    capsys.readouterr()
    aside = folder.with_name("v1-retracted")
    assert "was taken back" in load(capsys, aside, database, code=4)
    assert "people_v1" in database.relations()
    assert "people_v1: removed" in load(capsys, aside, database, "--remove")
    assert database.relations().keys() == {"crowdcover_releases"}


def test_a_file_that_changes_while_it_is_loaded(nodes, database, capsys, tmp_path, monkeypatch):
    folder = copy_as(nodes, tmp_path / "moving")
    session = PostgresSession if database.is_postgres else DuckSession
    write = session.write

    def change(self, *arguments):
        write(self, *arguments)
        (folder / "report.html").write_text("another")

    monkeypatch.setattr(session, "write", change)
    assert "a file changed while it was loaded" in load(capsys, folder, database, code=3)
    assert database.relations() == {}


@pytest.mark.long
@pytest.mark.parametrize("method", ["write", "point_view", "grant"])
@pytest.mark.parametrize("times", [1, 2])
def test_a_fault_inside_leaves_the_database_as_it_was(
    method, times, nodes, second, database, capsys, monkeypatch
):
    load(capsys, nodes, database)
    before = database.relations(), database.ask("select * from crowdcover_releases")
    session = PostgresSession if database.is_postgres else DuckSession
    real, calls = getattr(session, method), []

    def fail(self, *arguments, **named):
        real(self, *arguments, **named)
        calls.append(arguments)
        if len(calls) == times:
            raise OSError("zq7 a cell")

    with monkeypatch.context() as patched:
        patched.setattr(session, method, fail)
        words = load(capsys, second, database, code=1)
    assert "so nothing was changed there (OSError)" in words
    assert "zq7" not in words
    assert (database.relations(), database.ask("select * from crowdcover_releases")) == before
    assert "loaded" in load(capsys, second, database)
    assert same_rows(database, "people", pl.read_parquet(nodes / "data.parquet"))


def load_until(folder, uri, module, name, passes):
    """Load, and die by SIGKILL after a call of module.name."""
    from crowdcover.flows.loading import Into, load_release

    die_at(module, name, passes, True)
    load_release(folder, Into(uri))


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "passes"), [("write", 0), ("write", 1), ("point_view", 0), ("grant", 1)]
)
def test_a_killed_load_leaves_nothing(name, passes, nodes, second, database, capsys):
    load(capsys, nodes, database)
    before = database.relations(), database.ask("select * from crowdcover_releases")
    module = f"{WORDS}.{'postgres.PostgresSession' if database.is_postgres else 'duck.DuckSession'}"
    ended = run(load_until, second, database.into, module, name, passes)
    assert ended.code == -9, ended
    assert (database.relations(), database.ask("select * from crowdcover_releases")) == before
    assert "loaded" in load(capsys, second, database)


def test_names_that_something_else_has(nodes, database, capsys):
    database.ask("create table people (a int)", write=True)
    assert "has 'people' already" in load(capsys, nodes, database, code=1)
    assert database.relations().keys() == {"people"}
    database.ask("drop table people", write=True)
    database.ask("create table people_v1_nodes (a int)", write=True)
    assert "has 'people_v1_nodes' already" in load(capsys, nodes, database, code=1)
    database.ask("drop table people_v1_nodes", write=True)
    database.ask("create table crowdcover_releases (a int)", write=True)
    assert "crowdcover_releases of the schema is not" in load(capsys, nodes, database, code=1)


@pytest.mark.long
def test_what_a_person_removed_by_hand(nodes, database, capsys):
    load(capsys, nodes, database)
    database.ask("drop view people", write=True)
    assert "stands already" in load(capsys, nodes, database)
    assert same_rows(database, "people", pl.read_parquet(nodes / "data.parquet"))
    database.ask("drop view people", write=True)
    database.ask("drop table people_v1", write=True)
    assert "1 of the tables" in load(capsys, nodes, database, code=1)
    load(capsys, nodes, database, "--remove")
    assert "loaded" in load(capsys, nodes, database)


def test_schemas_with_odd_names(nodes, database, capsys):
    odd = "o.d\"d 'x"
    assert "has no schema" in load(capsys, nodes, database, "--schema", odd, code=1)
    assert database.relations() == {}
    database.ask('create schema "o.d""d \'x"', write=True)
    document = json.loads(load(capsys, nodes, database, "--schema", odd, "--json"))
    assert document["schema"] == odd
    rows = pl.read_parquet(nodes / "data.parquet").height
    assert database.ask('select count(*) from "o.d""d \'x".people') == [(rows,)]
    load(capsys, nodes, database, "--schema", odd, "--remove")


@pytest.mark.long
@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_roles_of_postgresql(nodes, second, database, capsys):
    one, two = 'an.al"yst', "two"
    for role in (one, two):
        quoted = role.replace('"', '""')
        database.ask(f'drop role if exists "{quoted}"', write=True)
        database.ask(f'create role "{quoted}"', write=True)
    database.ask("create schema closed", write=True)
    there = ("--schema", "closed")
    words = load(capsys, nodes, database, *there, "--grant", one, "nobody", code=1)
    assert "has no role 'nobody'" in words
    assert database.relations() == {}
    load(capsys, nodes, database, *there, "--grant", one)
    assert readers(database, one) == {"people", "people_nodes", "people_v1", "people_v1_nodes"}
    assert readers(database, two) == set()
    load(capsys, nodes, database, *there, "--grant", two)
    assert readers(database, two) == readers(database, one)
    # A new version: who could read the view still can, also where it must be made anew.
    load(capsys, second, database, *there)
    assert readers(database, one) == {"people", "people_nodes", "people_v1", "people_v1_nodes"}
    load(capsys, second, database, *there, "--remove")
    assert readers(database, one) == {"people", "people_nodes", "people_v1", "people_v1_nodes"}
    for role in (one, two):
        quoted = role.replace('"', '""')
        database.ask(f'drop owned by "{quoted}"', write=True)
        database.ask(f'drop role "{quoted}"', write=True)
    # A role that is gone by now is no obstacle.
    load(capsys, second, database, *there)
    load(capsys, second, database, *there, "--remove")


def readers(database, role):
    """The tables and views of a schema that a role may read."""
    found = database.ask(
        "select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace, "
        "pg_roles r where n.nspname = 'closed' and c.relkind in ('r', 'v') and r.rolname = "
        f"'{role}' and has_table_privilege(r.oid, c.oid, 'select') "
        "and has_schema_privilege(r.oid, n.oid, 'usage')"
    )
    return {name for (name,) in found}


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_refusals_of_postgresql(nodes, second, database, capsys, monkeypatch):
    database.ask("drop role if exists weak", write=True)
    database.ask("create role weak login password 'zq7weak'", write=True)
    database.ask("revoke create on schema public from public", write=True)
    weak = Database(database.uri.replace("zq7user:zq7password", "weak:zq7weak"))
    monkeypatch.setenv("PGPASSWORD", "zq7weak")
    assert "let it create tables" in load(capsys, nodes, weak, code=1)
    monkeypatch.setenv("PGPASSWORD", "zq7wrong")
    words = load(capsys, nodes, database, code=1)
    assert "refused the login" in words
    assert "zq7wrong" not in words
    monkeypatch.setenv("ELSEWHERE", "zq7password")
    load(capsys, nodes, database, "--credentials", "env:ELSEWHERE")
    monkeypatch.setenv("PGPASSWORD", "zq7password")
    database.ask("create view of_others as select * from people_v1", write=True)
    words = load(capsys, nodes, database, "--remove", code=1)
    assert "drop that view first" in words
    assert same_rows(database, "people", pl.read_parquet(nodes / "data.parquet"))


def test_arguments_that_are_refused(nodes, capsys, tmp_path):
    for into, words in (
        ("mysql://a/b", "--into must be postgresql://... or duckdb:///..."),
        ("postgresql://user:zq7password@host/db", "--into holds a password"),
        (f"duckdb:///{tmp_path}/nowhere/file.duckdb", "make its folder"),
    ):
        answer = call(capsys, "load", nodes, "--into", into)
        assert words in refusal(answer, 1 if "duckdb" in into else 2)
        assert "zq7password" not in answer[2]
    duck = f"duckdb:///{tmp_path}/file.duckdb"
    answer = call(capsys, "load", nodes, "--into", duck, "--grant", "analysts")
    assert "DuckDB has neither roles nor passwords" in refusal(answer, 2)
    answer = call(capsys, "load", nodes, "--into", duck, "--remove", "--grant", "analysts")
    assert "--grant belongs to a load" in refusal(answer, 2)
    answer = call(capsys, "load", nodes.parent, "--into", duck)
    assert "is none itself" in refusal(answer, 2)
    (tmp_path / "text.duckdb").write_text("no database, but a text of some length" * 99)
    answer = call(capsys, "load", nodes, "--into", f"duckdb:///{tmp_path}/text.duckdb")
    assert "no such database" in refusal(answer, 1)
