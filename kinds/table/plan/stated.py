"""What the manifest of a table repeats of its plan."""

from typing import Any

from crowdcover.kinds.columns import Column
from crowdcover.kinds.table.plan.sections import TablePlan


def state_plan(plan: TablePlan) -> dict[str, Any]:
    """Roles of columns, how people are counted, and what crowds shall show."""
    columns = {column.name: _state_role(plan, column) for column in plan.columns}
    counted = {"rows_are_people": True} if plan.rows_are_people else {}
    mixed = {} if plan.mix is None else {"mixed": plan.mix}
    diverse = {} if plan.diverse is None else {"diverse": plan.diverse.state()}
    purpose = {} if plan.purpose is None else {"purpose": plan.purpose.state()}
    return {"columns": columns, **counted, **mixed, **diverse, **purpose}


def _state_role(plan: TablePlan, column: Column) -> dict[str, Any]:
    stated: dict[str, Any] = {"role": column.role}
    if column.kind is not None:
        stated["kind"] = column.kind
    if column.name == plan.demand.source_column:
        stated["decides_k"] = True
    if column.spec is not None and column.spec.hierarchy is not None:
        stated["hierarchy"] = True
        if column.spec.cells != "node":
            stated["cells"] = column.spec.cells
    if column.coarse is not None:
        stated |= column.coarse.state()
    if point := next((each for each in plan.source.points if each.name == column.name), None):
        stated["point"] = [point.latitude, point.longitude]
    # A floor of one person is that of a point, whose boxes hold as many people as k.
    if column.spec and column.spec.floor and column.spec.floor.people > 1:
        stated["floor"] = column.spec.floor.people
    if column.allow:
        stated |= {"allow": list(column.allow), "allow_note": column.note}
    return stated
