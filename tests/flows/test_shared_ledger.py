"""A ledger in PostgreSQL: vaults that share it, its content, and a server that does not answer."""

import shutil
import stat
import threading
from contextlib import closing

import pytest

from crowdcover.kinds.table.pipeline.people import rebuild_people
from crowdcover.storage.ledger import entered
from crowdcover.storage.ledger.ledger import Ledger, LedgerError
from crowdcover.storage.vault.refusals import SecondReleaseError
from crowdcover.storage.vault.vault import Vault
from tests.flows.orders import people
from tests.flows.processes import crowdcover
from tests.postgres import PASSWORD, USER
from tests.support.ledgers import of_plan, query
from tests.support.retracting import retract
from tests.support.second import INTERSECTED, aged, calm, findings, order_of, section

WHAT_TO_DO = {
    "port": "no server answers at the host and port of publish.ledger",
    "user": "the database refused the login; correct the user in publish.ledger",
    "database": "the server has no database of that name; correct publish.ledger",
}


def share_key(order, other):
    """What the documentation tells to do before a second vault takes part."""
    Vault(other.vault).open()
    shutil.copyfile(order.vault / "ledger.key", other.vault / "ledger.key")


@pytest.mark.long
def test_a_release_and_a_refused_second_one(uri, tmp_path):
    order = order_of(tmp_path, publish=of_plan(uri))
    first = order.release()
    assert order.release() == first
    assert query(uri, "select name, version, records, published from releases") == [
        ("people", "v1", 90, 1)
    ]
    assert not (order.vault / "ledger.sqlite").exists()
    order.write_source(aged(people()))
    with pytest.raises(SecondReleaseError, match="90 people of this source were released already"):
        order.release()
    order.write_source(people(first=90))
    assert order.release() == order.releases / "v2"
    assert query(uri, "select version, published from releases order by version") == [
        ("v1", 1),
        ("v2", 1),
    ]


@pytest.mark.long
def test_an_entry_of_many_values_is_read_as_one(uri, tmp_path, monkeypatch):
    monkeypatch.setattr(entered, "MOST_BYTES", 32)  # two people
    order = order_of(tmp_path, publish=of_plan(uri))
    order.release()
    assert query(uri, "select value from about where name = 'schema'") == [("2",)]
    kinds = query(uri, "select kind from people where kind like '%record'")
    assert len(kinds) == 45
    order.write_source(aged(people()))
    with pytest.raises(SecondReleaseError, match="90 people of this source were released already"):
        order.release()


@pytest.mark.slow
def test_an_allowed_second_release_is_intersected(uri, tmp_path):
    order = order_of(tmp_path, calm(people()), publish=of_plan(uri))
    order.release()
    order.write(privacy={"k": 6}, publish={"allow_second_release": True})
    folder = order.release()
    assert section(folder)["people"] == 90
    assert findings(folder, order)[INTERSECTED].passed


@pytest.mark.slow
def test_two_vaults_that_share_a_ledger(uri, tmp_path):
    order, other = (order_of(tmp_path / name, publish=of_plan(uri)) for name in ("one", "other"))
    order.release()
    with pytest.raises(
        LedgerError,
        match=(
            r"begun with another key than this vault's ledger.key.*copy ledger.key into this "
            r"vault"
        ),
    ):
        other.release()
    assert not other.releases.exists()
    share_key(order, other)
    with pytest.raises(SecondReleaseError, match=r"this source was released already \(people v1\)"):
        other.release()  # the same plan and source, but other secrets: another release
    other.write_source(aged(people()))
    with pytest.raises(SecondReleaseError, match="90 people of this source were released already"):
        other.release()
    other.write(publish={"allow_second_release": True})
    with pytest.raises(SecondReleaseError, match="their stages are not complete in this vault"):
        other.release()
    other.write_source(people(first=90))
    assert other.release() == other.folder_of_v1
    assert len(query(uri, "select run from releases")) == 2


@pytest.mark.slow
def test_a_vault_that_has_released_before_brings_its_releases(uri, released_once):
    order = released_once(order_of)
    order.write(publish=of_plan(uri))
    order.write_source(aged(people()))
    with pytest.raises(SecondReleaseError, match="90 people of this source were released already"):
        order.release()
    assert query(uri, "select name, version, records, published from releases") == [
        ("people", "v1", 90, 1)
    ]


