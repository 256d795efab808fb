"""A person's approval of a release: by a form of Prefect (forms.py) where its run can be suspended.

The decision is kept in the vault. Elsewhere the refusal to publish says how to decide.
"""

from collections.abc import Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any

from anon_core.errors import GuaranteeError
from crowdcover.flows.advice import format_approve_command, format_sign_command
from crowdcover.storage.approval import identity
from crowdcover.storage.approval.approval import (
    PAGE,
    Approval,
    Request,
    WaitingError,
    build_approval_section,
    count_approvals,
)
from crowdcover.storage.approval.decision_rules import (
    ExpiredError,
    find_decision_objection,
    require_several,
)
from crowdcover.storage.approval.officer_copy import (
    close_copy,
    locate_copy,
    take_up,
)
from crowdcover.storage.approval.statement import Rules, Terms
from crowdcover.storage.vault.files import how_to_read
from crowdcover.storage.vault.run import Run
from crowdcover.tasks.orchestration.events import find_flow_run
from crowdcover.tasks.orchestration.gates import pass_gate, refusals_shown
from crowdcover.tasks.orchestration.stage import log_line
from crowdcover.tasks.stages.ask import ask
from crowdcover.tasks.stages.check import CheckedRelease
from crowdcover.tasks.stages.manifest import Destination, announce_release

if TYPE_CHECKING:
    from prefect.client.schemas.objects import FlowRun


def require_approval(
    run: Run, checked: CheckedRelease, to: Destination, claims: Mapping[str, Any], terms: Terms
) -> dict[str, Any]:
    """Return the approval of a checked release, as its manifest states it.

    Raises WaitingError while nobody has decided, GuaranteeError after a rejection, a timeout, or an
    approval that does not count under the terms of the plan.
    """
    request = ask(run, checked, to, claims, terms, _identify_requester())
    flow_run, forms, rules = _find_suspendable_run(), _load_forms(), Rules.of(terms.rules)
    with pass_gate(run, "approved") as measured:
        reasons = [] if terms.reports is None else take_up(terms.reports, run, rules)
        if forms is not None and flow_run is not None:
            forms.take_answer(run, flow_run)
        # Read anew here and below: the lines above may have written a decision into the vault.
        if forms is not None:
            forms.close_form(Approval.of(run).requests[-1])
        decision = Approval.of(run).require(rules.approvals)
        request = Approval.of(run).requests[-1]
        _require_counting(run, request, rules)
        if decision is not None and terms.reports is not None:
            close_copy(terms.reports, run, request)
        if decision is None:
            announce_release(
                request.question.manifest,
                [
                    f"The report: {how_to_read(run.path / PAGE)}",
                    "The page: crowdcover open with the plan, step Waiting",
                ],
                "approval",
                f"Waits for approval until {request.until}",
            )
            if forms is not None and flow_run is not None:
                # Ends the process by Prefect's Pause, unless another flow run shows the form.
                forms.suspend_for_form(run, flow_run)
            what = _describe_next_step(run, request, to, terms)
            raise WaitingError("; ".join([what, *dict.fromkeys(reasons)]))
        measured += [each.sentence for each in request.approvals]
    for each in request.approvals:
        log_line(f"run {run.path.name} was {each.sentence}")
    return build_approval_section(decision, request.agreed)


def _require_counting(run: Run, request: Request, rules: Rules) -> None:
    """Refuse an approval that does not count: of an older plan, or of a record that was changed.

    `rules` are those of the plan today: an approver may have been taken out since. With an approval
    that is too old the waiting ends, so that the next run asks anew.
    """
    try:
        require_several(request, rules)
    except ExpiredError:
        Approval.of(run).amend(ended=True)
        raise
    for place, each in enumerate(request.approvals):
        if reason := find_decision_objection(
            request.question, each, request.asked_by, rules, request.approvals[:place]
        ):
            raise GuaranteeError(
                f"publication refused: the approval of run {run.path.name} does not count: "
                f"{reason}; nothing was published. Use crowdcover reopen to ask again"
            )


def _identify_requester() -> dict[str, str]:
    """Who runs this release: the account of this process, and the user whom Prefect names, if any.

    Prefect's open server has no users, and names none.
    """
    flow_run = find_flow_run()
    creator = None if flow_run is None else flow_run.created_by
    requester = {identity.ACCOUNT: identity.account_of_process()}
    # Automations start runs, too, and are no persons.
    if creator is not None and creator.type == "USER" and creator.display_value:
        requester[identity.PREFECT] = creator.display_value
    return requester


def refuse_rejected(run: Run) -> None:
    """Refuse a run that a person rejected, also if the plan no longer asks for an approval."""
    with refusals_shown(run, "approved"):
        Approval.of(run).refuse_rejected()


def _load_forms() -> ModuleType | None:
    """The forms of Prefect; None outside of a flow run, where nobody sees one."""
    if find_flow_run() is None:
        return None
    from crowdcover.flows.runs import forms

    return forms


def _find_suspendable_run() -> "FlowRun | None":
    """The current flow run if it can be suspended: it has a deployment and no parent flow run."""
    flow_run = find_flow_run()
    if flow_run is None or not flow_run.deployment_id or flow_run.parent_task_run_id:
        return None
    return flow_run


def _describe_next_step(run: Run, request: Request, to: Destination, terms: Terms) -> str:
    officer, signed = "", bool(terms.approvers)
    approve = format_approve_command(run.path.name, to.ledger.vault.path, signed=signed)
    if terms.reports is not None and signed:
        copy = locate_copy(terms.reports, run, request.question)
        officer = f". Without access to the vault: {format_sign_command(copy)}"
    waits = f"{request.question.manifest['name']} waits for approval until {request.until}"
    if request.agreed:
        waits += f" ({count_approvals(request)})"
    return (
        f"{waits}; nothing was published. Read {how_to_read(run.path / PAGE)}, then run: "
        f"{approve} (or reject), then run the release again{officer}"
    )
