"""A Dask cluster: tasks on chunks of work; the same results whichever workers die.

What travels, the anonymizer's module decides. A reader of the workers' memory can read it.
"""

import errno
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from contextvars import Context
from functools import partial
from typing import Any
from uuid import uuid4

import dask
import numpy as np
from distributed import Client, Future, KilledWorker, LocalCluster, Security, get_worker, wait
from numpy.typing import NDArray

from anon_core.anonymizers.base import Anonymizer, Data
from anon_core.build import hash_packages
from anon_core.engines.local import check_memory, threads_set
from anon_core.engines.spreading import load_dask_module
from anon_core.errors import ClusterError
from anon_core.spread import Chunk, Ground, TaskResult
from anon_core.steps import Observer, State

_ATTEMPTS = 4  # rounds in a row without a result before the cluster is given up
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}
_STARTS = 3  # of a cluster of this machine: Dask's own start fails now and then over TLS
_LOOK = 1.0  # seconds between two looks at the list of workers
PATIENCE = 60.0  # seconds that a cluster may be without a worker: one may be starting
UNSEEN: dict[str, list[str]] = {  # no web pages about a cluster of this machine
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}
_CONFIGURATION = {
    **UNSEEN,
    "distributed.admin.large-graph-warning-threshold": "1 TiB",  # chunks carry arrays
    # Dask would undo a broadcast in a cluster of this machine.
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.worker.profile.enabled": False,
}
_DYING = (
    "Dask workers die again and again of the same blocks of records; give them more memory, "
    "then run again"
)
_NOBODY = (
    "no worker of the Dask cluster is left; give workers more memory or start some, then run again"
)
_GONE = "the Dask cluster is gone; start it, then run again"


