"""What codebook.json must say, computed from the audited levels."""

from collections.abc import Sequence
from typing import Any

from anon_core.measures.table.levels import Levels

GRAMMAR = {
    "cells": (
        "exact value | value set A|B|C | interval lo..hi (both ends included) | * (every value)"
    ),
    "escapes": (
        "a backslash stands before | * \\ and before doubled or outer dots of a value; "
        "\\_ is the empty text"
    ),
    "groups": (
        "in a column with inner_edges a number is the median of its group "
        "and stands for all of it, in intervals too"
    ),
}


def says(document: Any, columns: Sequence[Levels]) -> bool:
    """Whether a published codebook states these levels and nothing else.

    Parameters
    ----------
    document : Any
        The content of codebook.json.
    columns : sequence of Levels
    """
    expected = {**GRAMMAR, "attributes": [_attribute(levels) for levels in columns]}
    return bool(_typed(document) == _typed(expected))


def _attribute(levels: Levels) -> dict[str, Any]:
    return {
        "name": levels.name,
        "kind": levels.kind,
        "encoding": "ordinal" if levels.ordinal else "one-hot",
        "features": levels.features,
        "labels": list(levels.labels),
        "has_missing": levels.has_missing,
        "hide_missing": levels.hide_missing,
        "inner_edges": list(levels.edges),
        "medians" if levels.grouped else "values": list(levels.numbers),
        "weight": levels.weight,
    }


def _typed(value: Any) -> Any:
    """The same with each truth value told apart from the number that equals it."""
    if isinstance(value, dict):
        return {name: _typed(below) for name, below in value.items()}
    if isinstance(value, list):
        return [_typed(below) for below in value]
    return (isinstance(value, bool), value)
