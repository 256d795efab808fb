"""What codebook.json must say, computed from the audited levels."""

from collections.abc import Mapping, Sequence
from math import isinf
from typing import Any, TypeGuard

import numpy as np

from anon_core.measures.table.codebook.levels import ColumnLevels
from anon_core.measures.table.codebook.native import COUNTED_KINDS, read_level_bounds
from anon_core.measures.table.codebook.number_levels import Span

_FORMAT = 2
_ESCAPES = (
    "a backslash stands before | * \\ and before doubled or outer dots of a value; "
    "\\_ is the empty text"
)
_GRAMMAR = {
    "cells": (
        "exact value | value set A|B|C | interval lo..hi (both ends included) | * (every value)"
    ),
    "escapes": _ESCAPES,
    "groups": (
        "in a column with inner_edges a number is the median of its group "
        "and stands for all of it, in intervals too"
    ),
}
_GRAMMAR_OF_INTERVALS = {
    "cells": "value | value set A|B|C | interval lo..hi | * (every value)",
    "escapes": _ESCAPES,
    "intervals": (
        "an end that is not written is open; both ends are included, but in a column with "
        "inner_edges and without medians lo..hi means above lo, up to and including hi"
    ),
    "groups": (
        "in a column with medians a number is the median of its group "
        "and stands for all of it, in intervals too"
    ),
}
_NODES = (
    "in a column with nodes a masked cell is the name of one, and stands for the labels with "
    "the numbers levels[0] to levels[1]; a star in a name has no backslash"
)
_SETS = (
    "in a column with sets a cell that stands for other labels than all those of one node is a "
    "value set A|B|C"
)
_FLOORS = (
    "in a column with floor so many people live in each place that labels name; a label may "
    "stand for all values below a node; name (other) is any other value below it, (any) any"
)
_OTHERS = "in a column with has_other, (other) is any category that labels do not name"


def is_exact_codebook(
    document: Any,
    columns: Sequence[ColumnLevels],
    shown: Sequence[Mapping[str, str]] | None = None,
    coarse: Mapping[str, Any] | None = None,
) -> bool:
    """Whether a published codebook states these levels and nothing else.

    Parameters
    ----------
    document : Any
        The content of codebook.json.
    columns : sequence of ColumnLevels
    shown : sequence of mapping, optional
        Name, role, type and form of every released column. None: a release from before codebooks
        stated them.
    coarse : mapping, optional
        What is stated of coarser numbers.
    """
    intervals = any(
        levels.carry == "bounds" if levels.grouped else any(map(_is_span, levels.numbers))
        for levels in columns
    )
    expected: dict[str, Any] = dict(_GRAMMAR_OF_INTERVALS if intervals else _GRAMMAR)
    if any(levels.has_other for levels in columns):
        expected["others"] = _OTHERS
    if any(levels.nodes is not None for levels in columns):
        expected["nodes"] = _NODES
    if any(levels.sets for levels in columns):
        expected["sets"] = _SETS
    expected |= coarse or {}
    if any(levels.floor is not None for levels in columns):
        expected["floors"] = _FLOORS
    expected["attributes"] = [_describe_attribute(levels) for levels in columns]
    if shown is not None:
        expected |= {"format": _FORMAT, "columns": [dict(each) for each in shown]}
        types = {each["name"]: each["type"] for each in shown}
        for entry, levels in zip(expected["attributes"], columns, strict=True):
            entry.update(_describe_typed_levels(levels, types[levels.name]))
    return bool(_tag_booleans(document) == _tag_booleans(expected))


def _is_span(number: object) -> TypeGuard[Span]:
    return isinstance(number, tuple)


def _describe_attribute(levels: ColumnLevels) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "name": levels.name,
        "kind": levels.kind,
        "encoding": "ordinal" if levels.ordinal else "one-hot",
        "features": levels.features,
        "labels": list(levels.labels),
        "has_missing": levels.has_missing,
        "hide_missing": levels.hide_missing,
        "inner_edges": list(levels.edges),
        "weight": levels.weight,
    }
    if levels.has_other:
        entry["has_other"] = True
    if levels.nodes is not None:
        entry["nodes"] = [
            {"name": name, "levels": [low, high], **_state_loss(levels, low, high)}
            for name, low, high in levels.nodes
        ]
    if levels.sets:
        entry["sets"] = True
    if levels.tree is not None:
        entry["tree"] = [
            {"name": name, "level": level, "levels": ends} for name, level, *ends in levels.tree
        ]
    if levels.floor is not None:
        entry["floor"] = levels.floor
    if levels.range is not None:
        entry["range"] = [*levels.range]
    if levels.carry == "median":
        entry["medians"] = list(levels.numbers)
    elif not levels.grouped:
        entry["values"] = [
            [None if isinf(side) else side for side in number] if _is_span(number) else number
            for number in levels.numbers
        ]
    return entry


def _state_loss(levels: ColumnLevels, low: int, high: int) -> dict[str, float]:
    return {} if levels.losses is None else {"loss": levels.losses[low, high]}


def _describe_typed_levels(levels: ColumnLevels, kind: str) -> dict[str, Any]:
    """What is stated of the levels as data.parquet shows them."""
    counted = levels.kind in COUNTED_KINDS
    said = "hidden" if levels.hide_missing else "level"
    entry: dict[str, Any] = {
        "ordered": counted or (levels.ordinal and levels.kind == "categorical"),
        "missing": said if levels.has_missing else "never",
    }
    if counted:
        whole = kind != "float"
        entry["lower"] = "excluded" if levels.grouped and not whole else "included"
        entry["bounds"] = [
            [_format_side(side, kind) for side in pair]
            for pair in read_level_bounds(levels, whole=whole)
        ]
    return entry


def _format_side(side: float | None, kind: str) -> float | str | None:
    if side is None or kind != "date":
        return side
    return str(np.datetime_as_string(np.datetime64("1970-01-01") + np.timedelta64(int(side), "D")))


def _tag_booleans(value: Any) -> Any:
    """The same with each truth value told apart from the number that equals it."""
    if isinstance(value, dict):
        return {name: _tag_booleans(below) for name, below in value.items()}
    if isinstance(value, list):
        return [_tag_booleans(below) for below in value]
    return (isinstance(value, bool), value)
