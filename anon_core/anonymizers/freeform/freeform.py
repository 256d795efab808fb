"""Freeform generalization: each row is held by k records, by k assignments of little loss."""

from dataclasses import dataclass
from typing import ClassVar

import numba
import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.base import Data
from anon_core.anonymizers.freeform.freeform_kernels import RowHolders, enter_holders
from anon_core.anonymizers.freeform.segments import (
    Starts,
    assign_segments,
    find_segment_starts,
)
from anon_core.anonymizers.freeform.settings import FreeformSettings
from anon_core.anonymizers.groups import cell_mask, compute_hidden_figures
from anon_core.anonymizers.loss_kernels import LevelCells
from anon_core.anonymizers.weights import feature_weights
from anon_core.errors import InputError
from anon_core.seating.even import (
    EvenRows,
    even_memory,
    exchange_even_shares,
)
from anon_core.seating.shares import shares_of
from anon_core.steps import Observer, State, Step
from anon_core.tables.closing import close_trees
from anon_core.tables.loss import loss_table
from anon_core.tables.records import BinaryTable, MaskedTable

HOLDER = "holder"  # int32 (rounds, n): the checkpoint's one array


@dataclass(frozen=True, kw_only=True)
class Freeform(FreeformSettings):
    """k rounds, each of which assigns every record to a row, so that rows lose little more.

    In the first round each record holds its own row. In each further round the cost of a pair is
    what the row would lose more if the record held it, too; no record takes a row twice. So each
    row is held by k records and each record holds k rows: a k-regular graph. Its edges are the
    chances of the seats, 1/k each. A row hides what its holders differ in.

    Records with own k: there are as many rounds as the greatest k, and a record takes one row at
    most floor(rounds / k) times. So no chance exceeds 1/k, and who demands less may stay where it
    fits at no cost. That leaves each record, and each row, more than half of the others in every
    round, so there is always an assignment (Hall); with fewer than two records for each round, all
    take each row once, and what is left is a regular graph.

    References
    ----------
    Doka, Xue, Tsoumakos and Karras, k-Anonymization by Freeform Generalization, ASIA CCS 2015,
    sections 5-7 and 8.1.
    """

    data: ClassVar[type[Data]] = BinaryTable

    def admit(self, data: BinaryTable) -> None:
        """Refuse demands that no table meets, and what `admit_demands` refuses."""
        data.refuse_impossible_demands()
        self.admit_demands(data.demands)
        # A part has as many rounds as its greatest k, and rows of all parts equally many shares.
        if self.part:
            shares_of(data.k, instead="anonymizer.part = 0")

    def memory(self, data: BinaryTable) -> int:
        """Return the bytes held at most beyond the input."""
        book, n = data.codebook, data.records
        dense = even_memory(data, int(data.k.max(initial=1))) if self.exchanges else 0
        dense += self.memory_at_work(data)
        widest = max(a.bits for a in book.attributes)
        per_record = 16 * len(book.attributes) + int(book.level_offsets[-1]) + 40 * book.words
        per_record += 12 * int(data.k.max(initial=1)) + 2 * widest + 200
        return n * per_record + dense + 2**16

    def memory_at_work(self, data: BinaryTable) -> int:
        """Return the bytes of the costs that all threads hold at a time."""
        sizes = np.sort(np.diff(self.segments(data)))[::-1]
        dense = {"greedy": 0, "hungarian": 8, "sort-greedy": 40}[self.method]
        return dense * int((sizes[: numba.get_num_threads()] ** 2).sum())

    def anonymize(
        self,
        data: BinaryTable,
        *,
        tie_order: NDArray[np.int64] | None = None,
        observer: Observer | None = None,
        resume: State | None = None,
    ) -> MaskedTable:
        """Assign records to rows and hide what the holders differ in; see `Anonymizer`."""
        self.admit(data)
        observer = observer or Observer()
        rounds, n = int(data.k.max(initial=1)), data.records
        observer.expects(rounds + self.exchanges)
        tie_order = np.arange(n) if tie_order is None else tie_order
        place = tie_order[_sort_by_levels(data.at(tie_order))]
        table = data.at(place)
        weights = feature_weights(data.codebook, "columns", self.loss, self.exact)
        starts, space = self.segments(table), self._space(table, rounds)
        steps = [] if resume is None else list(resume.steps[:rounds])
        if resume is not None:
            _restore_rounds(resume, len(steps), space)
        hidden = np.zeros_like(table.bits)
        for done in range(len(steps)):
            _hide_differences(table, space.holder[done], hidden)
        for done in range(len(steps), rounds):
            if done:
                assign_segments(self.method, starts, done, space, observer.report_records)
            else:
                observer.report_records(n)
            enter_holders(done, space)
            _hide_differences(table, space.holder[done], hidden)
            steps.append(Step(done + 1, compute_hidden_figures(table, hidden, weights)))
            observer.on_step(State({HOLDER: space.holder[: done + 1].copy()}, tuple(steps)))
        holders = np.ascontiguousarray(space.holder.T)
        if self.exchanges:
            made = exchange_even_shares(table, EvenRows(hidden, holders), weights)
            hidden, holders = made.hidden, made.holders
            steps.append(Step(rounds + 1, compute_hidden_figures(table, hidden, weights)))
            observer.report_records(n)
            observer.on_step(State({HOLDER: space.holder}, tuple(steps)))
        else:  # exchanges leave cells closed
            hidden = close_trees(table, hidden)
        rank, held = np.argsort(place), place.astype(np.int32)[holders]
        return MaskedTable(data, hidden[rank], tuple(steps), len(steps), held[rank])

    def segments(self, data: BinaryTable) -> Starts:
        """Return where each segment of the ordered table begins, and the end."""
        length = max(self.segment, 2 * int(data.k.max(initial=1))) if self.segment else 0
        return find_segment_starts(data.records, length)

    def _space(self, table: BinaryTable, rounds: int) -> RowHolders:
        times = rounds // table.k.astype(np.int64)
        holder = np.full((rounds, table.records), -1, dtype=np.int32)
        holder[0] = np.arange(table.records)  # in the first round each takes its own row
        shortest = int(np.diff(self.segments(table)).min())
        return RowHolders(
            cells=LevelCells.of(table, loss_table(table.codebook, self.loss, self.exact)),
            holder=holder,
            most=times if 2 * rounds <= shortest else np.ones_like(times),
        )


