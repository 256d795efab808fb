"""Ten seeds of kill -9 in each stage, of each worker: a release in parts has the same bytes."""

import itertools

import pytest

from tests.anon_core.engines.mpi.mpirun import MPIRUN
from tests.faults.kills import killed_in_turn
from tests.faults.workers import release_without_a_worker, release_without_ranks
from tests.slurm.machine import lacking, start_slurm
from tests.support.farms import Cluster, kill

pytestmark = pytest.mark.slow
SEEDS = range(10)
KILLS = 10
RANKS = {"launcher": "mpirun", "tasks_per_node": 2, "resubmit": KILLS}
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
def test_ranks_and_jobs_of_this_machine_are_killed(tmp_path):
    kill_times(tmp_path, RANKS, KILLS)


def test_ranks_and_jobs_of_slurm_are_killed(tmp_path, monkeypatch):
    if (reason := lacking()) is not None:
        pytest.skip(f"left out: {reason}")
    with start_slurm() as machine:
        for name, value in machine.environment.items():
            monkeypatch.setenv(name, value)
        kill_times(tmp_path, JOB, KILLS // 2)  # a job takes twice as long
