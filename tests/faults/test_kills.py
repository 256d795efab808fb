"""kill -9 in each stage, of each worker: a release in parts has the same bytes.

`make soak` tries ten seeds of each.
"""

import itertools

import pytest

from tests.anon_core.engines.mpi.mpirun import MPIRUN
from tests.faults.kills import killed_in_turn
from tests.faults.workers import release_without_a_worker, release_without_ranks
from tests.slurm.machine import lacking, start_slurm
from tests.support.farms import Cluster, kill
from tests.support.soaking import soak_after

pytestmark = pytest.mark.slow
SEEDS = soak_after(3, range(10))
KILLS = soak_after(1, [3, 10])
RANKS = {"launcher": "mpirun", "tasks_per_node": 2, "resubmit": 10}
JOB = {**RANKS, "launcher": "slurm", "partition": "debug", "time_limit": "1h"}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_run_is_killed_in_every_stage(tmp_path, seed):
    assert killed_in_turn(tmp_path, seed).good


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    yield (made := Cluster(tmp_path_factory.mktemp("dask"), 2))
    kill(*made.processes)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_worker_is_killed(tmp_path, cluster, seed):
    release_without_a_worker(tmp_path, cluster, seed)


def kill_times(folder, cluster, wanted):
    """As many releases as it takes: the last part may be made before a kill comes."""
    kills = 0
    for seed in itertools.count():
        kills += release_without_ranks(folder / str(seed), cluster, seed)
        if kills >= wanted:
            break


@pytest.mark.skipif(not MPIRUN.exists(), reason="mpirun is not installed beside this Python")
@pytest.mark.parametrize("kills", KILLS)
def test_ranks_and_jobs_of_this_machine_are_killed(tmp_path, kills):
    kill_times(tmp_path, RANKS, kills)


@pytest.mark.parametrize("kills", KILLS)
def test_ranks_and_jobs_of_slurm_are_killed(tmp_path, monkeypatch, kills):
    if (reason := lacking()) is not None:
        pytest.skip(f"left out: {reason}")
    with start_slurm() as machine:
        for name, value in machine.environment.items():
            monkeypatch.setenv(name, value)
        kill_times(tmp_path, JOB, kills)
