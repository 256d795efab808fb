"""The parts of a table over ranks: each makes its own, and all learn what the others made."""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.base import Arrays
from anon_core.anonymizers.in_parts.cut import (
    Assembly,
    Cut,
    explain_refusals,
    make_whole,
)
from anon_core.anonymizers.in_parts.threaded import (
    make_parts,
    memory_of_parts,
    memory_of_whole,
)
from anon_core.spread import Ranks
from anon_core.steps import Observer, State, Step
from anon_core.tables.records import BinaryTable, MaskedTable


def memory(method: Any, data: BinaryTable, *, ranks: int, threads: int) -> int:
    """Return the bytes that a rank holds at most beyond the table."""
    cut = Cut.of(data, None, method.records_of_part)
    at_once = min(threads, -(-len(cut.places) // ranks))
    return 2 * memory_of_whole(method, cut) + at_once * max(memory_of_parts(method, cut))


def share(arrays: Arrays, _tie_order: NDArray[np.int64], _ranks: Ranks) -> Arrays:
    """Let every rank take over all parts that are done."""
    return arrays


class _FirstRank(Observer):
    """Lets the first rank alone keep what all make."""

    def __init__(self, watch: Observer, rank: int) -> None:
        self._watch, self._rank = watch, rank

    def expects(self, steps: int | None) -> None:
        """See `Observer`."""
        self._watch.expects(steps)

    def report_records(self, records: int) -> None:
        """See `Observer`."""
        self._watch.report_records(records)

    def on_step(self, state: State) -> None:
        """See `Observer`."""
        # Parts of a state are joined along their last axis, so these add nothing.
        kept = {name: of if self._rank == 0 else of[..., :0] for name, of in state.arrays.items()}
        self._watch.on_step(State(kept, state.steps))


def anonymize(
    method: Any,
    data: BinaryTable,
    ranks: Ranks,
    *,
    tie_order: NDArray[np.int64] | None = None,
    observer: Observer | None = None,
    resume: State | None = None,
) -> MaskedTable:
    """Make the own parts, as many at a time as there are threads; see `Ranked.anonymize`.

    One part alone is made on every rank.
    """
    cut = Cut.of(data, tie_order, method.records_of_part)
    watch = observer or Observer()
    if len(cut.places) == 1:
        first = _FirstRank(watch, ranks.rank)
        return make_whole(method, data, tie_order=tie_order, observer=first, resume=resume)
    made = Assembly(cut)
    made.take_over(resume)
    left = np.flatnonzero(~made.done).tolist()
    kept = np.flatnonzero(made.done).tolist() if ranks.rank == 0 else []  # by this rank
    steps = () if resume is None else resume.steps
    mine, threads = ranks.over(len(left)), numba.get_num_threads()
    # As many rounds on every rank, some without parts: all meet in `total` and `on_step`.
    rounds = range(0, mine.per if left else 0, threads)
    watch.expects(len(steps) + len(rounds))
    for first_of_round in rounds:
        begin = mine.low + first_of_round
        numbers = left[begin : min(mine.high, begin + threads)]
        at_once = max(1, min(threads, len(numbers)))
        with explain_refusals(cut):
            for number, arrays in make_parts(method, cut, numbers, at_once, threads // at_once):
                made.put_part(number, arrays)
        kept += numbers
        # A rank without parts must send the same arrays as all others.
        if ranks.greatest(int(made.holders is not None)):
            made.expect_holders()
        done = sum(len(cut.places[number]) for number in kept)
        total = int(ranks.total(np.array([done]))[0])
        steps = (*steps, Step(len(steps) + 1, {"records": total}))
        watch.on_step(made.report_state(kept, steps))
    if left:
        _exchange_parts(cut, left, made, mine)
    return made.build_table()


def _exchange_parts(cut: Cut, left: list[int], made: Assembly, mine: Ranks) -> None:
    """Fill in what was made of these parts from the ranks that own them."""
    longest = max(len(cut.places[number]) for number in left)
    for rows in made.arrays.values():
        sent = np.zeros((len(left), longest, rows.shape[1]), dtype=rows.dtype)
        for place in range(mine.low, mine.high):
            places = cut.places[left[place]]
            sent[place, : len(places)] = rows[places]
        mine.share(sent)
        for place, number in enumerate(left):
            places = cut.places[number]
            rows[places] = sent[place, : len(places)]
