"""A PostgreSQL server that restarts while a run reads its source there and keeps its ledger."""

import os
import pkgutil
import random
import threading
import time
from contextlib import contextmanager
from unittest import mock

import polars as pl

from anon_core.errors import AnonymityError
from tests.faults.runs import ROWS, Outcome, holds
from tests.flows.orders import HEADER, Order, data_bytes, people
from tests.postgres import PASSWORD, USER

# Calls during which the server restarts. `_enter` is called within a transaction.
POINTS = (
    "tasks.source.reading.query",
    "tasks.people.ledger.Ledger.mend",
    "tasks.people.ledger.Ledger._enter",
    "tasks.people.ledger.Ledger.confirm",
    "flows.release.anonymize",
    "flows.release.check",
)
SLOW = "select source.* from source, (select pg_sleep(0.2)) as slow"  # long enough to be cut


def restarted(folder, server, point, seed):
    """Restart the server at a random moment of a call, or just before it; then run again."""
    with mock.patch.dict(os.environ, PGPASSWORD=PASSWORD):
        name = f"of_{POINTS.index(point)}_{seed}"
        whole = _ordered(folder / "whole", server, f"whole_{name}", seed)
        expected = data_bytes(whole.release())
        order = _ordered(folder / "order", server, name, seed)
        delay = random.Random(f"{point} {seed}").uniform(0, 0.2)
        refusal = ""
        with _restarting(server, point, delay) as restarts:
            try:
                order.release()
            except AnonymityError as refused:
                refusal = str(refused)
        half = any(data_bytes(each) != expected for each in order.releases.glob("[!.]*"))
        finished = order.stage_times()
        folder = order.release()
        lost = data_bytes(folder) != expected or not order.stage_times().items() >= finished.items()
        rows = pl.read_database_uri(
            "select name, version, records, published from releases",
            _address(server, name, PASSWORD),
            engine="adbc",
        ).rows()
        completed = rows == [("people", "v1", ROWS, 1)] and holds(order, folder)
        met = bool(restarts) and PASSWORD not in refusal
        return Outcome(met, half, lost, completed)


def _ordered(folder, server, database, seed):
    """A plan whose source and ledger are in a database of its own."""
    server.run(f"create database {database}")
    rows = pl.DataFrame(people(ROWS, draws=seed), schema=list(HEADER), orient="row")
    rows.write_database("source", _address(server, database, PASSWORD), engine="adbc")
    uri = _address(server, database)
    order = Order(folder, publish={"ledger": uri})
    order.document["source"] = {"uri": uri, "query": SLOW}
    order.write()
    return order.fix_seed(seed.to_bytes(32, "little"))


def _address(server, database, password=None):
    user = USER if password is None else f"{USER}:{password}"
    return f"postgresql://{user}@{server.host}:{server.port}/{database}"


@contextmanager
def _restarting(server, point, delay):
    """Restart the server when a function is called first: before its work, or beside it."""
    holder, _, name = point.rpartition(".")
    holder, restarts = pkgutil.resolve_name(holder), []
    work = getattr(holder, name)

    def called(*arguments, **options):
        if restarts:
            return work(*arguments, **options)
        thread = threading.Thread(target=_after, args=(delay, server))
        restarts.append(thread)
        thread.start()
        if delay < 0.1:
            thread.join()
        return work(*arguments, **options)

    with mock.patch.object(holder, name, called):
        yield restarts
    for thread in restarts:
        thread.join()


def _after(delay, server):
    time.sleep(delay)
    server.restart()
