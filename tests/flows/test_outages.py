"""A release meets an outage at every question to a store, and ends as if there had been none.

`tests/faults` does the same with a PostgreSQL that restarts and an object storage that closes.
"""

import contextlib
import sqlite3
from contextlib import closing

import fsspec
import pytest

from anon_core.errors import InputError
from crowdcover.storage.ledger import ledger as ledgers
from crowdcover.storage.places import outages
from crowdcover.storage.source import databases
from crowdcover.storage.source.drivers.lite import SQLITE
from tests.flows.orders import FILES, Order, data_bytes
from tests.support.audits import audit_release
from tests.support.databases import in_a_database

SECRET = "zq7password"


class Away:
    """Fails at every first try of a question: before its work, or so that its answer is lost."""

    def __init__(self, *, lost):
        self.lost, self.tries = lost, 0

    def fails_now(self):
        self.tries += 1
        return self.tries % 2 == 1

    def meet(self, work):
        away = self.fails_now()
        if away and not self.lost:
            raise ConnectionResetError(SECRET)
        answer = work()
        if away:
            raise ConnectionResetError(SECRET)
        return answer


@pytest.mark.parametrize("lost", [False, True])
def test_the_ledger_is_away_at_every_transaction(tmp_path, monkeypatch, waited, caplog, lost):
    whole = data_bytes(Order(tmp_path / "whole").fix_seed().release())
    order, away = Order(tmp_path / "met").fix_seed(), Away(lost=lost)
    real = ledgers.open_ledger_transaction

    @contextlib.contextmanager
    def transaction(*arguments, **options):
        now = away.fails_now()
        with real(*arguments, **options) as ask:
            yield ask
            if now and not lost:
                raise ConnectionResetError(SECRET)  # before the commit: nothing was entered
        if now:
            raise ConnectionResetError(SECRET)

    monkeypatch.setattr(ledgers, "open_ledger_transaction", transaction)
    with caplog.at_level("INFO", "crowdcover"):
        folder = order.release()
    assert data_bytes(folder) == whole
    assert len(waited) == away.tries / 2 > 4
    assert set(waited) == {1}
    assert (
        "waiting for the ledger (ConnectionResetError): try 2 of at most 8 in 1 s"
        in caplog.messages
    )
    assert SECRET not in caplog.text
    with closing(sqlite3.connect(order.vault / "ledger.sqlite")) as entries:
        found = entries.execute("select name, version, records, published from releases").fetchall()
    assert found == [("people", "v1", 90, 1)]


def test_the_source_is_away(tmp_path, monkeypatch, waited, caplog):
    order, tries = in_a_database(tmp_path), []

    def fetch(*arguments):
        tries.append(1)
        if len(tries) in (1, 2):
            raise ConnectionResetError(SECRET)
        return SQLITE.fetch(*arguments)

    monkeypatch.setattr(databases, "database_of", lambda _: SQLITE._replace(fetch=fetch))
    with caplog.at_level("INFO", "crowdcover"):
        folder = order.release()
    assert audit_release(folder, order.plan).passed
    assert waited == [1, 2]
    said = [line for line in caplog.messages if line.startswith("waiting for")]
    assert said[-1] == "waiting for the source (ConnectionResetError): try 3 of at most 8 in 2 s"
    assert SECRET not in caplog.text


def test_a_source_that_stays_away_is_refused(tmp_path, monkeypatch, waited):
    order = in_a_database(tmp_path)

    def fetch(*_):
        raise ConnectionRefusedError(SECRET)

    monkeypatch.setattr(databases, "database_of", lambda _: SQLITE._replace(fetch=fetch))
    with pytest.raises(InputError, match=r"did not answer source\.query") as caught:
        order.release()
    assert sum(waited) == outages.LONGEST_WAIT
    assert SECRET not in str(caught.value)


class Flaky:
    """A driver of object storage that is away at every first call."""

    CALLS = ("exists", "isfile", "find", "info", "cat_file", "pipe_file", "put_file", "rm_file")

    def __init__(self, store, away):
        self._store, self._away = store, away

    def __getattr__(self, name):
        real = getattr(self._store, name)
        if name not in self.CALLS:
            return real
        return lambda *given, **options: self._away.meet(lambda: real(*given, **options))


@pytest.mark.parametrize("lost", [False, True])
def test_object_storage_is_away_at_every_request(tmp_path, monkeypatch, waited, lost):
    monkeypatch.setattr("crowdcover.storage.places.place.STARTS", ("memory://",))
    store, away = fsspec.filesystem("memory"), Away(lost=lost)
    store.store.clear()
    store.pseudo_dirs[:] = [""]
    whole = data_bytes(Order(tmp_path / "whole").fix_seed().release())
    order = Order(tmp_path / "met", publish={"path": "memory://bucket/releases"}).fix_seed()
    with monkeypatch.context() as patch:
        patch.setattr("fsspec.filesystem", lambda *_, **__: Flaky(store, away))
        folder = order.release()
    assert sorted(folder.below()) == FILES
    assert data_bytes(folder) == whole
    assert audit_release(folder, order.plan).passed
    assert len(waited) > len(FILES)
    assert order.release() == folder
    store.store.clear()
