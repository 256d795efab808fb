"""Deployments of a Prefect server: what serves them, and their runs."""

import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

from tests.flows.asking import LONGEST, ask, until
from tests.flows.processes import terminate

BIN = Path(sys.executable).parent


@contextmanager
def started(arguments, folder, log):
    with (folder / log).open("w") as handle:
        process = subprocess.Popen(arguments, cwd=folder, stdout=handle, stderr=handle)
    try:
        yield process
    finally:
        terminate(process, LONGEST)


def deployment(name):
    (found,) = until(
        lambda: ask("/deployments/filter", {"deployments": {"name": {"any_": [name]}}}), bool
    )
    return found


def state(run):
    (found,) = ask("/flow_runs/filter", {"flow_runs": {"id": {"any_": [run["id"]]}}})
    return found


def start(found, **more):
    given = {"state": {"type": "SCHEDULED"}, **more}
    return ask(f"/deployments/{found['id']}/create_flow_run", given)
