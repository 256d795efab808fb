"""Forms of Prefect by which a person decides on a release that waits.

The decision is kept in the vault. Prefect only carries it there.
"""

from contextlib import suppress
from datetime import datetime
from typing import Annotated, Any, Literal, cast
from uuid import UUID, uuid4

from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import FlowRun, State
from prefect.exceptions import ObjectNotFound
from prefect.flow_runs import resume_flow_run, suspend_flow_run
from prefect.input import RunInput
from prefect.input.actions import read_flow_run_input
from prefect.settings import PREFECT_API_URL
from prefect.states import Completed
from pydantic import Field

from anon_core.errors import GuaranteeError
from crowdcover.flows.runs.parameters import IN_A_LINE
from crowdcover.flows.runs.states import DECIDED
from crowdcover.kinds import words_of
from crowdcover.reports import markdown
from crowdcover.storage.approval import identity
from crowdcover.storage.approval.approval import (
    LONGEST_NAME,
    LONGEST_NOTE,
    PAGE,
    Approval,
    Decision,
    DecisionError,
    Request,
    Suspended,
    count_approvals,
    current_time,
)
from crowdcover.storage.approval.decision_rules import find_decision_objection
from crowdcover.storage.approval.officer_copy import accept_signed_decision
from crowdcover.storage.approval.sign_in import read_identity
from crowdcover.storage.approval.statement import Rules, to_file
from crowdcover.storage.vault.run import Run
from crowdcover.tasks.orchestration.events import find_flow_run
from crowdcover.tasks.orchestration.stage import log_line


class Form(RunInput):
    """The form that Prefect shows to the person who resumes a suspended run.

    Prefect's server refuses any other answer.
    """

    decision: Annotated[Literal["approve", "reject"], Field(title="Decision")]
    name: Annotated[
        str, Field(title="Your name", min_length=1, max_length=LONGEST_NAME, pattern=IN_A_LINE)
    ]
    note: Annotated[str, Field(title="Note", max_length=LONGEST_NOTE, pattern=IN_A_LINE)] = ""


class SignedInForm(Form):
    """The form where the plan names a server that knows who is signed in."""

    signed_in: Annotated[str, Field(title="Leave empty: the server states who you are")] = ""


class SignedForm(RunInput):
    """The form where the plan registers approvers: a name that is typed proves nothing."""

    signed: Annotated[
        str, Field(title="Signed decision: the file that crowdcover sign wrote", min_length=1)
    ]


def take_answer(run: Run, flow_run: FlowRun) -> None:
    """Store the answer to this flow run's form, if any, in the vault.

    Prefect accepts no late answer, so the answer counts as given in time.
    """
    approval = Approval.of(run)
    request = approval.last
    suspended = None if request is None else request.suspended
    if request is None or suspended is None or suspended.flow_run != str(flow_run.id):
        return
    key = f"suspended-{suspended.key}-response"
    answer = cast("dict[str, Any] | None", read_flow_run_input(key))
    # What `resume_suspended_run` repeats from the vault is no second decision.
    if answer is None or (request.decision and _format_answer(request).items() <= answer.items()):
        return
    decision = _read_answer(answer, request)
    if decision is None:
        return
    if request.decision is None:
        approval.decide(decision, needed=Rules.of(request.rules).approvals, in_time=True)
    # A rejection that was stored first needs no such check: `require` refuses the run.
    elif request.decision.approved and not decision.approved:
        raise GuaranteeError(
            f"run {run.path.name} was {request.decision.sentence}, and {decision.sentence} in "
            "Prefect. The first decision stays; this flow run published nothing. "
            "To publish nothing at all, change the plan"
        )


def _read_answer(answer: dict[str, Any], request: Request) -> Decision | None:
    """The decision of an answered form; None if it does not count, which the log says."""
    rules = Rules.of(request.rules)
    try:
        if "signed" in answer:
            return accept_signed_decision(str(answer["signed"]), request, rules)
        form = SignedInForm(**answer)
        who = _read_signed_in(form, request, rules)
        decision = Decision.of(
            approved=form.decision == "approve",
            by=form.name,
            note=form.note,
            identity=who,
            authenticated=identity.PROXY if who else identity.NOBODY,
        )
        reason = find_decision_objection(
            request.question, decision, request.asked_by, rules, request.agreed
        )
    except DecisionError as refusal:
        # Not raised: an answer that does not count ends nothing, and the form is shown again.
        reason, decision = str(refusal), None
    if reason:
        log_line(f"the answer in Prefect does not count: {reason}")
        return None
    return decision


