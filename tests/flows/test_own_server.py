"""A release where no PREFECT_API_URL is set: Prefect's server is a thread of its process."""

import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.conftest import DATABASE
from tests.flows.orders import Order, people
from tests.flows.processes import LONGEST

ADDRESS = re.compile(r"no PREFECT_API_URL is set: .* at http://127\.0\.0\.1:(\d+), until")


class Alone:
    """A terminal with a folder of Prefect of its own, and no server."""

    def __init__(self, folder):
        self.home = folder / "prefect"
        self.home.mkdir()
        if DATABASE.exists():
            shutil.copyfile(DATABASE, self.home / "prefect.db")
        kept = {name: value for name, value in os.environ.items() if "PREFECT" not in name}
        self.environment = {**kept, "PREFECT_HOME": str(self.home)}

    def start(self, *arguments):
        return subprocess.Popen(
            [sys.executable, "-m", "crowdcover.flows.cli", *map(str, arguments)],
            env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def ask(self, query):
        with sqlite3.connect(f"file:{self.home}/prefect.db?mode=ro", uri=True) as connection:
            return connection.execute(query).fetchall()


def is_open(port):
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.slow
def test_what_prefect_keeps_of_a_run_is_all_there(tmp_path):
    """Of a release and of a refusal: states, artifacts, logs. One line says where it listens."""
    alone, order = Alone(tmp_path), Order(tmp_path)
    first = alone.start("release", order.plan)
    out, told = first.communicate(timeout=LONGEST)
    assert (first.returncode, out) == (0, f"{order.folder_of_v1}\n"), told
    (port,) = ADDRESS.findall(told)
    assert not is_open(int(port))
    assert "View at" not in told
    order.write_source(people(20, first=900))
    second = alone.start("release", order.plan)
    _, told = second.communicate(timeout=LONGEST)
    assert second.returncode == 4, told
    runs = dict(alone.ask("select state_type, name from flow_run"))
    assert runs.keys() == {"COMPLETED", "FAILED"}
    assert runs["COMPLETED"] == "people v1"
    assert {"release-people", "verdict-people-check", "refused-people"} <= {
        key for (key,) in alone.ask("select key from artifact")
    }
    lines = {line for (line,) in alone.ask("select message from log")}
    assert "published 90 rows as people v1" in lines
    assert "Finished in state Refused()" in lines  # the last line of a refused run came, too
    reasons = alone.ask("select message from flow_run_state where type = 'FAILED'")
    assert any("20 rows instead of 90" in reason for (reason,) in reasons)
    events = {event for (event,) in alone.ask("select event from events")}
    assert {"crowdcover.release.published", "crowdcover.release.refused"} <= events
    done = alone.ask("select count(*) from task_run where state_type = 'COMPLETED'")
    assert done[0][0] >= 8


@pytest.mark.slow
def test_nothing_outlives_a_run_that_is_killed(tmp_path):
    alone, order = Alone(tmp_path), Order(tmp_path)
    process = alone.start("release", order.plan)
    for line in process.stderr:
        if found := ADDRESS.search(line):
            break
    port = int(found[1])
    assert is_open(port)
    below = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=LONGEST)
    _, alive = psutil.wait_procs(below, timeout=10)
    assert alive == []
    assert not is_open(port)
    assert not (Path(order.releases) / "v1").exists()
    again = alone.start("release", order.plan)
    out, told = again.communicate(timeout=LONGEST)
    assert (again.returncode, out) == (0, f"{order.folder_of_v1}\n"), told


@pytest.mark.slow
def test_quiet_says_nothing_of_it(tmp_path):
    alone, order = Alone(tmp_path), Order(tmp_path)
    process = alone.start("release", order.plan, "--quiet")
    out, told = process.communicate(timeout=LONGEST)
    assert (process.returncode, out, told) == (0, f"{order.folder_of_v1}\n", "")
