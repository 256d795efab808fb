"""A person's approval during a flow run: a Prefect form if the run can be suspended, else advice.

The decision is kept in the vault. Prefect only carries it there.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, cast
from uuid import UUID, uuid4

from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import FlowRun
from prefect.context import FlowRunContext
from prefect.exceptions import ObjectNotFound
from prefect.flow_runs import resume_flow_run, suspend_flow_run
from prefect.input import RunInput
from prefect.input.actions import read_flow_run_input
from prefect.settings import PREFECT_API_URL
from pydantic import Field

from anon_core.errors import GuaranteeError
from flows.parameters import IN_A_LINE
from kinds import words_of
from reports import summary
from tasks.orchestration.gates import gate, refusals_shown
from tasks.orchestration.stage import log
from tasks.stages.ask import ask
from tasks.stages.check import CheckedRelease
from tasks.stages.manifest import Destination, announce
from tasks.vault.approval import (
    LONGEST_NAME,
    LONGEST_NOTE,
    PAGE,
    Approval,
    Decision,
    Request,
    Suspended,
    WaitingError,
    now,
    stating,
)
from tasks.vault.files import how_to_read
from tasks.vault.storage import Run


class Form(RunInput):
    """The form that Prefect shows to the person who resumes a suspended run.

    Prefect's server refuses any other answer.
    """

    decision: Annotated[Literal["approve", "reject"], Field(title="Decision")]
    name: Annotated[
        str, Field(title="Your name", min_length=1, max_length=LONGEST_NAME, pattern=IN_A_LINE)
    ]
    note: Annotated[str, Field(title="Note", max_length=LONGEST_NOTE, pattern=IN_A_LINE)] = ""


def approved(
    run: Run, checked: CheckedRelease, to: Destination, claims: Mapping[str, Any], given: timedelta
) -> dict[str, Any]:
    """Return the approval of a checked release, as its manifest states it.

    Raises WaitingError while nobody has decided, GuaranteeError after a rejection or a timeout.
    """
    request = ask(run, checked, to, claims, given)
    flow_run = _suspendable()
    with gate(run, "approved") as measured:
        if flow_run is not None:
            _take_answer(run, flow_run)
        decision = Approval.of(run).require()
        if decision is None:
            announce(
                request.question.manifest, "approval", f"waits for approval until {request.until}"
            )
            if flow_run is not None:
                _suspend(run, flow_run)
            raise WaitingError(_what_to_do(run, request, to))
        measured.append(decision.sentence)
    log(f"run {run.path.name} was {decision.sentence}")
    return stating(decision)


def refuse_rejected(run: Run) -> None:
    """Refuse a run that a person rejected, also if the plan no longer asks for an approval."""
    with refusals_shown(run, "approved"):
        Approval.of(run).refuse_rejected()


def _suspendable() -> FlowRun | None:
    """The current flow run if it can be suspended: it has a deployment and no parent flow run."""
    context = FlowRunContext.get()
    flow_run = None if context is None else context.flow_run
    return (
        flow_run
        if flow_run and flow_run.deployment_id and not flow_run.parent_task_run_id
        else None
    )


def _take_answer(run: Run, flow_run: FlowRun) -> None:
    """Store the answer to this flow run's form, if any, in the vault.

    Prefect accepts no late answer, so the answer counts as given in time.
    """
    approval = Approval.of(run)
    request = approval.last
    if (
        request is None
        or request.suspended is None
        or request.suspended.flow_run != str(flow_run.id)
    ):
        return
    answer = cast(
        "dict[str, Any] | None", read_flow_run_input(f"suspended-{request.suspended.key}-response")
    )
    if answer is None:
        return
    form = Form(**answer)
    decision = Decision.of(approved=form.decision == "approve", by=form.name, note=form.note)
    if request.decision is None:
        approval.decide(decision, in_time=True)
    elif request.decision.approved and not decision.approved:
        raise GuaranteeError(
            f"run {run.path.name} was {request.decision.sentence}, and {decision.sentence} in "
            "Prefect. The first decision stays; this flow run published nothing. "
            "To publish nothing at all, change the plan"
        )


def _suspend(run: Run, flow_run: FlowRun) -> None:
    """Suspend the flow run and end this process.

    The person who resumes it in Prefect fills in the form; the flow then starts again.
    """
    approval = Approval.of(run)
    request = approval.requests[-1]
    if (
        request.suspended is not None
        and request.suspended.flow_run != str(flow_run.id)
        and _waits(request.suspended)
    ):
        return  # another flow run already shows the form for this request
    key = uuid4().hex
    approval.amend(suspended=Suspended(str(flow_run.id), key))
    log(
        f"waits for approval until {request.until}; "
        f"the report is in the vault: {run.path.name}/{PAGE}"
    )
    manifest = request.question.manifest
    short = summary.markdown(manifest, words_of(manifest))
    description = f"The report as it would be published: {run.path / PAGE}\n\n{short}"
    left = datetime.fromisoformat(request.until) - now()
    suspend_flow_run(
        Form.with_initial_data(description=description),
        timeout=max(1, int(left.total_seconds())),
        key=key,
    )


def _waits(suspended: Suspended) -> bool:
    """Whether this flow run is still paused in Prefect."""
    with get_client(sync_client=True) as client:
        try:
            state = client.read_flow_run(UUID(suspended.flow_run)).state
        except ObjectNotFound:
            return False
    return state is not None and state.is_paused()


def _what_to_do(run: Run, request: Request, to: Destination) -> str:
    vault = to.ledger.vault.path
    return (
        f"{request.question.manifest['name']} waits for approval until {request.until}; "
        f"nothing was published. Read {how_to_read(run.path / PAGE)}, then run: "
        f"crowdcover approve {run.path.name} --vault {vault} --by NAME (or reject), "
        "then run the release again"
    )


def resume(suspended: Suspended, decision: Decision) -> str:
    """Resume a suspended flow run with the decision from the vault.

    Returns a sentence about the outcome; never raises.
    """
    run = f"flow run {suspended.flow_run}"
    if not PREFECT_API_URL.value():
        return f"{run} is suspended; set PREFECT_API_URL to resume it from here, or run the release"
    form = {
        "decision": "approve" if decision.approved else "reject",
        "name": decision.by,
        "note": decision.note,
    }
    try:
        resume_flow_run(UUID(suspended.flow_run), run_input=form)
    except Exception as error:  # noqa: BLE001 - network, Prefect, or a deleted flow run
        return f"{run} could not be resumed ({type(error).__name__}); run the release"
    return f"{run} was resumed"
