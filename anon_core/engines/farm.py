"""A Dask cluster: blocks of records as tasks; the same bytes for any number of workers, whichever of them die.

What travels: levels by number, counts and demands, in the secret order that decides ties; no text of a cell and no name of
a column. Who can read the cluster's memory can read that.
"""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from contextvars import Context
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

import dask
import numba
import numpy as np
from distributed import Client, Future, KilledWorker, LocalCluster, Security, get_worker, wait
from numpy.typing import NDArray

from anon_core.anonymizers import Adaptive
from anon_core.anonymizers.adaptive.grouping import Grouping
from anon_core.engines.local import afford, threads_set
from anon_core.errors import ClusterError
from anon_core.jit.lanes import LANES
from anon_core.search.dissimilarity import Dissimilarity
from anon_core.search.nearest import GROUP, Neighbours, Search, level_tree
from anon_core.tables.records import BinaryTable, Checkpoint, MaskedTable, Observer

MOST_CHUNKS = 128  # tasks of an iteration: enough for as many threads, few enough that each is worth its message
ATTEMPTS = 4  # rounds in a row that bring nothing before the cluster is given up
LOOK = 1.0  # seconds between two looks at who is there
PATIENCE = 60.0  # seconds that a cluster may be without a worker: one may be on its way
UNSEEN: dict[str, list[str]] = {  # nobody is to look into a cluster of this machine
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}
CONFIGURATION = {
    **UNSEEN,
    "distributed.admin.large-graph-warning-threshold": "1 TiB",  # lists that bound a search travel with it
    "distributed.scheduler.active-memory-manager.start": False,  # of a local cluster: it would undo a broadcast
    "distributed.worker.profile.enabled": False,
}
DYING = "Dask workers die again and again of the same blocks of records; give them more memory, then run again"
NOBODY = "the Dask cluster has no worker; start some, then run again"
GONE = "the Dask cluster is gone; start it, then run again"

Lists = tuple[NDArray[np.int32], NDArray[np.int32]]  # vertices and costs


