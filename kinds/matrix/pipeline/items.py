"""The columns of a matrix that its published items come from."""

from collections.abc import Sequence

from crowdcover.kinds.matrix.plan.sections import MatrixPlan

_ITEMS = "items"  # of arrays, which have no columns


def item_columns(plan: MatrixPlan) -> Sequence[str]:
    """Names of these columns, as messages and manifest call them."""
    if plan.layout == "table":
        return [spec.name for spec in plan.specs]
    return [plan.item or _ITEMS]
