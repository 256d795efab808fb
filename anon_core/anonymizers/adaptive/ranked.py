"""The work of an iteration, spread over ranks."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.adaptive.adaptive import Adaptive
from anon_core.anonymizers.adaptive.agreement import (
    Partners,
    Together,
    find_hidden_features,
    reclaim_features,
)
from anon_core.anonymizers.adaptive.grouping import Grouping
from anon_core.anonymizers.adaptive.iterate import run_iterations
from anon_core.anonymizers.adaptive.memory import COUNT_BATCH, rank_memory
from anon_core.anonymizers.adaptive.resume import rename_vertices
from anon_core.anonymizers.adaptive.settings import Settings
from anon_core.anonymizers.adaptive.showing_kernels import count_partners
from anon_core.covers.cover_kernels import hide_apart
from anon_core.covers.edges import Edges
from anon_core.covers.suitor import build_adjacency, spread_cover
from anon_core.covers.suitor_kernels import count_at, list_at, scatter_counts
from anon_core.search.dissimilarity import Dissimilarity
from anon_core.search.nearest import Neighbours, deal_search_shares
from anon_core.spread import Ranks
from anon_core.steps import Observer, State
from anon_core.tables.records import BinaryTable, MaskedTable

_ALL = np.iinfo(np.uint64).max


def memory(anonymizer: Adaptive, data: BinaryTable, *, ranks: int, threads: int) -> int:
    """Return the bytes that a rank holds at most beyond the table; see `rank_memory`."""
    return rank_memory(anonymizer, data, ranks=ranks, threads=threads)


def anonymize(
    anonymizer: Adaptive,
    data: BinaryTable,
    ranks: Ranks,
    *,
    tie_order: NDArray[np.int64] | None = None,
    observer: Observer | None = None,
    resume: State | None = None,
) -> MaskedTable:
    """Do as `Adaptive.anonymize`, together with the other ranks; see `Ranked.anonymize`."""
    anonymizer.admit(data)
    make = partial(SpreadGrouping, ranks=ranks)
    return run_iterations(
        anonymizer, data, make, tie_order=tie_order, observer=observer, resume=resume
    )


def share(
    arrays: Mapping[str, NDArray[Any]], tie_order: NDArray[np.int64], ranks: Ranks
) -> dict[str, NDArray[Any]]:
    """Return the edges of a checkpoint's part that have an end among the own vertices."""
    rank_of = np.empty(len(tie_order), dtype=np.int64)
    rank_of[tie_order] = np.arange(len(tie_order))
    near = {
        name: ranks.owns(rank_of[ends[0]]) | ranks.owns(rank_of[ends[1]])
        for name, ends in arrays.items()
    }
    return {name: ends[:, near[name]] for name, ends in arrays.items()}


