"""Categories to levels. The anonymizers' side; auditors have their own.

A floor cuts a hierarchy where nodes hold too few people. A node is split into the nodes below it
that occur. Those with too few people share one place, the rest of the node; if they are too few
together, the next larger ones join. If all nodes below share a place, it is the node itself. So
each place has enough people, and what is left of a node beside the places shown has enough, too.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import InputError
from anon_core.specs.columns import ColumnSpec
from anon_core.specs.hierarchies import TOP, Hierarchy
from anon_core.tables.number_levels import Persons, people_of

OTHER_CATEGORY = "(other)"
ANYWHERE, _REST = "(any)", "(other)"

_Node = tuple[str, ...]  # the names from the node below the root down to its own
_Count = Callable[[Sequence[_Node]], int]  # how many people live in some nodes


def categories_of(spec: ColumnSpec, values: NDArray[Any]) -> list[str]:
    """The categories that occur, in the plan's order or else in that of their text."""
    categories = sorted(set(values.tolist()))
    if spec.kind == "binary" and len(categories) > 2:
        raise InputError(
            f"column {spec.name!r} is binary but has {len(categories)} distinct values; "
            "use kind = 'categorical'"
        )
    if not spec.order:
        return categories
    stray = len(set(categories) - set(spec.order))
    if stray:
        raise InputError(
            f"column {spec.name!r} has {stray} distinct values that its 'order' does not name"
        )
    return [label for label in spec.order if label in set(categories)]


def list_paths(spec: ColumnSpec, hierarchy: Hierarchy, labels: list[str]) -> list[tuple[str, ...]]:
    """The paths of categories in the order of the tree, from below the root; see `Hierarchy`."""
    paths = [path for label in labels if (path := hierarchy.path_of(label)) is not None]
    if stray := len(labels) - len(paths):
        found = "are no leaf"
        remedy = "add them to the file, or name the node that they belong to: "
        remedy += f"columns.{spec.name}.hierarchy.other"
        if hierarchy.hours:
            remedy = "a time is written as 08:30 or 08:30:59"
        elif hierarchy.grid:
            remedy = "a box is written as lat 47.5 to 48.0 lon 11.0 to 11.5"
        elif hierarchy.other is not None:
            found, remedy = "have the name of a node", "rename the node in the file"
        raise InputError(
            f"column {spec.name!r} has {stray} distinct values that {found} of its hierarchy; "
            f"{remedy}"
        )
    return sorted(paths)


def pool_rare_categories(
    labels: list[str], values: NDArray[Any], least: int, persons: Persons
) -> tuple[list[str], int]:
    """Let one level stand for all categories that fewer than `least` people hold.

    If these are too few people as well, the next rare categories join. Returns the labels and how
    many categories the level stands for.
    """
    place = {label: at for at, label in enumerate(labels)}
    at = np.fromiter((place[value] for value in values.tolist()), dtype=np.int64)
    holding = people_of(at, len(labels), persons)
    # Rarest first; of equally rare categories the first label, so that no order of records decides.
    order = np.lexsort((np.arange(len(labels)), holding))
    joined = int((holding < least).sum())
    if joined == 0:
        return labels, 0
    while joined < len(labels):
        pool = np.isin(at, order[:joined])
        # People are counted anew: a person may hold several of the pooled categories.
        who = None if persons is None else persons[pool]
        if people_of(np.zeros(int(pool.sum()), dtype=np.int64), 1, who)[0] >= least:
            break
        joined += 1
    rare = set(order[:joined].tolist())
    return [label for at, label in enumerate(labels) if at not in rare] + [OTHER_CATEGORY], joined


def list_places(
    spec: ColumnSpec, labels: list[str], values: NDArray[Any], least: int, persons: Persons
) -> tuple[list[_Node], dict[str, str]]:
    """The paths of the places that are shown, ascending, and the label of each category."""
    assert spec.hierarchy is not None
    paths = list_paths(spec, spec.hierarchy, labels)
    if spec.floor is None:
        return paths, {path[-1]: path[-1] for path in paths}
    place = find_places(spec, paths, values, least, persons)
    shown = {category: path[-1] for category, path in place.items()}
    return sorted(set(place.values())), shown


