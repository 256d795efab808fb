"""The published names of items, as they are searched for direct identifiers."""

from collections.abc import Sequence

import numpy as np

from crowdcover.kinds.judge.direct import ShownTexts, build_shown_labels
from crowdcover.kinds.matrix.judge.released import ReleasedRows
from crowdcover.kinds.matrix.pipeline.items import item_columns
from crowdcover.kinds.matrix.plan.sections import MatrixPlan


def list_shown_items(
    plan: MatrixPlan, labels: Sequence[str], released: ReleasedRows
) -> list[ShownTexts]:
    """Names of items with the rows that have them; none where items are people under fresh keys.

    Items of a table are its cells: each column is searched for itself, without its name.
    """
    if plan.keyed:
        return []
    held = np.bincount(released.items, minlength=len(labels))
    columns = item_columns(plan)
    if plan.layout != "table":
        return [build_shown_labels(columns[0], labels, held, "columns.allow", plan.allow)]
    # Of columns `a` and `a=b` both may begin an item: the longer one has it, and each has one.
    of = [
        max((name for name in columns if label.startswith(f"{name}=")), key=len, default=None)
        for label in labels
    ]
    shown = []
    for name in columns:
        at = [place for place, column in enumerate(of) if column == name]
        cells = [labels[place].removeprefix(f"{name}=") for place in at]
        shown.append(build_shown_labels(name, cells, held[at], "columns.allow", plan.allow))
    return shown