def run(
    anonymizer: Adaptive,
    table: BinaryTable,
    *,
    scheduler: str | None = None,
    workers: int = 2,
    order: NDArray[np.int64] | None = None,
    threads: int = 0,
    memory: int | None = None,
    observer: Observer | None = None,
    resume: Checkpoint | None = None,
) -> MaskedTable:
    """Anonymize with the search spread over a Dask cluster; the result depends on no worker.

    Parameters
    ----------
    anonymizer : Adaptive
    table : BinaryTable
    scheduler : str, optional
        Address of a running cluster's scheduler. Without one, a cluster of this machine is started and ended.
    workers : int
        Processes of the cluster that is started, at least 1.
    order, observer, resume
        As for `Anonymizer.anonymize`.
    threads : int
        Of this process, and in all of the workers that it starts; 0 takes all that numba offers.
    memory : int, optional
        Bytes that this process, and the workers that it starts, may hold beyond their input.

    Raises
    ------
    LimitError
        More memory would be needed, or the machine has fewer threads; nothing was started.
    ClusterError
        No scheduler answers, no worker is left, or the workers cannot do the work.

    Notes
    -----
    The exact search for the b nearest is the tasks' part of an iteration. The cover that is chosen from its lists and what is
    hidden and reclaimed are this process's part, and so are their time and memory: this process holds all that
    `Adaptive.memory` states but the costs. A worker holds the graph, its tree, counts, costs and the lists at work.
    """
    own = workers if scheduler is None else 0
    with threads_set(threads) as all_threads:
        afford((1 + own) * (anonymizer.memory(table) + _travelling(table)), table, memory)
        with connected(scheduler, own, max(1, all_threads // max(1, own))) as client:
            spread = partial(FarmedGrouping, client=client)
            return anonymizer.anonymize(
                table, order=order, observer=observer, resume=resume, engine=spread
            )


def _travelling(table: BinaryTable) -> int:
    """Bytes of a `Ground` and of all chunks, which a process holds once more while they are under way."""
    per_record = 2 * table.codebook.features + 5 * len(table.codebook.attributes) + 12
    return table.records * per_record + 8 * int((table.k - 1).sum(dtype=np.int64))


class FarmedGrouping(Grouping):
    """The work of an iteration, its search on a cluster."""

    def __init__(self, table: BinaryTable, settings: Adaptive, *, client: Client) -> None:
        super().__init__(table, settings)
        self._client = client

    def nearest(
        self, graph: Dissimilarity, before: Neighbours | None, report: Callable[[int], None]
    ) -> Neighbours:
        """Those nearest to each record: lists in their places as they come back."""
        ground = Ground(graph, self.counts, self.b)
        indptr = np.concatenate([[0], np.cumsum(self.b, dtype=np.int64)])
        vertex, cost = np.empty(indptr[-1], dtype=np.int32), np.empty(indptr[-1], dtype=np.int32)

        def chunk_of(blocks: range) -> Chunk:
            return Chunk(
                blocks,
                None if before is None else before.vertex[_slots(indptr, ground.members(blocks))],
            )

        searched = 0
        for chunk, lists in farmed_out(
            self._client, ground, [chunk_of(blocks) for blocks in chunked(self.table.records)]
        ):
            members = ground.members(chunk.blocks)
            slots = _slots(indptr, members)
            vertex[slots], cost[slots] = lists
            searched += len(members)
            report(searched)
        return Neighbours(indptr, vertex, cost)


def chunked(records: int) -> list[range]:
    """Blocks of 64 places that a task searches: whole groups where no twins are, as a group shares what it reads."""
    blocks = -(-records // LANES)
    size = -(-blocks // (MOST_CHUNKS * GROUP)) * GROUP
    return [range(start, min(blocks, start + size)) for start in range(0, blocks, size)]


def _slots(indptr: NDArray[np.int64], members: NDArray[np.int64]) -> NDArray[np.int64]:
    """int64 (sum b of the members,): where the lists of ascending vertices lie among those of all."""
    starts, sizes = indptr[members], indptr[members + 1] - indptr[members]
    first = np.cumsum(sizes) - sizes
    return np.repeat(starts - first, sizes) + np.arange(sizes.sum())


class Chunk:
    """Blocks to search, and the lists of their vertices under other weights. Opaque: Dask logs the arguments of a task.

    Attributes
    ----------
    blocks : range
    listed : int32 (sum b of their vertices,) or None
        See `Search.neighbours`, `before`.
    """

    def __init__(self, blocks: range, listed: NDArray[np.int32] | None) -> None:
        self.blocks, self.listed = blocks, listed


class Ground:
    """What all tasks of an iteration read. A worker makes the search of it once, for all that it has to do. Opaque, too.

    It is sent anew for each iteration, and the tree is made anew: that takes a twentieth of the search, and there is nothing
    left to keep, to lose or to clear away.

    Attributes
    ----------
    graph : Dissimilarity
    counts : uint16 (f, n)
    b : int32 (n,)
    """

    def __init__(
        self, graph: Dissimilarity, counts: NDArray[np.uint16], b: NDArray[np.int32]
    ) -> None:
        self.graph, self.counts, self.b = graph, counts, b
        self._search: Search | None = None
        self._lock = threading.Lock()

    def __reduce__(
        self,
    ) -> tuple[type["Ground"], tuple[Dissimilarity, NDArray[np.uint16], NDArray[np.int32]]]:
        return Ground, (self.graph, self.counts, self.b)

    def members(self, blocks: range) -> NDArray[np.int64]:
        """The vertices of some blocks, ascending."""
        return np.sort(self.graph.layout[blocks.start * LANES : blocks.stop * LANES])

    def search(self, threads: int) -> Search:
        """The search, made by the first who asks with the threads of all: the others wait for it."""
        with self._lock:
            if self._search is None:
                numba.set_num_threads(min(threads, int(numba.config.NUMBA_NUM_THREADS)))  # type: ignore[attr-defined]
                self._search = Search.of(self.graph, level_tree(self.graph), self.counts)
            return self._search


def search_chunk(ground: Ground, chunk: Chunk) -> Lists:
    """The task: vertices and costs int32 (sum b of the chunk's vertices,) of the lists, in the order of the vertices.

    Dask runs as many at a time as a worker has threads, so each takes one thread of numba.
    """
    numba.config.THREADING_LAYER = "threadsafe"  # type: ignore[attr-defined] # numba's own pool dies of two callers
    search = ground.search(get_worker().state.nthreads)
    numba.set_num_threads(1)
    b, members = np.zeros_like(ground.b), ground.members(chunk.blocks)
    b[members] = ground.b[members]
    before = (
        None
        if chunk.listed is None
        else Neighbours(np.empty(0, dtype=np.int64), chunk.listed, chunk.listed)
    )
    found = search.neighbours(b, before)
    return found.vertex, found.cost


def farmed_out(
    client: Client, ground: Ground, chunks: list[Chunk]
) -> Iterator[tuple[Chunk, Lists]]:
    """Have every chunk searched, whoever dies meanwhile; yields each with its lists as they come.

    Raises
    ------
    ClusterError
        Nothing comes any more.
    """
    left, idle = dict(enumerate(chunks)), 0
    while left:
        before = len(left)
        try:
            for number, lists in _round(client, ground, left):
                yield left.pop(number), lists
        except KilledWorker:
            raise ClusterError(DYING) from None
        except (CancelledError, OSError):
            # What the tasks read was lost with the last worker that held it, or a connection broke: send it again.
            if client.status != "running":
                raise ClusterError(GONE) from None
            idle = idle + 1 if len(left) == before else 0
            if idle == ATTEMPTS:
                raise ClusterError(DYING) from None


def _round(
    client: Client, ground: Ground, left: Mapping[int, Chunk]
) -> Iterator[tuple[int, Lists]]:
    """Send the ground and what is left to do; numbers and lists of chunks."""
    place, name = _sent(client, ground), f"crowdcover-{uuid4().hex}"
    futures = {
        client.submit(search_chunk, place, chunk, key=f"{name}-{n}", pure=False): n
        for n, chunk in left.items()
    }
    while futures:
        for future in _finished(client, list(futures)):
            lists = future.result(timeout=PATIENCE)  # the worker that holds it may be gone
            yield futures.pop(future), lists


def _sent(client: Client, ground: Ground) -> Future[Ground]:
    """The ground on every worker."""
    # In a context of its own: if this is itself a task of another cluster, Dask would leave the data with that one's worker.
    scatter = partial(client.scatter, ground, broadcast=True, hash=False, timeout=PATIENCE)
    try:
        place: Future[Ground] = Context().run(scatter)
    except TimeoutError:
        raise ClusterError(_absent(client)) from None
    return place


def _absent(client: Client) -> str:
    """Why nobody answers."""
    return NOBODY if client.status == "running" else GONE


def _finished(client: Client, futures: list[Future[Lists]]) -> set[Future[Lists]]:
    """Wait for the first of some tasks; not for ever where nobody is left to do them."""
    alone = 0.0  # seconds
    while True:
        try:
            with client.as_current():
                return set(wait(futures, timeout=LOOK, return_when="FIRST_COMPLETED").done)
        except TimeoutError:
            alone = 0 if client.scheduler_info()["workers"] else alone + LOOK
            if alone >= PATIENCE:
                raise ClusterError(_absent(client)) from None


@contextmanager
def connected(scheduler: str | None, workers: int, threads: int) -> Iterator[Client]:
    """A client of a running cluster, or of one that is started for it."""
    with dask.config.set(CONFIGURATION), ExitStack() as stack:
        try:
            cluster = scheduler or stack.enter_context(
                LocalCluster(**of_this_machine(workers, threads))
            )
            client = stack.enter_context(Client(cluster, set_as_default=False))
            _refuse_others(client)
        except (OSError, ValueError, TypeError, RuntimeError) as error:
            raise ClusterError(
                f"no Dask scheduler answers as [compute] scheduler says ({type(error).__name__}); "
                "start it, mend the address, or leave it out for a cluster of this machine"
            ) from None
        yield client


def of_this_machine(workers: int, threads: int) -> dict[str, Any]:
    """What starts a cluster of processes that nobody but the starter can use; with `UNSEEN`."""
    return {
        "n_workers": workers,
        "threads_per_worker": threads,
        "processes": True,
        "dashboard_address": "127.0.0.1:0",
        "memory_limit": 0,  # plans state theirs: Dask's own limit would write to disk, or kill
        "security": Security.temporary(),  # else whoever has an account here could connect
        "silence_logs": logging.CRITICAL,  # what fails is raised
    }


def _refuse_others(client: Client) -> None:
    """Other code would find other bytes."""
    answers = client.run(source_hash, on_error="return").values()
    others = sum(answer != source_hash() for answer in answers)
    if others:
        raise ClusterError(
            f"{others} of {len(answers)} Dask workers do not have this version of anon_core; install it there"
        )


def source_hash() -> str:
    """Of the core as it is installed where this runs."""
    root = Path(__file__).parents[1]
    return sha256(b"".join(path.read_bytes() for path in sorted(root.rglob("*.py")))).hexdigest()
