"""Local search as an anonymizer: several starts, each narrowed; what loses least is kept."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.adaptive.adaptive import Adaptive
from anon_core.anonymizers.base import Data
from anon_core.anonymizers.freeform.freeform import Freeform
from anon_core.anonymizers.groups import compute_hidden_figures
from anon_core.anonymizers.local_search.settings import LocalSearchSettings
from anon_core.anonymizers.optimal.optimal import Optimal
from anon_core.anonymizers.weights import feature_weights
from anon_core.seating.even import EvenRows, narrow_even_rows, narrow_memory
from anon_core.seating.exchanges.narrowing import MOST_COUNTED
from anon_core.seating.shares import MOST_SHARES, shares_of
from anon_core.steps import Observer, State, Step
from anon_core.tables.loss import loss_table
from anon_core.tables.orders import invert_order
from anon_core.tables.records import BinaryTable, MaskedTable

# By effort, the shares of a row up to which rounds of assignments are a second start. They take
# time with k: at k = 50 of 30,162 records ten times that of the cover, narrowed, for 2 % less loss.
_MOST_ROUNDS = (0, 32, 64, 1024)
MANY = 2**18  # records of tables for which 2 % less loss is not worth five times the work
_FEW = 2**14  # records: twice as many rounds take no longer there
# Where classes of little loss are a start: their search takes seconds, and minutes for more or for
# a greater k, where the others come as near.
_MOST_IN_CLASSES, _MOST_K_OF_CLASSES = 128, 5


@dataclass(frozen=True, kw_only=True)
class LocalSearch(LocalSearchSettings):
    """Even seats of `Adaptive`, of `Freeform` or of `Optimal`, then narrowed rows.

    Each start is a table of who holds which row. Holders exchange shares, as far as the effort
    goes, where what a row then shows outweighs what the exchanges cost (`narrow_rows`). What loses
    least is kept. Its steps are those of `Adaptive` and one more.
    """

    data: ClassVar[type[Data]] = BinaryTable

    @property
    def cover(self) -> Adaptive:
        """The start that all tables have."""
        return Adaptive(seats=self.seats)

    def admit(self, data: BinaryTable) -> None:
        """Refuse what `Adaptive.admit` refuses."""
        self.cover.admit(data)

    def memory(self, data: BinaryTable) -> int:
        """Return the bytes held at most beyond the input."""
        return max(self.cover.memory(data), self.memory_of_search(data))

    def memory_of_search(self, data: BinaryTable) -> int:
        """Return the bytes held once the cover is there, which waits."""
        if self.seats == "matchable":
            return 0
        shares = shares_of(data.k)
        waiting = data.records * (4 * shares + 8 * data.codebook.words)
        starts = self.choose_rounds(data), self.choose_classes(data)
        others = [start.memory(data) for start in starts if start is not None]
        return (3 + len(others)) * waiting + max([narrow_memory(data, shares), *others])

    def take_as_one_part(self, records: int) -> "LocalSearch":
        """Return the method of each part; effort 1 does as effort 0 in tables of `MANY` records."""
        light = self.part > 0 and self.effort == 1 and records >= MANY
        return replace(self, part=0, effort=0 if light else self.effort)

    def choose_rounds(self, data: BinaryTable) -> Freeform | None:
        """The start by rounds of assignments, if the effort allows it."""
        most = _MOST_ROUNDS[self.effort] * (1 + (data.records <= _FEW))
        if data.person is not None or shares_of(data.k) > min(most, MOST_SHARES):
            return None
        return Freeform(loss=self.loss, exact=self.exact)

    def choose_classes(self, data: BinaryTable) -> Optimal | None:
        """The start of few records: classes of least or little loss."""
        k = int(data.k.max(initial=1))
        if not self.effort or data.person is not None:
            return None
        if data.records > _MOST_IN_CLASSES or k > _MOST_K_OF_CLASSES:
            return None
        sets = max(2, -(-data.records // k))  # so one part holds all records
        return Optimal(method="split-and-carry", loss=self.loss, sets=sets)

    def anonymize(
        self,
        data: BinaryTable,
        *,
        tie_order: NDArray[np.int64] | None = None,
        observer: Observer | None = None,
        resume: State | None = None,
    ) -> MaskedTable:
        """Make even rows and narrow them; see `Anonymizer.anonymize`."""
        self.admit(data)
        watch = _Watching(observer or Observer(), resume)
        made = self.cover.anonymize(
            data, tie_order=tie_order, observer=watch, resume=watch.of_cover
        )
        if made.holders is None or made.holders.shape[1] > MOST_COUNTED:
            return made
        tie_order = np.arange(data.records) if tie_order is None else tie_order
        starts = [made]
        if (rounds := self.choose_rounds(data)) is not None:
            starts.append(rounds.anonymize(data, tie_order=tie_order))
        if (classes := self.choose_classes(data)) is not None:
            starts.append(classes.anonymize(data, tie_order=tie_order))
        best = self._narrow_best(data, starts, tie_order)
        weights = feature_weights(data.codebook, "columns", self.loss, self.exact)
        figures = compute_hidden_figures(data, best.hidden, weights)
        steps = (*made.steps, Step(len(made.steps) + 1, figures))
        watch.report_last_step(steps, data.records)
        return MaskedTable(data, best.hidden, steps, len(steps), best.holders)

    def _narrow_best(
        self,
        data: BinaryTable,
        starts: list[MaskedTable],
        tie_order: NDArray[np.int64],
    ) -> EvenRows:
        """Narrow what the starts made; return the rows that lose least, as the data has them."""
        rank = invert_order(tie_order)
        table, names = data.at(tie_order), rank.astype(np.int32)
        holders = [names[m.holders[tie_order]] for m in starts if m.holders is not None]
        weights = feature_weights(table.codebook, "columns", self.loss)
        loss = loss_table(table.codebook, self.loss, self.exact)
        best = narrow_even_rows(table, holders, weights, loss, self.effort)
        return EvenRows(best.hidden[rank], tie_order.astype(np.int32)[best.holders[rank]])


class _Watching(Observer):
    """Passes on what the cover tells; a last step follows, which no checkpoint needs to hold."""

    def __init__(self, observer: Observer, resume: State | None) -> None:
        self._observer, self._latest = observer, resume

    @property
    def of_cover(self) -> State | None:
        """What the cover resumes from: the steps that it made."""
        if self._latest is None:
            return None
        steps = tuple(step for step in self._latest.steps if "cover_edges" in step.figures)
        return State(self._latest.arrays, steps)

    def expects(self, steps: int | None) -> None:
        """See `Observer`."""
        self._observer.expects(None if steps is None else steps + 1)

    def report_records(self, records: int) -> None:
        """See `Observer`."""
        self._observer.report_records(records)

    def on_step(self, state: State) -> None:
        """See `Observer`."""
        self._latest = state
        self._observer.on_step(state)

    def report_last_step(self, steps: tuple[Step, ...], records: int) -> None:
        """Tell the step that follows those of the cover, unless the checkpoint had it."""
        assert self._latest is not None
        self._observer.report_records(records)
        if steps != self._latest.steps:
            self._observer.on_step(State(self._latest.arrays, steps))
