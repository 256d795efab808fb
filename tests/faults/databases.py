"""A PostgreSQL server that restarts while a run reads its source there and keeps its ledger."""

import os
import pkgutil
import random
import tempfile
import threading
import time
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from unittest import mock

import polars as pl

from anon_core.errors import AnonymityError
from tests.faults.runs import ROWS, Outcome, holds
from tests.flows.orders import HEADER, Order, data_bytes, people
from tests.postgres import PASSWORD, USER

# Calls during which the server restarts. `_enter` is called within a transaction.
POINTS = (
    "crowdcover.storage.source.reading.query_database",
    "crowdcover.storage.ledger.ledger.Ledger.mend",
    "crowdcover.storage.ledger.ledger.Ledger._enter",
    "crowdcover.storage.ledger.ledger.Ledger.confirm",
    "crowdcover.flows.course.anonymize",
    "crowdcover.flows.course.check",
)
AWAY = 3.0  # seconds that the server is away at most
LATEST = 0.2  # seconds into the call
BEFORE = 0.1  # a restart that begins earlier is over before the call does its work
SLOW = "select source.* from source, (select pg_sleep(0.2)) as slow"  # long enough to be cut


def restarted(folder, server, point, seed):
    """Restart the server at a random moment of a call, or just before it: nobody runs it again."""
    with mock.patch.dict(os.environ, PGPASSWORD=PASSWORD, CROWDCOVER_WAIT="120"):
        whole = _expected(server, seed)
        name = f"of_{POINTS.index(point)}_{seed}"
        order = _ordered(folder / "order", server, name, seed)
        chance = random.Random(f"{point} {seed}")
        times = chance.uniform(0, LATEST), chance.uniform(0, AWAY)
        met, refusal = _met(order, server, point, times)
        half = any(data_bytes(each) != whole for each in order.releases.glob("[!.]*"))
        finished = order.stage_times()
        folder = order.release()
        lost = data_bytes(folder) != whole or not order.stage_times().items() >= finished.items()
        rows = pl.read_database_uri(
            "select name, version, records, published from releases",
            _address(server, name, PASSWORD),
            engine="adbc",
        ).rows()
        completed = rows == [("people", "v1", ROWS, 1)] and holds(order, folder)
        return Outcome(met, half, lost, completed and not refusal)


def _met(order, server, point, times):
    """Release while the server restarts: whether it did before the end, and the refusal."""
    refusal = ""
    with restarting(server, point, *times) as restarts:
        try:
            order.release()
        except AnonymityError as refused:
            refusal = str(refused)
        met = bool(restarts)
    return met, refusal


@cache
def _expected(server, seed):
    """The bytes that an undisturbed run publishes."""
    with tempfile.TemporaryDirectory(prefix="crowdcover-whole-") as folder:
        return data_bytes(_ordered(Path(folder), server, f"whole_{seed}", seed).release())


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
def restarting(server, point, delay, away):
    """Restart the server when a function is called first: before its work, or beside it.

    Yields a list, which is not empty once a restart has begun.
    """
    holder, _, name = point.rpartition(".")
    holder, threads, begun = pkgutil.resolve_name(holder), [], []
    work = getattr(holder, name)

    def restart():
        time.sleep(delay)
        begun.append(point)
        server.restart(away)

    def called(*arguments, **options):
        if threads:
            return work(*arguments, **options)
        threads.append(threading.Thread(target=restart))
        threads[0].start()
        if delay < BEFORE:
            threads[0].join()
        return work(*arguments, **options)

    with mock.patch.object(holder, name, called):
        yield begun
    for thread in threads:
        thread.join()
