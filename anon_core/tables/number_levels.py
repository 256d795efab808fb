"""Numbers to levels that enough people share. The anonymizers' side; auditors have their own."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import InputError
from anon_core.specs.columns import ColumnKind, ColumnSpec
from anon_core.tables.cuts import readable_cut

_MOVED = 10  # a readable cut may move one in so many people of a group to the next one

Persons = NDArray[np.integer[Any]] | None
_Span = tuple[float, float]


class NumberLevels(NamedTuple):
    """The levels of a column of numbers or dates.

    Attributes
    ----------
    edges : tuple of float
    values : tuple of float or (float, float)
        Both as in `Attribute`.
    joined : int
        How many levels joined a neighbour since too few people held them.
    """

    edges: tuple[float, ...] = ()
    values: tuple[float | _Span, ...] = ()
    joined: int = 0


def people_of(level: NDArray[np.integer[Any]], levels: int, persons: Persons) -> NDArray[np.int64]:
    """How many people hold each level.

    Parameters
    ----------
    level : int (n,)
        Level of each record, 0 .. levels - 1.
    levels : int
    persons : int (n,) or None
        The person of each record; None if each record is a person.

    Returns
    -------
    int64 (levels,)
    """
    if persons is not None:
        pairs = np.unique(np.stack([level, persons]), axis=1)
        # A person with several records of a level stands in one pair.
        level = pairs[0]
    return np.bincount(level, minlength=levels).astype(np.int64)


def numbers_of(
    spec: ColumnSpec, numbers: NDArray[np.float64], least: int, persons: Persons
) -> NumberLevels:
    """Find levels for numbers (n,); each group is held by at least `least` people."""
    refuse_infinite(spec, numbers)
    if len(numbers) == 0:
        return NumberLevels()
    if spec.bins is None:
        return _levels_of(spec, numbers, least, persons)
    return _groups_of(spec, spec.bins, numbers, least, persons)


def refuse_infinite(spec: ColumnSpec, numbers: NDArray[np.float64]) -> None:
    """Refuse numbers (n,) that are not finite."""
    if not np.isfinite(numbers).all():
        raise InputError(
            f"column {spec.name!r} has {int((~np.isfinite(numbers)).sum())} infinite values; "
            "remove them"
        )


def number_labels(
    spec: ColumnSpec, edges: Sequence[float], numbers: Sequence[float | _Span], *, given: bool
) -> list[str]:
    """The texts of levels: a number, or an interval ``lo..hi`` whose outer end is open."""
    if spec.bins is not None and spec.carry == "bounds" and given:
        sides = [-np.inf, *edges, np.inf]
        numbers = list(pairwise(sides))
    return [number_label(spec.kind, number) for number in numbers]


def number_label(kind: str, number: float | _Span) -> str:
    """The text of a number, or of an interval; an infinite end is open."""
    if isinstance(number, tuple):
        return "..".join(_bound_label(kind, side) for side in number)
    return _number_label(kind, number)


def _number_label(kind: str, number: float) -> str:
    if kind == "date":
        return str(np.datetime64(int(np.floor(number)), "D"))
    # From 2^53 on, `int` would print digits that the float does not have.
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)


def _bound_label(kind: str, bound: float) -> str:
    """A bound of an interval, empty if it is open. The bound of a date may be noon."""
    if not np.isfinite(bound):
        return ""
    noon = "T12:00" if kind == "date" and not bound.is_integer() else ""
    return _number_label(kind, bound) + noon


def _groups_of(
    spec: ColumnSpec,
    bins: int | tuple[float, ...],
    numbers: NDArray[np.float64],
    least: int,
    persons: Persons,
) -> NumberLevels:
    """Group numbers at quantiles or stated edges; groups that too few people hold join the next."""
    if not isinstance(bins, int):
        edges = np.array(bins, dtype=np.float64)
        if spec.kind == "date" and spec.carry == "bounds":
            edges = np.unique(np.floor(edges))  # a day is written, and every date is one
    else:
        shares = np.arange(1, bins) / bins
        # This method returns numbers that occur; `_find_readable_cuts` looks them up among those.
        edges = np.unique(np.quantile(numbers, shares, method="inverted_cdf"))
        if spec.carry == "bounds":
            edges = _find_readable_cuts(spec.kind, bins, numbers, edges, least, persons)
    group = np.searchsorted(edges, numbers, side="left")
    # Stated edges may enclose groups that nobody is in; those have not joined others.
    filled = len(np.unique(group))
    ends = _find_group_ends(group, len(edges) + 1, least, persons)
    edges = edges[[end - 1 for end in ends[:-1]]]
    medians: list[float] = []
    if spec.carry == "median":
        group = np.searchsorted(edges, numbers, side="left")
        medians = [float(np.median(numbers[group == g])) for g in range(len(ends))]
    return NumberLevels(tuple(edges.tolist()), tuple(medians), filled - len(ends))


def _find_readable_cuts(
    kind: ColumnKind,
    bins: int,
    numbers: NDArray[np.float64],
    quantiles: NDArray[np.float64],
    least: int,
    persons: Persons,
) -> NDArray[np.float64]:
    """Readable cuts near the quantiles, each nobody's value or that of at least `least` people."""
    distinct, place = np.unique(numbers, return_inverse=True)
    holding = people_of(place, len(distinct), persons)
    # Records up to each distinct number.
    up_to = np.cumsum(np.bincount(place))
    moved = len(numbers) // (_MOVED * bins)

    def is_allowed(number: float) -> bool:
        at = np.searchsorted(distinct, number)
        return bool(distinct[at] != number or holding[at] >= least)

    cuts = []
    # A cut at the greatest number would leave nobody above it.
    for quantile in quantiles[quantiles < distinct[-1]].tolist():
        reached = up_to[np.searchsorted(distinct, quantile)]
        # A cut from distinct[first] on leaves at most `moved` records of the group above it.
        # One below distinct[last] takes at most `moved` records from the next group.
        first = np.searchsorted(up_to, reached - moved, side="left")
        last = np.searchsorted(up_to[:-1], reached + moved, side="right")
        cut = readable_cut(
            kind, float(distinct[first]), float(distinct[last]), quantile, is_allowed
        )
        if cut is not None:
            cuts.append(cut)
    return np.unique(np.array(cuts, dtype=np.float64))


