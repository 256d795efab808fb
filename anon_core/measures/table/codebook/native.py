"""Released cells as typed values, read as the text that says the same.

A cell is None (every level), a list of categories, an interval ``(lo, hi, missing)``, or a list of
intervals ``(lo, hi)``; in a list, None means that the value is missing. Each cell has one form
only: members are in the order of the levels, each once, and bounds are those of levels.
"""

from collections.abc import Callable, Hashable, Sequence
from itertools import pairwise
from math import ceil, floor, inf, isinf
from typing import Any

import numpy as np

from anon_core.measures.table.cells import (
    ALL_TEXT,
    INTERVAL_DOTS,
    OTHER_TEXT,
    Labelled,
    format_cell_levels,
    format_node,
    read_cells,
)
from anon_core.measures.table.codebook.levels import ColumnLevels

_Bound = float | None  # None: open
CellBounds = tuple[_Bound, _Bound]
COUNTED_KINDS = ("numeric", "date")


def group_bounds(edges: Sequence[float], *, whole: bool) -> list[CellBounds]:
    """Least and greatest value of the groups between these inner edges.

    Where values are `whole` numbers or days, both are included, else the least one is not.
    """
    sides = [-inf, *edges, inf]
    return [
        (
            _find_least_whole(low, above=True) if whole else _normalize_bound(low),
            _find_greatest_bound(high, whole),
        )
        for low, high in pairwise(sides)
    ]


def value_bounds(
    numbers: Sequence[float | tuple[float, float]], *, whole: bool
) -> list[CellBounds]:
    """Least and greatest value of levels that are numbers, or the bounds of several."""
    found = []
    for number in numbers:
        low, high = number if isinstance(number, tuple) else (number, number)
        found.append(
            (
                _find_least_whole(low) if whole else _normalize_bound(low),
                _find_greatest_bound(high, whole),
            )
        )
    return found


def read_level_bounds(levels: ColumnLevels, *, whole: bool) -> list[CellBounds]:
    """Least and greatest value of each level but the missing one."""
    if len(levels.labels) == levels.has_missing:
        return []
    if levels.grouped:
        return group_bounds(levels.edges, whole=whole)
    return value_bounds(levels.numbers, whole=whole)


def _find_least_whole(side: float, *, above: bool = False) -> int | None:
    if isinf(side):
        return None
    return floor(side) + 1 if above else ceil(side)


def _find_greatest_bound(side: float, whole: bool) -> _Bound:
    return floor(side) if whole and not isinf(side) else _normalize_bound(side)


def _normalize_bound(side: float) -> _Bound:
    return None if isinf(side) else abs(side) if side == 0 else side  # no negative zero


def texts_in_form(column: Labelled, cells: Sequence[str | None]) -> list[str | None]:
    """Cells of text as they are; None for a cell that is not written as its levels are."""
    texts = format_cell_levels(column)
    place, levels = read_cells(column, cells)
    own = [_format_levels(column, texts, np.flatnonzero(allowed).tolist()) for allowed in levels]
    return [
        text if text in (ALL_TEXT, own[at]) else None for text, at in zip(cells, place, strict=True)
    ]


def texts_of_lists(
    column: Labelled, cells: Sequence[Sequence[str | None] | None]
) -> list[str | None]:
    """The text of each cell of a column of categories; None for a cell of no valid form."""
    place = {_format_member(column, level): level for level in range(len(column.labels))}
    return _format_cells(column, cells, lambda cell: [place.get(each, -1) for each in cell])


def texts_of_intervals(
    column: Labelled, bounds: Sequence[CellBounds], cells: Sequence[Sequence[Any] | None]
) -> list[str | None]:
    """The same of a column of numbers or dates with one interval a cell: lo, hi, missing."""
    shift = int(column.has_missing)
    begins = {_format_exact(low): level for level, (low, _) in enumerate(bounds, start=shift)}
    stops = {_format_exact(high): level for level, (_, high) in enumerate(bounds, start=shift)}

    def levels(cell: Sequence[Any]) -> list[int]:
        low, high, missing = cell
        if missing is True:
            return [0] if shift and low is None and high is None else []
        first, last = begins.get(_format_exact(low), -1), stops.get(_format_exact(high), -1)
        # Missing is level 0. An interval that holds it holds all levels from there on.
        if first < 0 or last < first or (missing is None and first != shift):
            return []
        if missing is None:
            return list(range(last + 1)) if shift else []
        return list(range(first, last + 1))

    return _format_cells(column, cells, levels)


def texts_of_sets(
    column: Labelled, bounds: Sequence[CellBounds], cells: Sequence[Sequence[Any] | None]
) -> list[str | None]:
    """The same of a column of numbers or dates with a list of intervals a cell: lo, hi."""
    shift = int(column.has_missing)
    place: dict[Hashable, int] = {
        (_format_exact(low), _format_exact(high)): level
        for level, (low, high) in enumerate(bounds, start=shift)
    }
    if shift:
        place[None] = 0

    def levels(cell: Sequence[Any]) -> list[int]:
        keys = [
            None if each is None else (_format_exact(each[0]), _format_exact(each[1]))
            for each in cell
        ]
        return [place.get(key, -1) for key in keys]

    return _format_cells(column, cells, levels)


def _format_member(column: Labelled, level: int) -> str | None:
    """A level as it stands in a list."""
    label, last = column.labels[level], len(column.labels) - 1
    if column.has_missing and level == 0:
        return None
    if not column.has_other or level == last:
        return label
    return "\\" + label if label.lstrip("\\") == OTHER_TEXT else label


def _format_exact(number: _Bound) -> str | None:
    """A number to its last bit; whole numbers and real ones differ."""
    return None if number is None else repr(number)


def _format_cells(
    column: Labelled, cells: Sequence[Any], levels: Callable[[Any], list[int]]
) -> list[str | None]:
    texts = format_cell_levels(column)
    return [
        ALL_TEXT if cell is None else _format_levels(column, texts, levels(cell)) for cell in cells
    ]


def _format_levels(column: Labelled, texts: Sequence[str], levels: Sequence[int]) -> str | None:
    """The text of these levels; None where they are not the levels of a cell, in order."""
    ordered = all(low < high for low, high in pairwise(levels))
    if not levels or levels[0] < 0 or not ordered:
        return None
    if len(levels) == 1:
        return texts[levels[0]]
    if len(levels) == len(texts):
        return None  # every level: the cell is None
    whole = levels[-1] - levels[0] + 1 == len(levels)
    if whole and (column.nodes is not None or column.ordinal):
        span = _format_span(column, texts, levels[0], levels[-1])
        if span is not None or not column.sets:
            return span
    in_sets = column.sets or (column.nodes is None and not column.ordinal)
    return "|".join(texts[level] for level in levels) if in_sets else None


def _format_span(column: Labelled, texts: Sequence[str], first: int, last: int) -> str | None:
    """The text of a node, or of an interval, that holds these levels and all between them."""
    if column.nodes is not None:
        named = {(low, high): format_node(column.kind, name) for name, low, high in column.nodes}
        return named.get((first, last))
    low, high = texts[first], texts[last]
    if column.kind in COUNTED_KINDS:
        low, high = low.split(INTERVAL_DOTS)[0], high.split(INTERVAL_DOTS)[-1]
    return f"{low}..{high}"