def _read_signed_in(form: SignedInForm, request: Request, rules: Rules) -> str:
    """Who is signed in, where the plan names the server that states it; empty elsewhere."""
    if not rules.sign_in or request.suspended is None:
        return ""
    run = request.suspended.flow_run
    return read_identity(form.signed_in, rules.sign_in, run, form.model_dump(), request.asked)


def _choose_form(rules: Rules) -> type[RunInput]:
    """The form that asks for what the plan lets count."""
    if rules.approvers:
        return SignedForm
    return SignedInForm if rules.sign_in else Form


def suspend_for_form(run: Run, flow_run: FlowRun) -> None:
    """Suspend the flow run and end this process.

    The person who resumes it in Prefect fills in the form; the flow then starts again.
    """
    approval = Approval.of(run)
    request = approval.requests[-1]
    shown = request.suspended
    if shown is not None and shown.flow_run != str(flow_run.id) and _is_paused(shown):
        return  # another flow run already shows the form for this request
    # A new key for each form: under a known one Prefect returns the old answer without asking.
    key = uuid4().hex
    # Stored before this process ends: the resumed run finds its answer by this key.
    approval.amend(suspended=Suspended(str(flow_run.id), key))
    log_line(
        f"waits for approval until {request.until}; "
        f"the report is in the vault: {run.path.name}/{PAGE}"
    )
    manifest = request.question.manifest
    short = markdown.render_release(manifest, words_of(manifest))
    agreed = f"{count_approvals(request)}\n\n" if request.agreed else ""
    description = f"{agreed}The report as it would be published: {run.path / PAGE}\n\n{short}"
    left = datetime.fromisoformat(request.until) - current_time()
    suspend_flow_run(
        _choose_form(Rules.of(request.rules)).with_initial_data(description=description),
        # A deadline that has just passed gives one second, not a negative timeout.
        timeout=max(1, int(left.total_seconds())),
        key=key,
    )


def close_form(request: Request) -> None:
    """End another flow run that still shows the form of a request that was decided elsewhere."""
    flow_run, suspended, decision = find_flow_run(), request.suspended, request.decision
    if flow_run is None or suspended is None or decision is None:
        return
    if suspended.flow_run == str(flow_run.id):
        return
    with suppress(Exception):  # it ends by itself when the time to decide is over
        if _is_paused(suspended):
            done: State[Any] = Completed(name=DECIDED, message=decision.sentence)
            with get_client(sync_client=True) as client:
                client.set_flow_run_state(UUID(suspended.flow_run), done, force=True)


def _is_paused(suspended: Suspended) -> bool:
    """Whether this flow run is still paused in Prefect."""
    with get_client(sync_client=True) as client:
        try:
            state = client.read_flow_run(UUID(suspended.flow_run)).state
        except ObjectNotFound:
            return False
    return state is not None and state.is_paused()


def _format_answer(request: Request) -> dict[str, str]:
    """The answer of the form that repeats the decision of the vault."""
    decision = request.decision
    assert decision is not None
    if Rules.of(request.rules).approvers:
        return {"signed": to_file(request.question, decision).decode()}
    verb = "approve" if decision.approved else "reject"
    return {"decision": verb, "name": decision.by, "note": decision.note}


def resume_suspended_run(request: Request) -> str:
    """Resume the suspended flow run of a request with the decision from the vault.

    Returns a sentence about the outcome; never raises.
    """
    assert request.suspended is not None
    run = f"flow run {request.suspended.flow_run}"
    # Without an address Prefect would start a server, which knows no such flow run.
    if not PREFECT_API_URL.value():
        return f"{run} is suspended; set PREFECT_API_URL to resume it from here, or run the release"
    try:
        resume_flow_run(UUID(request.suspended.flow_run), run_input=_format_answer(request))
    except Exception as error:  # noqa: BLE001 - network, Prefect, or a deleted flow run
        return f"{run} could not be resumed ({type(error).__name__}); run the release"
    return f"{run} was resumed"