def _sort_by_levels(table: BinaryTable) -> NDArray[np.int64]:
    """The records by their levels, attributes of few levels first; equals stay in order."""
    few_first = np.argsort([a.levels for a in table.codebook.attributes], kind="stable")
    return np.lexsort(table.codes[few_first][::-1])


def _hide_differences(
    table: BinaryTable, holder: NDArray[np.int32], hidden: NDArray[np.uint64]
) -> None:
    """Hide in each row what its record and a holder, int32 (n,), differ in."""
    hidden |= table.bits ^ table.bits[holder]
    # Round 0 hides a row's own blank cells: its record is its first holder.
    for attribute, blank in enumerate(table.blank):
        if blank.any():
            hidden[blank[holder]] |= cell_mask(table.codebook, attribute)


def _restore_rounds(state: State, rounds: int, space: RowHolders) -> None:
    """Enter the rounds of a checkpoint; refuse one that is none of this table."""
    holder = state.arrays.get(HOLDER)
    n = len(space.most)
    if (
        holder is None
        or holder.dtype != np.int32
        or holder.shape != (rounds, n)
        or not 0 < rounds <= len(space.holder)
        or not (np.sort(holder, axis=1) == np.arange(n)).all()
    ):
        raise InputError("the checkpoint holds no rounds of this table; start anew without it")
    space.holder[:rounds] = holder
    for done in range(rounds):
        enter_holders(done, space)
