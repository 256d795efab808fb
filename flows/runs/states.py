"""How a flow run ends in Prefect: by a state that says what came of it, and named by its version.

    Published             a version became visible             completed, green
    Unchanged             the release stands as it is wanted   completed, green
    Refused               nothing was published, and why       failed, red
    Waiting for approval  a person has to decide               paused, grey
    Decided               it waited, and a later run went on   completed, green

Prefect suspends a run of a deployment and shows a form (flows/runs/approval.py). Any other run that
waits for approval ends in the state `Waiting for approval`, which is a pause. The run that follows
the decision completes it.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import PurePath
from typing import Any
from uuid import UUID

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.filters import FlowRunFilter
from prefect.client.schemas.objects import State
from prefect.concurrency.sync import concurrency
from prefect.exceptions import Pause
from prefect.states import Completed, Failed, Paused

from anon_core.errors import AnonymityError, InfeasibleError
from crowdcover.flows.outcome import Ended, exit_code
from crowdcover.kinds.judge.drift import DriftError
from crowdcover.reports import markdown
from crowdcover.storage.approval.approval import RejectedError
from crowdcover.storage.series.series import NobodyHidesError
from crowdcover.tasks.orchestration.events import (
    emit_release_event,
    find_flow_run,
    key_of,
    plan_name,
)
from crowdcover.tasks.orchestration.stage import show_in_prefect

_PUBLISHED, _UNCHANGED, _REFUSED = "Published", "Unchanged", "Refused"
WAITING, DECIDED = "Waiting for approval", "Decided"
FINAL_STATES = (_PUBLISHED, _UNCHANGED, _REFUSED, WAITING, DECIDED)


def refuse_flow_run(refusal: AnonymityError) -> State[Any]:
    """End the flow run in a refusal; its state has the message alone.

    The caller of the flow gets the refusal raised. Outside of a flow run it is raised here.
    """
    if isinstance(refusal, DriftError):
        emit_release_event("drifted", **refusal.facts)
    if isinstance(refusal, (NobodyHidesError, InfeasibleError)):
        emit_release_event("short-of-people", reason=str(refusal))
    emit_release_event("refused", exit_code=exit_code(refusal), reason=str(refusal))
    if isinstance(refusal, RejectedError):
        _complete_waiting_runs("The release was rejected")
    if find_flow_run() is None:
        raise refusal
    accept = refusal.facts["accept"] if isinstance(refusal, DriftError) else ()
    shown = markdown.render_refusal(plan_name(), str(refusal), accept)
    # The artifact only informs: without it the refusal must still end the run.
    with suppress(Exception):
        show_in_prefect(key_of("refused", plan_name()), shown, "Why nothing was published")
    return Failed(name=_REFUSED, message=str(refusal), data=refusal)


def complete_flow_run(ended: Ended) -> str | State[Any]:
    """Name the flow run after the version that stands, and end those that waited for it.

    Its state says whether the run has published it. Outside of a flow run the folder is returned.
    """
    version = PurePath(ended.folder).name
    _name_flow_run(version)
    _complete_waiting_runs("The release was published")
    if find_flow_run() is None:
        return ended.folder
    said = f"{plan_name()} {version} is published"
    if ended.published:
        return Completed(name=_PUBLISHED, message=said, data=ended.folder)
    return Completed(
        name=_UNCHANGED, message=f"{said}, and nothing has changed since", data=ended.folder
    )


@contextmanager
def hold_plan_slot() -> Iterator[None]:
    """Let one run of a plan at a time work, whatever deployment started it; others wait.

    Only runs of deployments wait. The vault refuses two others at once.
    """
    flow_run = find_flow_run()
    if flow_run is None or flow_run.deployment_id is None:
        yield
        return
    name = f"crowdcover {plan_name()}"
    # A server that makes no limit stops no run: `strict=False` goes on without one.
    with suppress(Exception), get_client(sync_client=True) as client:
        client.upsert_global_concurrency_limit_by_name(name, 1)
    with concurrency(name, strict=False):
        yield


def pause_flow_run(message: str) -> None:
    """End this flow run in a pause, by Prefect's Pause; does nothing outside of a flow run.

    Where a deployment can start it again, Resume looks for the decision anew. Elsewhere Prefect
    refuses to resume it.
    """
    flow_run = find_flow_run()
    if flow_run is None:
        return
    # One pause for each question: this run takes the place of those before.
    _complete_waiting_runs("Asked again")
    # `reschedule`: Resume has the deployment start the flow anew; this process ends.
    state: State[Any] = Paused(name=WAITING, message=message, reschedule=True)
    with get_client(sync_client=True) as client:
        # `force`: the server aborts such a pause of a run without a deployment.
        client.set_flow_run_state(flow_run.id, state, force=True)
        # By this tag the next run of the plan finds the runs that wait.
        client.update_flow_run(flow_run.id, tags=[*flow_run.tags, _format_plan_tag()])
    # Else Prefect would set a final state when the flow function returns.
    raise Pause(state=state)


def _format_plan_tag() -> str:
    return f"plan: {plan_name()}"


def _name_flow_run(version: str) -> None:
    """Let the flow run carry the version that it published."""
    flow_run = find_flow_run()
    # A flow run that is started again has the version in its name already.
    if flow_run is not None and not flow_run.name.endswith(f" {version}"):
        with suppress(Exception), get_client(sync_client=True) as client:
            client.set_flow_run_name(flow_run.id, f"{flow_run.name} {version}")


def _complete_waiting_runs(message: str) -> None:
    """Complete the flow runs of this plan that still wait for the decision."""
    if (flow_run := find_flow_run()) is None:
        return
    # A pause that stays is untidy, but a release must not fail because of it.
    with suppress(Exception), get_client(sync_client=True) as client:
        for each in _list_waiting_runs(client):
            if each != flow_run.id:
                done: State[Any] = Completed(name=DECIDED, message=f"{message}: {flow_run.name}")
                client.set_flow_run_state(each, done, force=True)


def _list_waiting_runs(client: SyncPrefectClient) -> list[UUID]:
    """The flow runs of this plan in the state `Waiting for approval`."""
    known = FlowRunFilter.model_validate(
        {"state": {"name": {"any_": [WAITING]}}, "tags": {"all_": [_format_plan_tag()]}}
    )
    return [each.id for each in client.read_flow_runs(flow_run_filter=known)]