class SpreadGrouping(Grouping):
    """Every rank holds the table, what is hidden and the counts; lists and edges of its own only.

    The search is shared out by runs of distinct rows, all else by vertices (`Ranks`). Only
    `show_offered` runs on one rank after the other, because its result depends on the order. For
    the memory of a rank see `rank_memory`.
    """

    def __init__(self, table: BinaryTable, settings: Settings, *, ranks: Ranks) -> None:
        super().__init__(table, settings)
        self.ranks = ranks = ranks.over(table.records)
        mine = deal_search_shares(self.graph, self.tree, ranks.size) == ranks.rank
        self.asked = np.where(mine, self.b, np.int32(0))
        self._blank = find_hidden_features(self.graph, self.counts)  # nothing is counted yet
        steps = max(self.graph.lut.shape[1], self.graph.cell_lut.shape[1])  # epsilon only falls
        self._counted = np.uint8 if steps <= 2**8 else np.uint16

    def check(self, resume: State, table: BinaryTable) -> None:
        """Check nothing: the parts were checked as they were read."""

    def choose_edges(self, _graph: Dissimilarity, near: Neighbours) -> Edges:
        """Return the edges of the cover with an end among the own vertices."""
        return spread_cover(self.ranks, build_adjacency(self.ranks, near), self.b)

    def hide(self, u: NDArray[np.int32], v: NDArray[np.int32]) -> None:
        """Hide what differs between the ends, reclaim, and share how many partners differ."""
        if self.reclaims:
            hidden = self._blank.copy()
            hide_apart(u, v, self.table.bits, hidden)  # in part at the other ends
            self.ranks.share(hidden)
            parts = self.weights, self.cell_weights, self.b
            partners = reclaim_features(
                self.table, self.graph, self.tree, *parts, hidden, _Apart(self.ranks)
            )
        else:  # where all is hidden all neighbours agree
            hidden, partners = np.full_like(self.table.bits, _ALL), neighbours_in(self.ranks, u, v)
        self._count(partners, hidden)

    def _count(self, partners: Partners, hidden: NDArray[np.uint64]) -> None:
        """Count by feature the partners of each vertex that agree and differ; share the counts."""
        bits, lists = self.table.bits, (partners.start, partners.other, partners.size)
        shape = (len(self.counts), min(COUNT_BATCH, self.ranks.per))
        most = int(np.iinfo(self._counted).max)

        def make(first: int, last: int) -> NDArray[Any]:
            batch = np.zeros(shape, dtype=self._counted)
            count_partners(bits, hidden, np.arange(first, last), *lists, most, batch)
            return batch

        def take(first: int, last: int, batch: NDArray[Any]) -> None:
            scatter_counts(batch, self.graph.place[first:last], self.counts)

        self.ranks.batches(make, take, COUNT_BATCH)

    def edges(self, cover: Edges) -> int:
        """Return how many edges all ranks have: the rank of its first end counts an edge."""
        own = np.count_nonzero(self.ranks.owns(cover.u))
        return int(self.ranks.total(np.array([own]))[0])

    def collect_edges(self, cover: Edges, tie_order: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the edges whose first end is an own vertex, as records of the table."""
        own = self.ranks.owns(cover.u)
        return rename_vertices(cover.u[own], cover.v[own], tie_order)


class _Apart(Together):
    """Vertices that lie on many ranks."""

    def __init__(self, ranks: Ranks) -> None:
        self.clear_others, self.share = ranks.clear_others, ranks.share  # type: ignore[method-assign]
        self.in_turn = ranks.in_turn  # type: ignore[method-assign]
        self._ranks = ranks

    def mutual(
        self, indptr: NDArray[np.int64], listed: NDArray[np.int32], size: NDArray[np.int64]
    ) -> Partners:
        """Return both ends of every pair that any rank has listed, those at the own vertices."""
        lists = Neighbours(indptr, listed, np.zeros(len(listed), dtype=np.int32))
        both = build_adjacency(self._ranks, lists, size)
        # All costs are 0, so a key is the other end.
        return partners_of(self._ranks, both.start, both.key.astype(np.int32))


def partners_of(ranks: Ranks, start: NDArray[np.int64], other: NDArray[np.int32]) -> Partners:
    """Return lists of the own vertices among those of all; the lists of others are empty."""
    starts = np.zeros(ranks.vertices + 1, dtype=np.int64)
    size = np.zeros(ranks.vertices, dtype=np.int64)
    starts[ranks.low : ranks.high + 1] = start
    starts[ranks.high + 1 :] = start[-1]
    size[ranks.low : ranks.high] = np.diff(start)
    return Partners(starts, other, size)


def neighbours_in(ranks: Ranks, u: NDArray[np.int32], v: NDArray[np.int32]) -> Partners:
    """Return the neighbours of the own vertices in a cover."""
    count = np.zeros(ranks.high - ranks.low, dtype=np.int64)
    count_at(u, v, ranks.low, count)
    start = np.concatenate([[0], np.cumsum(count)])
    other = np.empty(start[-1], dtype=np.int32)
    list_at(u, v, ranks.low, start[:-1].copy(), other)
    return partners_of(ranks, start, other)