@pytest.mark.long
def test_of_two_vaults_that_announce_at_once_one_is_entered(server, uri, tmp_path):
    orders = [order_of(tmp_path / name) for name in ("one", "other")]
    orders[0].release()
    share_key(*orders)
    orders[1].release()
    ledgers = [Ledger(Vault(order.vault), rebuild_people, uri) for order in orders]
    start, found = threading.Barrier(2), []

    def announce(order, ledger):
        people_of_it = ledger.people(order.run)
        start.wait()
        found.append(len(ledger.announce(order.run, str(order.releases), "v1", people_of_it, [])))

    threads = [
        threading.Thread(target=announce, args=pair) for pair in zip(orders, ledgers, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [0, 1]
    assert len(query(uri, "select run from releases")) == 1


@pytest.mark.long
def test_it_holds_digests_counts_and_names(uri, tmp_path):
    order = order_of(tmp_path, publish=of_plan(uri))
    order.release()
    held = "".join(
        str(query(uri, f"select * from {table}")) for table in ("about", "releases", "people")
    )  # fmt: skip
    rows = [row for (row,) in query(uri, "select persons from people")]
    assert {len(row) for row in rows} == {90 * 16}
    values = {value for row in people() for value in (row[0], row[4], row[5], row[6], "Atlantis")}
    assert not [value for value in values if value in held or value.encode() in b"".join(rows)]
    assert order.run.source_sha256 not in held
    assert (order.vault / "ledger.key").read_bytes().hex() not in held
    assert stat.S_IMODE((order.vault / "ledger.key").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "spoil",
    [*(pytest.param(what, marks=pytest.mark.slow) for what in ("port", "database")), "user"],
)
def test_a_server_that_does_not_answer(server, uri, tmp_path, spoil):
    address, _, database = uri.rpartition("/")
    wrong = {
        "port": f"{address.rpartition(':')[0]}:1/{database}",
        "user": uri.replace(f"//{USER}", "//zq7none"),
        "database": f"{address}/zq7none",
    }
    order = order_of(tmp_path, publish=of_plan(wrong[spoil]))
    done = crowdcover("release", order.plan)
    assert done.code == 1
    assert "the ledger at publish.ledger does not answer" in done.err
    assert "nothing is published without it" in done.err
    assert WHAT_TO_DO[spoil] in done.err
    assert not any(word in done.err + done.out for word in (PASSWORD, "zq7none", "Traceback"))
    assert not order.releases.exists()
    order.write(publish=of_plan(uri))
    done = crowdcover("release", order.plan)
    assert done.last_line == str(order.folder_of_v1), done.err
    assert any((order.vault / "plans").iterdir())
    kept = [path.read_bytes() for path in order.vault.rglob("*") if path.is_file()]
    assert not any(PASSWORD.encode() in content for content in kept)


@pytest.mark.slow
def test_a_ledger_that_somebody_holds_is_waited_for_and_then_refused(uri, tmp_path, monkeypatch):
    import crowdcover.storage.ledger.transaction as module

    order = order_of(tmp_path, publish=of_plan(uri))
    order.release()
    from adbc_driver_postgresql import dbapi

    monkeypatch.setattr(module, "TURN", (module.TURN[0].replace("10s", "50ms"), module.TURN[1]))
    with closing(dbapi.connect(uri)) as holder, closing(holder.cursor()) as cursor:
        cursor.execute(module.TURN[1])
        cursor.fetchall()
        order.write_source(people(first=90))
        with pytest.raises(LedgerError, match=r"the ledger at publish\.ledger does not answer"):
            order.release()
    assert order.versions == ["v1"]
    assert order.release() == order.releases / "v2"


@pytest.mark.slow
def test_a_retracted_release_is_forgotten_by_the_shared_ledger(uri, tmp_path, capsys):
    order = order_of(tmp_path, publish=of_plan(uri))
    order.release()
    plan = order.document
    order.document = {**plan, "publish": {}}
    order.write()
    assert retract(order) == 2  # the vault's own ledger lists nothing
    assert "the ledger that the plan names does not list people v1" in capsys.readouterr().err
    order.document = plan
    order.write()
    assert retract(order) == 0
    assert query(uri, "select run from releases") == []
    assert query(uri, "select run from people") == []
    order.write(privacy={"k": 6})
    assert order.release() == order.releases / "v2"
