"""Where the steps of an anonymizer are done: in this process, on Dask workers, or by batch jobs."""

import contextlib
import logging
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, cast
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers import Anonymizer
from anon_core.anonymizers.base import Data, Made, TableAnonymizer
from anon_core.engines import local
from anon_core.engines.mpi.job import afford_rank, has_result, read_result, write_job
from anon_core.errors import ClusterError
from anon_core.tables.records import BinaryTable
from crowdcover.storage.vault.checkpoint import CheckpointFile
from crowdcover.storage.vault.run import Run
from crowdcover.tasks.compute import cluster as clusters
from crowdcover.tasks.compute.jobs import JobState, run_job
from crowdcover.tasks.compute.progress import job_progress, step_progress
from crowdcover.tasks.compute.spec import Cluster
from crowdcover.tasks.orchestration.events import find_flow_run

CHECKPOINT = "checkpoint"
JOB = "job"  # what a batch job reads and writes
LOGS = "job-logs"  # output of batch jobs; stays in the vault
ASKS_EVERY = 5.0  # seconds between two looks at whether the flow run is to be cancelled


@dataclass(frozen=True, kw_only=True)
class Compute:
    """[compute] of the plan.

    Threads (0 = all) and bytes; the address of a Dask scheduler, or the number of workers; what
    batch jobs ask for.
    """

    engine: Literal["local", "mpi", "dask"] = "local"
    threads: int
    memory: int
    scheduler: str | None = None
    workers: int = 2
    cluster: Cluster | None = None


class _CancelledError(ClusterError):
    """The flow run was cancelled in Prefect."""


def require_ready_engine(run: Run, compute: Compute) -> None:
    """Refuse an engine that cannot work here before any stage starts."""
    if compute.cluster is not None and not run.has("anonymize"):
        clusters.require_ready_cluster(compute.cluster, run.path)


def run_anonymizer(
    run: Run,
    inputs: Sequence[str],
    anonymizer: Anonymizer[Any],
    data: Data,
    tie_order: NDArray[np.int64],
    compute: Compute,
) -> tuple[Any, list[float]]:
    """Return what the anonymizer made, and the seconds of each step.

    The work goes on from the last checkpoint of an earlier run.
    """
    if compute.cluster is None:
        file = CheckpointFile(run.path / CHECKPOINT, inputs)
        return _run_in_process(file, anonymizer, data, tie_order, compute)
    # Only methods of tables run on MPI.
    of_table = cast("TableAnonymizer", anonymizer), cast("BinaryTable", data)
    return _by_jobs(run, *of_table, tie_order, compute, compute.cluster)


def describe_timed_steps(result: Made, seconds: Sequence[float]) -> list[dict[str, Any]]:
    """Return the steps as a manifest states them: number, figures, seconds.

    The kept step, whose result is published, is marked. Parts have one step together.
    """
    if len(seconds) != len(result.steps):
        seconds = [round(sum(seconds), 3)]
    return [
        {
            "number": step.number,
            **step.figures,
            "seconds": taken,
            **({"published": True} if step.number == result.result_step else {}),
        }
        for step, taken in zip(result.steps, seconds, strict=True)
    ]


def discard_work_files(run: Run) -> None:
    """Remove checkpoint, job and the job's files once the stage is finished; logs stay."""
    CheckpointFile(run.path / CHECKPOINT, ()).discard()
    if (run.path / JOB).exists():
        clusters.cancel_folder_job(run.path / JOB)
        shutil.rmtree(run.path / JOB, ignore_errors=True)


def _run_in_process(
    checkpoint: CheckpointFile,
    anonymizer: Anonymizer[Any],
    data: Data,
    tie_order: NDArray[np.int64],
    compute: Compute,
) -> tuple[Made, list[float]]:
    resume, before = checkpoint.load()
    with step_progress(data.records, before, checkpoint.save) as progress:
        result = _choose_runner(compute)(
            anonymizer, data, tie_order=tie_order, observer=progress, resume=resume
        )
    return result, progress.seconds


def _choose_runner(compute: Compute) -> Callable[..., Made]:
    """Return the `run` of an engine of this process, with the arguments of `local.run`."""
    if compute.engine == "local":
        return partial(local.run, threads=compute.threads, memory=compute.memory)
    from anon_core.engines import farm  # an extra of the installation

    quiet_dask()
    where = partial(farm.run, scheduler=compute.scheduler, workers=compute.workers)
    return partial(where, threads=compute.threads, memory=compute.memory)


def quiet_dask() -> None:
    """Silence Dask once it is imported: a failure is raised, Dask would log it with tracebacks."""
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def _by_jobs(
    run: Run,
    anonymizer: TableAnonymizer,
    data: BinaryTable,
    tie_order: NDArray[np.int64],
    compute: Compute,
    cluster: Cluster,
) -> tuple[Made, list[float]]:
    folder = run.path / JOB
    threads, memory = cluster.cores_per_task, compute.memory
    # Refuse here what the ranks would refuse after a wait in the queue.
    afford_rank(anonymizer, data, ranks=cluster.ranks, threads=threads, memory=memory)
    if write_job(
        folder, anonymizer, data, tie_order, ranks=cluster.ranks, threads=threads, memory=memory
    ):
        clusters.cancel_folder_job(folder)  # a job that waits or runs for the order before
    if not has_result(folder):
        flow_run = find_flow_run()
        owner = "" if flow_run is None else str(flow_run.id)
        with job_progress(data.records) as progress:
            watch = _unless_cancelled(owner, progress.show_state)
            try:
                run_job(folder, run.path / LOGS, cluster, watch, owner)
            except _CancelledError:
                _set_cancelled(owner)
                raise
    return read_result(folder, data)


def _unless_cancelled(owner: str, watch: Callable[[JobState], None]) -> Callable[[JobState], None]:
    """Watch a job; every few seconds ask Prefect whether the flow run is to be cancelled."""
    asked = time.monotonic()

    def look(state: JobState) -> None:
        nonlocal asked
        watch(state)
        if owner and time.monotonic() - asked > ASKS_EVERY:
            asked = time.monotonic()
            if _to_be_cancelled(owner):
                raise _CancelledError(
                    "the flow run was cancelled, and its job with it; run again to go on"
                )

    return look


def _to_be_cancelled(owner: str) -> bool:
    from prefect.client.orchestration import get_client

    try:
        with get_client(sync_client=True) as client:
            state = client.read_flow_run(UUID(owner)).state
    except Exception:  # a server that is away does not stop the work
        return False
    return state is not None and (state.is_cancelling() or state.is_cancelled())


def _set_cancelled(owner: str) -> None:
    """Set the state: a run that no Prefect worker started would be "cancelling" for ever."""
    from prefect.client.orchestration import get_client
    from prefect.states import Cancelled

    with contextlib.suppress(Exception), get_client(sync_client=True) as client:
        client.set_flow_run_state(
            UUID(owner), Cancelled(message="the batch job is gone"), force=True
        )
