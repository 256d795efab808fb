"""A release reads its source twice, once for ingest and once for the check, and never otherwise."""

import json
import shutil
import sqlite3

import pytest

from anon_core.errors import InputError
from tests.flows.orders import HEADER, Order, people
from tests.tasks.source.test_reading import opens_counted, queries_counted

QUERY = "select * from people order by random()"


def in_a_database(folder, rows=None):
    """The order's table in SQLite; the rows come in another order at every query."""
    order = Order(folder)
    path = order.folder / "people.db"
    with sqlite3.connect(path) as connection:
        connection.execute(f"create table people ({', '.join(HEADER)})")
        marks = ", ".join("?" * len(HEADER))
        connection.executemany(f"insert into people values ({marks})", rows or people())
    connection.close()
    order.document["source"] = {"uri": f"sqlite:///{path}", "query": QUERY}
    order.write()
    return order


def test_a_release_opens_its_file_twice(tmp_path):
    order = Order(tmp_path)
    with opens_counted(order.source) as opened:
        order.release()
    assert len(opened) == 2
    with opens_counted(order.source) as opened:
        order.release()  # it was published: the fingerprint is all that is needed
    assert len(opened) == 1


def test_a_release_runs_its_query_twice(tmp_path, monkeypatch):
    order = in_a_database(tmp_path)
    with queries_counted(monkeypatch) as asked:
        order.release()
    assert asked.count(QUERY) == 2
    with queries_counted(monkeypatch) as asked:
        order.release()
    assert asked.count(QUERY) == 1


def test_a_database_that_changes_between_ingest_and_check_is_refused(tmp_path, monkeypatch):
    import kinds.table.ingest as module

    order, reading = in_a_database(tmp_path), module.read_table

    def read_table(*arguments):
        answer = reading(*arguments)
        with sqlite3.connect(order.folder / "people.db") as connection:
            connection.execute("update people set age = age + 1 where rowid = 3")
        connection.close()
        return answer

    monkeypatch.setattr(module, "read_table", read_table)
    with pytest.raises(InputError, match="the source changed after it was ingested"):
        order.release()
    assert not order.releases.exists()


def test_identifiers_are_digested_anew_under_another_key(tmp_path):
    """The key was copied from another vault before the release was published."""
    order = Order(tmp_path / "one").fix_seed()
    order.release()
    before = order.run.whole("identify").facts["key"]
    shutil.rmtree(order.releases)
    shutil.rmtree(order.run.path / "anonymize")
    (order.run.path / "releases.json").unlink()
    (order.vault / "ledger.sqlite").unlink()
    key = order.vault / "ledger.key"
    key.write_bytes(bytes(32))
    with opens_counted(order.source) as opened:
        order.release()
    assert len(opened) == 1  # the rows are the same, so the verdict of the check stands
    after = order.run.whole("identify")
    assert before != after.facts["key"] == order.run.whole("ingest").facts["key"]
    fresh = Order(tmp_path / "two")
    fresh.run  # noqa: B018 - makes the vault
    (fresh.vault / "ledger.key").write_bytes(bytes(32))
    fresh.fix_seed().release()
    assert after.sha256 == fresh.run.whole("identify").sha256


def test_no_identifier_and_no_digest_without_its_key_is_kept(tmp_path):
    order = Order(tmp_path)
    order.release()
    content = b"".join(path.read_bytes() for path in order.run.path.rglob("*") if path.is_file())
    assert b"ident-00001" not in content
    ingested = order.run.whole("ingest")
    assert ingested.facts["identifiers"] == ["column ssn"]
    assert (ingested.path / "identifiers.bin").stat().st_size == 16 * 90


def as_older_versions(order):
    """Take from the vault what versions before one reading did not write."""
    stage = order.run.path / "ingest"
    record = json.loads((stage / "stage.json").read_text())
    (stage / "identifiers.bin").unlink()
    del record["files"]["identifiers.bin"]
    for fact in ("key", "identifiers", "notes"):
        del record["facts"][fact]
    (stage / "stage.json").write_text(json.dumps({**record, "inputs": []}))


def test_a_vault_of_an_older_version_passes(tmp_path):
    from flows.audit import audit_release

    order = Order(tmp_path)
    folder = order.release()
    as_older_versions(order)
    times = order.stage_times()
    assert audit_release(folder, order.plan).passed
    assert order.release() == folder
    assert order.stage_times() == times
    people_before = order.run.whole("identify").sha256
    rows = (folder / "data.parquet").read_bytes()
    shutil.rmtree(order.releases)
    assert (order.release() / "data.parquet").read_bytes() == rows
    assert order.run.whole("identify").sha256 == people_before
