"""Adaptive anonymity: an iterated minimum-weight b-edge cover."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import InputError
from anon_core.graphs.covers import COVERS
from anon_core.graphs.dissimilarity import Dissimilarity, bit_weights
from anon_core.graphs.nearest_closure import Neighbours, level_tree, nearest_neighbours
from anon_core.kernels.cover import count_differences, hide_differences
from anon_core.records import BinaryTable, Checkpoint, Codebook, Edges, Iteration, MaskedTable, Observer, best_of


@dataclass(frozen=True, kw_only=True)
class Adaptive:
    """Algorithm 1 of Khan et al.; its grouping step is MCE or another cover.

    Attributes
    ----------
    epsilon : float
        How slowly a bit that is hidden already loses its weight: (epsilon / (1 + epsilon)) per differing neighbour.
    weights : {"columns", "bits"}
        What counts as loss: every column the same (the sum is NCP), or every bit the same (the paper's count of stars).
        A column's own `weight` multiplies either.
    cover : {"mce", "lse", "s-lse", "nearest", "exact", "b-matching", "classes"}
        The grouping step. "lse" is slower than "mce" and lighter; "s-lse" is the cover of "mce" by another name; "nearest"
        keeps its redundant edges. "exact" (least weight) and "b-matching" (exactly b edges each) are for small tables;
        "classes" is k-anonymity with the greatest k. See `anon_core.graphs.covers`.
    max_iterations : int
    patience : int
        Stop after this many iterations without improvement.

    References
    ----------
    Khan et al., Adaptive Anonymization of Data using b-Edge Cover, Algorithms 1-3, sections III-IV.
    """

    epsilon: float = 2.0
    weights: Literal["columns", "bits"] = "columns"
    cover: Literal["mce", "lse", "s-lse", "nearest", "exact", "b-matching", "classes"] = "mce"
    max_iterations: int = 10
    patience: int = 3

    def __post_init__(self) -> None:
        if not 0 < self.epsilon < float("inf"):
            raise InputError("epsilon must be a positive finite number")
        if self.weights not in ("columns", "bits"):
            raise InputError("weights must be 'columns' or 'bits'")
        if self.cover not in COVERS:
            raise InputError("cover must be one of " + ", ".join(COVERS))
        if self.max_iterations < 1 or self.patience < 1:
            raise InputError("max_iterations and patience must be at least 1")

    def anonymize(
        self,
        table: BinaryTable,
        *,
        order: NDArray[np.int64] | None = None,
        observer: Observer | None = None,
        resume: Checkpoint | None = None,
    ) -> MaskedTable:
        """Hide features until every record fits k(v) rows; see `Anonymizer.anonymize`.

        Notes
        -----
        The best iteration by weighted utility is kept, not the last. Line 9 of Algorithm 1 is taken as the formula
        stands (a weight falls with the number of differing neighbours); the prose beside it says the opposite.
        """
        kind = COVERS[self.cover]
        kind.check(table.records)
        order = np.arange(table.records) if order is None else order
        observer = observer or Observer()
        rank = np.empty_like(order)
        rank[order] = np.arange(table.records)
        ranked = _reorder(table, order)
        weights = bit_weights(self._relative_weights(table.codebook), table.codebook)
        graph = Dissimilarity.of(ranked, weights, self.epsilon)
        b = ranked.k - np.int32(1)
        counts = np.zeros((table.codebook.features, table.records), dtype=np.uint16)
        history: list[Iteration] = []
        best: Edges | None = None
        if resume is not None:
            self._check(resume, table)
            history, best = list(resume.iterations), resume.best
            _hide(graph, _renamed(resume.latest, rank), counts)
        tree = level_tree(graph)
        neighbours: Neighbours | None = None
        while not self._ends(history):
            neighbours = nearest_neighbours(graph, tree, counts, b, before=neighbours, report=observer.searched)
            cover = kind.find(graph, counts, b, neighbours)
            _, per_bit = _hide(graph, cover, counts)
            iteration = Iteration(
                number=len(history) + 1,
                utility=1 - float(per_bit.sum()) / (table.records * table.codebook.features),
                weighted_utility=1 - float(per_bit @ weights.astype(np.int64)) / (table.records * int(weights.sum())),
                cover_edges=len(cover),
            )
            history.append(iteration)
            latest = _renamed(cover, order)
            if best is None or best_of(history) is iteration:
                best = latest
            observer.iterated(Checkpoint(latest, best, tuple(history)))
            del cover, latest  # the next search needs their counts only
        assert best is not None
        hidden, _ = _hide(graph, _renamed(best, rank), counts)
        by_record = np.empty_like(hidden)
        by_record[order[graph.layout]] = hidden
        return MaskedTable(table, by_record, best, tuple(history))

    def _ends(self, history: Sequence[Iteration]) -> bool:
        """Whether there is nothing to gain or no time left for it."""
        if not history:
            return False
        idle = len(history) - best_of(history).number
        settled = COVERS[self.cover].settled or not history[-1].cover_edges
        return len(history) >= self.max_iterations or idle >= self.patience or settled

    def _check(self, resume: Checkpoint, table: BinaryTable) -> None:
        resume.check(table)
        if any(self._ends(resume.iterations[:count]) for count in range(1, len(resume.iterations))):
            raise InputError("the checkpoint goes on where these settings stop; resume with those that it was made with")

    def memory(self, table: BinaryTable) -> int:
        """Bytes held at most beyond the input: costs and counts of each level, what the cover takes."""
        COVERS[self.cover].check(table.records)
        n, book = table.records, table.codebook
        # costs int32 by level; counts uint16 twice (one in layout order); codes and the tree made of them; hidden twice
        # (renaming a cover takes 16 bytes an edge when closure and order are gone)
        per_record = 4 * int(book.level_offsets[-1]) + 4 * book.features + 34 * len(book.attributes) + 24 * book.words + 64
        return n * per_record + COVERS[self.cover].memory(table.k - np.int32(1))

    def _relative_weights(self, book: Codebook) -> NDArray[np.float64]:
        share = [a.weight / (max(1, a.levels - 1) if self.weights == "columns" else 1) for a in book.attributes]
        return np.repeat(share, [a.bits for a in book.attributes])


def _reorder(table: BinaryTable, order: NDArray[np.int64]) -> BinaryTable:
    """The records in the order that decides ties, so that the core's smallest index is the first in that order."""
    return BinaryTable(
        table.codebook,
        np.take(table.codes, order, axis=1),
        table.bits[order],
        table.k[order],
        np.take(table.blank, order, axis=1),
    )


def _hide(graph: Dissimilarity, cover: Edges, counts: NDArray[np.uint16]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Count differing neighbours (into `counts`), hide what any of them differs in; the hidden bits by place, and how many."""
    counts[:] = 0
    count_differences(graph.place[cover.u], graph.place[cover.v], graph.codes, graph.bit_offsets, graph.ordinal, counts)
    hidden = np.zeros((graph.vertices, (len(counts) + 63) // 64), dtype=np.uint64)
    per_bit = np.zeros(len(counts), dtype=np.int64)
    hide_differences(counts, graph.blank, graph.bit_offsets, hidden, per_bit)
    return hidden, per_bit


def _renamed(edges: Edges, names: NDArray[np.int64]) -> Edges:
    """The same edges between the vertices of these names."""
    short = names.astype(np.int32)
    u, v = short[edges.u], short[edges.v]
    return Edges(np.minimum(u, v), np.maximum(u, v), edges.weight)
