"""Levels and nodes of a column whose numbers or dates lie on steps, computed for the audit.

Nothing of the anonymizers' code is used here. Each distinct number is put into its interval of
each step; whoever shares the finest one shares a level.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import floor, inf

import numpy as np

from anon_core.errors import InputError
from anon_core.measures.table.codebook.number_levels import (
    Distinct,
    Span,
    find_inner_starts,
    level_text,
)
from anon_core.measures.table.codebook.trees import Nodes, Whole
from anon_core.specs.columns import ColumnSpec
from anon_core.specs.hierarchies import Hierarchy

_MOST = 2**50  # steps between 0 and a number


@dataclass(frozen=True)
class SteppedLevels:
    """What each level stands for, its text, the nodes of the tree, and each number's level."""

    numbers: list[float | Span]
    labels: list[str]
    nodes: Nodes
    tree: Whole
    of_number: list[int]


@dataclass(frozen=True)
class _Interval:
    """The numbers from `low` to `high`; `name` of one in a calendar."""

    low: float
    high: float
    name: str = ""

    def open_ends(self, low: float, high: float) -> "_Interval":
        """The interval without the ends that equal these."""
        opened = -inf if self.low == low else self.low, inf if self.high == high else self.high
        if not self.name:
            return _Interval(*opened)
        dots = [".." if end in (-inf, inf) else "" for end in opened]
        name = ".." if all(dots) else self.name.join(dots)
        return _Interval(*opened, name)

    def describe(self) -> str:
        """How a cell shows it."""
        return self.name or level_text("numeric", self.number())

    def number(self) -> float | Span:
        """Its bounds, or the one number that it holds."""
        return self.low if self.low == self.high else (self.low, self.high)


def place_on_steps(
    spec: ColumnSpec, hierarchy: Hierarchy, distinct: Distinct, least: int, shift: int
) -> SteppedLevels:
    """Levels of numbers, ascending: intervals of the finest step, the outer ones of enough people.

    Outer levels of several intervals are open, and so is each node where it holds their inner end.
    `shift`: the number of the first level that a node may hold.
    """
    numbers, count = distinct.numbers, len(distinct.numbers)
    whole = all(each % 1 == 0 for each in [*numbers, *hierarchy.ladder[:1]])
    by_step = [
        [_find_days(floor(each), step) for each in numbers] for step in hierarchy.calendar
    ] + [
        [_find_numbers(spec, each, step, whole=whole) for each in numbers]
        for step in hierarchy.ladder
    ]
    finest = by_step[0]
    begins = [at for at in range(count) if at == 0 or finest[at] != finest[at - 1]]
    parted = {*begins, count}
    inner = find_inner_starts(distinct, least, parted.__contains__)
    starts = [0, *(at for at in inner if at in parted)]
    last = len(starts) - 1
    # The number by which a level finds its nodes: of the lowest level the greatest one.
    tells = [starts[1] - 1 if last else 0, *starts[1:]]
    lone = [finest[low] == finest[high - 1] for low, high in pairwise([*starts, count])]
    nodes: dict[tuple[int, int], str] = {}
    every: list[tuple[int, int, str, int]] = []  # first level, depth, name, last level
    levels: list[_Interval] = []
    # Of nodes that hold the same levels the one of the finest step stays.
    for depth, intervals in enumerate(reversed(by_step), start=1):
        own = [intervals[at] for at in tells]
        low, high = (
            (own[0].low if not lone[0] else inf),
            (own[last].high if not lone[last] else -inf),
        )
        levels = [interval.open_ends(low, high) for interval in own]
        for name, low_level, high_level in _list_runs(levels):
            if 1 <= high_level - low_level < len(levels) - 1 + shift:
                nodes[low_level + shift, high_level + shift] = name
            if depth < len(by_step):
                every.append((low_level + shift, depth, name, high_level + shift))
    ordered = sorted(nodes, key=lambda span: (span[1], -span[0]))
    return SteppedLevels(
        [level.number() for level in levels],
        [level.describe() for level in levels],
        tuple((nodes[span], *span) for span in ordered),
        tuple((name, hierarchy.name_level(at), low, high) for low, at, name, high in sorted(every)),
        [bisect_right(starts, at) - 1 for at in range(count)],
    )


def _list_runs(levels: Sequence[_Interval]) -> list[tuple[str, int, int]]:
    """Text, first and last place of each run of equal intervals."""
    begins = [at for at in range(len(levels)) if at == 0 or levels[at] != levels[at - 1]]
    return [(levels[low].describe(), low, end - 1) for low, end in pairwise([*begins, len(levels)])]


def _find_numbers(spec: ColumnSpec, number: float, width: float, *, whole: bool) -> _Interval:
    """The interval from a multiple of the width up to the next one; of whole numbers, without it.

    Multiples are those of decimals: 0.3 is three times 0.1.
    """
    step = Fraction(repr(width))
    if abs(number) >= _MOST * width:
        raise InputError(f"column {spec.name!r} has values too far from 0 for its ladder")
    times = floor(Fraction(repr(number)) / step)
    while float((times + 1) * step) <= number:
        times += 1
    return _Interval(float(times * step), float((times + 1) * step) - whole)


def find_first_day_of_step(day: int, step: str) -> int:
    """The first day of the calendar's interval around a day, both in days since 1970-01-01."""
    return int(_find_days(day, step).low)


def _find_days(day: int, step: str) -> _Interval:
    """The days of the calendar's interval around a day, given as days since 1970-01-01."""
    date = np.datetime64("1970-01-01") + np.timedelta64(day, "D")
    year = _find_year(date)
    if step == "day":
        return _Interval(day, day, str(date))
    if step == "week":  # from Monday; it belongs to the year of its Thursday
        monday = day - (day - 4) % 7
        year = _find_year(np.datetime64("1970-01-01") + np.timedelta64(monday + 3, "D"))
        number = (monday + 3 - _find_first_day(year, 0)) // 7 + 1
        return _Interval(monday, monday + 6, f"{year:04}-W{number:02}")
    month = int((date.astype("M8[M]") - date.astype("M8[Y]")).astype(int))
    begin, months, name = {
        "month": (month, 1, f"{year:04}-{month + 1:02}"),
        "quarter": (month - month % 3, 3, f"{year:04}-Q{month // 3 + 1}"),
        "year": (0, 12, f"{year:04}"),
        "decade": (-12 * (year % 10), 120, f"{year - year % 10:04}s"),
    }[step]
    first = _find_first_day(year, begin)
    return _Interval(first, _find_first_day(year, begin + months) - 1, name)


def _find_year(date: np.datetime64) -> int:
    return int(date.astype("M8[Y]").astype(int)) + 1970


def _find_first_day(year: int, month: int) -> int:
    """The first day of the month that begins so many months after the year."""
    first = np.datetime64(year - 1970, "Y").astype("M8[M]") + np.timedelta64(month, "M")
    return int(first.astype("M8[D]").astype(int))
