"""One Prefect server for the whole session, and nothing of Prefect outside a temporary folder."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from hypothesis import settings
from xdist.scheduler import LoadFileScheduling

from tests.flows.processes import let_system_write, terminate, without_heartbeats

# Prefect reads these when it is imported, which happens while tests are collected. The port is
# bound, without listening, until the server takes it.
HOME = Path(tempfile.mkdtemp(prefix="crowdcover-prefect-"))
PORT = socket.socket()
PORT.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
PORT.bind(("127.0.0.1", 0))
NUMBER = PORT.getsockname()[1]
ADDRESS = f"http://127.0.0.1:{NUMBER}/api"
os.environ.update(
    PREFECT_HOME=str(HOME),
    PREFECT_API_URL=ADDRESS,
    PREFECT_SERVER_ANALYTICS_ENABLED="false",
    PREFECT_LOGGING_TO_API_BATCH_INTERVAL="0.1",
    PREFECT_RUNNER_POLL_FREQUENCY="1",
    DO_NOT_TRACK="1",
    GX_ANALYTICS_ENABLED="false",
    # What does not answer in a test never will, but for tests of outages.
    CROWDCOVER_WAIT="0",
    COLUMNS="200",
)
# Nothing here outlives the machine, and writing through to a disk that others use takes long.
os.fsync = let_system_write
# Brought up to date by Prefect, where `make` has laid one: that is half of a server's start.
DATABASE = Path(sys.prefix) / ".prefect.db"
STARTS_WITHIN = 180
STOPS_WITHIN = 20

# Files that take longest: workers begin with them, so none is left with a long one at the end.
# Slow suites first, then by processor time.
LONG_FILES = (
    "tests/flows/test_series_drawn.py",
    "tests/flows/test_leaks.py",
    "tests/test_examples.py",
    "tests/slurm/test_releases.py",
    "tests/faults/test_faults.py",
    "tests/faults/test_kills.py",
    "tests/deploy/test_image.py",
    "tests/deploy/test_team.py",
    "tests/flows/test_approval.py",
    "tests/flows/test_crashes.py",
    "tests/flows/test_encrypted.py",
    "tests/flows/test_vaults.py",
    "tests/reports/test_browser.py",
    "tests/kinds/table/test_planted_faults.py",
    "tests/flows/test_release.py",
    "tests/flows/test_series.py",
    "tests/anon_core/engines/test_farm.py",
    "tests/anon_core/engines/mpi/test_ranks.py",
    "tests/contract/test_anonymizers.py",
    "tests/flows/test_second.py",
    "tests/flows/test_audit.py",
    "tests/flows/test_cli.py",
    "tests/flows/test_backfill.py",
    "tests/flows/test_corrupted_people.py",
    "tests/flows/test_mutations.py",
)

# Files of a few long tests that share nothing: their tests go to any worker, one by one.
SPREAD_FILES = {"tests/flows/test_series_drawn.py"}

# `make soak` draws thoroughly, as others do with PROFILE=thorough.
settings.register_profile("fast", max_examples=25, deadline=None)
settings.register_profile("thorough", max_examples=50, deadline=None)


class FailuresAtOnce:
    """Says each failure when it happens: a run that is stopped never gets to its summary."""

    def __init__(self, config):
        self.config = config

    def pytest_runtest_logreport(self, report):
        if report.failed:
            told = getattr(getattr(report.longrepr, "reprcrash", None), "message", "")
            terminal = self.config.pluginmanager.get_plugin("terminalreporter")
            terminal.write_line(f"\nfailed: {report.nodeid} ({report.when}): {told[:500]}")


def pytest_configure(config):
    settings.load_profile(config.getoption("--hypothesis-profile") or "fast")
    config.pluginmanager.register(FailuresAtOnce(config))


class FileScheduling(LoadFileScheduling):
    """One worker for each file, but for those that are spread."""

    def _split_scope(self, nodeid):
        file = super()._split_scope(nodeid)
        return nodeid if file in SPREAD_FILES else file


def pytest_xdist_make_scheduler(config, log):
    return FileScheduling(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_collection_modifyitems(items):
    """Put long files first. Tests of a file stay in their order."""
    place = {name: number for number, name in enumerate(LONG_FILES)}
    items.sort(key=lambda item: place.get(item.location[0], len(place)))


@pytest.fixture(autouse=True)
def _environment_of_its_own():
    """Undo the variables that a command sets here: later processes would inherit them."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


def pytest_unconfigure():
    PORT.close()
    shutil.rmtree(HOME, ignore_errors=True)


def pytest_terminal_summary(terminalreporter):
    """Say plainly what was left out, and why: -q would only count it."""
    reasons = [
        report.longrepr[2].removeprefix("Skipped: ")
        for report in terminalreporter.getreports("skipped")
    ]
    for reason in dict.fromkeys(reasons):
        terminalreporter.write_line(
            f"left out ({reasons.count(reason)}): {reason.removeprefix('left out: ')}"
        )


@pytest.fixture(scope="session")
def server():
    """The address of a Prefect server's API."""
    PORT.close()
    if DATABASE.exists():
        shutil.copyfile(DATABASE, HOME / "prefect.db")
    command = [
        str(Path(sys.executable).with_name("prefect")),
        "server",
        "start",
        "--host",
        "127.0.0.1",
    ]
    with (HOME / "server.log").open("wb") as log:
        process = subprocess.Popen([*command, "--port", str(NUMBER)], stdout=log, stderr=log)
    try:
        _wait_for_health(process)
        with without_heartbeats():
            yield ADDRESS
    finally:
        _drain()
        terminate(process, STOPS_WITHIN)


def _drain():
    """Let Prefect's threads say what they have to say while somebody listens."""
    from prefect.events.worker import EventsWorker
    from prefect.logging.handlers import APILogWorker

    EventsWorker.drain_all(timeout=STOPS_WITHIN)
    APILogWorker.drain_all(timeout=STOPS_WITHIN)


def _wait_for_health(process):
    end = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{ADDRESS}/health", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    pytest.fail("the Prefect server did not start: " + (HOME / "server.log").read_text()[-2000:])


@pytest.fixture(scope="session")
def released(tmp_path_factory):
    """A published release that no test may change."""
    from tests.flows.orders import Order

    order = Order(tmp_path_factory.mktemp("released"))
    order.release()
    return order


@pytest.fixture(scope="session")
def released_once(tmp_path_factory):
    """Orders that were released once: `released_once(Order, **sections)`; see `Standing`."""
    from tests.support.standing import Standing

    return Standing(tmp_path_factory.mktemp("standing"))


@pytest.fixture
def waited(monkeypatch):
    """Seconds of the pauses during outages, which nobody waits for."""
    pauses = []
    monkeypatch.setattr("crowdcover.storage.places.outages.time.sleep", pauses.append)
    monkeypatch.delenv("CROWDCOVER_WAIT")
    return pauses
