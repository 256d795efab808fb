"""Adaptive anonymity: an iterated minimum-weight b-edge cover."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import InputError
from anon_core.graphs.agreement import Together, agreement_cover, hidden_by, hidden_totals, maps_memory, reclaim
from anon_core.graphs.covers import COVERS
from anon_core.graphs.dissimilarity import Dissimilarity, costs_memory, integer_weights
from anon_core.graphs.nearest_closure import Neighbours, level_tree, nearest_neighbours
from anon_core.kernels.cover import count_differences, hide_apart
from anon_core.kernels.showing import count_partners
from anon_core.records import BinaryTable, Checkpoint, Codebook, Edges, Iteration, MaskedTable, Observer, best_of

SLOW = 0.02  # an iteration that lowers the loss by a smaller share than this lets epsilon fall
FALL = 4.0
LOWEST_EPSILON = 1.25
MOST_COUNTED = 2**16 - 1
LEAST_SHARE = 2.0**-200  # of the heaviest column's weight: what is lighter by more than 2^24 weighs 1 anyhow


@dataclass(frozen=True, kw_only=True)
class Adaptive:
    """Algorithm 1 of Khan et al. with MCE or another cover as grouping step, a falling epsilon and stars reclaimed.

    With schedule = "fixed" and reclaim = False it is the algorithm of the paper.

    Attributes
    ----------
    epsilon : float
        How slowly a bit that is hidden already loses its weight: (epsilon / (1 + epsilon)) per differing neighbour.
    schedule : {"falling", "fixed"}
        Whether epsilon is divided by 4, down to 1.25, after each iteration that lowers the loss by less than 2 %; such an
        iteration at 1.25 is the last. A slow loss of weight shapes the crowds, a fast one settles them.
    reclaim : bool
        Whether each iteration ends by showing again what no record needs hidden. Not with "classes": rows of one group
        would differ.
    weights : {"columns", "cells", "bits"}
        What counts as loss: every column the same (the sum is NCP), a cell's NCP and as much again as a fully hidden one for
        not being exact, or every bit the same (the paper's count of stars). A column's own `weight` multiplies each.
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

    epsilon: float = 20.0
    schedule: Literal["falling", "fixed"] = "falling"
    reclaim: bool = True
    weights: Literal["columns", "cells", "bits"] = "columns"
    cover: Literal["mce", "lse", "s-lse", "nearest", "exact", "b-matching", "classes"] = "mce"
    max_iterations: int = 10
    patience: int = 3

    def __post_init__(self) -> None:
        if not 0 < self.epsilon < float("inf"):
            raise InputError("epsilon must be a positive finite number")
        if self.schedule not in ("falling", "fixed"):
            raise InputError("schedule must be 'falling' or 'fixed'")
        if self.weights not in ("columns", "cells", "bits"):
            raise InputError("weights must be 'columns', 'cells' or 'bits'")
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
        engine: Callable[[BinaryTable, "Adaptive"], "Grouping"] | None = None,
    ) -> MaskedTable:
        """Hide features until every record fits k(v) rows; see `Anonymizer.anonymize`.

        `engine` makes what does the work of an iteration, `Grouping` if None.

        Notes
        -----
        The best iteration by weighted utility is kept, not the last. Line 9 of Algorithm 1 is taken as the formula
        stands (a weight falls with the number of differing neighbours); the prose beside it says the opposite.
        """
        COVERS[self.cover].check(table.records)
        order = np.arange(table.records) if order is None else order
        observer = observer or Observer()
        rank = np.empty_like(order)
        rank[order] = np.arange(table.records)
        grouping = (engine or Grouping)(_reorder(table, order), self)
        history: list[Iteration] = []
        best: Edges | None = None
        hidden: NDArray[np.uint64] | None = None
        if resume is not None:
            self._check(resume)
            grouping.check(resume, table)
            history, best = list(resume.iterations), resume.best
            if self._next_epsilon(history) is not None:
                grouping.hide(_renamed(resume.latest, rank))
        while (epsilon := self._next_epsilon(history)) is not None:
            cover = grouping.cover(epsilon, observer.searched)
            grouping.hide(cover)
            history.append(grouping.reached(len(history) + 1, cover))
            latest = _renamed(cover, order)
            if best is None or best_of(history) is history[-1]:
                best, hidden = latest, grouping.hidden()
            observer.iterated(Checkpoint(latest, best, tuple(history)))
            del cover, latest  # the next search needs their counts only
        assert best is not None
        if hidden is None:
            grouping.hide(_renamed(best, rank))
            hidden = grouping.hidden()
        if grouping.reclaims:
            best = _renamed(grouping.agreement_cover(hidden), order)
        by_record = np.empty_like(hidden)
        by_record[order] = hidden
        return MaskedTable(table, by_record, best, tuple(history))

    def _next_epsilon(self, history: Sequence[Iteration]) -> float | None:
        """What the next iteration is to run with; None where there is nothing to gain or no time left for it."""
        if not history:
            return self.epsilon
        idle = len(history) - best_of(history).number
        settled = COVERS[self.cover].settled or not history[-1].cover_edges
        if len(history) >= self.max_iterations or idle >= self.patience or settled:
            return None
        epsilon = self.epsilon
        for count in range(1, len(history) if self.schedule == "falling" else 0):
            before, after = 1 - best_of(history[:count]).weighted_utility, 1 - history[count].weighted_utility
            if after > (1 - SLOW) * before:
                if epsilon <= LOWEST_EPSILON:
                    return None
                epsilon = max(epsilon / FALL, LOWEST_EPSILON)
        return epsilon

    def _check(self, resume: Checkpoint) -> None:
        if any(self._next_epsilon(resume.iterations[:count]) is None for count in range(1, len(resume.iterations))):
            raise InputError("the checkpoint goes on where these settings stop; resume with those that it was made with")

    def memory(self, table: BinaryTable) -> int:
        """Bytes held at most beyond the input: costs and counts of each level, what the cover takes."""
        COVERS[self.cover].check(table.records)
        return self.memory_of_records(table) + COVERS[self.cover].memory(table.k - np.int32(1))

    @staticmethod
    def memory_of_records(table: BinaryTable, threads: int | None = None) -> int:
        """The part of it that the number of records and levels decides; `threads`: see `costs_memory`."""
        # Beside the costs: counts 2 a feature; codes thrice and the tree made of them; hidden thrice. Reclaiming takes
        # the place of closure and order, 36 bytes an entry, and adds maps and 72 bytes a record. Renaming a cover takes 16
        # bytes an edge when closure and order are gone.
        book = table.codebook
        per_record = 2 * book.features + 34 * len(book.attributes) + 32 * book.words + 216
        return table.records * per_record + maps_memory(table.records, book) + costs_memory(table.records, book, threads)


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

    def __init__(self, table: BinaryTable, settings: Adaptive) -> None:
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

    def nearest(self, graph: Dissimilarity, before: Neighbours | None, report: Callable[[int], None]) -> Neighbours:
        """Those nearest to each record, as many as it asks for."""
        return nearest_neighbours(graph, self.tree, self.counts, self.asked, before=before, report=report)

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
                graph.place[cover.u], graph.place[cover.v], graph.codes, graph.bit_offsets, graph.ordinal, self.counts
            )

    def reached(self, number: int, cover: Edges) -> Iteration:
        """What is left to read."""
        n, book = self.table.records, self.table.codebook
        per_bit, per_cell = hidden_totals(self.graph, self.counts)
        loss = per_bit @ self.weights.astype(np.int64) + per_cell @ self.cell_weights.astype(np.int64)
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
    share = own / ([1] * len(own) if kind == "bits" else [max(1, a.levels - 1) for a in book.attributes])
    bits = np.repeat(share, [a.bits for a in book.attributes])
    return integer_weights(bits, own if kind == "cells" else np.zeros(len(own)), book)


def _reorder(table: BinaryTable, order: NDArray[np.int64]) -> BinaryTable:
    """The records in the order that decides ties, so that the core's smallest index is the first in that order."""
    return BinaryTable(
        table.codebook,
        np.take(table.codes, order, axis=1),
        table.bits[order],
        table.k[order],
        np.take(table.blank, order, axis=1),
    )


def _renamed(edges: Edges, names: NDArray[np.int64]) -> Edges:
    """The same edges between the vertices of these names."""
    short = names.astype(np.int32)
    u, v = short[edges.u], short[edges.v]
    return Edges(np.minimum(u, v), np.maximum(u, v), edges.weight)
