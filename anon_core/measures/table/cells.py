r"""Released cells, read as sets of levels.

A cell is an exact value, a value set ``A|B|C`` (one-hot), an interval ``lo..hi`` with both ends
included (ordinal), or ``*``. In a value, a backslash stands before ``| * \`` and before a dot that
is first, last or beside another dot. ``\_`` is the empty text, ``\(missing)`` the text "(missing)".

A level of a column of numbers may itself be an interval, with an open end where none is written.
Where a column has nodes, a masked cell is the name of one; stars in it have no backslash. With sets
it may be a value set instead.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

ALL_TEXT, _EMPTY, _MISSING, OTHER_TEXT = "*", "\\_", "(missing)", "(other)"
INTERVAL_DOTS = ".."


class Labelled(Protocol):
    """What is needed to read the cells of a column."""

    @property
    def kind(self) -> str:
        """Numbers and dates are written without escapes."""
        ...

    @property
    def labels(self) -> tuple[str, ...]:
        """The text of each level."""
        ...

    @property
    def has_missing(self) -> bool:
        """Whether level 0 means that the value is missing."""
        ...

    @property
    def has_other(self) -> bool:
        """Whether the last level stands for all categories without a level of their own."""
        ...

    @property
    def ordinal(self) -> bool:
        """Whether masked cells are intervals instead of value sets."""
        ...

    @property
    def nodes(self) -> tuple[tuple[str, int, int], ...] | None:
        """Name, least and greatest level of each node that a cell may show; None without a tree."""
        ...

    @property
    def sets(self) -> bool:
        """Whether a cell may show a value set beside nodes."""
        ...


def read_cells(
    column: Labelled, cells: Sequence[str | None]
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Read the cells of one column.

    Parameters
    ----------
    column : Labelled
    cells : sequence of str or None
        One per released row.

    Returns
    -------
    cell : int32 (rows,)
        Index of each row's cell among the distinct ones.
    levels : bool (distinct, levels)
        Levels that each distinct cell allows; none for a cell that cannot be read.
    """
    place: dict[str | None, int] = {}
    cell = [place.setdefault(text, len(place)) for text in cells]
    texts = format_cell_levels(column)
    level_of = {text: level for level, text in enumerate(texts)}
    ends = _find_interval_ends(column, texts)
    levels = np.zeros((len(place), len(column.labels)), dtype=np.bool_)
    for row, text in enumerate(place):
        # The empty list sets nothing: a cell that cannot be read fits nobody.
        levels[row, _read_levels(column, level_of, ends, text)] = True
    return np.array(cell, dtype=np.int32), levels


def format_cell_levels(column: Labelled) -> list[str]:
    """The text of each level as it stands in a cell."""
    if column.kind in ("numeric", "date"):
        return [*column.labels]
    shift, other = int(column.has_missing), len(column.labels) - column.has_other
    named = map(_escape_label, column.labels[shift:other])
    return [
        *column.labels[:shift],
        *("\\" + text if column.has_other and text == OTHER_TEXT else text for text in named),
        *column.labels[other:],
    ]


def format_node(kind: str, name: str) -> str:
    """The name of a node as it stands in a cell."""
    if kind in ("numeric", "date"):
        return name
    return _escape_label(name).replace("\\*", ALL_TEXT)


def _escape_label(value: str) -> str:
    if value == "":
        return _EMPTY
    if value == _MISSING:
        return "\\" + value
    around = f".{value}."  # dots on both sides: a dot at either end is escaped
    return "".join(
        "\\" + letter
        if letter in "|*\\" or (letter == "." and "." in (around[at], around[at + 2]))
        else letter
        for at, letter in enumerate(value)
    )


_Ends = tuple[Mapping[str, int], Mapping[str, int]]


def _find_interval_ends(column: Labelled, texts: Sequence[str]) -> _Ends:
    """The level that begins, and the one that ends, at each text that may be an interval's end."""
    if column.kind not in ("numeric", "date"):
        level_of = {text: level for level, text in enumerate(texts)}
        return level_of, level_of
    sides = [text.split(INTERVAL_DOTS) for text in texts]
    return (
        {side[0]: level for level, side in enumerate(sides)},
        {side[-1]: level for level, side in enumerate(sides)},
    )


def _read_levels(
    column: Labelled, level_of: Mapping[str, int], ends: _Ends, text: str | None
) -> list[int]:
    """The levels that a cell allows, none if it cannot be read."""
    if text is None:
        return []
    if text == ALL_TEXT:
        return list(range(len(column.labels)))
    # Before intervals are looked for: the text of a level may hold two dots itself.
    if text in level_of:
        return [level_of[text]]
    if column.ordinal:
        return _read_interval(ends, text)
    if column.nodes is not None:
        places = {
            format_node(column.kind, name): range(low, high + 1) for name, low, high in column.nodes
        }
        if text in places or not column.sets:
            return list(places.get(text, ()))
    parts = [level_of.get(part) for part in _cut_at_bars(text)]
    known = [level for level in parts if level is not None]
    return known if len(known) == len(parts) else []


def _read_interval(ends: _Ends, text: str) -> list[int]:
    begins, stops = ends
    for at in range(len(text) - 1):
        low, high = begins.get(text[:at]), stops.get(text[at + 2 :])
        if text[at : at + 2] == INTERVAL_DOTS and low is not None and high is not None:
            return list(range(low, high + 1))
    return []


def _cut_at_bars(text: str) -> list[str]:
    """The parts between the bars that no backslash precedes."""
    parts, escaped = [""], False
    for letter in text:
        if letter == "|" and not escaped:
            parts.append("")
        else:
            parts[-1] += letter
        escaped = letter == "\\" and not escaped
    return parts
