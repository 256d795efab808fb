"""The parameters of a flow run: the plan's path, accepted drift, a partition. Nothing else.

Prefect stores parameters, so no plan and no value of the data is one.
"""

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

from prefect.client.orchestration import get_client
from prefect.runtime import flow_run
from pydantic import BaseModel, ConfigDict, Field

from anon_core.errors import AnonymityError
from crowdcover.flows.plan.document import FROZEN_SUFFIX, read_plan_text
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.flows.runs.known_plan import freeze_plan
from crowdcover.flows.runs.partitions import format_partition_settings
from crowdcover.kinds.accepting import LONGEST_NOTE
from crowdcover.kinds.section import PlanError, toml_text
from crowdcover.tasks.orchestration.events import find_flow_run
from crowdcover.tasks.orchestration.stage import log_line

# No control characters: names and notes become lines of logs and reports.
IN_A_LINE = r"^[^\x00-\x1f\x7f-\x9f]*$"

# By path, inode, mtime in ns and size: a file that was replaced is parsed anew.
_handed_on: dict[tuple[str, int, int, int], ReleasePlan] = {}


class Accept(BaseModel):
    """Drift that an operator accepts for one run."""

    model_config = ConfigDict(extra="forbid")

    limit: Annotated[float, Field(ge=0, le=1, title="Accepted share, from 0 to 1")] = 1.0
    note: Annotated[
        str,
        Field(min_length=1, max_length=LONGEST_NOTE, pattern=IN_A_LINE, title="Why, in one line"),
    ]


def refuse_another(plan: str, **others: Any) -> None:
    """Refuse a plan that is not the one of the deployment: no run may choose its own k.

    A run that has waited keeps the plan that it was started with, although the deployment may have
    got another one since. `others` are parameters that no run may choose either.
    """
    run = find_flow_run()
    if run is None or run.deployment_id is None:
        return
    with get_client(sync_client=True) as client:
        stated = client.read_deployment(run.deployment_id).parameters
        # A parameter that the deployment leaves out is None for all its runs.
        for name, value in others.items():
            if stated.get(name) != value:
                raise PlanError(
                    f"the parameter `{name}` is not that of this deployment; start a run without "
                    "it. To change it for all runs, serve the plan anew"
                )
        if stated.get("plan", plan) == plan:
            return
        # All states so far, since a run that was resumed is no longer paused.
        waited = any(state.is_paused() for state in client.read_flow_run_states(run.id))
    if not waited:
        raise PlanError(
            "the parameter `plan` is not the plan of this deployment; start a run without it. "
            "To release another plan, serve it, or use crowdcover release"
        )


def hand_on_plan(path: Path, plan: ReleasePlan) -> None:
    """Let the flow run of this process take a parsed plan, by the path of its file.

    So a process parses a plan once, and Prefect knows its path alone. Only the last one is kept.
    """
    _handed_on.clear()
    _handed_on[_describe_file(path)] = plan


def read_run_plan(path: str) -> ReleasePlan:
    """The plan in a file, parsed once as long as the file stays as it is."""
    state = _describe_file(Path(path))
    if state not in _handed_on:
        plan = ReleasePlan.load(Path(path))
        _handed_on.clear()
        _handed_on[state] = plan
    return _handed_on[state]


def _describe_file(path: Path) -> tuple[str, int, int, int]:
    """A file as it is now; zeros where there is none."""
    with suppress(OSError):
        about = path.stat()
        return str(path), about.st_ino, about.st_mtime_ns, about.st_size
    return str(path), 0, 0, 0


def load_run_plan(
    path: str, accept: Mapping[str, Accept] | None, partition: str | None
) -> ReleasePlan:
    """The plan with what the operator of a run may choose.

    A plan's own file is read as it is now. The log names it and the hash of its text, and the vault
    keeps the plan as it was understood.
    """
    refuse_another(path)
    changes = [] if partition is None else format_partition_settings(partition)
    if accept:
        if read_run_plan(path).limits.drift_limits is None:
            raise PlanError("accept: checks.drift is off, so there is nothing to accept")
        stated = ", ".join(
            f"{toml_text(name)} = {{limit = {float(each.limit)}, note = {toml_text(each.note)}}}"
            for name, each in accept.items()
        )
        changes.append(f"checks.drift.accepted={{{stated}}}")
    # With changes the plan is never cached: the key of the cache is the file alone.
    plan = ReleasePlan.load(Path(path), changes) if changes else read_run_plan(path)
    if Path(path).suffix != FROZEN_SUFFIX:
        sha256 = hashlib.sha256(read_plan_text(Path(path)).encode()).hexdigest()
        log_line(f"plan {path}, SHA-256 of its text {sha256[:16]}")
        freeze_plan(plan)
    for name, each in (accept or {}).items():
        log_line(f"drift of {name!r} is accepted up to {each.limit:g}: {each.note}")
    return plan


def name_of_plan(path: str) -> str:
    """The plan's name; `release` where the plan cannot be read."""
    plan = _find_plan(path)
    return "release" if plan is None else plan.name


def name_of_run() -> str:
    """The plan's name and the partition: what Prefect calls a flow run until it ends."""
    path, partition = flow_run.parameters["plan"], flow_run.parameters.get("partition")
    if partition is None and (plan := _find_plan(path)) is not None:
        partition = getattr(plan.partition, "at", None)
    return " ".join(filter(None, (name_of_plan(path), partition)))


def _find_plan(path: str) -> ReleasePlan | None:
    with suppress(AnonymityError):
        return read_run_plan(path)
    return None
