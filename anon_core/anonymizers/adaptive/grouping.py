"""The work of an iteration: search, cover, hide, count."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.adaptive.agreement import (
    Together,
    count_hiding_vertices,
    find_hidden_features,
    reclaim_features,
)
from anon_core.anonymizers.adaptive.resume import check_covers, rename_vertices
from anon_core.anonymizers.adaptive.settings import Settings
from anon_core.anonymizers.adaptive.showing_kernels import count_partners
from anon_core.anonymizers.weights import compute_utilities, feature_weights
from anon_core.covers.cover_kernels import count_differences, hide_apart
from anon_core.covers.edges import Edges
from anon_core.covers.named import COVERS
from anon_core.search.dissimilarity import Dissimilarity
from anon_core.search.nearest import Neighbours, level_tree, nearest_neighbours
from anon_core.steps import State, Step
from anon_core.tables.records import BinaryTable

_MOST_COUNTED = 2**16 - 1


class Grouping:
    """The records in the order that decides ties, and the work of an iteration on them.

    A subclass may spread the work.

    Attributes
    ----------
    table : BinaryTable
        In that order.
    graph : Dissimilarity
    tree : Tree
    b, asked : int32 (n,)
        Neighbours that each record needs, and those that are searched for here.
    counts : uint16 (f, n)
        By place: how many neighbours, or partners that are left, differ from each record in each
        feature.
    reclaims : bool
    """

    def __init__(self, table: BinaryTable, settings: Settings) -> None:
        self.table, self.kind, self.reclaims = table, COVERS[settings.cover], settings.reclaim
        self.weights, self.cell_weights = feature_weights(table.codebook, settings.weights)
        self.graph = Dissimilarity.of(table, self.weights, settings.epsilon, self.cell_weights)
        self.tree = level_tree(self.graph)
        self.b = table.k - np.int32(1)
        self.counts = np.zeros((table.codebook.features, table.records), dtype=np.uint16)
        self.asked = self.b
        self._neighbours: Neighbours | None = None

    def check(self, resume: State, table: BinaryTable) -> None:
        """Refuse covers that cannot be of this table, whose records are in their own order."""
        check_covers(resume, table)

    def cover(self, epsilon: float, report: Callable[[int], None]) -> Edges:
        """Return the cover of the next iteration, under the weights that the counts make."""
        graph = self.graph.fade_weights(epsilon)
        self._neighbours = self.nearest(graph, self._neighbours, report)
        return self.choose_edges(graph, self._neighbours)

    def nearest(
        self, graph: Dissimilarity, before: Neighbours | None, report: Callable[[int], None]
    ) -> Neighbours:
        """Return the nearest of each record, as many as it asks for."""
        return nearest_neighbours(
            graph, self.tree, self.counts, self.asked, before=before, report=report
        )

    def choose_edges(self, graph: Dissimilarity, near: Neighbours) -> Edges:
        """Return the cover by lists of the nearest."""
        return self.kind.find(graph, self.counts, self.b, near)

    def hide(self, u: NDArray[np.int32], v: NDArray[np.int32]) -> None:
        """Count the neighbours that differ from each record in each feature, which hides it there.

        u, v : int32 (m,), the ends of the edges of a cover.
        """
        graph = self.graph
        self.counts[:] = 0
        if self.reclaims:
            hidden = find_hidden_features(graph, self.counts)  # blank cells
            hide_apart(u, v, self.table.bits, hidden)
            parts = self.weights, self.cell_weights, self.b
            left = reclaim_features(self.table, graph, self.tree, *parts, hidden, Together())
            count_partners(
                self.table.bits, hidden, graph.layout, left.start, left.other, left.size,
                _MOST_COUNTED, self.counts,
            )  # fmt: skip
        else:
            count_differences(
                graph.place[u],
                graph.place[v],
                graph.codes,
                graph.bit_offsets,
                graph.ordinal,
                graph.parents,
                self.counts,
            )

    def summarize_step(self, number: int, edges: int, foreseen: float | None = None) -> Step:
        """Return the figures of an iteration whose cover has so many edges."""
        totals = count_hiding_vertices(self.graph, self.counts)
        figures = compute_utilities(*totals, (self.weights, self.cell_weights), self.table.records)
        figures["cover_edges"] = edges
        if foreseen is not None:
            figures["foreseen"] = foreseen
        return Step(number, figures)

    def edges(self, cover: Edges) -> int:
        """Return how many edges a cover has."""
        return len(cover)

    def collect_edges(self, cover: Edges, tie_order: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the part of a cover that a checkpoint keeps from here, as records of the table."""
        return rename_vertices(cover.u, cover.v, tie_order)

    def collect_hidden(self) -> NDArray[np.uint64]:
        """Return the features hidden in each record's row, uint64 (n, words)."""
        return find_hidden_features(self.graph, self.counts)