def find_places(
    spec: ColumnSpec, paths: Sequence[_Node], values: NDArray[Any], least: int, persons: Persons
) -> dict[str, _Node]:
    """Find the place that each category is shown as.

    Parameters
    ----------
    spec : ColumnSpec
        With a hierarchy and a floor.
    paths : sequence of tuple of str
        Of each category that occurs, in ascending order; see `Hierarchy`.
    values : object (n,)
        The category of each record that has one.
    least : int
        How many people any record demands: no place has fewer than they and the floor.
    persons : int (n,), optional
        The person of each record; by default each record is a person.

    Returns
    -------
    dict of str to tuple of str
        Of each category the names from the node below the root down to that of its place.

    Raises
    ------
    InputError
        Two places have one name.
    """
    assert spec.hierarchy is not None
    assert spec.floor is not None
    if spec.floor.population is None:
        count = _count_in_source(paths, values, persons)
    else:
        count = _count_in_population(spec.hierarchy, spec.floor.population)
    ends = _cut_nodes(paths, max(least, spec.floor.people), count)
    place = {}
    for path in paths:
        nodes = (path[:depth] for depth in range(1, len(path) + 1))
        place[path[-1]] = next((ends[node] for node in nodes if node in ends), path)
    shown = set(place.values())
    inner = {name for path in shown for name in path[:-1]}
    if len({path[-1] for path in shown} - inner) < len(shown):
        raise InputError(
            f"column {spec.name!r}: floor would give two places one name, such as a leaf that is "
            "named like a node; rename it in the source or in the hierarchy"
        )
    return place


def _cut_nodes(paths: Sequence[_Node], least: int, count: _Count) -> dict[_Node, _Node]:
    """The place of each node that shares one."""
    below: dict[_Node, list[_Node]] = {}
    for path in paths:
        for depth in range(len(path)):
            parts = below.setdefault(path[:depth], [])
            if path[: depth + 1] not in parts[-1:]:  # paths ascend
                parts.append(path[: depth + 1])
    ends = {}
    for node, parts in below.items():
        people = {part: count([part]) for part in parts}
        ranked = sorted(parts, key=lambda part: (people[part], part))
        few = sum(number < least for number in people.values())
        while 0 < few < len(ranked) and count(ranked[:few]) < least:
            few += 1
        name = node[-1].rstrip(TOP) if node else ""
        whole = (*node[:-1], name or ANYWHERE)
        place = whole if few == len(ranked) else (*node, f"{name} {_REST}".lstrip())
        ends.update(dict.fromkeys(ranked[:few], place))
    return ends


def _count_in_source(paths: Sequence[_Node], values: NDArray[Any], persons: Persons) -> _Count:
    number = {path[-1]: place for place, path in enumerate(paths)}
    at = np.fromiter((number[value] for value in values.tolist()), dtype=np.int64)
    order = np.argsort(at, kind="stable")
    ends = np.cumsum(np.bincount(at, minlength=len(paths)))
    who = order if persons is None else persons[order]
    of_path = [who[low:high] for low, high in pairwise([0, *ends.tolist()])]
    first: dict[_Node, int] = {}
    last: dict[_Node, int] = {}
    for place, path in enumerate(paths):
        for depth in range(1, len(path) + 1):
            first.setdefault(path[:depth], place)
            last[path[:depth]] = place

    def count(nodes: Sequence[_Node]) -> int:
        held = [each for node in nodes for each in of_path[first[node] : last[node] + 1]]
        # Without persons all numbers differ.
        return sum(map(len, held)) if persons is None else len(np.unique(np.concatenate(held)))

    return count


def _count_in_population(hierarchy: Hierarchy, population: Mapping[str, int]) -> _Count:
    people: dict[_Node, int] = {}
    for leaf, number in population.items():
        path = hierarchy.path_of(leaf) or ()
        for depth in range(1, len(path) + 1):
            people[path[:depth]] = people.get(path[:depth], 0) + number
    return lambda nodes: sum(people.get(node, 0) for node in nodes)
