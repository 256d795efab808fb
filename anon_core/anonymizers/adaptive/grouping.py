"""The work of an iteration: search, cover, hide, count."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.adaptive.agreement import (
    Together,
    agreement_cover,
    hidden_by,
    hidden_totals,
    reclaim,
)
from anon_core.anonymizers.adaptive.showing_kernels import count_partners
from anon_core.covers.cover_kernels import count_differences, hide_apart
from anon_core.covers.named import COVERS
from anon_core.search.dissimilarity import Dissimilarity, integer_weights
from anon_core.search.nearest import Neighbours, level_tree, nearest_neighbours
from anon_core.tables.records import BinaryTable, Checkpoint, Codebook, Edges, Iteration

if TYPE_CHECKING:
    from anon_core.anonymizers.adaptive.adaptive import Adaptive

MOST_COUNTED = 2**16 - 1
LEAST_SHARE = (
    2.0**-200
)  # of the heaviest column's weight: what is lighter by more than 2^24 weighs 1 anyhow


class Grouping:
    """The records in the order that decides ties, and the work of an iteration on them; an engine may spread it.

    Attributes
    ----------
    table : BinaryTable
        In that order.
    graph : Dissimilarity
    tree : Tree
    b, asked : int32 (n,)
        Neighbours that each record needs, and those that are searched for here.
    counts : uint16 (f, n)
        By place: how many neighbours, or partners that are left, differ from each record in each feature.
    reclaims : bool
    """

    def __init__(self, table: BinaryTable, settings: "Adaptive") -> None:
        self.table, self.kind = table, COVERS[settings.cover]
        self.reclaims = settings.reclaim and not self.kind.settled
        self.weights, self.cell_weights = _integer_weights(table.codebook, settings.weights)
        self.graph = Dissimilarity.of(table, self.weights, settings.epsilon, self.cell_weights)
        self.tree = level_tree(self.graph)
        self.b = table.k - np.int32(1)
        self.counts = np.zeros((table.codebook.features, table.records), dtype=np.uint16)
        self.asked = self.b
        self._neighbours: Neighbours | None = None

    def check(self, resume: Checkpoint, table: BinaryTable) -> None:
        """Refuse a checkpoint that cannot be one of this table, whose records are in their own order."""
        resume.check(table)

    def cover(self, epsilon: float, report: Callable[[int], None]) -> Edges:
        """The cover that the next iteration starts from, under the weights that the counts make."""
        graph = self.graph.fading(epsilon)
        self._neighbours = self.nearest(graph, self._neighbours, report)
        return self.chosen(graph, self._neighbours)

    def nearest(
        self, graph: Dissimilarity, before: Neighbours | None, report: Callable[[int], None]
    ) -> Neighbours:
        """Those nearest to each record, as many as it asks for."""
        return nearest_neighbours(
            graph, self.tree, self.counts, self.asked, before=before, report=report
        )

    def chosen(self, graph: Dissimilarity, near: Neighbours) -> Edges:
        """The cover by lists of the nearest."""
        return self.kind.find(graph, self.counts, self.b, near)

    def hide(self, cover: Edges) -> None:
        """Count the neighbours that differ from each record in each feature; where there are any, it is hidden."""
        graph = self.graph
        self.counts[:] = 0
        if self.reclaims:
            hidden = hidden_by(graph, self.counts)  # blank cells
            hide_apart(cover.u, cover.v, self.table.bits, hidden)
            parts = self.weights, self.cell_weights, self.b
            left = reclaim(self.table, graph, self.tree, *parts, hidden, Together())
            count_partners(
                self.table.bits, hidden, graph.layout, left.start, left.other, left.size, MOST_COUNTED, self.counts
            )  # fmt: skip
        else:
            count_differences(
                graph.place[cover.u],
                graph.place[cover.v],
                graph.codes,
                graph.bit_offsets,
                graph.ordinal,
                self.counts,
            )

    def reached(self, number: int, cover: Edges) -> Iteration:
        """What is left to read."""
        n, book = self.table.records, self.table.codebook
        per_bit, per_cell = hidden_totals(self.graph, self.counts)
        loss = per_bit @ self.weights.astype(np.int64) + per_cell @ self.cell_weights.astype(
            np.int64
        )
        whole = self.weights.sum(dtype=np.int64) + self.cell_weights.sum(dtype=np.int64)
        return Iteration(
            number=number,
            utility=1 - float(per_bit.sum()) / (n * book.features),
            weighted_utility=1 - float(loss) / (n * int(whole)),
            cover_edges=self.edges(cover),
        )

    def edges(self, cover: Edges) -> int:
        """How many edges a cover has."""
        return len(cover)

    def hidden(self) -> NDArray[np.uint64]:
        """Features hidden in each record's row, uint64 (n, words)."""
        return hidden_by(self.graph, self.counts)

    def agreement_cover(self, hidden: NDArray[np.uint64]) -> Edges:
        """A cover by pairs that hide all in which they differ."""
        return agreement_cover(self.table, self.graph, self.tree, hidden, self.b)


def _integer_weights(book: Codebook, kind: str) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Of each bit and, in addition, of each attribute's first hidden bit."""
    own = np.array([a.weight for a in book.attributes])
    # By a power of two, so that no digit changes and no sum or quotient of the greatest and the smallest float64 overflows.
    own = np.maximum(np.ldexp(own, -np.frexp(own.max())[1]), LEAST_SHARE)
    share = own / (
        [1] * len(own) if kind == "bits" else [max(1, a.levels - 1) for a in book.attributes]
    )
    bits = np.repeat(share, [a.bits for a in book.attributes])
    return integer_weights(bits, own if kind == "cells" else np.zeros(len(own)), book)
