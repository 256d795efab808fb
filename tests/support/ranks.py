"""The batch job of a release: when it is in an iteration, and the processes that are its ranks."""

import json
import os
import threading
import time
from pathlib import Path

import psutil


def find_ranks(folder):
    """The processes of the job of a folder that are its ranks."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            words = (path / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if (
            b"python" in words[0]
            and b"anon_core.engines.mpi" in words
            and os.fsencode(folder) in words
        ):
            found.append(int(path.name))
    return found


def list_job(rank):
    """The processes of the job of a rank on this machine, from the rank to the job's script."""
    above = psutil.Process(rank).parents()
    names = [process.name() for process in above]
    ends = [at for at, name in enumerate(names) if name.startswith("slurmstepd")]
    ends += [at for at, process in enumerate(above) if process.pid == os.getpid()]
    return [rank, *(process.pid for process in above[: min(ends)])]


def wait_for_iteration(job, number):
    """Wait until the job of a folder is there; returns its number."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        progress = job / "progress.json"
        if progress.exists() and json.loads(progress.read_text())["step"] >= number - 1:
            return json.loads((job / "submission").read_text())["number"]
        time.sleep(0.01)
    raise AssertionError("the job did not come that far")


def act_in_iteration(order, number, act):
    """Do something to the job of a release in an iteration: act(number of the job, its ranks)."""
    job = order.run.path / "job"

    def wait():
        found = wait_for_iteration(job, number)
        act(found, find_ranks(job))

    thread = threading.Thread(target=wait)
    thread.start()
    return thread
