"""Dask workers that tests start, watch and kill."""

import itertools
import json
import os
import pickle
import subprocess
import sys
import time
from pathlib import Path

import numba
import psutil
from distributed import Client

from anon_core.anonymizers import Adaptive
from anon_core.engines import farm as dask
from anon_core.steps import Observer


class LastFirst:
    """A farm of this process: all travels as bytes, and the last chunk comes back first."""

    def __init__(self):
        self.sent = []

    def each(self, task, ground, chunks):
        for chunk in reversed(chunks):
            self.sent.append(pickle.dumps((ground, chunk)))
            threads = numba.get_num_threads()
            made = pickle.dumps(task(*pickle.loads(self.sent[-1]), 1))
            numba.set_num_threads(threads)  # tasks set those of their worker
            yield chunk, pickle.loads(made)


LONGEST = 60


ROOT = Path(__file__).parents[2]


MAKER = Adaptive(max_iterations=3)


class Cluster:
    """A scheduler and workers of one thread each; a worker that dies is not replaced.

    The workers run here, or by turns on `machines` of `tests.support.machines`.
    """

    def __init__(self, folder, workers, machines=None):
        self.folder, self.file, self.logs = folder, folder / "scheduler.json", itertools.count()
        self.processes = []
        host = "127.0.0.1" if machines is None else machines.address
        self.scheduler = self.start([], "scheduler", "--host", host, "--port", "0")
        end = time.monotonic() + LONGEST
        while not self.file.exists() and time.monotonic() < end:
            time.sleep(0.05)
        on = itertools.cycle(
            [[]] if machines is None else map(machines.build_command, machines.names)
        )
        self.workers = [self.worker(next(on)) for _ in range(workers)]
        self.address = json.loads(self.file.read_text())["address"]
        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(
                workers, timeout=LONGEST
            )  # they may take longer than the impatient wait for one

    def start(self, before, kind, *options):
        command = [
            *before,
            sys.executable,
            "-m",
            f"distributed.cli.dask_{kind}",
            *options,
            "--scheduler-file",
            str(self.file),
        ]
        with (self.folder / f"log-{next(self.logs)}").open("wb") as log:
            environment = {**os.environ, "PYTHONPATH": str(ROOT)}
            process = subprocess.Popen(
                command, stdout=log, stderr=log, cwd=self.folder, env=environment
            )
        self.processes.append(process)
        return process

    def worker(self, before=()):
        options = "--no-nanny", "--nthreads", "1", "--local-directory", str(self.folder)
        return self.start(before, "worker", *options)

    def run(self, table, maker=MAKER, **options):
        return dask.run(maker, table, scheduler=self.address, **options)

    @property
    def words(self):
        return "".join(path.read_text() for path in self.folder.glob("log-*"))


def kill(*processes):
    for process in processes:
        process.kill()
        process.wait(LONGEST)


class Then(Observer):
    """Acts when it is told of searched records for the `nth` time."""

    def __init__(self, nth, act):
        self.left, self.act = nth, act

    def report_records(self, records):
        self.left -= 1
        if self.left == 0:
            self.act()


def spawned():
    """The workers that this process has started."""
    return [
        child
        for child in psutil.Process().children(recursive=True)
        if "spawn_main" in " ".join(child.cmdline())
    ]
