"""The search of an iteration as tasks of a farm; all else is done by the process that asks.

What travels: levels by number, counts and demands, in the secret order that decides ties; no text
of a cell and no name of a column. A reader of the workers' memory can read that.
"""

import threading
from collections.abc import Callable
from functools import partial

import numba
import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.adaptive.adaptive import Adaptive
from anon_core.anonymizers.adaptive.grouping import Grouping
from anon_core.anonymizers.adaptive.iterate import run_iterations
from anon_core.anonymizers.adaptive.memory import farm_memory
from anon_core.anonymizers.adaptive.settings import Settings
from anon_core.jit.lanes import LANES
from anon_core.search.dissimilarity import Dissimilarity
from anon_core.search.nearest import BLOCKS_IN_GROUP, NearestSearch, Neighbours, level_tree
from anon_core.spread import Farm
from anon_core.steps import Observer, State
from anon_core.tables.records import BinaryTable, MaskedTable

SEARCH_TASKS = 128  # tasks of an iteration: enough for as many threads, each worth its message

_Lists = tuple[NDArray[np.int32], NDArray[np.int32]]  # vertices and costs


def memory(anonymizer: Adaptive, data: BinaryTable, *, workers: int) -> int:
    """Return the bytes that this process and its workers hold at most; see `Farmed.memory`.

    This process holds all that `Adaptive.memory` states but the costs. A worker holds the graph,
    its tree, counts, costs and the lists at work.
    """
    return (1 + workers) * (anonymizer.memory(data) + farm_memory(data))


def anonymize(
    anonymizer: Adaptive,
    data: BinaryTable,
    farm: Farm,
    *,
    tie_order: NDArray[np.int64] | None = None,
    observer: Observer | None = None,
    resume: State | None = None,
) -> MaskedTable:
    """Do as `Adaptive.anonymize`, the search for the nearest spread over a farm."""
    anonymizer.admit(data)
    make = partial(FarmedGrouping, farm=farm)
    return run_iterations(
        anonymizer, data, make, tie_order=tie_order, observer=observer, resume=resume
    )


class FarmedGrouping(Grouping):
    """The work of an iteration, its search on a farm."""

    def __init__(self, table: BinaryTable, settings: Settings, *, farm: Farm) -> None:
        super().__init__(table, settings)
        self._farm = farm

    def nearest(
        self, graph: Dissimilarity, before: Neighbours | None, report: Callable[[int], None]
    ) -> Neighbours:
        """Return the nearest of each record; lists take their places as they come back."""
        ground = SearchGround(graph, self.counts, self.b)
        indptr = np.concatenate([[0], np.cumsum(self.b, dtype=np.int64)])
        vertex, cost = np.empty(indptr[-1], dtype=np.int32), np.empty(indptr[-1], dtype=np.int32)

        def chunk_of(blocks: range) -> SearchChunk:
            slots = _find_list_slots(indptr, ground.members(blocks))
            return SearchChunk(blocks, None if before is None else before.vertex[slots])

        searched = 0
        chunks = [chunk_of(blocks) for blocks in cut_task_blocks(self.table.records)]
        for chunk, lists in self._farm.each(search_chunk, ground, chunks):
            members = ground.members(chunk.blocks)
            slots = _find_list_slots(indptr, members)
            vertex[slots], cost[slots] = lists
            searched += len(members)
            report(searched)
        return Neighbours(indptr, vertex, cost)


def cut_task_blocks(records: int) -> list[range]:
    """Return the blocks of 64 places of each task: whole groups, which share what they read."""
    blocks = -(-records // LANES)
    size = -(-blocks // (SEARCH_TASKS * BLOCKS_IN_GROUP)) * BLOCKS_IN_GROUP
    return [range(start, min(blocks, start + size)) for start in range(0, blocks, size)]


def _find_list_slots(indptr: NDArray[np.int64], members: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where the lists of ascending vertices lie among those of all, int64 (their sum,)."""
    starts, sizes = indptr[members], indptr[members + 1] - indptr[members]
    first = np.cumsum(sizes) - sizes
    return np.repeat(starts - first, sizes) + np.arange(sizes.sum())


class SearchChunk:
    """Blocks to search, and the lists of their vertices under other weights. Its repr is opaque.

    Attributes
    ----------
    blocks : range
    listed : int32 (sum b of their vertices,) or None
        See `NearestSearch.neighbours`, `before`.
    """

    def __init__(self, blocks: range, listed: NDArray[np.int32] | None) -> None:
        self.blocks, self.listed = blocks, listed


class SearchGround:
    """What all tasks of an iteration read; a worker makes its search once. Its repr is opaque.

    It is sent anew for each iteration, and the tree is made anew. That takes a twentieth of the
    search, and leaves nothing to keep, to lose or to clear away.

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
        self._search: NearestSearch | None = None
        self._lock = threading.Lock()

    def __reduce__(
        self,
    ) -> tuple[type["SearchGround"], tuple[Dissimilarity, NDArray[np.uint16], NDArray[np.int32]]]:
        return SearchGround, (self.graph, self.counts, self.b)

    def members(self, blocks: range) -> NDArray[np.int64]:
        """Return the vertices of some blocks, ascending."""
        return np.sort(self.graph.layout[blocks.start * LANES : blocks.stop * LANES])

    def search(self, threads: int) -> NearestSearch:
        """Return the search. The first task makes it with these threads; the others wait."""
        with self._lock:
            if self._search is None:
                most = int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
                numba.set_num_threads(min(threads, most))
                self._search = NearestSearch.of(self.graph, level_tree(self.graph), self.counts)
            return self._search


def search_chunk(ground: SearchGround, chunk: SearchChunk, threads: int) -> _Lists:
    """Return vertices and costs of the lists of a chunk's vertices, in the order of the vertices.

    A worker runs as many tasks as it has threads, so each search takes one thread of numba.
    """
    search = ground.search(threads)
    numba.set_num_threads(1)
    b, members = np.zeros_like(ground.b), ground.members(chunk.blocks)
    b[members] = ground.b[members]
    before = (
        None
        if chunk.listed is None
        else Neighbours(np.empty(0, dtype=np.int64), chunk.listed, chunk.listed)
    )
    near = search.neighbours(b, before)
    return near.vertex, near.cost
