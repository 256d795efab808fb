"""The places that a floor lets a column show, for the audit.

From the root down. Of the nodes below one, those that fewer people hold than the floor share a
place with the next larger ones, until enough people hold it. A node below which nothing else is
left is a place itself.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import InputError
from anon_core.measures.table.codebook.people import list_holders
from anon_core.specs.columns import ColumnSpec
from anon_core.specs.hierarchies import Hierarchy

_Path = tuple[str, ...]
_Count = Callable[[Sequence[Sequence[str]], int], int]


def settle_in_places(
    spec: ColumnSpec,
    categories: Sequence[str],
    texts: tuple[Sequence[str | None], NDArray[np.int32]],
    least: int,
    persons: NDArray[np.integer[Any]] | None,
) -> tuple[Hierarchy | None, dict[str, str]]:
    """The tree of the places that are shown, and the place of each category.

    `texts`: each text once, and which of them each record has, int32 (n,). Without a floor each
    category is a place. A place has the people of the floor, and `least`.
    """
    hierarchy, floor = spec.hierarchy, spec.floor
    if hierarchy is None or floor is None:
        return hierarchy, {category: category for category in categories}
    held_by = list_holders(*texts, persons)
    paths: dict[str, _Path] = {}
    for category in categories:
        path = hierarchy.path_of(category)
        if path is None:
            raise InputError(f"column {spec.name!r} has values that are no leaf of its hierarchy")
        paths[category] = path
    living = Counter[_Path]()
    for leaf, number in (floor.population or {}).items():
        path = hierarchy.path_of(leaf) or ()
        living.update({path[: depth + 1]: number for depth in range(len(path))})

    def count(groups: Sequence[Sequence[str]], depth: int) -> int:
        """How many people live in the nodes of a depth that hold these categories."""
        if floor.population is not None:
            return sum(living[paths[group[0]][:depth]] for group in groups)
        people = [held_by[category] for group in groups for category in group]
        return len(set(np.concatenate(people).tolist()))

    settled = _settle(paths, categories, 0, max(least, floor.people), count) if paths else {}
    # By its own name: a place is a leaf of the tree that is left.
    depths = range(1, max(map(len, settled.values()), default=1))
    tree = Hierarchy(
        {path[-1]: path for path in settled.values()},
        levels=tuple(map(hierarchy.name_level, depths)),
    )
    return tree, {category: path[-1] for category, path in settled.items()}


def _settle(
    paths: Mapping[str, _Path], group: Sequence[str], depth: int, least: int, count: _Count
) -> dict[str, _Path]:
    """The place of each of the categories below a node of this depth."""
    node, settled = paths[group[0]][:depth], {}
    parts: dict[str, list[str]] = {}
    for category in group:
        if paths[category] == node:
            settled[category] = node
        else:
            parts.setdefault(paths[category][depth], []).append(category)
    people = {name: count([part], depth + 1) for name, part in parts.items()}
    small = [name for name in parts if people[name] < least]
    rest = sorted(parts.keys() - small, key=lambda name: (people[name], name))
    while small and rest and count([parts[each] for each in small], depth + 1) < least:
        small.append(rest.pop(0))
    shown = node[-1].rstrip("*") if node else ""
    place = (*node, f"{shown} (other)" if shown else "(other)")
    if not rest:
        place = (*node[:-1], shown or "(any)")
    settled |= {category: place for name in small for category in parts[name]}
    for name in rest:
        settled |= _settle(paths, parts[name], depth + 1, least, count)
    return settled
