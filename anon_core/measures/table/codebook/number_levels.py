"""The levels of a column of numbers, computed from its distinct values for the audit.

Nothing of the anonymizers' code is used here. Each definition is followed word by word; slow is
fine.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from math import ceil, floor, inf, isfinite, nextafter, ulp
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.specs.columns import ColumnKind, ColumnSpec

_MOVED = 10  # a readable edge moves at most one in so many people of a group
_EXACT = 2**53  # whole numbers below it are written without a decimal point
Span = tuple[float, float]


class Distinct:
    """The distinct numbers of a column, and who holds them.

    Attributes
    ----------
    numbers : list of float
        Increasing.
    times : list of int
        How many records have each number.
    """

    def __init__(
        self,
        numbers: list[float],
        times: list[int],
        people: Sequence[NDArray[np.integer[Any]]] | None = None,
    ) -> None:
        """`people` of each number, some of them twice; None if each record is a person."""
        self.numbers, self.times, self._people = numbers, times, people

    def people(self, places: Iterable[int]) -> int:
        """How many people hold one of the numbers at these places."""
        return max(self.grow_prefixes(places), default=0)

    def grow_prefixes(self, places: Iterable[int]) -> Iterator[int]:
        """The same for the first place, the first two, and so on."""
        if self._people is None:
            yield from accumulate(self.times[place] for place in places)
        else:
            everyone: set[int] = set()
            for place in places:
                everyone.update(self._people[place].tolist())
                yield len(everyone)

    def free(self, least: int) -> Callable[[float], bool]:
        """Whether a number is nobody's, or that of at least `least` people."""

        def of(number: float) -> bool:
            at = bisect_left(self.numbers, number)
            if at == len(self.numbers) or self.numbers[at] != number:
                return True
            return self.people([at]) >= least

        return of


def group_numbers(
    spec: ColumnSpec, bins: int | tuple[float, ...], distinct: Distinct, least: int
) -> tuple[list[float], list[float], list[int]]:
    """Inner edges, medians, and the group of each distinct number."""
    numbers = distinct.numbers
    stated = list(bins) if isinstance(bins, tuple) else _find_quantiles(distinct, bins)
    if isinstance(bins, int) and spec.carry == "bounds":
        stated = _find_readable_edges(spec.kind, distinct, stated, bins, least)
    elif spec.kind == "date" and spec.carry == "bounds":
        stated = sorted({float(floor(edge)) for edge in stated})  # days
    # A group reaches up to the first edge below which `least` people are left for it.
    edges, start = list[float](), 0
    for edge in stated:
        stop = bisect_right(numbers, edge)
        if distinct.people(range(start, stop)) >= least:
            edges.append(edge)
            start = stop
    if edges and distinct.people(range(start, len(numbers))) < least:
        # One is enough: the group before the last holds `least` people already.
        edges.pop()
    group = [bisect_left(edges, number) for number in numbers]
    if spec.carry == "bounds":
        return edges, [], group
    members: list[list[float]] = [[] for _ in range(len(edges) + 1)]
    for number, count, place in zip(numbers, distinct.times, group, strict=True):
        members[place] += [number] * count
    return edges, [median(each) for each in members], group


def list_number_levels(
    spec: ColumnSpec, distinct: Distinct, least: int
) -> tuple[list[float | Span], list[int]]:
    """What each level stands for, a number or the bounds of several, and that of each number."""
    numbers = distinct.numbers
    count = len(numbers)
    if least == 1:
        return [*numbers], [*range(count)]

    def is_parted(place: int) -> bool:
        """Whether another number lies before numbers[place]; the outer sides are open."""
        # A cut must be a number between the two. Neighbours in float64 have none.
        return place in (0, count) or nextafter(numbers[place - 1], inf) < numbers[place]

    def up(start: int) -> int:
        return _find_stop(distinct, least, is_parted, start)

    if spec.rare == "pool":
        starts = [0]
        while (stop := up(starts[-1])) < count:
            starts.append(stop)
        if stop > count and len(starts) > 1:
            starts.pop()
    else:
        starts = [0, *find_inner_starts(distinct, least, is_parted)]
    levels: list[float | Span] = []
    of_number: list[int] = []
    for start, stop in pairwise([*starts, count]):
        of_number += [len(levels)] * (stop - start)
        if stop - start == 1:
            levels.append(numbers[start])
        else:
            levels.append(
                (_find_gap_cut(spec.kind, numbers, start), _find_gap_cut(spec.kind, numbers, stop))
            )
    return levels, of_number


def _find_stop(distinct: Distinct, least: int, is_parted: Callable[[int], bool], start: int) -> int:
    """Where a level that begins at `start` may end at the earliest; behind all numbers: nowhere."""
    count = len(distinct.numbers)
    held = enumerate(distinct.grow_prefixes(range(start, count)), start + 1)
    return next((stop for stop, people in held if people >= least and is_parted(stop)), count + 1)


