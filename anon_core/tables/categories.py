"""Categories to levels. The anonymizers' side; auditors have their own."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import InputError
from anon_core.specs.columns import ColumnSpec
from anon_core.specs.hierarchies import Hierarchy
from anon_core.tables.number_levels import Persons, people_of

OTHER_CATEGORY = "(other)"


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
