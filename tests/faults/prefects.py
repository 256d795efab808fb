"""Prefect's server keeps its runs in a PostgreSQL that restarts while a release is at work."""

import contextlib
import os
import random
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from prefect.context import refresh_global_settings_context

from crowdcover.flows.cli import PATIENT_CLIENT
from tests.faults.databases import AWAY, LATEST, restarting
from tests.faults.runs import after, expected, ordered
from tests.flows.processes import terminate
from tests.postgres import PASSWORD, USER

STARTS_WITHIN = 180
POINTS = (
    "crowdcover.flows.release.release_plan",
    *(
        f"crowdcover.flows.course.{stage}"
        for stage in ("ingest", "encode", "identify", "anonymize", "check", "publish")
    ),
    "crowdcover.flows.release.complete_flow_run",
)


def restarted(folder, prefect, point, seed):
    """Restart the database of Prefect's server at a moment of a stage: nobody runs it again."""
    whole, _ = expected(seed)
    order = ordered(folder / "order", seed)
    database, address = prefect
    chance, refusal = random.Random(f"{point} {seed}"), ""
    times = chance.uniform(0, LATEST), chance.uniform(0, AWAY)
    with (
        restarting(database, point, *times) as restarts,
        _use_settings({"PREFECT_API_URL": address, **PATIENT_CLIENT}),
    ):
        try:
            order.release_in_prefect()
        # Whatever ends a run is no end that needs no person.
        except Exception as error:  # noqa: BLE001
            refusal = repr(error)
        met = bool(restarts)
    if refusal:
        print(refusal, file=sys.stderr)
    return after(order, whole, met, not refusal)


@contextlib.contextmanager
def _use_settings(settings):
    """Set variables of Prefect: threads and processes that know no settings look there."""
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    refresh_global_settings_context()
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        refresh_global_settings_context()


@contextlib.contextmanager
def running(database):
    """A server of Prefect whose database is in a cluster; yields the cluster and its address."""
    database.run("create database prefect")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    place = f"{USER}:{PASSWORD}@{database.host}:{database.port}/prefect"
    environment = {
        **os.environ,
        "PREFECT_API_DATABASE_CONNECTION_URL": f"postgresql+asyncpg://{place}",
        "PREFECT_HOME": str(database.folder / "home"),
    }
    program = [str(Path(sys.executable).with_name("prefect")), "server", "start"]
    server = subprocess.Popen(
        [*program, "--host", "127.0.0.1", "--port", str(port)],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}/api"
    try:
        end = time.monotonic() + STARTS_WITHIN
        while time.monotonic() < end:
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{address}/health"):
                break
            time.sleep(0.2)
        yield database, address
    finally:
        terminate(server, 20)