def _levels_of(
    spec: ColumnSpec, numbers: NDArray[np.float64], least: int, persons: Persons
) -> NumberLevels:
    """Make a level of each number.

    The least and the greatest share a level with their neighbours until `least` people hold it.
    With `rare = "pool"` every number does.
    """
    distinct, place = np.unique(numbers, return_inverse=True)
    count = len(distinct)
    if least == 1:
        return NumberLevels(values=tuple(distinct.tolist()))
    # There is no cut between adjacent float64: such numbers share a level.
    apart = np.nextafter(distinct[:-1], np.inf) < distinct[1:]
    if spec.rare == "pool":
        ends = _find_group_ends(place, count, least, persons, apart)
    else:
        ends = find_outer_ends(place, count, least, persons, apart)
    values: list[float | _Span] = []
    for start, end in zip([0, *ends], ends, strict=False):
        if end - start == 1:
            values.append(float(distinct[start]))
        else:
            low_cut = (
                -np.inf if start == 0 else _find_cut_between(spec, *distinct[start - 1 : start + 1])
            )
            high_cut = (
                np.inf if end == count else _find_cut_between(spec, *distinct[end - 1 : end + 1])
            )
            values.append((low_cut, high_cut))
    alone = sum(not isinstance(value, tuple) for value in values)
    return NumberLevels(values=tuple(values), joined=count - alone)


def _find_cut_between(spec: ColumnSpec, below: float, above: float) -> float:
    """A readable number between two values; one exists, since the values are no neighbours."""
    cut = readable_cut(spec.kind, float(below), float(above), below, lambda number: number > below)
    assert cut is not None
    return cut


def find_outer_ends(
    place: NDArray[np.integer[Any]],
    count: int,
    least: int,
    persons: Persons,
    apart: NDArray[np.bool_] | None = None,
) -> list[int]:
    """Ends of the groups of places 0 .. count - 1: the outermost hold `least` people, others one.

    `apart`: after which of these places, but the last, a group may end.
    """
    low = _find_group_ends(place, count, least, persons, apart)[0]
    # The greatest numbers in the same way: places and gaps are mirrored.
    mirrored = None if apart is None else apart[::-1]
    high = count - _find_group_ends(count - 1 - place, count, least, persons, mirrored)[0]
    # Where both shared levels would overlap, one level holds all numbers.
    return [*range(low, high + 1), count] if low <= high else [count]


def _find_group_ends(
    place: NDArray[np.integer[Any]],
    count: int,
    least: int,
    persons: Persons,
    apart: NDArray[np.bool_] | None = None,
) -> list[int]:
    """Ends of the groups that form if places 0 .. count - 1 join, from the lowest on.

    A group ends as soon as `least` people hold it, if its last place is apart from the next one. So
    there are as many groups as possible. Places left over join the last group.
    """
    held = _Held(place, count, persons)
    ends = []
    for end in range(1, count + 1):
        if held.with_next() >= least and (apart is None or end == count or apart[end - 1]):
            ends.append(end)
            held.clear()
    # The last group takes the places after it: they are too few for a group of their own.
    return [*ends[:-1], count]


class _Held:
    """How many people hold a growing group of places."""

    def __init__(self, place: NDArray[np.integer[Any]], count: int, persons: Persons) -> None:
        sizes = np.bincount(place, minlength=count)
        if persons is None:
            self._next: Iterator[Any] = iter(sizes.tolist())
        else:
            # A person may hold several places, so people form a set. Records just add up.
            of_place = persons[np.argsort(place, kind="stable")]
            self._next = iter(np.split(of_place, np.cumsum(sizes)[:-1]))
        self._by_record = persons is None
        self.clear()

    def clear(self) -> None:
        """Begin a new group."""
        self._number, self._people = 0, set[int]()

    def with_next(self) -> int:
        """The number of people once the next place is part of the group."""
        if self._by_record:
            self._number += next(self._next)
            return self._number
        self._people.update(next(self._next).tolist())
        return len(self._people)
