"""The flow `release`: the course of a release (flows/course.py) as Prefect runs and shows it."""

from pathlib import Path
from typing import Any

from prefect import Flow, State, flow
from prefect.client.schemas.objects import FlowRun

from anon_core.errors import AnonymityError
from crowdcover.flows.course import release_plan
from crowdcover.flows.runs.parameters import (
    Accept,
    load_run_plan,
    name_of_plan,
    name_of_run,
    read_run_plan,
)
from crowdcover.flows.runs.states import (
    complete_flow_run,
    hold_plan_slot,
    pause_flow_run,
    refuse_flow_run,
)
from crowdcover.storage.approval.approval import WaitingError
from crowdcover.storage.vault.vault import Vault
from crowdcover.tasks.compute.cluster import cancel_jobs_of
from crowdcover.tasks.orchestration.events import about_plan
from crowdcover.tasks.orchestration.in_prefect import trim_prefect_log

trim_prefect_log()


# Prefect passes these arguments by name.
def cancel_jobs(flow: Flow[..., Any], flow_run: FlowRun, state: State[Any]) -> None:  # noqa: ARG001
    """Cancel the batch jobs of a flow run that Prefect killed."""
    plan = read_run_plan(flow_run.parameters["plan"])
    if plan.compute.jobs is not None:
        cancel_jobs_of(str(flow_run.id), Vault(Path(plan.publish.vault)).runs)


@flow(
    name="release",
    flow_run_name=name_of_run,
    persist_result=False,
    on_cancellation=[cancel_jobs],
)
def release(
    plan: str, accept: dict[str, Accept] | None = None, partition: str | None = None
) -> str | State[Any]:
    """Release the data that a plan names; returns the release folder.

    Args:
        plan: path of the plan
        accept: drift to accept in this run, by the name of a limit or a column, with a note:
            {"city": {"limit": 1, "note": "a new district"}}
        partition: which partition of the source is new, such as 2014-03
    """
    # Around the load of the plan: its refusal is an event, too, and needs a name.
    with about_plan(name_of_plan(plan)):
        try:
            with hold_plan_slot():
                ended = release_plan(load_run_plan(plan, accept, partition))
        except WaitingError as waiting:
            pause_flow_run(str(waiting))
            # Outside of a flow run only: within one, `pause_flow_run` raises Prefect's Pause.
            raise
        except AnonymityError as refusal:
            return refuse_flow_run(refusal)
        return complete_flow_run(ended)
