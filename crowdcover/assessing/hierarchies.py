"""Hierarchies as others write them: which leaves a node stands for."""

import csv
from collections.abc import Collection, Mapping
from pathlib import Path

from anon_core.errors import InputError

GivenHierarchy = str | Path | Mapping[str, Collection[str]]


def read_nodes(hierarchy: GivenHierarchy) -> dict[str, set[str]]:
    """The leaves of each node.

    Parameters
    ----------
    hierarchy : path or mapping
        A file of ARX's form, a line ``leaf;node;...;top`` each, or the leaves of each node.

    Raises
    ------
    InputError
        The file cannot be read.
    """
    if isinstance(hierarchy, Mapping):
        nodes = {str(node): set(map(str, leaves)) for node, leaves in hierarchy.items()}
        return nodes | {leaf: {leaf} for leaves in nodes.values() for leaf in leaves - nodes.keys()}
    try:
        text = Path(hierarchy).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        refusal = f"the hierarchy {hierarchy} cannot be read; its lines are leaf;node;...;top"
    else:
        lines = text.splitlines()
        separator = ";" if lines and ";" in lines[0] else ","
        found: dict[str, set[str]] = {}
        for line in filter(None, csv.reader(lines, delimiter=separator)):
            for node in line:
                found.setdefault(node, set()).add(line[0])
        return found
    raise InputError(refusal)
