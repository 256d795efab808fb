"""Whether what a codebook tells of the levels of a column is shared by enough people.

A codebook is read as anybody would read it, from the texts of its levels. So a rule that
anonymizers and auditor both follow wrongly is found here.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import floor, inf, nextafter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import InputError
from anon_core.measures.table.codebook.levels import ColumnLevels, Texts, Values
from anon_core.measures.table.codebook.people import count_people
from anon_core.specs.columns import ColumnSpec

_DOTS = ".."
_People = Callable[[float, float], int]


@dataclass(frozen=True)
class SharedCounts:
    """Counts of what a codebook shows and too few people share.

    Attributes
    ----------
    levels : int
        Groups, outermost levels and pooled categories: what enough people must hold.
    few : int
        Those that fewer people hold.
    bounds : int
        Bounds in labels, where groups are cut, and how many of them (`own`) fewer people have as
        their value.
    own : int
    """

    levels: int = 0
    few: int = 0
    bounds: int = 0
    own: int = 0

    def __add__(self, other: "SharedCounts") -> "SharedCounts":
        return SharedCounts(
            self.levels + other.levels,
            self.few + other.few,
            self.bounds + other.bounds,
            self.own + other.own,
        )


def count_shared_levels(
    spec: ColumnSpec,
    entry: Mapping[str, Any],
    values: Values,
    least: int,
    persons: NDArray[np.integer[Any]] | None = None,
) -> SharedCounts:
    """Count what fewer than `least` people share.

    A group, and the least and the greatest level of a numeric column without groups, must be held
    by `least` people; with `rare = "pool"` every level. A bound of an interval must be nobody's
    value, or that of `least` people, or an edge that the plan states, as that of a step is.

    Parameters
    ----------
    spec : ColumnSpec
    entry : mapping
        The column's entry in codebook.json.
    values : ndarray or Texts (n,)
        float64 with nan for missing (numeric, date), or texts.
    least : int
    persons : int (n,), optional
        The person of each record; by default each record is a person.

    Raises
    ------
    InputError
        The entry cannot be read.
    """
    try:
        labels = [str(label) for label in entry["labels"]][bool(entry["has_missing"]) :]
        if isinstance(values, Texts) or not spec.is_counted:
            return _of_categories(
                labels, bool(entry.get("has_other", False)), values, least, persons
            )
        spans = list(_list_level_spans(spec, labels, entry))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(f"the codebook's entry of column {spec.name!r} cannot be read") from None
    given = ~np.isnan(values)
    rising = np.argsort(values[given])
    numbers = values[given][rising]
    who = None if persons is None else persons[given][rising]

    def people(low: float, high: float) -> int:
        """How many people have a number above low, up to and including high."""
        first, end = np.searchsorted(numbers, (low, high), side="right")
        return int(end - first) if who is None else len(set(who[first:end].tolist()))

    if spec.hierarchy is not None:
        return _count_few_levels(_count_on_steps(spans, people), least)
    # Both ends of an interval between single numbers are nobody's value.
    inside = [people(nextafter(low, -inf) if low == high else low, high) for low, high in spans]
    if spec.bins is None and spec.rare == "publish":
        # The least and the greatest level; a single one counts once.
        inside = inside[:1] + inside[1:][-1:]
    return _count_few_levels(inside, least) + _count_own_bounds(spec, spans, people, least)


def _count_own_bounds(
    spec: ColumnSpec, spans: Sequence[tuple[float, float]], people: _People, least: int
) -> SharedCounts:
    """The bounds that are written, and how many are the value of too few people."""
    # Edges of dates are cut down to whole days, so the floor of a stated edge is stated, too.
    stated = {*spec.bins, *map(floor, spec.bins)} if isinstance(spec.bins, tuple) else set()
    written = {side for low, high in spans if low != high for side in (low, high)} - {-inf, inf}
    bounds = set() if spec.bins is not None and spec.carry == "median" else written
    holders = [people(nextafter(bound, -inf), bound) for bound in bounds - stated]
    own = sum(0 < number < least for number in holders)
    return SharedCounts(bounds=len(bounds), own=own)


def _count_on_steps(spans: Sequence[tuple[float, float]], people: _People) -> list[int]:
    """How many people have numbers of the outermost levels, whose bounds are those of steps."""
    # A bound that two levels share belongs to the upper one.
    after = [*(low for low, _ in spans[1:]), inf]
    inside = [
        people(nextafter(low, -inf), nextafter(high, -inf) if high == begin else high)
        for (low, high), begin in zip(spans, after, strict=False)
    ]
    return inside[:1] + inside[1:][-1:]


def _count_few_levels(people: Sequence[int], least: int) -> SharedCounts:
    return SharedCounts(levels=len(people), few=sum(number < least for number in people))


def _of_categories(
    labels: Sequence[str],
    has_other: bool,
    values: Values,
    least: int,
    persons: NDArray[np.integer[Any]] | None,
) -> SharedCounts:
    """The same for a column whose rare categories share the last level."""
    named, texts = set(labels[: len(labels) - has_other]), Texts.of(values)
    place = {label: number for number, label in enumerate(sorted(named))}
    # Behind the named ones all others, then those without a value.
    other, none = len(named), len(named) + 1
    of_text = [none if text is None else place.get(text, other) for text in texts.distinct]
    held = count_people(np.array(of_text, dtype=np.int64)[texts.place], none + 1, persons)
    return _count_few_levels(held[: len(named) + has_other].tolist(), least)


def _list_level_spans(
    spec: ColumnSpec, labels: Sequence[str], entry: Mapping[str, Any]
) -> Iterator[tuple[float, float]]:
    """Bounds of each level; the same twice is a single number."""
    if spec.hierarchy is not None:
        for value in entry["values"]:
            low, high = value if isinstance(value, list) else (value, value)
            yield (-inf if low is None else float(low), inf if high is None else float(high))
        return
    if spec.bins is not None and spec.carry == "median" and labels:  # none if all are missing
        edges = [float(edge) for edge in entry["inner_edges"]]
        yield from zip([-inf, *edges], [*edges, inf], strict=True)
        return
    for label in labels:
        low, dots, high = label.partition(_DOTS)
        start = _read_number(spec.kind, low) if low else -inf
        yield (start, (_read_number(spec.kind, high) if high else inf) if dots else start)


def _read_number(kind: str, text: str) -> float:
    """A number, or a date in ISO form as days since 1970-01-01; its noon is half a day later."""
    if kind != "date":
        return float(text)
    return float(np.datetime64(text, "h").astype(int) / 24)


def rare_levels(
    columns: Sequence[ColumnLevels],
    codes: NDArray[np.int32],
    least: int,
    persons: NDArray[np.integer[Any]] | None = None,
) -> dict[str, int]:
    """How many levels fewer than `least` people hold, by column; a missing value is no level.

    Parameters
    ----------
    columns : sequence of ColumnLevels
    codes : int32 (attributes, n)
        Level of each record.
    least : int
    persons : int (n,), optional
        The person of each record; by default each record is a person.
    """
    rare = {}
    for column, code in zip(columns, codes, strict=True):
        people = count_people(code, len(column.labels), persons)
        rare[column.name] = int((people[column.has_missing :] < least).sum())
    return rare
