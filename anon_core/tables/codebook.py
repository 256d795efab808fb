"""The codebook as a JSON document, as the release publishes it and the vault stores it."""

from collections.abc import Mapping
from math import inf, isfinite
from typing import Any

from anon_core.errors import InputError
from anon_core.tables.records import Attribute, Codebook
from anon_core.tables.trees import Tree, Whole

_ESCAPES = (
    "a backslash stands before | * \\ and before doubled or outer dots of a value; "
    "\\_ is the empty text"
)
_MEDIANS = {
    "cells": (
        "exact value | value set A|B|C | interval lo..hi (both ends included) | * (every value)"
    ),
    "escapes": _ESCAPES,
    "groups": (
        "in a column with inner_edges a number is the median of its group "
        "and stands for all of it, in intervals too"
    ),
}
_INTERVALS = {  # of a codebook in which a single level may be an interval
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
_NODES = {
    "nodes": (
        "in a column with nodes a masked cell is the name of one, and stands for the labels with "
        "the numbers levels[0] to levels[1]; a star in a name has no backslash"
    )
}
_SETS = {
    "sets": (
        "in a column with sets a cell that stands for other labels than all those of one node is a "
        "value set A|B|C"
    )
}
_FLOORS = {
    "floors": (
        "in a column with floor so many people live in each place that labels name; a label may "
        "stand for all values below a node; name (other) is any other value below it, (any) any"
    )
}
_OTHERS = {"others": "in a column with has_other, (other) is any category that labels do not name"}


def codebook_to_json(codebook: Codebook) -> dict[str, Any]:
    """Return the codebook as it is published.

    Outer edges are left out: they are values of single persons.
    """
    bounded = any(a.binned and a.carry == "bounds" for a in codebook.attributes)
    shared = any(isinstance(value, tuple) for a in codebook.attributes for value in a.values)
    return {
        **(_INTERVALS if bounded or shared else _MEDIANS),
        **(_OTHERS if any(a.has_other for a in codebook.attributes) else {}),
        **(_NODES if any(a.tree is not None for a in codebook.attributes) else {}),
        **(_SETS if any(a.sets for a in codebook.attributes) else {}),
        **(_FLOORS if any(a.floor is not None for a in codebook.attributes) else {}),
        "attributes": [_describe_attribute(a) for a in codebook.attributes],
    }


def _describe_attribute(a: Attribute) -> dict[str, Any]:
    entry = {
        "name": a.name,
        "kind": a.kind,
        "encoding": a.encoding,
        "features": a.bits,
        "labels": list(a.labels),
        "has_missing": a.has_missing,
        "hide_missing": a.hide_missing,
        "inner_edges": list(a.edges),
    }
    if not a.binned:
        entry["values"] = [
            # JSON has no infinity: null stands for an open end.
            [side if isfinite(side) else None for side in value]
            if isinstance(value, tuple)
            else value
            for value in a.values
        ]
    elif a.carry == "median":
        entry["medians"] = list(a.values)
    if a.tree is not None:
        losses = [{"loss": each} for each in a.tree.weights] or [{}] * len(a.tree.nodes)
        entry["nodes"] = [
            {"name": name, "levels": [first, last], **loss}
            for (name, first, last), loss in zip(a.tree.nodes, losses, strict=True)
        ]
    if a.sets:
        entry["sets"] = True
    if a.whole is not None:
        entry["tree"] = [
            {"name": name, "level": level, "levels": [first, last]}
            for name, level, first, last in a.whole
        ]
    if a.floor is not None:
        entry["floor"] = a.floor
    entry["weight"] = a.weight
    if a.has_other:
        entry["has_other"] = True
    if a.range is not None:
        entry["range"] = list(a.range)
    return entry


def _read_level_value(stated: Any) -> float | tuple[float, float]:
    if not isinstance(stated, list):
        return float(stated)
    low, high = stated
    return (-inf if low is None else float(low), inf if high is None else float(high))


def _read_tree(nodes: Any, sets: bool) -> Tree:
    names = tuple(node["name"] for node in nodes)
    first, last = (tuple(node["levels"][end] for node in nodes) for end in (0, 1))
    weights = tuple(node["loss"] for node in nodes if "loss" in node)
    return Tree(names, first, last, sets, weights)


def _read_whole(nodes: Any) -> Whole:
    return tuple((node["name"], node["level"], *node["levels"]) for node in nodes)


def codebook_from_json(document: Mapping[str, Any]) -> Codebook:
    """Read what `codebook_to_json` returned.

    Raises
    ------
    InputError
        The document is not a codebook.
    """
    try:
        return Codebook(
            tuple(
                Attribute(
                    name=a["name"],
                    kind=a["kind"],
                    encoding=a["encoding"],
                    labels=tuple(a["labels"]),
                    has_missing=a["has_missing"],
                    hide_missing=a["hide_missing"],
                    has_other=a.get("has_other", False),
                    binned="values" not in a,
                    carry="median" if "medians" in a else "bounds",
                    edges=tuple(a["inner_edges"]),
                    values=tuple(map(_read_level_value, a.get("medians", a.get("values", ())))),
                    weight=a["weight"],
                    range=tuple(a["range"]) if "range" in a else None,
                    tree=_read_tree(a["nodes"], a.get("sets", False)) if "nodes" in a else None,
                    whole=_read_whole(a["tree"]) if "tree" in a else None,
                    floor=a.get("floor"),
                )
                for a in document["attributes"]
            )
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        # `from None` below: the message of a ValueError may quote a value of the codebook.
        raise InputError(
            "codebook.json is not a codebook of crowdcover; take it from the release again"
        ) from None
