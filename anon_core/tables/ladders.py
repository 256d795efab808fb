"""Numbers and dates to the intervals of steps. The anonymizers' side; auditors have their own.

A level is an interval of the finest step that somebody is in; the nodes above it are those of the
coarser steps. The outermost levels join their neighbours until enough people hold them, and are
open then, as are the nodes that they lie in.
"""

from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import InputError
from anon_core.specs.columns import ColumnSpec
from anon_core.specs.hierarchies import Hierarchy
from anon_core.tables.number_levels import (
    Persons,
    find_outer_ends,
    number_label,
    refuse_infinite,
)

_FURTHEST = 2**50  # steps from 0: float64 keeps the bounds of intervals apart
_MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
_BEFORE = 12 * 1970  # months from the year 0 to the first month that numpy counts
_Span = tuple[float, float]


class StepLevels(NamedTuple):
    """The levels of a column of numbers or dates, ascending.

    Attributes
    ----------
    values : tuple of float or (float, float)
        As in `Attribute`. Of numbers that are not whole, a bound belongs to the interval above it.
    paths : list of tuple of str
        Of each level the names from the node below the root down to its own.
    joined : int
        How many intervals joined a neighbour since too few people held them.
    """

    values: tuple[float | _Span, ...] = ()
    paths: list[tuple[str, ...]] = []  # noqa: RUF012
    joined: int = 0


def levels_of_steps(
    spec: ColumnSpec,
    hierarchy: Hierarchy,
    numbers: NDArray[np.float64],
    least: int,
    persons: Persons,
) -> StepLevels:
    """Find the levels of numbers (n,) and their nodes; see `StepLevels`."""
    refuse_infinite(spec, numbers)
    if len(numbers) == 0:
        return StepLevels()
    distinct, at = np.unique(numbers, return_inverse=True)
    scale = _Days() if hierarchy.calendar else _Numbers(spec, hierarchy, distinct)
    finest, *coarser = hierarchy.calendar or hierarchy.ladder
    leaf, which = np.unique(scale.place(finest, distinct), return_inverse=True)
    count = len(leaf)
    ends = find_outer_ends(which[at], count, least, persons)
    starts = [0, *ends[:-1]]
    # An open level lies in the nodes of its inner end: the others hold nobody else.
    inner = [end - 1 if end < count else start for start, end in zip(starts, ends, strict=True)]
    seen = distinct[np.searchsorted(which, inner)]  # a number of each level
    opens = (ends[0] > 1, count - starts[-1] > 1)
    names: list[list[str]] = []
    for step in [*coarser[::-1], finest]:
        places = scale.place(step, seen).tolist()
        sides = [
            (opens[0] and place == places[0], opens[1] and place == places[-1]) for place in places
        ]
        names.append(
            [scale.name(step, place, *side) for place, side in zip(places, sides, strict=True)]
        )
    values = [
        _open_span(scale.span(finest, place), *side)
        for place, side in zip(places, sides, strict=True)
    ]
    alone = sum(end - start == 1 for start, end in zip(starts, ends, strict=True))
    return StepLevels(tuple(values), list(zip(*names, strict=True)), count - alone)


def _open_span(span: _Span, low: bool, high: bool) -> float | _Span:
    """An interval with open ends, or the one number that it holds."""
    opened = -np.inf if low else span[0], np.inf if high else span[1]
    return span[0] if opened[0] == opened[1] else opened


class _Numbers:
    """Intervals of numbers: place p of a step is [p step, (p + 1) step)."""

    def __init__(self, spec: ColumnSpec, hierarchy: Hierarchy, distinct: NDArray[Any]) -> None:
        finest = hierarchy.ladder[0]
        far = int(np.count_nonzero(np.abs(distinct) / finest >= _FURTHEST))
        if far:
            raise InputError(
                f"column {spec.name!r}: {far} distinct values are too far from 0 for the finest "
                "step of the ladder; state a greater one"
            )
        # Of whole numbers an interval ends at its last one.
        self.whole = finest % 1 == 0 and bool((distinct % 1 == 0).all())

    def place(self, step: Any, numbers: NDArray[np.float64]) -> NDArray[np.int64]:
        """The interval of each number."""
        return np.array([self._place(step, number) for number in numbers.tolist()], dtype=np.int64)

    def _place(self, step: float, number: float) -> int:
        # In decimals 0.3 is three tenths; in floats it is less than three times 0.1.
        whole, rest = divmod(Decimal(repr(number)), Decimal(repr(step)))
        place = int(whole) - (rest < 0)
        return place + (number >= _multiply(step, place + 1))

    def span(self, step: Any, place: int) -> _Span:
        """Its least and its greatest number, or bounds."""
        return _multiply(step, place), _multiply(step, place + 1) - self.whole

    def name(self, step: Any, place: int, low: bool, high: bool) -> str:
        """Its text, with open ends."""
        return number_label("numeric", _open_span(self.span(step, place), low, high))


def _multiply(step: float, times: int) -> float:
    return float(Decimal(repr(step)) * times)


class _Days:
    """Days, weeks from Monday, and whole months by their place from the year 0 on."""

    def place(self, step: Any, days: NDArray[np.float64]) -> NDArray[np.int64]:
        """The interval of each day, given as days since 1970-01-01."""
        whole = np.floor(days).astype(np.int64)
        if step in _MONTHS:
            months = whole.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
            return (months + _BEFORE) // _MONTHS[step]
        return whole if step == "day" else (whole + 3) // 7  # 1970 began on a Thursday

    def span(self, step: Any, place: int) -> _Span:
        """Its first and its last day."""
        return float(self._begin(step, place)), float(self._begin(step, place + 1) - 1)

    def _begin(self, step: str, place: int) -> int:
        if step in _MONTHS:
            month = np.datetime64(place * _MONTHS[step] - _BEFORE, "M")
            return int(month.astype("datetime64[D]").astype(int))
        return place if step == "day" else 7 * place - 3

    def name(self, step: Any, place: int, low: bool, high: bool) -> str:
        """Its text; dots stand for open ends."""
        name = "" if low and high else self._name(step, place)
        return ".." if not name else ".." * low + name + ".." * high

    def _name(self, step: str, place: int) -> str:
        first = self._begin(step, place)
        year, month = divmod(place * _MONTHS.get(step, 1), 12)
        if step == "month":
            return f"{year:04}-{month + 1:02}"
        if step == "quarter":
            return f"{year:04}-Q{month // 3 + 1}"
        if step == "year":
            return f"{year:04}"
        if step == "decade":
            return f"{year:04}s"
        if step == "day":
            return str(np.datetime64(first, "D"))
        # A week belongs to the year of its Thursday.
        year, month = divmod(int(self.place("month", np.array([first + 3.0]))[0]), 12)
        return f"{year:04}-W{(first + 3 - self._begin('year', year)) // 7 + 1:02}"
