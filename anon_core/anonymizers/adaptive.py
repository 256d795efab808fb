"""Adaptive anonymity: an iterated minimum-weight b-edge cover."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import InputError
from anon_core.graphs.agreement import agreement_cover, reclaim
from anon_core.graphs.b_edge_cover import b_edge_cover
from anon_core.graphs.dissimilarity import Dissimilarity, bit_weights
from anon_core.graphs.nearest_closure import LevelTree, Neighbours, nearest_closure, nearest_neighbours
from anon_core.kernels.cover import count_differences, hide_differences
from anon_core.records import BinaryTable, Codebook, Edges, Iteration, MaskedTable, OnIteration

SLOW = 0.02  # an iteration that lowers the loss by a smaller share than this lets epsilon fall
FALL = 4.0
LOWEST_EPSILON = 1.25


@dataclass(frozen=True, kw_only=True)
class Adaptive:
    """Algorithm 1 of Khan et al. with MCE as grouping step, a falling epsilon and stars reclaimed.

    With schedule = "fixed" and reclaim = False it is the algorithm of the paper.

    Attributes
    ----------
    epsilon : float
        How slowly a bit that is hidden already loses its weight: (epsilon / (1 + epsilon)) per differing neighbour.
    schedule : {"falling", "fixed"}
        Whether epsilon is divided by 4, down to 1.25, after each iteration that lowers the loss by less than 2 %; such an
        iteration at 1.25 is the last. A slow loss of weight shapes the crowds, a fast one settles them.
    reclaim : bool
        Whether each iteration ends by showing again what no record needs hidden.
    weights : {"columns", "cells", "bits"}
        What counts as loss: every column the same (the sum is NCP), a cell's NCP and as much again as a fully hidden one for
        not being exact, or every bit the same (the paper's count of stars). A column's own `weight` multiplies each.
    max_iterations : int
    patience : int
        Stop after this many iterations without improvement.

    References
    ----------
    Khan et al., Adaptive Anonymization of Data using b-Edge Cover, Algorithms 1-3, sections III-IV.
    """

    epsilon: float = 20.0
    schedule: Literal["falling", "fixed"] = "falling"
    reclaim: bool = True
    weights: Literal["columns", "cells", "bits"] = "columns"
    max_iterations: int = 10
    patience: int = 3

    def __post_init__(self) -> None:
        if not 0 < self.epsilon < float("inf"):
            raise InputError("epsilon must be a positive finite number")
        if self.schedule not in ("falling", "fixed"):
            raise InputError("schedule must be 'falling' or 'fixed'")
        if self.weights not in ("columns", "cells", "bits"):
            raise InputError("weights must be 'columns', 'cells' or 'bits'")
        if self.max_iterations < 1 or self.patience < 1:
            raise InputError("max_iterations and patience must be at least 1")

    def anonymize(
        self, table: BinaryTable, *, order: NDArray[np.int64] | None = None, on_iteration: OnIteration | None = None
    ) -> MaskedTable:
        """Hide features until every record fits k(v) rows; see `Anonymizer.anonymize`.

        Notes
        -----
        The best iteration by weighted utility is kept, not the last. Line 9 of Algorithm 1 is taken as the formula
        stands (a weight falls with the number of differing neighbours); the prose beside it says the opposite.
        """
        order = np.arange(table.records) if order is None else order
        ranked = _reorder(table, order)
        weights, cell_weights = self._weights(table.codebook)
        whole = table.records * (int(weights.sum()) + int(cell_weights.sum()))
        epsilon = self.epsilon
        graph = Dissimilarity.of(ranked, weights, epsilon, cell_weights)
        tree = LevelTree.of(graph)
        b = ranked.k - np.int32(1)
        counts = np.zeros((table.codebook.features, table.records), dtype=np.uint16)
        neighbours: Neighbours | None = None
        best: tuple[float, NDArray[np.uint64], Edges] | None = None
        history: list[Iteration] = []
        best_number = 0
        for number in range(1, self.max_iterations + 1):
            neighbours = nearest_neighbours(graph, tree, counts, b, before=neighbours)
            cover = b_edge_cover(nearest_closure(neighbours), b)
            counts[:] = 0
            count_differences(cover.u, cover.v, graph.codes, graph.bit_offsets, graph.ordinal, counts)
            if self.reclaim:
                reclaim(ranked, tree, weights, cell_weights, b, counts)
            hidden = np.zeros_like(ranked.bits)
            per_bit = np.zeros(table.codebook.features, dtype=np.int64)
            hide_differences(counts, graph.blank, graph.bit_offsets, hidden, per_bit)
            loss = int(per_bit @ weights.astype(np.int64)) + int(_masked_cells(ranked, counts, cell_weights) @ cell_weights)
            iteration = Iteration(
                number=number,
                utility=1 - float(per_bit.sum()) / (table.records * table.codebook.features),
                weighted_utility=1 - loss / whole,
                cover_edges=len(cover),
            )
            history.append(iteration)
            slow = best is not None and 1 - iteration.weighted_utility > (1 - SLOW) * (1 - best[0])
            if best is None or iteration.weighted_utility > best[0]:
                best, best_number = (iteration.weighted_utility, hidden, cover), number
            if on_iteration:
                on_iteration(iteration)
            if number - best_number >= self.patience or not len(cover):
                break
            if slow and self.schedule == "falling":
                if epsilon <= LOWEST_EPSILON:
                    break
                epsilon = max(epsilon / FALL, LOWEST_EPSILON)
                graph = Dissimilarity.of(ranked, weights, epsilon, cell_weights)
        assert best is not None
        _, hidden, cover = best
        if self.reclaim:
            cover = agreement_cover(ranked, tree, hidden, b)
        by_record = np.empty_like(hidden)
        by_record[order] = hidden
        u, v = order[cover.u].astype(np.int32), order[cover.v].astype(np.int32)
        return MaskedTable(table, by_record, Edges(np.minimum(u, v), np.maximum(u, v), cover.weight), tuple(history))

    def memory(self, table: BinaryTable) -> int:
        """Bytes held at most beyond the input: costs and counts of each level, neighbour lists, closure and covers."""
        n, book = table.records, table.codebook
        lists = int(table.k.sum(dtype=np.int64)) - n
        # costs int32 by level; counts uint16 twice (one in layout order); codes and the tree made of them; hidden twice;
        # lists and their predecessors 8 bytes an entry each, closure 12, its order twice 8, flags 1, two covers 12 each.
        # Reclaiming takes the place of closure and order: 36 bytes an entry; it adds a bit a level and hidden once more.
        levels = int(book.level_offsets[-1])
        per_record = 4 * levels + levels // 8 + 4 * book.features + 34 * len(book.attributes) + 32 * book.words + 128
        return n * per_record + 69 * lists

    def _weights(self, book: Codebook) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Of each bit and, in addition, of each attribute's first hidden bit."""
        share = [a.weight / (1 if self.weights == "bits" else max(1, a.levels - 1)) for a in book.attributes]
        relative = np.repeat(share, [a.bits for a in book.attributes])
        if self.weights != "cells":
            return bit_weights(relative), np.zeros(len(book.attributes), dtype=np.int32)
        weights = bit_weights(np.concatenate([relative, [a.weight for a in book.attributes]]))
        return weights[: book.features], weights[book.features :]


def _masked_cells(table: BinaryTable, counts: NDArray[np.uint16], cell_weights: NDArray[np.int32]) -> NDArray[np.int64]:
    """How many cells of each attribute hide anything, int64 (attributes,); 0 where it does not matter."""
    bit = table.codebook.bit_offsets
    return np.array(
        [
            np.count_nonzero(counts[bit[a] : bit[a + 1]].any(axis=0) | blank) if cell_weights[a] else 0
            for a, blank in enumerate(table.blank)
        ],
        dtype=np.int64,
    )


def _reorder(table: BinaryTable, order: NDArray[np.int64]) -> BinaryTable:
    """The records in the order that decides ties, so that the core's smallest index is the first in that order."""
    return BinaryTable(
        table.codebook,
        np.take(table.codes, order, axis=1),
        table.bits[order],
        table.k[order],
        np.take(table.blank, order, axis=1),
    )
