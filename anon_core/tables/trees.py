"""Trees over the levels of a column: a masked cell shows one node. The anonymizers' side.

Each node but the root is a feature: the levels first, then the inner nodes. A record has the
features of its level and of all nodes above it, its path. To hide a feature of the own path is to
show the node above it, so what a row loses is a sum over the features of its own path, and all
methods that add up features price nodes. Features off the path cost nothing.

Where cells may show sets, a row hides what its holders differ in and no more: these levels are the
set, and lie below the node that was paid for.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.specs.columns import Cells
from anon_core.specs.hierarchies import Hierarchy

# Name, name of its level, least and greatest level of every node, the outer one first.
Whole = tuple[tuple[str, str, int, int], ...]


@dataclass(frozen=True)
class Tree:
    """The inner nodes below the root, each after those inside it; every one holds two at least.

    Attributes
    ----------
    names : tuple of str
    first, last : tuple of int
        The least and the greatest level of each node. Levels stand in the order of the tree.
    sets : bool
        Whether a cell shows some levels of a node where its holders have no others.
    weights : tuple of float
        What each node loses, in parts of the column. Empty: as many parts as it has levels.
    """

    names: tuple[str, ...] = field(repr=False)
    first: tuple[int, ...]
    last: tuple[int, ...]
    sets: bool = False
    weights: tuple[float, ...] = ()

    @classmethod
    def unnamed(cls, first: tuple[int, ...], *more: Any) -> "Tree":
        """Return a tree whose nodes have empty names."""
        return cls(("",) * len(first), first, *more)

    def pack(self) -> list[Any]:
        """What `unnamed` takes."""
        more = [self.sets, self.weights] if self.sets or self.weights else []
        return [self.first, self.last, *more]

    @property
    def nodes(self) -> tuple[tuple[str, int, int], ...]:
        """Name, least and greatest level of each node."""
        return tuple(zip(self.names, self.first, self.last, strict=True))

    def name_of(self, levels: Sequence[int]) -> str | None:
        """Return the name of the node of these levels, which are ascending; None of a set."""
        names = {(first, last): name for name, first, last in self.nodes}
        if self.sets and len(levels) <= levels[-1] - levels[0]:
            return None
        return names.get((levels[0], levels[-1])) if self.sets else names[levels[0], levels[-1]]

    def parents(self, levels: int) -> NDArray[np.int32]:
        """The feature above each feature, int32 (levels + nodes,); that number above the topmost.

        A feature stands before the one above it.
        """
        found = np.full(levels + len(self.names), levels + len(self.names), dtype=np.int32)
        # From the widest node on: the narrowest that holds a feature is written last.
        for node in range(len(self.names))[::-1]:
            low, high = self.first[node], self.last[node]
            inside = np.searchsorted(self.last[:node], low)  # they end in ascending order
            found[low : high + 1] = levels + node
            found[levels + inside : levels + node] = levels + node
        return found

    def spans(self, levels: int) -> NDArray[np.int64]:
        """First and last level below each feature and below the root, int64 (features + 1, 2)."""
        own = np.arange(levels)
        low = np.concatenate([own, self.first, [0]])
        high = np.concatenate([own, self.last, [levels - 1]])
        return np.stack([low, high], axis=1).astype(np.int64)

    def losses(self, levels: int) -> NDArray[np.float64]:
        """What a cell loses that shows a feature, or the root at last, float64 (features + 1,).

        (levels below it - 1) / (levels - 1), or what the plan says that each node loses.
        """
        if self.weights:
            return np.array([*[0.0] * levels, *self.weights, 1.0])
        spans = self.spans(levels)
        return (spans[:, 1] - spans[:, 0]) / max(1, levels - 1)


def fit_tree(
    paths: Sequence[tuple[str, ...]],
    shift: int,
    hierarchy: Hierarchy | None = None,
    cells: Cells = "node",
) -> tuple[Tree | None, Whole]:
    """Return what cells show of a tree, over levels in its order, and the whole tree.

    Parameters
    ----------
    paths : sequence of tuple of str
        Of each level the names from the node below the root down to its own, in ascending order.
    shift : int
        The number of the first of these levels.
    hierarchy : Hierarchy
        Where these paths lie: names of levels, and what nodes lose.
    cells : {"node", "set", "shorter"}
        None is returned for sets: they know no nodes.

    Notes
    -----
    No row shows a node that holds the same levels as one inside it: only the whole tree has it.
    """
    names: list[str] = []
    first: list[int] = []
    last: list[int] = []
    weights: list[float] = []
    hierarchy = hierarchy or Hierarchy()
    every: list[tuple[int, int, int, str]] = []  # in this order the outer node comes first
    open_nodes: list[tuple[str, int]] = []

    def close(depth: int, end: int) -> None:
        while len(open_nodes) > depth:
            name, begin = open_nodes.pop()
            every.append((begin, -end, len(open_nodes) + 1, name))
            whole = end - begin == len(paths) and not shift
            known = bool(first) and (first[-1], last[-1]) == (begin + shift, end - 1 + shift)
            if end - begin > 1 and not known and not whole:
                names.append(name)
                first.append(begin + shift)
                last.append(end - 1 + shift)
                weights.extend([hierarchy.weigh(len(open_nodes) + 1)] if hierarchy.weights else [])

    for place, path in enumerate(paths):
        depth = 0
        while depth < min(len(open_nodes), len(path) - 1) and open_nodes[depth][0] == path[depth]:
            depth += 1
        close(depth, place)
        open_nodes.extend((name, place) for name in path[depth:-1])
    close(0, len(paths))
    whole = tuple(
        (name, hierarchy.name_level(depth), begin + shift, shift - 1 - beyond)
        for begin, beyond, depth, name in sorted(every)
    )
    ends = tuple(first), tuple(last)
    tree = Tree(tuple(names), *ends, cells == "shorter", tuple(weights))
    return None if cells == "set" else tree, whole