def find_inner_starts(
    distinct: Distinct, least: int, is_parted: Callable[[int], bool]
) -> Sequence[int]:
    """The places from the end of the lowest level to the begin of the highest one.

    Each of the two holds `least` people; none where they would overlap. They may end where places
    are parted.
    """
    count = len(distinct.numbers)
    low = min(_find_stop(distinct, least, is_parted, 0), count)
    down = zip(
        range(count - 1, -1, -1), distinct.grow_prefixes(reversed(range(count))), strict=True
    )
    high = next((at for at, people in down if people >= least and is_parted(at)), 0)
    return range(low, high + 1)


def level_text(kind: str, level: float | Span) -> str:
    """A number, or an interval with open sides where a bound is infinite."""
    if not isinstance(level, tuple):
        return _number_text(kind, level)
    sides = [_number_text(kind, side) if isfinite(side) else "" for side in level]
    # An open side is no noon: inf % 1 is nan.
    noons = [kind == "date" and side % 1 == 0.5 for side in level]
    return "..".join(side + "T12:00" * noon for side, noon in zip(sides, noons, strict=True))


def _number_text(kind: str, number: float) -> str:
    """A date in ISO form, a whole number below 2**53 without a point, others as Python's repr."""
    if kind == "date":
        day = np.timedelta64(int(number // 1), "D")
        return str(np.datetime_as_string(np.datetime64("1970-01-01") + day))
    return str(int(number)) if number % 1 == 0 and -_EXACT < number < _EXACT else repr(number)


def _find_gap_cut(kind: ColumnKind, numbers: list[float], place: int) -> float:
    """A readable number between two neighbours, or an open side."""
    if place in (0, len(numbers)):
        return -inf if place == 0 else inf
    below, above = numbers[place - 1], numbers[place]
    cut = find_roundest(kind, below, above, below, lambda number: number != below)
    assert cut is not None
    return cut


def _find_quantiles(distinct: Distinct, groups: int) -> list[float]:
    """The least numbers that reach the shares 1/groups, 2/groups ..., each once.

    A share times the number of records is a float64, as in numpy's "inverted_cdf".
    """
    up_to = [*accumulate(distinct.times)]
    ranks = [max(1, ceil(up_to[-1] * (part / groups))) for part in range(1, groups)]
    return sorted({distinct.numbers[bisect_left(up_to, rank)] for rank in ranks})


def _find_readable_edges(
    kind: ColumnKind, distinct: Distinct, quantiles: Sequence[float], bins: int, least: int
) -> list[float]:
    """The roundest edge near each quantile that is no single person's value.

    It may lie where at most one in ten people of a group come into another group, below the
    greatest number.
    """
    numbers, up_to = distinct.numbers, [*accumulate(distinct.times)]
    moved = up_to[-1] // (_MOVED * bins)
    edges = set()
    for quantile in quantiles:
        at = bisect_left(numbers, quantile)
        # An edge at the greatest number would leave the group above it empty.
        if at == len(numbers) - 1:
            continue
        first = last = at
        while first > 0 and up_to[at] - up_to[first - 1] <= moved:
            first -= 1
        while last + 1 < len(numbers) - 1 and up_to[last + 1] - up_to[at] <= moved:
            last += 1
        edge = find_roundest(
            kind, numbers[first], numbers[last + 1], quantile, distinct.free(least)
        )
        if edge is not None:
            edges.add(edge)
    return sorted(edges)


def find_roundest(
    kind: ColumnKind, low: float, high: float, near: float, free: Callable[[float], bool]
) -> float | None:
    """The roundest free number c with low <= c < high; of several the nearest, then greatest."""
    for tier in _list_round_days(low, high) if kind == "date" else _list_round_decimals(low, high):
        fit = [number for number in tier if low <= number < high and free(number)]
        if fit:
            return min(fit, key=lambda number: (abs(number - near), -number))
    return None


def _list_round_decimals(low: float, high: float) -> Iterator[list[float]]:
    """0, then multiples of 5, 2 and 1 times falling powers of ten, down to a float64's spacing."""
    yield [0.0]
    greatest = max(abs(low), abs(high))
    # The exponents come from text: log10 rounds, and may miss them at powers of ten.
    first, last = (int(f"{side:e}".partition("e")[2]) for side in (greatest, ulp(greatest)))
    for power in range(first + 1, last - 1, -1):
        for step in (5, 2, 1):
            unit = step * Fraction(10) ** power
            inside = range(floor(Fraction(low) / unit), ceil(Fraction(high) / unit) + 1)
            yield [float(unit * count) for count in inside]


def _list_round_days(low: float, high: float) -> Iterator[list[float]]:
    """Last days of years, of quarters, of months, all days, and noons."""
    days = np.arange(int(low), int(high))
    tomorrow = (days + 1).astype("datetime64[D]")
    month = tomorrow.astype("datetime64[M]")
    # A day ends a month iff tomorrow is the first of one. Months count from January 1970, so those
    # divisible by 12 and by 3 begin years and quarters.
    ends = month.astype("datetime64[D]") == tomorrow
    for months in (12, 3, 1):
        yield days[ends & (month.astype(int) % months == 0)].astype(float).tolist()
    yield days.astype(float).tolist()
    yield (days + 0.5).tolist()
