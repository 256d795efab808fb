"""Workers, ranks and jobs of a release in parts, killed -9 while they are at work."""

import contextlib
import os
import random
import signal
import threading
from unittest import mock

from anon_core.engines.mpi.job import read_progress
from crowdcover.storage.vault.checkpoint import CheckpointFile
from tests.faults.runs import PARTS, ROWS, expected, ordered, published
from tests.support.farms import kill
from tests.support.ranks import find_ranks, list_job

TABLE = 0  # the seed of the table and of the secrets; kills are drawn
MADE = ROWS // PARTS["part"]


def release_without_a_worker(folder, cluster, seed):
    """Kill a worker of a Dask cluster after one of the parts, and start another one."""
    chance = random.Random(f"worker {seed}")
    left, save = chance.randrange(1, MADE - 2), CheckpointFile.save
    order = ordered(folder, TABLE, compute={"engine": "dask", "scheduler": cluster.address})

    def save_and_kill(file, state, seconds):
        save(file, state, seconds)
        if len(state.steps) == left:
            kill(cluster.workers.pop(chance.randrange(len(cluster.workers))))
            cluster.workers.append(cluster.worker())

    with mock.patch.object(CheckpointFile, "save", save_and_kill):
        made = order.release()
    assert published(made) == expected(TABLE)[0]


def release_without_ranks(folder, cluster, seed):
    """Kill a rank, or all that belongs to the job, again and again; return how often.

    The next job is killed, too, once it has finished one part more, or two.
    """
    order = ordered(folder, TABLE, compute={"engine": "mpi", "cluster": cluster})
    chance, ended, kills = random.Random(f"ranks {seed}"), threading.Event(), 0

    def kill_again():
        nonlocal kills
        job = order.run.path / "job"
        while not ended.is_set():
            step = _count_steps(job) + chance.randint(1, 2)
            while _count_steps(job) < step and not ended.wait(0.001):
                pass
            if ranks := find_ranks(job):
                rank = chance.choice(ranks)
                for number in list_job(rank) if kills % 2 else [rank]:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(number, signal.SIGKILL)
                kills += 1
                while set(find_ranks(job)) & set(ranks) and not ended.wait(0.01):
                    pass

    thread = threading.Thread(target=kill_again)
    thread.start()
    try:
        made = order.release()
    finally:
        ended.set()
        thread.join()
    assert published(made) == expected(TABLE)[0]
    return kills


def _count_steps(job):
    progress = read_progress(job)
    return 0 if progress is None else progress.step
