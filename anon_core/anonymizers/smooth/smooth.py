"""Smooth k-anonymity: equal rows of what at least half of a group holds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numba
import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.base import Data
from anon_core.anonymizers.smooth.blocks import (
    PASSES,
    GroupingResult,
    GroupingTask,
    GroupOf,
    run_passes,
)
from anon_core.anonymizers.smooth.counts import compute_matrix_figures, list_released_items
from anon_core.anonymizers.smooth.counts_kernels import ItemRows, fingerprint_records, take_records
from anon_core.anonymizers.smooth.each import Each, one_by_one
from anon_core.anonymizers.smooth.facility import BESIDE_K, group_by_facility
from anon_core.anonymizers.smooth.matching import match_groups
from anon_core.anonymizers.smooth.median import group_by_median
from anon_core.anonymizers.smooth.neighbours import MOST_COMPARED, list_neighbours
from anon_core.anonymizers.smooth.settings import SmoothSettings
from anon_core.anonymizers.smooth.sweeps import (
    dissolve_small_groups,
    run_annealing_sweep,
    run_sweep,
)
from anon_core.errors import InputError, LimitError
from anon_core.matrices.records import GroupedMatrix, SparseMatrix
from anon_core.steps import Observer, State, Step

_MOST_RECORDS = {"alg2": 50_000, "alg1": 2000}  # they compare each with each facility, or all
_SLACK = 8  # times the greatest k that a block may be longer: one below it joins another
_LARGEST = 2**62  # of a number that compares losses
_GROUP = "group"  # int32 (n,): each record's group, the one array of a checkpoint


@dataclass(frozen=True, kw_only=True)
class Smooth(SmoothSettings):
    """Groups of at least k records; each row gets the items that half of its group holds.

    An item is in the rows of a group iff 2 c >= s, s = size of the group, c = members that hold
    it. A group has at least the greatest k of its members. Measured is the Jaccard similarity of
    source and release, (1 - suppressed) / (1 + created), both in parts of the source's entries.

    The figures of a step are `jaccard`, `suppressed`, `created`, `groups` and `moves`.

    References
    ----------
    Epasto, Esfandiari, Mirrokni, Munoz Medina and Vassilvitskii, Smooth Anonymity for Sparse
    Graphs, 2023, sections 3 and 5. The default method is ours.
    """

    data: ClassVar[type[Data]] = SparseMatrix

    def admit(self, data: SparseMatrix) -> None:
        """Refuse arrays that are no matrix, and demands that none meets."""
        data.check()
        data.refuse_impossible_demands()
        most = _MOST_RECORDS.get(self.method, data.records)
        if data.records > most:
            raise LimitError(
                f"method = '{self.method}' takes at most {most} records, not {data.records}; "
                "choose 'matching'"
            )
        k, longest = int(data.k.max(initial=1)), int(np.diff(data.indptr).max(initial=0))
        if 2 * k**4 * longest >= _LARGEST:
            raise LimitError(
                f"k = {k} and a record of {longest} items need numbers of more than 64 bits; "
                "lower k"
            )

    def memory(self, data: SparseMatrix) -> int:
        """Return the bytes held at most beyond the input."""
        n, threads = data.records, numba.get_num_threads()
        need = _memory_at_work(data.entries, n, data.items, threads)
        if self.method == "matching":
            return need + _memory_of_lists(n) + 200 * n * bool(self.block)
        need += n * (200 + 40 * (int(data.k.max(initial=1)) + BESIDE_K))
        return need + n * (40 * n + 16 * data.items) * (self.method == "alg1")

    def memory_of_block(self, data: SparseMatrix) -> int:
        """Return the bytes that one thread holds at most while it groups a block."""
        n = min(data.records, self.block + _SLACK * int(data.k.max(initial=1)))
        longest = np.sort(np.diff(data.indptr))[data.records - n :]
        need = _memory_at_work(int(longest.sum()), n, data.items, 1)
        return need + _memory_of_lists(n)

    def anonymize(
        self,
        data: SparseMatrix,
        *,
        tie_order: NDArray[np.int64] | None = None,
        observer: Observer | None = None,
        resume: State | None = None,
    ) -> GroupedMatrix:
        """Group the records and give each group its majority; see `Anonymizer.anonymize`."""
        return self.spread(data, one_by_one, tie_order=tie_order, observer=observer, resume=resume)

    def spread(
        self,
        data: SparseMatrix,
        each: Each,
        *,
        tie_order: NDArray[np.int64] | None,
        observer: Observer | None,
        resume: State | None,
    ) -> GroupedMatrix:
        """Do as `anonymize`; with blocks, `each` searches neighbours and makes each pass."""
        self.admit(data)
        observer, most = observer or Observer(), self._most(data)
        observer.expects(most)
        given = ItemRows(data.indptr, data.indices, data.k)
        tie_order = np.arange(data.records) if tie_order is None else tie_order
        place = tie_order
        if self.method == "matching":  # equal records side by side
            place = tie_order[np.argsort(fingerprint_records(given)[tie_order], kind="stable")]
        work = GroupingTask(
            take_records(given, place), data.items, self._annealing_sweeps, self._sweeps
        )
        steps = [] if resume is None else list(resume.steps)
        found = np.empty(data.records, dtype=np.int32)
        found[:] = -1 if resume is None else _restore_groups(resume, data, most)
        group = found[place] if steps else found[:0]
        if self.block:
            turns = range(len(steps), most)
            states = run_passes(work, group, turns, self.block, each, observer.report_records)
        else:
            states = self._at_once(work, group, steps)
        for group, moves in states:
            reached = compute_matrix_figures(work.rows, data.items, group)
            steps.append(Step(len(steps) + 1, {**reached, "moves": moves}))
            found[place] = group
            observer.report_records(data.records)
            observer.on_step(State({_GROUP: found.copy()}, tuple(steps)))
        indptr, indices = list_released_items(given, data.items, found)
        return GroupedMatrix(data, found, indptr, indices, tuple(steps), len(steps))

    def _at_once(
        self, work: GroupingTask, group: GroupOf, steps: Sequence[Step]
    ) -> Iterator[GroupingResult]:
        """Yield the groups after each step, and the moves made; `steps` grows meanwhile."""
        rows, items, most = work.rows, work.items, 1 + work.annealing + work.sweeps
        near = np.empty((0, 0), dtype=np.int32) if most == 1 else list_neighbours(rows, items)
        if not steps:
            group = self._first(rows, items, near)
            yield group, len(rows.k)
        while len(steps) <= work.annealing:
            group, moves = run_annealing_sweep(rows, items, near, group, len(steps), work.annealing)
            yield group, moves
        # A sweep that changed nothing is the last.
        while len(steps) < most and (
            len(steps) == 1 + work.annealing or steps[-1].figures["moves"]
        ):
            group, moves = run_sweep(rows, items, near, group)
            yield group, moves

    def _most(self, data: SparseMatrix) -> int:
        """Steps at most."""
        if not self.block:
            return 1 + self._annealing_sweeps + self._sweeps
        return PASSES if self.block < data.records and (self.sweeps or self.annealing) else 1

    @property
    def _sweeps(self) -> int:
        return self.sweeps if self.method == "matching" else 0

    @property
    def _annealing_sweeps(self) -> int:
        return self.annealing if self.method == "matching" else 0

    def _first(self, rows: ItemRows, items: int, near: NDArray[np.int32]) -> NDArray[np.int32]:
        """The groups before any sweep."""
        if self.method == "alg1":
            return group_by_median(rows, items, self.a, self.merge)
        if self.method == "alg2":
            return group_by_facility(rows, items, self.a, self.merge)
        near = near if len(near) else list_neighbours(rows, items)
        return dissolve_small_groups(rows, items, near, match_groups(rows, items, near))


def _memory_at_work(entries: int, n: int, items: int, threads: int) -> int:
    return 60 * entries + (12 * n + 24 * items) * threads + 200 * items + 2**20


def _memory_of_lists(n: int) -> int:
    return n * (500 if n > MOST_COMPARED else 1000)


def _restore_groups(state: State, data: SparseMatrix, most: int) -> NDArray[np.int32]:
    """Return the groups of a checkpoint; refuse one that is none of this matrix."""
    group = state.arrays.get(_GROUP)
    if (
        not 0 < len(state.steps) <= most
        or group is None
        or group.dtype != np.int32
        or group.shape != data.k.shape
        or group.min(initial=0) < 0
        or (np.bincount(group)[group] < data.k).any()
    ):
        raise InputError("the checkpoint holds no groups of this matrix; start anew without it")
    return group
