"""Where the iterations are made: in this process, on Dask workers, or by batch jobs that outlive it."""

import contextlib
import logging
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from prefect.client.orchestration import get_client
from prefect.context import FlowRunContext
from prefect.states import Cancelled

from anon_core.anonymizers import Adaptive, Anonymizer
from anon_core.anonymizers.adaptive.ranked_memory import afford_rank
from anon_core.engines import local
from anon_core.engines.mpi.job import has_result, read_result, write_job
from anon_core.errors import ClusterError
from anon_core.tables.records import BinaryTable, MaskedTable
from tasks.compute import cluster as clusters
from tasks.compute.cluster import Cluster
from tasks.compute.jobs import JobState, run_job
from tasks.compute.progress import iteration_progress, job_progress
from tasks.orchestration.stage import log
from tasks.vault.checkpoint import CheckpointFile
from tasks.vault.storage import Run

CHECKPOINT = "checkpoint"
JOB = "job"  # what a batch job reads and writes
LOGS = "job-logs"  # what it says; stays in the vault
ASKS_EVERY = 5.0  # seconds between two looks at whether the flow run is to be cancelled


@dataclass(frozen=True, kw_only=True)
class Compute:
    """[compute] of the plan: threads (0 = all) and bytes; where Dask runs, or how many workers; what batch jobs ask for."""

    engine: Literal["local", "mpi", "dask"] = "local"
    threads: int
    memory: int
    scheduler: str | None = None
    workers: int = 2
    cluster: Cluster | None = None


class _CancelledError(ClusterError):
    """Somebody has cancelled the flow run in Prefect."""


def ready(run: Run, compute: Compute) -> None:
    """Refuse an engine that cannot work here before any stage does."""
    if compute.cluster is not None and not run.has("anonymize"):
        clusters.ready(compute.cluster, run.path)


def masked(
    run: Run,
    inputs: Sequence[str],
    anonymizer: Anonymizer,
    table: BinaryTable,
    order: NDArray[np.int64],
    compute: Compute,
) -> tuple[MaskedTable, list[float]]:
    """What to hide, and the seconds of each iteration; goes on from the last one that a run before this has finished."""
    if compute.cluster is None:
        return _here(
            CheckpointFile(run.path / CHECKPOINT, inputs), anonymizer, table, order, compute
        )
    return _by_jobs(run, anonymizer, table, order, compute, compute.cluster)


def discard(run: Run) -> None:
    """Once the stage is finished it needs no checkpoint, no job and no job's files; logs stay."""
    CheckpointFile(run.path / CHECKPOINT, ()).discard()
    if (run.path / JOB).exists():
        clusters.cancel(run.path / JOB)
        shutil.rmtree(run.path / JOB, ignore_errors=True)


def _here(
    checkpoint: CheckpointFile,
    anonymizer: Anonymizer,
    table: BinaryTable,
    order: NDArray[np.int64],
    compute: Compute,
) -> tuple[MaskedTable, list[float]]:
    most, (resume, before) = anonymizer.max_iterations, checkpoint.load(table)
    if resume is not None:
        log(f"continuing after iteration {len(before)} of at most {most}")
    with iteration_progress(table.records, most, before, checkpoint.save) as progress:
        found = _runner(compute)(anonymizer, table, order=order, observer=progress, resume=resume)
    return found, progress.seconds


def _runner(compute: Compute) -> Callable[..., MaskedTable]:
    """The `run` of an engine of this process, which takes what `local.run` takes."""
    if compute.engine == "local":
        return partial(local.run, threads=compute.threads, memory=compute.memory)
    from anon_core.engines import farm as dask  # an extra of the installation

    quiet_dask()
    where = partial(dask.run, scheduler=compute.scheduler, workers=compute.workers)
    return partial(where, threads=compute.threads, memory=compute.memory)


def quiet_dask() -> None:
    """To be said once Dask is imported: what fails is raised, and Dask would log it again, with tracebacks."""
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def _by_jobs(
    run: Run,
    anonymizer: Anonymizer,
    table: BinaryTable,
    order: NDArray[np.int64],
    compute: Compute,
    cluster: Cluster,
) -> tuple[MaskedTable, list[float]]:
    if not isinstance(anonymizer, Adaptive):
        raise ClusterError(
            "compute.engine = 'mpi' knows the anonymizer 'adaptive' only; choose another of the two"
        )
    folder, shape = (
        run.path / JOB,
        {"ranks": cluster.ranks, "threads": cluster.cores_per_task, "memory": compute.memory},
    )
    afford_rank(anonymizer, table, **shape)
    if write_job(folder, anonymizer, table, order, **shape):
        clusters.cancel(folder)  # a job that waits or runs for the order before
    if not has_result(folder):
        context = FlowRunContext.get()
        owner = "" if context is None or context.flow_run is None else str(context.flow_run.id)
        with job_progress(table.records, anonymizer.max_iterations) as progress:
            try:
                run_job(
                    folder,
                    run.path / LOGS,
                    cluster,
                    _unless_cancelled(owner, progress.looked),
                    owner,
                )
            except _CancelledError:
                _say_cancelled(owner)
                raise
    return read_result(folder, table)


def _unless_cancelled(owner: str, watch: Callable[[JobState], None]) -> Callable[[JobState], None]:
    """Watch a job, and now and then ask Prefect whether somebody wants the flow run cancelled."""
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
    try:
        with get_client(sync_client=True) as client:
            state = client.read_flow_run(UUID(owner)).state
    except Exception:  # a server that is away does not stop the work
        return False
    return state is not None and (state.is_cancelling() or state.is_cancelled())


def _say_cancelled(owner: str) -> None:
    """A run that no worker of Prefect has started would be "cancelling" for ever."""
    with contextlib.suppress(Exception), get_client(sync_client=True) as client:
        client.set_flow_run_state(
            UUID(owner), Cancelled(message="the batch job is gone"), force=True
        )
