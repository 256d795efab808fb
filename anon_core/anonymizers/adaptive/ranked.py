"""The work of an iteration, spread over ranks."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.adaptive.adaptive import Adaptive
from anon_core.anonymizers.adaptive.agreement import (
    Partners,
    Together,
    first_agreeing,
    hidden_by,
    reclaim,
)
from anon_core.anonymizers.adaptive.grouping import Grouping
from anon_core.anonymizers.adaptive.ranked_memory import COUNTED
from anon_core.anonymizers.adaptive.showing_kernels import count_partners
from anon_core.covers.cover_kernels import hide_apart
from anon_core.covers.named import refuse_unspread
from anon_core.covers.suitor import adjacency, neighbours_in, partners_of, spread_cover
from anon_core.covers.suitor_kernels import scatter_counts
from anon_core.engines.mpi.ranks import Ranks
from anon_core.search.dissimilarity import Dissimilarity
from anon_core.search.nearest import Neighbours, shares
from anon_core.tables.records import BinaryTable, Checkpoint, Edges

ALL = np.iinfo(np.uint64).max


class SpreadGrouping(Grouping):
    """Every rank holds the table, what is hidden and the counts; lists and edges only of its own vertices.

    The search is shared out by runs of distinct rows, all else by vertices (`Ranks`). Only `show_offered` runs on one rank
    after the other, because who shows first matters. For the memory of a rank see `rank_memory`.
    """

    def __init__(self, table: BinaryTable, settings: Adaptive, ranks: Ranks) -> None:
        refuse_unspread(settings.cover)
        super().__init__(table, settings)
        self.ranks = ranks = ranks.over(table.records)
        self._redundant = settings.cover == "nearest"
        self.asked = np.where(
            shares(self.graph, self.tree, ranks.size) == ranks.rank, self.b, np.int32(0)
        )
        self._blank = hidden_by(self.graph, self.counts)  # nothing is counted yet
        steps = max(self.graph.lut.shape[1], self.graph.cell_lut.shape[1])  # epsilon only falls
        self._counted = np.uint8 if steps <= 2**8 else np.uint16

    def check(self, resume: Checkpoint, table: BinaryTable) -> None:
        """The parts were checked as they were read."""

    def chosen(self, _graph: Dissimilarity, near: Neighbours) -> Edges:
        """The edges of the cover with an end among the own vertices."""
        return spread_cover(
            self.ranks, adjacency(self.ranks, near), self.b, redundant=self._redundant
        )

    def hide(self, cover: Edges) -> None:
        """Hide what differs between the ends of an edge, reclaim, and tell all how many partners differ."""
        if self.reclaims:
            hidden = self._blank.copy()
            hide_apart(cover.u, cover.v, self.table.bits, hidden)  # in part at the other ends
            self.ranks.share(hidden)
            parts = self.weights, self.cell_weights, self.b
            partners = reclaim(
                self.table, self.graph, self.tree, *parts, hidden, _Apart(self.ranks)
            )
        else:  # where all is hidden all neighbours agree
            hidden, partners = np.full_like(self.table.bits, ALL), neighbours_in(self.ranks, cover)
        self._count(partners, hidden)

    def _count(self, partners: Partners, hidden: NDArray[np.uint64]) -> None:
        """Count by feature how many of each vertex's partners agree and differ in it, and tell all."""
        bits, lists = self.table.bits, (partners.start, partners.other, partners.size)
        shape = (len(self.counts), min(COUNTED, self.ranks.per))

        def make(first: int, last: int) -> NDArray[Any]:
            batch = np.zeros(shape, dtype=self._counted)
            count_partners(
                bits,
                hidden,
                np.arange(first, last),
                *lists,
                int(np.iinfo(self._counted).max),
                batch,
            )
            return batch

        def take(first: int, last: int, batch: NDArray[Any]) -> None:
            scatter_counts(batch, self.graph.place[first:last], self.counts)

        self.ranks.batches(make, take, COUNTED)

    def edges(self, cover: Edges) -> int:
        """How many edges all ranks have: each counts where its first end lives."""
        own = np.count_nonzero(self.ranks.owns(cover.u))
        return int(self.ranks.total(np.array([own]))[0])

    def agreement_cover(self, hidden: NDArray[np.uint64]) -> Edges:
        """A cover by pairs that hide all in which they differ, with an end among the own vertices."""
        wanted = self.ranks.own(self.b.astype(np.int64))
        indptr, listed, _ = first_agreeing(
            self.table, self.graph, self.tree, hidden, wanted, twins=True
        )
        lists = Neighbours(indptr, listed, np.zeros(len(listed), dtype=np.int32))
        return spread_cover(self.ranks, adjacency(self.ranks, lists), self.b)


class _Apart(Together):
    """Vertices that lie on many ranks."""

    def __init__(self, ranks: Ranks) -> None:
        self.own, self.share, self.in_turn = ranks.own, ranks.share, ranks.in_turn  # type: ignore[method-assign]
        self._ranks = ranks

    def mutual(
        self, indptr: NDArray[np.int64], listed: NDArray[np.int32], size: NDArray[np.int64]
    ) -> Partners:
        """Both ends of every pair that any rank has listed, those at the own vertices."""
        lists = Neighbours(indptr, listed, np.zeros(len(listed), dtype=np.int32))
        both = adjacency(self._ranks, lists, size)
        return partners_of(
            self._ranks, both.start, both.key.astype(np.int32)
        )  # E = 0: a key is the other end
