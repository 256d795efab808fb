"""The nodes of a tree over the categories of a column, for the audit.

A node is its name, the least and the greatest level; of the whole tree also the name of its level,
behind its own name.
"""

from collections.abc import Mapping, Sequence

from anon_core.errors import InputError
from anon_core.specs.hierarchies import Hierarchy

Nodes = tuple[tuple[str, int, int], ...]
Whole = tuple[tuple[str, str, int, int], ...]


def place_in_tree(
    name: str, hierarchy: Hierarchy, labels: Sequence[str], shift: int
) -> tuple[list[str], Nodes, Whole]:
    """Categories in the order of their tree, over levels from `shift` on.

    With them the nodes that a cell may show, and all nodes, those above before those inside.
    """
    path = {label: hierarchy.path_of(label) for label in labels}
    if strays := sum(names is None for names in path.values()):
        raise InputError(f"column {name!r} has {strays} values that are no leaf of its hierarchy")
    placed = sorted(labels, key=lambda label: path[label] or ())
    held: dict[tuple[str, ...], list[int]] = {}
    for level, label in enumerate(placed, start=shift):
        names = path[label] or ()
        for depth in range(1, len(names)):
            held.setdefault(names[:depth], []).append(level)
    # Of nodes that hold the same levels the innermost stays; it comes last here.
    by_span = {
        (levels[0], levels[-1]): node[-1]
        for node, levels in sorted(held.items(), key=lambda each: len(each[0]))
        if 1 < len(levels) < len(labels) + shift
    }
    ordered = sorted(by_span, key=lambda span: (span[1], -span[0]))
    whole = tuple(
        (node[-1], hierarchy.name_level(len(node)), levels[0], levels[-1])
        for node, levels in held.items()
    )
    return placed, tuple((by_span[span], *span) for span in ordered), whole


def weigh_nodes(hierarchy: Hierarchy, tree: Whole) -> Mapping[tuple[int, int], float] | None:
    """What the plan says that each node loses, by its ends; None if it says nothing.

    Weights are those of a value, of each level of nodes from the finest on, and of the root.
    """
    if not hierarchy.weights:
        return None
    finest_first = hierarchy.weights[1:-1]
    names = [hierarchy.name_level(depth) for depth in range(len(finest_first), 0, -1)]
    weight = dict(zip(names, finest_first, strict=True))
    # Of nodes that hold the same levels the inner one, which comes last, is shown.
    return {(low, high): weight[level] for _, level, low, high in tree}
