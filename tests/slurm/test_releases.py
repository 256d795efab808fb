"""Releases by two ranks of a real Slurm: to publication, and through every end of a job."""

import json
import logging
import os
import signal
from types import SimpleNamespace
from uuid import UUID

import pytest
from prefect.client.orchestration import get_client
from prefect.states import Cancelling

from anon_core.errors import ClusterError
from crowdcover.flows.release import cancel_jobs
from crowdcover.flows.release import release as flow
from tests.flows.orders import Order, data_bytes, people
from tests.flows.processes import start
from tests.support.examples import published
from tests.support.ranks import act_in_iteration, find_ranks, wait_for_iteration

ITERATIONS = 12
RANKS = {"launcher": "slurm", "tasks_per_node": 2, "partition": "debug", "time_limit": "1h"}
LONG = {"name": "adaptive", "schedule": "fixed", "max_iterations": ITERATIONS, "patience": 99}

pytestmark = pytest.mark.usefixtures("server")


@pytest.fixture(scope="module")
def rows():
    return people(12000)


@pytest.fixture(scope="module")
def whole(server, rows, tmp_path_factory):
    """What this machine alone publishes with the same secrets."""
    return data_bytes(
        Order(tmp_path_factory.mktemp("whole"), rows, anonymizer=LONG).fix_seed().release()
    )


@pytest.fixture
def order(slurm, rows, tmp_path):
    return Order(
        tmp_path, rows, anonymizer=LONG, compute={"engine": "mpi", "cluster": RANKS}
    ).fix_seed()


@pytest.fixture
def said():
    """The words of the log."""
    lines, handler = [], logging.Handler(logging.INFO)
    handler.emit = lambda record: lines.append(record.getMessage())
    plain, prefect = logging.getLogger("crowdcover"), logging.getLogger("prefect.task_runs")
    level = plain.level
    plain.setLevel(logging.INFO)
    for logger in (plain, prefect):
        logger.addHandler(handler)
    yield lines
    for logger in (plain, prefect):
        logger.removeHandler(handler)
    plain.setLevel(level)


@pytest.mark.long
def test_watched_to_publication(slurm, order, whole, said):
    folder = order.release()
    assert data_bytes(folder) == whole
    assert any(
        " waits in the queue" in words or f" runs on {slurm.host}" in words for words in said
    )
    assert any(
        words.startswith(f"iteration {ITERATIONS} of at most {ITERATIONS}: utility ")
        for words in said
    )
    assert sorted(path.name for path in (order.run.path / "job-logs").iterdir()) == [
        "1.err",
        "1.out",
    ]
    assert not (order.run.path / "job").exists()
    assert not slurm.jobs()


@pytest.mark.slow
def test_srun_starts_the_ranks_as_well(slurm, order, whole):
    order.write(compute={"cluster": {**RANKS, "start": "srun", "mpi": "pmi2"}})
    assert data_bytes(order.release()) == whole


@pytest.mark.slow
def test_a_rank_that_is_killed(slurm, order, whole, said):
    thread = act_in_iteration(order, 3, lambda _, pids: os.kill(pids[0], signal.SIGKILL))
    assert data_bytes(order.release()) == whole
    thread.join()
    assert (
        len(
            [
                words
                for words in said
                if "lost a process" in words and "another goes on after iteration" in words
            ]
        )
        == 1
    )
    assert len(list((order.run.path / "job-logs").iterdir())) == 4


@pytest.mark.slow
def test_a_job_that_is_cancelled_from_outside(slurm, order, whole):
    thread = act_in_iteration(order, 3, lambda job, _: slurm.ask("scancel", job))
    with pytest.raises(
        ClusterError, match="was cancelled from outside; run again to go on from its last iteration"
    ):
        order.release()
    thread.join()
    assert order.versions == []
    assert data_bytes(order.release()) == whole


def release(plan):
    flow(plan)


def end_flow(order, slurm, number, sign):
    """Release in another process and send it a signal in an iteration; returns the job's number."""
    process, _ = start(release, str(order.plan), environment=slurm.environment)
    job = wait_for_iteration(order.run.path / "job", number)
    os.kill(process.pid, sign)
    process.join(120)
    assert process.exitcode not in (0, None)
    assert order.versions == []
    return job


