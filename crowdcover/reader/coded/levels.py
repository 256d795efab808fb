"""The levels of a column: what a cell may allow.

A level is a value, a group of numbers, a missing value, or all categories that have no level of
their own.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowdcover.reader.coded.cells import Floats
from crowdcover.reader.coded.named import number_repeated_names

MISSING, OTHER = "(missing)", "(other)"
_NUMBERS = ("numeric", "date")


class Node(NamedTuple):
    """A node of a tree.

    Attributes
    ----------
    name, level : str
        Its name, and the name of its level among nodes.
    below : int64 (n,)
        The levels of the column that lie below it.
    """

    name: str
    level: str
    below: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Levels:
    """The levels of one column.

    Attributes
    ----------
    name : str
    kind : str
        "numeric", "date", "categorical" or "binary".
    ordinal : bool
        Whether a cell is an interval of levels instead of a set of them.
    labels : tuple of str
        The text of each level.
    lo, hi : float64 (levels,)
        Least and greatest number of each level; a date is its number of days since 1970-01-01.
        Equal for a value; infinite for an open side; nan for a category or a missing value.
    above : bool (levels,)
        Whether `lo` itself is outside the level.
    shown : float64 (levels,)
        The number that stands for a level: the value, the median that a release states, or nan.
    missing : bool (levels,)
        The level of a missing value.
    whole : bool
        Whether all values are whole numbers or dates, as far as the codebook says.
    others : mapping of int to frozenset of str
        For a level of all other categories: the categories that it does not stand for.
    nodes : mapping of str to (int, int), optional
        Of a tree: the least and the greatest level of each node that a cell may show, by its name.
    tree : tuple of Node
        All nodes, the outer one first.
    sets : bool
        Of a tree: whether each value of a masked cell is that of somebody behind the row.
    """

    name: str
    kind: str
    ordinal: bool
    labels: tuple[str, ...] = field(repr=False)
    lo: Floats = field(repr=False)
    hi: Floats = field(repr=False)
    above: NDArray[np.bool_] = field(repr=False)
    shown: Floats = field(repr=False)
    missing: NDArray[np.bool_] = field(repr=False)
    whole: bool
    others: Mapping[int, frozenset[str]] = field(default_factory=dict, repr=False)
    nodes: Mapping[str, tuple[int, int]] | None = field(default=None, repr=False)
    tree: tuple[Node, ...] = field(default=(), repr=False)
    sets: bool = False

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def is_counted(self) -> bool:
        """Whether its values are numbers or dates."""
        return self.kind in _NUMBERS

    @cached_property
    def texts(self) -> list[str]:
        """The labels as answers show them: all differ.

        A category whose text is that of the missing value, or of all other categories, has a
        backslash before it, as in cells.
        """
        own = [gone or level in self.others for level, gone in enumerate(self.missing.tolist())]
        special = {label for label, mine in zip(self.labels, own, strict=True) if mine}
        return number_repeated_names(
            "\\" + label if label in special and not mine else label
            for label, mine in zip(self.labels, own, strict=True)
        )

    def spans(self) -> tuple[Floats, Floats]:
        """Finite ends of each level, float64 (levels,) each; nan where no level has one.

        An open side is taken to reach as far as the neighbouring level is wide. The width of a
        value is the distance to the next level. In a column of whole numbers both ends are whole
        and belong to the level.
        """
        lo, hi = self.lo.copy(), self.hi.copy()
        ends = np.unique(np.concatenate([lo[np.isfinite(lo)], hi[np.isfinite(hi)]]))
        if not len(ends):  # one group of all numbers says nothing about them
            return np.full(len(self), np.nan), np.full(len(self), np.nan)
        if self.is_counted:
            first, last = (ends[1] - ends[0], ends[-1] - ends[-2]) if len(ends) > 1 else (0.0, 0.0)
            lo = np.where(np.isneginf(lo), np.where(np.isposinf(hi), ends[0], hi) - first, lo)
            hi = np.where(np.isposinf(hi), np.where(np.isneginf(self.lo), ends[-1], lo) + last, hi)
            # A group above 29, up to 40, holds 30 to 40. The minimum keeps lo at most hi in a group
            # without a whole number.
            if self.whole:
                outside = self.above | np.isneginf(self.lo)
                at = np.where(outside, np.floor(lo) + 1, np.ceil(lo))
                lo, hi = np.minimum(at, np.floor(hi)), np.floor(hi)
        return lo, hi

    def middles(self) -> Floats:
        """The number that stands for each level in a mean, float64 (levels,)."""
        lo, hi = self.spans()
        return np.where(np.isnan(self.shown), (lo + hi) / 2, self.shown)


def of_attribute(entry: Mapping[str, Any], type_: str | None = None) -> Levels:
    """The levels that an entry of codebook.json states.

    Parameters
    ----------
    entry : mapping
    type_ : str, optional
        The type of the column's values; older codebooks do not state it.

    Raises
    ------
    KeyError, TypeError, ValueError
        It is no such entry.
    """
    labels = tuple(map(str, entry["labels"]))
    kind, count, shift = str(entry["kind"]), len(labels), int(bool(entry["has_missing"]))
    lo, hi = np.full(count, np.nan), np.full(count, np.nan)
    shown, above = np.full(count, np.nan), np.zeros(count, dtype=np.bool_)
    if kind in _NUMBERS and count > shift:
        lo[shift:], hi[shift:], above[shift:] = _read_bounds(entry, kind)
        if "medians" in entry:
            shown[shift:] = entry["medians"]
        # A single value stands for itself, whatever the codebook states beside it.
        shown = np.where(lo == hi, lo, shown)
    missing = np.arange(count) < shift
    named = frozenset(labels[shift : count - 1])
    others = {count - 1: named} if entry.get("has_other") else {}
    ordinal = entry["encoding"] == "ordinal" or kind == "binary"
    whole = kind == "date" or (_has_integer_bounds(lo, hi) if type_ is None else type_ == "integer")
    nodes = None
    if "nodes" in entry:
        spans = ((str(node["name"]), node["levels"]) for node in entry["nodes"])
        nodes = {name: (int(low), int(high)) for name, (low, high) in spans}
    tree = tuple(
        Node(str(node["name"]), str(node["level"]), np.arange(first, last + 1))
        for node in entry.get("tree", ())
        for first, last in (node["levels"],)
    )
    return Levels(
        *(str(entry["name"]), kind, ordinal, labels, lo, hi, above, shown, missing, whole, others),
        nodes,
        tree,
        nodes is None or bool(entry.get("sets")),
    )


def _read_bounds(entry: Mapping[str, Any], kind: str) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Ends of each level of numbers, and whether the lower one is outside."""
    if "bounds" in entry:
        lo, hi = _read_sides(entry["bounds"], kind)
        return lo, hi, np.isfinite(lo) & (lo < hi) & (entry["lower"] == "excluded")
    if "values" in entry:
        lo, hi = _read_sides(entry["values"], kind)
        return lo, hi, np.zeros(len(lo), dtype=np.bool_)
    edges = np.array(entry["inner_edges"], dtype=np.float64)
    least, most = entry.get("range", (-np.inf, np.inf))
    return np.r_[least, edges], np.r_[edges, most], np.arange(len(edges) + 1) > 0


