"""A release reads its source once; the check reads the same content again, from disk."""

import json
import shutil
import signal
import sqlite3
from contextlib import closing

import polars as pl
import pytest

from anon_core.errors import InputError
from crowdcover.storage.approval.approval import Approval, Decision, WaitingError
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.source.snapshot.packed_rows import PackedRows
from crowdcover.storage.vault.refusals import SecondReleaseError
from tests.flows.orders import Order, data_bytes
from tests.flows.processes import run
from tests.support.audits import audit_release
from tests.support.crashes import release_until
from tests.support.databases import QUERY, in_a_database
from tests.support.readings import between, opens_counted, queries_counted


def in_duckdb(folder):
    """The same table in DuckDB."""
    import duckdb

    order = Order(folder)
    path = order.folder / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"create table people as from read_csv('{order.source}')")
    order.document["source"] = {"uri": f"duckdb:///{path}", "query": QUERY}
    order.write()
    return order


def moved_on(order):
    """Everybody in the table is a year older."""
    words = "update people set age = age + 1"
    uri = order.document["source"]["uri"]
    if uri.startswith("duckdb"):
        import duckdb

        with duckdb.connect(uri.removeprefix("duckdb:///")) as connection:
            connection.execute(words)
    else:
        with closing(sqlite3.connect(uri.removeprefix("sqlite:///"))) as connection:
            connection.execute(words)
            connection.commit()


@pytest.mark.long
def test_a_release_opens_its_file_once(tmp_path):
    order = Order(tmp_path)
    for _ in range(2):  # the second time it was published: the fingerprint is all that is needed
        with opens_counted(order.source) as opened:
            order.release()
        assert len(opened) == 1


@pytest.mark.long
def test_a_release_runs_its_query_once(tmp_path, monkeypatch):
    order = in_a_database(tmp_path)
    for _ in range(2):
        with queries_counted(monkeypatch) as asked:
            order.release()
        assert asked.count(QUERY) == 1


@pytest.mark.long
@pytest.mark.parametrize("put", [in_a_database, in_duckdb], ids=["SQLite", "DuckDB"])
def test_a_table_that_moves_on_is_released_as_it_was(tmp_path, monkeypatch, put):
    undisturbed = data_bytes(put(tmp_path / "one").fix_seed().release())
    order = put(tmp_path / "two").fix_seed()
    between(monkeypatch, lambda: moved_on(order))
    folder = order.release()
    assert data_bytes(folder) == undisturbed
    with pytest.raises(InputError, match="the vault knows no release of this plan and this source"):
        audit_release(folder, order.plan)


@pytest.mark.long
def test_a_file_that_is_replaced_is_released_as_it_was(tmp_path, monkeypatch):
    undisturbed = data_bytes(Order(tmp_path / "one").fix_seed().release())
    order = Order(tmp_path / "two").fix_seed()

    def replace():
        other = order.folder / "other.csv"
        other.write_bytes(order.source.read_bytes().replace(b"ulm", b"bonn"))
        other.rename(order.source)

    between(monkeypatch, replace)
    folder = order.release()
    assert data_bytes(folder) == undisturbed
    with pytest.raises(InputError, match="the vault knows no release of this plan and this source"):
        audit_release(folder, order.plan)


@pytest.mark.long
def test_the_check_reads_the_bytes_on_disk(tmp_path, monkeypatch):
    """A snapshot that was changed there is noticed: its content has a fingerprint."""
    order, kept = in_a_database(tmp_path), Reading.keep

    def keep(self, folder):
        kept(self, folder)
        frame = self._content.unpack_columns(self._content.names).with_columns(pl.col("age") + 1)
        self._disk.truncate(0)
        self._disk.seek(0)
        PackedRows.of(frame).move_to_disk(self._disk)

    with monkeypatch.context() as patch:
        patch.setattr(Reading, "keep", keep)
        with pytest.raises(InputError, match="the snapshot of the source cannot be read any more"):
            order.release()
    assert not order.releases.exists()
    assert order.release() == order.folder_of_v1


@pytest.mark.long
def test_a_snapshot_ends_with_its_process(tmp_path):
    """Killed when the check begins, while the rows of the query lie on disk."""
    order = in_a_database(tmp_path).fix_seed()
    path = order.run.path
    rows = "crowdcover.storage.source.snapshot.packed_rows:PackedRows"
    killed = run(release_until, str(order.plan), rows, "read_from", 0, False)
    assert killed.code == -signal.SIGKILL
    kept = b"".join(each.read_bytes() for each in path.rglob("*") if each.is_file())
    assert b"ident-00001" not in kept
    assert not [each for each in path.rglob("*") if each.stat().st_mode & 0o077]
    assert order.release() == order.folder_of_v1


def approved_while_the_table_moves_on(folder):
    """A release of a query that was approved; the table is another one by then."""
    order = in_a_database(folder).fix_seed()
    order.write(publish={"approval": "required"})
    asked = order.run
    with pytest.raises(WaitingError):
        order.release()
    moved_on(order)
    Approval.of(asked).decide(Decision.of(approved=True, by="Ada", note=""))
    return order, asked


@pytest.mark.long
def test_what_was_approved_is_published_though_the_table_moved_on(tmp_path, monkeypatch):
    undisturbed = data_bytes(in_a_database(tmp_path / "one").fix_seed().release())
    order, _ = approved_while_the_table_moves_on(tmp_path / "two")
    with queries_counted(monkeypatch) as asked:
        folder = order.release()
    assert QUERY not in asked
    assert data_bytes(folder) == undisturbed
    with pytest.raises(SecondReleaseError):  # the next run is about the table as it is now
        order.release()


@pytest.mark.long
def test_a_stage_that_must_be_made_again_needs_the_source(tmp_path):
    """Then the approval is of no use: the table of then is gone, and that of now waits."""
    order, asked = approved_while_the_table_moves_on(tmp_path)
    shutil.rmtree(asked.path / "check")
    with pytest.raises(WaitingError, match="waits for approval"):
        order.release()
    assert Approval.of(order.run).last.decision is None
    assert order.run.path != asked.path
    assert order.versions == []


@pytest.mark.long
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


def test_no_identifier_and_no_digest_without_its_key_is_kept(released_once):
    order = released_once()
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


def test_a_vault_of_an_older_version_passes(released_once):
    order = released_once()
    folder = order.folder_of_v1
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