@pytest.mark.slow
def test_a_flow_that_is_told_to_end_cancels_its_job(slurm, order, whole):
    end_flow(order, slurm, 2, signal.SIGTERM)
    assert not slurm.jobs()
    assert data_bytes(order.release()) == whole


@pytest.mark.slow
def test_a_flow_run_that_is_cancelled_in_prefect(slurm, order, whole):
    runs = []

    def cancel(*_):
        runs.append(UUID(json.loads((order.run.path / "job" / "submission").read_text())["owner"]))
        with get_client(sync_client=True) as client:
            client.set_flow_run_state(runs[0], Cancelling(), force=True)
        for pid in find_ranks(order.run.path / "job"):
            os.kill(pid, signal.SIGSTOP)  # so that there is time to notice

    thread = act_in_iteration(order, 2, cancel)
    with pytest.raises(ClusterError, match="the flow run was cancelled, and its job with it"):
        order.release_in_prefect()
    thread.join()
    assert not slurm.jobs()
    assert order.versions == []
    with get_client(sync_client=True) as client:
        state = client.read_flow_run(runs[0]).state
    assert state.is_final()  # "cancelling" is not
    assert "the flow run was cancelled" in state.message
    assert data_bytes(order.release()) == whole


@pytest.mark.slow
def test_a_flow_that_is_killed_finds_its_job_again(slurm, order, whole, said):
    job = end_flow(order, slurm, 2, signal.SIGKILL)
    assert data_bytes(order.release()) == whole
    assert {words.split()[1] for words in said if words.startswith("job ")} <= {job}
    assert len(list((order.run.path / "job-logs").iterdir())) == 2


@pytest.mark.slow
def test_the_job_of_a_flow_run_that_prefect_has_killed_is_cancelled(slurm, order):
    for pid in end_and_stop(order, slurm):
        os.kill(pid, signal.SIGSTOP)
    assert len(slurm.jobs()) == 1
    owner = json.loads((order.run.path / "job" / "submission").read_text())["owner"]
    cancel_jobs(flow, SimpleNamespace(id=owner, parameters={"plan": str(order.plan)}), None)
    assert not slurm.jobs()


def end_and_stop(order, slurm):
    end_flow(order, slurm, 2, signal.SIGKILL)
    return find_ranks(order.run.path / "job")


def test_a_partition_that_does_not_exist_is_refused_before_any_work(slurm, order):
    order.write(compute={"cluster": {**RANKS, "partition": "zq7"}})
    with pytest.raises(
        ClusterError,
        match=r"compute\.cluster\.partition is not known to Slurm; allowed: debug, brief",
    ):
        order.release()
    assert not (order.run.path / "ingest").exists()


@pytest.mark.long
def test_more_time_than_the_partition_gives(slurm, order):
    order.write(compute={"cluster": {**RANKS, "partition": "brief"}})
    with pytest.raises(ClusterError, match=r"would wait for ever: .* lower .*time_limit"):
        order.release()
    assert not slurm.jobs()
    assert order.versions == []


@pytest.mark.slow
def test_a_time_limit_that_is_reached_in_iteration_3(slurm, order, whole, said):
    """The ranks are stopped there, so that the job's minute passes."""

    def stop(_, pids):
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)

    order.write(compute={"cluster": {**RANKS, "time_limit": "1m"}})
    thread = act_in_iteration(order, 3, stop)
    assert data_bytes(order.release()) == whole
    thread.join()
    assert any(
        "is over (it reached its time limit; another goes on after iteration" in words
        for words in said
    )


@pytest.mark.slow
@pytest.mark.soak
def test_adult_by_two_ranks(slurm, tmp_path, said):
    cluster = "compute.cluster={launcher='slurm', tasks_per_node=2, partition='debug'}"
    manifest = published(
        "adult.toml", "adult/adult.data.gz", tmp_path, "compute.engine=mpi", cluster
    )
    assert manifest["privacy"]["records"] == 32561
    assert manifest["utility"]["suppression"] >= 0.915
    assert any(words.startswith("iteration ") for words in said)