def _read_sides(values: Sequence[Any], kind: str) -> tuple[Floats, Floats]:
    """Both ends of each value; `null` is an open side."""
    pairs = [each if isinstance(each, list) else [each, each] for each in values]
    lows = [-np.inf if low is None else convert_to_number(low, kind) for low, _ in pairs]
    highs = [np.inf if high is None else convert_to_number(high, kind) for _, high in pairs]
    return np.array(lows, dtype=np.float64), np.array(highs, dtype=np.float64)


def convert_to_number(value: Any, kind: str) -> float:
    """A number; the days since 1970-01-01 of a date or of its ISO text."""
    if kind == "date" and not isinstance(value, int | float):
        day = value if isinstance(value, dt.date) else dt.date.fromisoformat(value)
        return float((day - dt.date(1970, 1, 1)).days)
    return float(value)


def _has_integer_bounds(lo: Floats, hi: Floats) -> bool:
    """Whether every stated bound is a whole number, as of years and counts."""
    sides = np.concatenate([lo, hi])
    sides = sides[np.isfinite(sides)]
    return bool((sides == np.floor(sides)).all())


def unite_levels(parts: Sequence[Levels]) -> tuple[Levels, list[NDArray[np.int64]]]:
    """The levels of all batches of a series, and the place of each batch's levels among them.

    Numbers stand in their order. A group of one batch and a group of another that overlap are two
    levels.
    """
    first = parts[0]
    if len(parts) == 1:
        return first, [np.arange(len(first))]
    place: dict[Any, tuple[int, int]] = {}
    keys = [[_build_level_key(part, level) for level in range(len(part))] for part in parts]
    for at, names in enumerate(keys):
        for level, name in enumerate(names):
            place.setdefault(name, (at, level))
    # One batch and level for each different level: the first that has it.
    sources = list(place.values())
    if first.is_counted:
        sources.sort(key=lambda each: _compute_level_rank(parts[each[0]], each[1]))
    else:
        # Missing is level 0 wherever it occurs. The sort is stable, so the others keep their order.
        sources.sort(key=lambda each: not parts[each[0]].missing[each[1]])
    at_last = {keys[at][level]: new for new, (at, level) in enumerate(sources)}

    places = [np.array([at_last[name] for name in names], dtype=np.int64) for names in keys]

    def taken(of: str) -> NDArray[Any]:
        return np.array([getattr(parts[at], of)[level] for at, level in sources])

    levels = Levels(
        first.name,
        first.kind,
        first.ordinal,
        tuple(parts[at].labels[level] for at, level in sources),
        taken("lo"),
        taken("hi"),
        taken("above"),
        taken("shown"),
        taken("missing"),
        all(part.whole for part in parts),
        {
            new: parts[at].others[level]
            for new, (at, level) in enumerate(sources)
            if level in parts[at].others
        },
        tree=_unite_trees(parts, places),
        sets=first.sets,
    )
    return levels, places


def _unite_trees(parts: Sequence[Levels], places: Sequence[NDArray[np.int64]]) -> tuple[Node, ...]:
    """The nodes of all batches: what lies below a node in one of them lies below it in all."""
    below: dict[tuple[str, str], list[NDArray[np.int64]]] = {}
    for part, place in zip(parts, places, strict=True):
        for node in part.tree:
            below.setdefault((node.name, node.level), []).append(place[node.below])
    return tuple(Node(*names, np.unique(np.concatenate(each))) for names, each in below.items())


def _build_level_key(levels: Levels, level: int) -> Any:
    """What makes a level of one batch the same as one of another."""
    if levels.missing[level]:
        return None
    if levels.is_counted:
        sides = [each[level].item() for each in (levels.lo, levels.hi, levels.shown)]
        # repr, since nan differs from itself and would never be found again.
        return (*(repr(side) for side in sides), bool(levels.above[level]))
    return (levels.labels[level], levels.others.get(level))


def _compute_level_rank(levels: Levels, level: int) -> tuple[float, ...]:
    """The place of a level of numbers; a missing value comes first."""
    if levels.missing[level]:
        return (0.0, 0.0, 0.0)
    return (1.0, float(levels.lo[level]), float(levels.hi[level]))
