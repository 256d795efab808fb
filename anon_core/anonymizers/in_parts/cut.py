"""Cut a table into parts of near records, and lay together what was made of them.

Lemma. If in each part the chances P are doubly stochastic on fitting pairs, with P(v, r) <= 1/k(v),
then they are so side by side, for the whole table: rows of other parts only add to a crowd. The
same holds of matchable crowds, of equivalence classes, and of people, whose chances of a row all
lie in the part of the row. It holds for those who know the cut, too. Still the cut is never
published: it tells in which neighbourhood of values a row lies.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.base import Arrays
from anon_core.anonymizers.groups import compute_hidden_figures
from anon_core.anonymizers.weights import feature_weights
from anon_core.errors import InfeasibleError, InputError
from anon_core.seating.shares import shares_of
from anon_core.steps import GrowingArrays, Observer, State, Step
from anon_core.tables.orders import invert_order, join_keys, order_columns
from anon_core.tables.records import BinaryTable, MaskedTable

_RECORD = "record"
CROWDS = 20  # of the greatest k that a part holds at least: smaller ones lose more


@dataclass(frozen=True)
class Cut:
    """A table in parts.

    Attributes
    ----------
    table : BinaryTable
    tie_order : int64 (n,)
        The order of its records that decides ties.
    places : tuple of int64 (m,)
        The records of each part, ascending.
    """

    table: BinaryTable
    tie_order: NDArray[np.int64]
    places: tuple[NDArray[np.int64], ...]

    @classmethod
    def of(cls, table: BinaryTable, tie_order: NDArray[np.int64] | None, part: int) -> "Cut":
        """Cut a table into parts of at least `part` records; 0 for one part.

        Parameters
        ----------
        table : BinaryTable
        tie_order : int64 (n,), optional
            As the records come if None. It decides between equal records.
        part : int

        Notes
        -----
        Records are in lexicographic order of their levels, columns of few levels first, so near
        ones are side by side; the order is cut into equal parts of `CROWDS` times the greatest k at
        least. A part in which somebody's k cannot be met, since a person owns too many of its
        records, joins the next. Nothing is cut where records had rows before, or where classes
        must be diverse. Time O(n log n), memory O(n).
        """
        n = table.records
        tie_order = np.arange(n) if tie_order is None else tie_order
        least = max(part, CROWDS * int(table.k.max(initial=1)))
        number = n // least if part else 1
        number -= number % (1 << (number.bit_length() // 2))  # few workers wait at the end
        if number < 2 or table.pasts is not None or table.diverse is not None:
            return cls(table, tie_order, (np.arange(n),))
        order = _order_by_locality(table, invert_order(tie_order))
        parts = [np.sort(each) for each in np.array_split(order, number)]
        return cls(table, tie_order, tuple(_join_infeasible(table, parts)))

    @cached_property
    def shares(self) -> int:
        """Shares D of a row where seats are even, the same in all parts."""
        return shares_of(self.table.k)

    @cached_property
    def rank(self) -> NDArray[np.int64]:
        """Place of each record in the order that decides ties, int64 (n,)."""
        return invert_order(self.tie_order)

    def take_part(self, number: int) -> tuple[BinaryTable, NDArray[np.int64]]:
        """Return a part as a table of its own, and the order that decides its ties."""
        places = self.places[number]
        return self.table.at(places), np.argsort(self.rank[places])


def _order_by_locality(table: BinaryTable, rank: NDArray[np.int64]) -> NDArray[np.int64]:
    """The records in an order in which near ones are side by side, int64 (n,)."""
    # `lexsort` takes its last key first, so columns of few levels stand at the end.
    return np.lexsort(join_keys((rank, *table.codes[order_columns(table.codebook)])))


def _join_infeasible(
    table: BinaryTable, parts: Sequence[NDArray[np.int64]]
) -> list[NDArray[np.int64]]:
    """Join parts with the next until each meets its demands; the last with the one before."""
    joined: list[NDArray[np.int64]] = []
    waiting = np.empty(0, dtype=np.int64)
    for each in parts:
        waiting = np.sort(np.concatenate([waiting, each]))
        if _is_feasible(table.at(waiting)):
            joined.append(waiting)
            waiting = waiting[:0]
    if len(waiting):
        while joined and not _is_feasible(table.at(waiting)):
            waiting = np.sort(np.concatenate([joined.pop(), waiting]))
        joined.append(waiting)
    return joined


def _is_feasible(part: BinaryTable) -> bool:
    try:
        part.refuse_impossible_demands()
    except InfeasibleError:
        return False
    return True


class _GatheredRows(GrowingArrays):
    """What was made of some parts, in the order in which they were done, gathered when asked for.

    Gathered at each step it would cost the square of the number of parts. Rows that were made stay,
    so it does not matter how late it is asked for.
    """

    def __init__(self, places: tuple[NDArray[np.int64], ...], arrays: Arrays) -> None:
        self._places, self._arrays = places, arrays

    @cached_property
    def _record(self) -> NDArray[np.int64]:
        return np.concatenate([np.empty(0, dtype=np.int64), *self._places])

    def after(self, records: int) -> "_GatheredRows":
        """See `GrowingArrays`."""
        ends = np.cumsum([len(places) for places in self._places])
        known = int(np.searchsorted(ends, records, side="right"))
        return _GatheredRows(self._places[known:], self._arrays)

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name == _RECORD:
            return self._record
        return np.ascontiguousarray(self._arrays[name][self._record].T)

    def __iter__(self) -> Iterator[str]:
        return iter((_RECORD, *self._arrays))

    def __len__(self) -> int:
        return 1 + len(self._arrays)


class Assembly:
    """What was made of the parts of a cut so far.

    Attributes
    ----------
    done : bool (parts,)
    hidden : uint64 (n, words)
    holders : int32 (n, D), optional
        None until a part has holders.
    """

    def __init__(self, cut: Cut) -> None:
        self._cut = cut
        self.done = np.zeros(len(cut.places), dtype=np.bool_)
        self.hidden = np.zeros((cut.table.records, cut.table.codebook.words), dtype=np.uint64)
        self.holders: NDArray[np.int32] | None = None

    def put_part(self, number: int, arrays: Arrays) -> None:
        """Take the arrays of `MaskedTable.arrays` of a part."""
        places = self._cut.places[number]
        self.hidden[places] = arrays["hidden"]
        if "holders" in arrays:
            held = places[arrays["holders"]].astype(np.int32)
            # A part may have a smaller D. Each of its shares is several here, for the same chances.
            self.expect_holders()[places] = np.repeat(
                held, self._cut.shares // held.shape[1], axis=1
            )
        self.done[number] = True

    def expect_holders(self) -> NDArray[np.int32]:
        """Return the holders, made where there are none yet."""
        if self.holders is None:
            shape = self._cut.table.records, self._cut.shares
            self.holders = np.zeros(shape, dtype=np.int32)
        return self.holders

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """What was made, by name, each (n, ...)."""
        held = {} if self.holders is None else {"holders": self.holders}
        return {"hidden": self.hidden, **held}

    def report_state(self, numbers: list[int], steps: tuple[Step, ...]) -> State:
        """Return what a run goes on from: the records of these parts, and what was made of them.

        Records are along the last axis, by part in the order of the numbers.
        """
        places = tuple(self._cut.places[number] for number in numbers)
        return State(_GatheredRows(places, self.arrays), steps)

    def take_over(self, state: State | None) -> None:
        """Take over the parts that a state has.

        Raises
        ------
        InputError
            It is a state of other data.
        """
        if state is None:
            return
        record = state.arrays.get(_RECORD)
        known = np.zeros(self._cut.table.records, dtype=np.bool_)
        if (
            record is None
            or "hidden" not in state.arrays
            or not ((record >= 0) & (record < len(known))).all()
        ):
            raise InputError("the state to resume from is none of this table in these parts")
        known[record] = True
        self.done[:] = [known[places].all() for places in self._cut.places]
        self.hidden[record] = state.arrays["hidden"].T
        if "holders" in state.arrays:
            self.expect_holders()[record] = state.arrays["holders"].T

    def build_table(self) -> MaskedTable:
        """Return the whole table; its one step tells nothing of the parts."""
        table = self._cut.table
        weights = feature_weights(table.codebook, "columns")
        step = Step(1, compute_hidden_figures(table, self.hidden, weights))
        return MaskedTable(table, self.hidden, (step,), 1, self.holders)


@contextmanager
def explain_refusals(cut: Cut) -> Iterator[None]:
    """Let a refusal of one part say that the whole table might have what the part lacks."""
    try:
        yield
    except InfeasibleError as refusal:
        raise InfeasibleError(
            f"{refusal}. So it is in one of {len(cut.places)} parts of the table; with "
            "anonymizer.part = 0 it is one part"
        ) from None


def make_whole(
    method: Any,
    data: BinaryTable,
    *,
    tie_order: NDArray[np.int64] | None,
    observer: Observer | None,
    resume: State | None,
) -> MaskedTable:
    """Make a table of one part, as the method itself does."""
    made: MaskedTable = method.take_as_one_part(data.records).anonymize(
        data, tie_order=tie_order, observer=observer, resume=resume
    )
    return made


def assemble_parts(
    cut: Cut,
    make: Callable[[list[int]], Iterable[tuple[int, Arrays]]],
    observer: Observer | None,
    resume: State | None,
) -> MaskedTable:
    """Lay together parts as they are done; for each a step tells how many records are done.

    `make` gets the numbers of the parts that are left, and gives each with its arrays, in any
    order.
    """
    made, watch = Assembly(cut), observer or Observer()
    made.take_over(resume)
    steps = () if resume is None else resume.steps
    done = np.flatnonzero(made.done).tolist()
    watch.expects(len(cut.places))
    with explain_refusals(cut):
        for number, arrays in make(np.flatnonzero(~made.done).tolist()):
            made.put_part(number, arrays)
            done.append(number)
            records = sum(len(cut.places[each]) for each in done)
            steps = (*steps, Step(len(steps) + 1, {"records": records}))
            watch.on_step(made.report_state(done, steps))
    return made.build_table()
