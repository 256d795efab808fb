"""Adaptive anonymity: an iterated minimum-weight b-edge cover."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.adaptive.agreement import maps_memory
from anon_core.anonymizers.adaptive.grouping import Grouping
from anon_core.anonymizers.adaptive.halves import Half, stand_in
from anon_core.covers.named import COVERS
from anon_core.errors import InputError
from anon_core.promise import Promise
from anon_core.search.dissimilarity import costs_memory
from anon_core.tables.records import (
    BinaryTable,
    Checkpoint,
    Edges,
    Iteration,
    MaskedTable,
    Observer,
    best_of,
)

SLOW = 0.02  # an iteration that lowers the loss by a smaller share than this lets epsilon fall
FALL = 4.0
LOWEST_EPSILON = 1.25
LARGE = (
    2**14
)  # records from which on a part of them goes ahead: smaller tables take a second or two anyhow
HALVINGS = 2


@dataclass(frozen=True, kw_only=True)
class Adaptive:
    """Algorithm 1 of Khan et al. with MCE or another cover as grouping step, several levels and stars reclaimed.

    With schedule = "fixed" and reclaim = False it is the algorithm of the paper.

    Attributes
    ----------
    epsilon : float
        How slowly a bit that is hidden already loses its weight: (epsilon / (1 + epsilon)) per differing neighbour.
    schedule : {"multilevel", "falling", "fixed"}
        "falling" divides epsilon by 4, down to 1.25, after each iteration that lowers the loss by less than 2 %; such an
        iteration at 1.25 is the last. A slow loss of weight shapes the crowds, a fast one settles them. "multilevel", for
        tables from 16,384 records on, lets a quarter of the records, in crowds a quarter as large, go ahead for an
        iteration, then a half and then all, which start from what the smaller part came to, at a quarter of epsilon; all
        stop at an iteration that comes within 2 % of the loss of the half, or lowers the loss by less than 2 %. That takes
        a quarter of the time, and a little more is hidden than by "falling" on some tables, less on others.
    reclaim : bool
        Whether each iteration ends by showing again what no record needs hidden. Not with "classes": rows of one group
        would differ.
    weights : {"columns", "cells", "bits"}
        What counts as loss: every column the same (the sum is NCP), a cell's NCP and as much again as a fully hidden one for
        not being exact, or every bit the same (the paper's count of stars). A column's own `weight` multiplies each.
    cover : {"mce", "lse", "s-lse", "nearest", "exact", "b-matching", "classes"}
        The grouping step. "lse" is slower than "mce" and lighter; "s-lse" is the cover of "mce" by another name; "nearest"
        keeps its redundant edges. "exact" (least weight) and "b-matching" (exactly b edges each) are for small tables;
        "classes" is k-anonymity with the greatest k. See `anon_core.covers.named`.
    max_iterations : int
    patience : int
        Stop after this many iterations without improvement.

    References
    ----------
    Khan et al., Adaptive Anonymization of Data using b-Edge Cover, Algorithms 1-3, sections III-IV.
    """

    promise: ClassVar[Promise] = Promise(("compatible crowds", "matchable crowds", "truthful rows"))

    epsilon: float = 20.0
    schedule: Literal["multilevel", "falling", "fixed"] = "multilevel"
    reclaim: bool = True
    weights: Literal["columns", "cells", "bits"] = "columns"
    cover: Literal["mce", "lse", "s-lse", "nearest", "exact", "b-matching", "classes"] = "mce"
    max_iterations: int = 10
    patience: int = 3

    def __post_init__(self) -> None:
        if not 0 < self.epsilon < float("inf"):
            raise InputError("epsilon must be a positive finite number")
        if self.schedule not in ("multilevel", "falling", "fixed"):
            raise InputError("schedule must be 'multilevel', 'falling' or 'fixed'")
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
        engine: "Engine | None" = None,
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
        make = engine or Grouping
        grouping = make(
            table.at(order), self
        )  # the smallest index is the first in the order that decides ties
        history: list[Iteration] = []
        epsilon: float | None = self.epsilon
        foreseen: float | None = None
        best: Edges | None = None
        hidden: NDArray[np.uint64] | None = None
        if resume is not None:
            self._check(resume)
            grouping.check(resume, table)
            history, best = list(resume.iterations), resume.best
            epsilon, foreseen = self._next_epsilon(history), history[0].foreseen
            if epsilon is not None:
                grouping.hide(_renamed(resume.latest, rank))
        elif self._goes_ahead(table):
            epsilon, foreseen = self._settling(), self._go_ahead(grouping, make, observer)
        while epsilon is not None:
            cover = grouping.cover(epsilon, observer.searched)
            grouping.hide(cover)
            history.append(replace(grouping.reached(len(history) + 1, cover), foreseen=foreseen))
            latest = _renamed(cover, order)
            if best is None or best_of(history) is history[-1]:
                best, hidden = latest, grouping.hidden()
            observer.iterated(Checkpoint(latest, best, tuple(history)))
            del cover, latest  # the next search needs their counts only
            epsilon = self._next_epsilon(history)
        assert best is not None
        if hidden is None:
            grouping.hide(_renamed(best, rank))
            hidden = grouping.hidden()
        if grouping.reclaims:
            best = _renamed(grouping.agreement_cover(hidden), order)
        by_record = np.empty_like(hidden)
        by_record[order] = hidden
        return MaskedTable(table, by_record, best, tuple(history))

    def _goes_ahead(self, table: BinaryTable) -> bool:
        """Whether a part of the records does."""
        return (
            self.schedule == "multilevel"
            and table.records >= LARGE
            and not COVERS[self.cover].settled
        )

    def _go_ahead(
        self, grouping: Grouping, make: "Engine", observer: Observer, share: int = 2
    ) -> float:
        """Let a half of the records (of all: 1 / share) go ahead and leave its counts; the weighted utility that it reached.

        Counts and crowds of a part are smaller by its share, and so is epsilon.
        """
        half = Half.of(grouping.table, grouping.graph, grouping.tree, more=share > 2)
        work = make(half.table, self)
        epsilon = self.epsilon
        if share < 2**HALVINGS:
            self._go_ahead(work, make, observer, 2 * share)
            epsilon = self._settling()
        cover = work.cover(
            epsilon / share or epsilon, lambda _: observer.searched(0)
        )  # the least float halved is 0
        work.hide(cover)
        half.leave(work.counts, work.graph, grouping.table, grouping.graph, grouping.counts)
        return work.reached(0, cover).weighted_utility

    def _settling(self) -> float:
        """The epsilon of those who start from what a smaller part came to."""
        return min(self.epsilon, max(self.epsilon / FALL, LOWEST_EPSILON))

    def _next_epsilon(self, history: Sequence[Iteration]) -> float | None:
        """What the iteration after these is to run with; None where there is nothing to gain or no time left for it."""
        idle = len(history) - best_of(history).number
        settled = COVERS[self.cover].settled or not history[-1].cover_edges
        if len(history) >= self.max_iterations or idle >= self.patience or settled:
            return None
        foreseen = history[0].foreseen
        if foreseen is not None and self.schedule == "multilevel":
            slow = len(history) > 1 and _slow(history, len(history) - 1)
            expected = 1 - history[-1].weighted_utility <= (1 + SLOW) * (1 - foreseen)
            return None if slow or expected else self._settling()
        epsilon = self.epsilon
        for count in range(1, len(history) if self.schedule != "fixed" else 0):
            if _slow(history, count):
                if epsilon <= LOWEST_EPSILON:
                    return None
                epsilon = max(epsilon / FALL, LOWEST_EPSILON)
        return epsilon

    def _check(self, resume: Checkpoint) -> None:
        history = resume.iterations
        if any(self._next_epsilon(history[:count]) is None for count in range(1, len(history))):
            raise InputError(
                "the checkpoint goes on where these settings stop; resume with those that it was made with"
            )

    def memory(self, table: BinaryTable) -> int:
        """Bytes held at most beyond the input: costs and counts of each level, what the cover takes."""
        cover = COVERS[self.cover]
        cover.check(table.records)
        return self.over_levels(
            table, lambda level: self.memory_of_records(level) + cover.memory(level.k - np.int32(1))
        )

    def over_levels(self, table: BinaryTable, need: Callable[[BinaryTable], int]) -> int:
        """The most bytes held at a time where an iteration on a table takes as many as `need` says.

        While a part of the records goes ahead, the counts and the tree of those from whom it was taken wait.
        """
        most, waiting, book = need(table), 0, table.codebook
        for _ in range(HALVINGS if self._goes_ahead(table) else 0):
            waiting += table.records * (
                2 * book.features + 25 * len(book.attributes) + 8 * book.words + 64
            )
            table = stand_in(table)
            most = max(most, waiting + need(table))
        return most

    @staticmethod
    def memory_of_records(table: BinaryTable, threads: int | None = None) -> int:
        """The part of it that the number of records and levels decides; `threads`: see `costs_memory`."""
        # Beside the costs: counts 2 a feature; codes thrice and the tree made of them; hidden thrice. Reclaiming takes
        # the place of closure and order, 36 bytes an entry, and adds maps and 72 bytes a record. Renaming a cover takes 16
        # bytes an edge when closure and order are gone.
        book = table.codebook
        per_record = 2 * book.features + 34 * len(book.attributes) + 32 * book.words + 216
        return (
            table.records * per_record
            + maps_memory(table.records, book)
            + costs_memory(table.records, book, threads)
        )


Engine = Callable[[BinaryTable, Adaptive], Grouping]


def _slow(history: Sequence[Iteration], count: int) -> bool:
    """Whether iteration count + 1 lowered the loss by a small share of it only."""
    before, after = (
        1 - best_of(history[:count]).weighted_utility,
        1 - history[count].weighted_utility,
    )
    return after > (1 - SLOW) * before


def _renamed(edges: Edges, names: NDArray[np.int64]) -> Edges:
    """The same edges between the vertices of these names."""
    short = names.astype(np.int32)
    u, v = short[edges.u], short[edges.v]
    return Edges(np.minimum(u, v), np.maximum(u, v), edges.weight)
