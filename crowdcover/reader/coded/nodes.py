"""Trees over the levels of a column: what lies below a node, and the nodes of one level."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdcover.errors import ReleaseError
from crowdcover.reader.coded.levels import Levels

_MOST_NAMED = 20  # nodes in a message

Groups = Sequence[tuple[str, NDArray[np.int64]]]  # the name of each, and its levels


def list_names_of_levels(levels: Levels) -> list[str]:
    """The names of the levels of nodes, the topmost first."""
    return list(dict.fromkeys(node.level for node in levels.tree))


def find_levels_below(levels: Levels, name: str) -> NDArray[np.bool_]:
    """Which levels lie below the node of this name, bool (levels,)."""
    below = [node.below for node in levels.tree if node.name == name]
    if not below:
        raise ReleaseError(f"column {levels.name!r} has no node {name!r}; {_list_nodes(levels)}")
    mask = np.zeros(len(levels), dtype=np.bool_)
    mask[np.concatenate(below)] = True
    return mask


def group_levels(levels: Levels, level: str | int | None) -> Groups:
    """The nodes of one level; a value without a node at this level stands for itself.

    Without a level each value stands for itself.
    """
    texts, known = levels.texts, list_names_of_levels(levels)
    nodes: Groups = []
    if level is not None:
        if str(level) not in known:
            raise ReleaseError(
                f"column {levels.name!r} has no level {level!r} of nodes; "
                + (f"it has {', '.join(map(repr, known))}" if known else _list_nodes(levels))
            )
        nodes = [(node.name, node.below) for node in levels.tree if node.level == str(level)]
    single = np.ones(len(levels), dtype=np.bool_)
    for _, below in nodes:
        single[below] = False
    alone = [(texts[each], np.array([each])) for each in np.flatnonzero(single).tolist()]
    return sorted([*nodes, *alone], key=lambda group: int(group[1].min()))


def build_tree_frame(levels: Levels) -> pl.DataFrame:
    """Each node with the name of its level, and the values below it."""
    texts = levels.texts
    return pl.DataFrame(
        {
            "level": [node.level for node in levels.tree],
            "node": [node.name for node in levels.tree],
            "values": [[texts[each] for each in node.below] for node in levels.tree],
        },
        schema={"level": pl.String, "node": pl.String, "values": pl.List(pl.String)},
    )


def _list_nodes(levels: Levels) -> str:
    names = list(dict.fromkeys(node.name for node in levels.tree))
    if not names:
        return "it has no hierarchy: name its values instead"
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return (
        f"it has {', '.join(map(repr, names[:_MOST_NAMED]))}{more}; "
        f"release.tree({levels.name!r}) lists all"
    )