def run(
    anonymizer: Anonymizer[Any],
    data: Data,
    *,
    scheduler: str | None = None,
    workers: int = 2,
    tie_order: NDArray[np.int64] | None = None,
    threads: int = 0,
    memory: int | None = None,
    observer: Observer | None = None,
    resume: State | None = None,
) -> Any:
    """Anonymize with work spread over a Dask cluster; the result depends on no worker.

    Parameters
    ----------
    anonymizer : Anonymizer
    data : Data
    scheduler : str, optional
        Address of a running cluster's scheduler. Without one, a cluster of this machine is started
        and ended.
    workers : int
        Processes of the cluster that is started, at least 1.
    tie_order, observer, resume
        As for `Anonymizer.anonymize`.
    threads : int
        Of this process, and in all of the workers that it starts; 0 takes all that numba offers.
    memory : int, optional
        Bytes that this process and the workers that it starts may hold beyond their input.

    Returns
    -------
    Made
        That of `local.run`.

    Raises
    ------
    LimitError
        The anonymizer does not run on Dask, more memory would be needed, or the machine has fewer
        threads; nothing was started.
    ClusterError
        No scheduler answers, no worker is left, or the workers cannot do the work.
    """
    own = workers if scheduler is None else 0
    spread = load_dask_module(anonymizer)
    anonymizer.admit(data)
    with threads_set(threads) as all_threads:
        check_memory(spread.memory(anonymizer, data, workers=own), data, memory)
        with connect_client(scheduler, own, max(1, all_threads // max(1, own))) as client:
            farm = DaskFarm(client)
            return spread.anonymize(
                anonymizer, data, farm, tie_order=tie_order, observer=observer, resume=resume
            )


class DaskFarm:
    """A `Farm` of the workers of a Dask cluster."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def each(
        self,
        task: Callable[[Ground, Chunk, int], TaskResult],
        ground: Ground,
        chunks: Sequence[Chunk],
    ) -> Iterator[tuple[Chunk, TaskResult]]:
        """Run the task on each chunk; see `Farm.each`."""
        client, left, idle = self._client, dict(enumerate(chunks)), 0
        while left:
            before = len(left)
            try:
                for number, result in _run_round(client, task, ground, left):
                    yield left.pop(number), result
            except KilledWorker:
                raise ClusterError(_DYING) from None
            except (CancelledError, OSError) as error:
                if isinstance(error, OSError) and error.errno in _NO_ROOM:
                    raise  # of a task, which would meet it again
                # The ground was lost with the last worker that held it, or a connection broke.
                if client.status != "running":
                    raise ClusterError(_GONE) from None
                # Only rounds that bring no result count: long work may lose many workers.
                idle = idle + 1 if len(left) == before else 0
                if idle == _ATTEMPTS:
                    raise ClusterError(_DYING) from None


def _run_task(
    task: Callable[[Ground, Chunk, int], TaskResult], ground: Ground, chunk: Chunk
) -> TaskResult:
    """Run a task on a worker, which runs as many at a time as it has threads."""
    return task(ground, chunk, get_worker().state.nthreads)


def _run_round(
    client: Client,
    task: Callable[[Ground, Chunk, int], TaskResult],
    ground: Ground,
    left: Mapping[int, Chunk],
) -> Iterator[tuple[int, TaskResult]]:
    """Send the ground and the chunks that are left; yield numbers and results of chunks."""
    place, name = _send_ground(client, ground), f"crowdcover-{uuid4().hex}"
    futures = {
        # New names each round: Dask would not run a task again under a key that it knows.
        client.submit(_run_task, task, place, chunk, key=f"{name}-{n}", pure=False): n
        for n, chunk in left.items()
    }
    while futures:
        for future in _wait_for_tasks(client, list(futures)):
            result = future.result(timeout=PATIENCE)  # the worker that holds it may be gone
            yield futures.pop(future), result


def _send_ground(client: Client, ground: Any) -> Future[Any]:
    """Send the ground to every worker."""
    # In a context of its own: if this is itself a task of another cluster, Dask would leave the
    # data with that cluster's worker.
    scatter = partial(client.scatter, ground, broadcast=True, hash=False, timeout=PATIENCE)
    try:
        place: Future[Any] = Context().run(scatter)
    except TimeoutError:
        raise ClusterError(_describe_absence(client)) from None
    return place


def _describe_absence(client: Client) -> str:
    """Return why no worker answers."""
    return _NOBODY if client.status == "running" else _GONE


def _wait_for_tasks(client: Client, futures: list[Future[Any]]) -> set[Future[Any]]:
    """Wait for the first of some tasks, `PATIENCE` seconds at most while there is no worker."""
    alone = 0.0  # seconds
    while True:
        try:
            with client.as_current():
                return set(wait(futures, timeout=_LOOK, return_when="FIRST_COMPLETED").done)
        except TimeoutError:
            alone = 0 if client.scheduler_info()["workers"] else alone + _LOOK
            if alone >= PATIENCE:
                raise ClusterError(_describe_absence(client)) from None


@contextmanager
def connect_client(scheduler: str | None, workers: int, threads: int) -> Iterator[Client]:
    """Yield a client of a running cluster, or of one that is started and ended here."""
    with dask.config.set(_CONFIGURATION), ExitStack() as stack:
        cluster = scheduler or stack.enter_context(_start_local_cluster(workers, threads))
        try:
            client = stack.enter_context(Client(cluster, set_as_default=False))
            _refuse_others(client)
        except (OSError, ValueError, TypeError, RuntimeError) as error:
            raise ClusterError(
                f"no Dask scheduler answers as [compute] scheduler says ({type(error).__name__}); "
                "start it, fix the address, or leave it out for a cluster of this machine"
            ) from None
        yield client


def _start_local_cluster(workers: int, threads: int, attempts: int = _STARTS) -> LocalCluster:
    try:
        return LocalCluster(**configure_local_cluster(workers, threads))
    except (OSError, RuntimeError) as error:
        if attempts > 1:
            return _start_local_cluster(workers, threads, attempts - 1)
        raise ClusterError(
            f"no Dask cluster starts on this machine, {_STARTS} attempts failed "
            f"({type(error).__name__}); free memory or ports, then run again"
        ) from None


def configure_local_cluster(workers: int, threads: int) -> dict[str, Any]:
    """Return the arguments of a `LocalCluster` that only this process can use; with `UNSEEN`."""
    return {
        "n_workers": workers,
        "threads_per_worker": threads,
        "processes": True,
        "dashboard_address": "127.0.0.1:0",
        "memory_limit": 0,  # a plan states its own; Dask would write to disk or kill
        "security": Security.temporary(),  # else any account of this machine could connect
        "silence_logs": logging.CRITICAL,  # failures are raised
    }


def _refuse_others(client: Client) -> None:
    """Refuse workers with another version of this code: their results would differ."""
    answers = client.run(source_hash, on_error="return").values()
    others = sum(answer != source_hash() for answer in answers)
    if others:
        raise ClusterError(
            f"{others} of {len(answers)} Dask workers do not have this version of anon_core; "
            "install it there"
        )


def source_hash() -> str:
    """Return the SHA-256 of the source of anon_core as installed where this runs."""
    return hash_packages("anon_core")
