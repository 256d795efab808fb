"""The parameters of a flow run: the plan's path, accepted drift, a partition. Nothing else.

Prefect stores parameters, so no plan and no value of the data is one.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from prefect.client.orchestration import get_client
from prefect.context import FlowRunContext
from prefect.runtime import flow_run
from pydantic import BaseModel, ConfigDict, Field

from anon_core.errors import AnonymityError
from flows.plan.plan import ReleasePlan
from flows.runs.partitions import format_partition_settings
from kinds.accepting import LONGEST_NOTE
from kinds.section import PlanError
from tasks.orchestration.stage import log_line

IN_A_LINE = r"^[^\x00-\x1f\x7f-\x9f]*$"


class Accept(BaseModel):
    """Drift that an operator accepts for one run."""

    model_config = ConfigDict(extra="forbid")

    limit: Annotated[float, Field(ge=0, le=1, title="Accepted share, from 0 to 1")] = 1.0
    note: Annotated[
        str,
        Field(min_length=1, max_length=LONGEST_NOTE, pattern=IN_A_LINE, title="Why, in one line"),
    ]


def refuse_another(plan: str) -> None:
    """Refuse a plan that is not the one of the deployment: no run may choose its own k.

    A run that has waited keeps the plan that it was started with, although the deployment may have
    got another one since.
    """
    context = FlowRunContext.get()
    run = None if context is None else context.flow_run
    if run is None or run.deployment_id is None:
        return
    with get_client(sync_client=True) as client:
        stated = client.read_deployment(run.deployment_id).parameters.get("plan", plan)
        if stated == plan:
            return
        waited = any(state.is_paused() for state in client.read_flow_run_states(run.id))
    if not waited:
        raise PlanError(
            "the parameter `plan` is not the plan of this deployment; start a run without it. "
            "To release another plan, serve it, or use crowdcover release"
        )


def load_run_plan(
    plan: str, accept: Mapping[str, Accept] | None, partition: str | None
) -> ReleasePlan:
    """The plan with what the operator of a run may choose."""
    refuse_another(plan)
    changes = [] if partition is None else format_partition_settings(partition)
    if accept:
        if ReleasePlan.load(Path(plan)).limits.drift_limits is None:
            raise PlanError("accept: checks.drift is off, so there is nothing to accept")
        stated = ", ".join(
            f"{json.dumps(name)} = {{limit = {float(each.limit)}, note = {json.dumps(each.note)}}}"
            for name, each in accept.items()
        )
        changes.append(f"checks.drift.accepted={{{stated}}}")
    order = ReleasePlan.load(Path(plan), changes)
    for name, each in (accept or {}).items():
        log_line(f"drift of {name!r} is accepted up to {each.limit:g}: {each.note}")
    return order


def name_of(plan: str) -> str:
    """The plan's name; `release` where the plan cannot be read."""
    try:
        return ReleasePlan.load(Path(plan)).name
    except AnonymityError:
        return "release"


def name_of_run() -> str:
    """The plan's name and the partition: what Prefect calls a flow run until it ends."""
    given = flow_run.parameters
    partition = given.get("partition")
    if partition is None:
        with suppress(AnonymityError):
            partition = getattr(ReleasePlan.load(Path(given["plan"])).partition, "at", None)
    name = name_of(given["plan"])
    return name if partition is None else f"{name} {partition}"
