"""What waits for approval: the report, and the decision of a person."""

import argparse
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from crowdcover.flows.look.vault_lists import list_reopenable_releases, list_waiting_releases
from crowdcover.flows.page.answers import fill_page, go_to, show_report
from crowdcover.flows.page.guard import form_of
from crowdcover.flows.page.jobs import format_command
from crowdcover.flows.page.session import Session, shorten_path
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.flows.vault.decisions import record_decision, reopen_request
from crowdcover.kinds.section import PlanError
from crowdcover.storage.approval.approval import LONGEST_NAME, LONGEST_NOTE, PAGE, DecisionError
from crowdcover.storage.vault.files import read_private
from crowdcover.storage.vault.vault import Vault


def show_waiting(session: Session, _: Request) -> Response:
    """The releases of the plan's vault that wait, each with its report and a form."""
    waiting, ended, signed = [], [], False
    if session.require_draft().saved is not None:  # of a plan without a file nothing can wait
        plan = _load_plan(session)
        vault, signed = Vault(Path(plan.publish.vault)), bool(plan.publish.approvers)
        if vault.runs.is_dir():
            waiting = list_waiting_releases([vault])
            ended = list_reopenable_releases([vault])
    return fill_page(
        session,
        "waiting.html.j2",
        waiting=waiting,
        ended=[{**each, "command": _format_reopening(session, each["run"])} for each in ended],
        signed=signed,
        key=None if session.key is None else shorten_path(session.key),
        longest_name=LONGEST_NAME,
        longest_note=LONGEST_NOTE,
        command=format_command(["waiting", "--plan", shorten_path(session.require_draft().path)]),
    )


def show_waiting_report(session: Session, request: Request) -> Response:
    """The report of a release that waits."""
    vault = Vault(Path(_load_plan(session).publish.vault))
    waiting = {each["run"] for each in list_waiting_releases([vault])}
    # The name becomes a part of a path: only names that the vault itself lists.
    run = vault.run_called(name) if (name := request.path_params["run"]) in waiting else None
    if run is None:
        raise DecisionError("no release of this name waits for approval")
    return show_report(read_private(run.path / PAGE))


def decide(session: Session, request: Request) -> Response:
    """Approve or reject, as `crowdcover approve` and `crowdcover reject` do."""
    form = form_of(request)
    if form.get("decision") not in ("approve", "reject"):
        raise PlanError("choose to approve or to reject")
    plan = _load_plan(session)
    options = _build_options(
        session,
        request,
        by=form.get("by") or None if plan.publish.approvers else form.get("by", ""),
        note=form.get("note", ""),
        key=session.key if plan.publish.approvers else None,
        take=None,
    )
    session.notice = record_decision(options, approved=form["decision"] == "approve")
    return go_to("/waiting")


def reopen(session: Session, request: Request) -> Response:
    """Ask again, as `crowdcover reopen` does."""
    _load_plan(session)
    session.notice = reopen_request(_build_options(session, request))
    return go_to("/waiting")


def _build_options(session: Session, request: Request, **stated: Any) -> argparse.Namespace:
    """What the command would parse."""
    return argparse.Namespace(
        run_id=request.path_params["run"],
        vault=None,
        plan=session.require_draft().path,
        overrides=[],
        quiet=True,
        **stated,
    )


def _format_reopening(session: Session, run: str) -> str:
    return format_command(["reopen", run, "--plan", shorten_path(session.require_draft().path)])


def _load_plan(session: Session) -> ReleasePlan:
    """The plan as its file states it: the commands read that, not the draft."""
    draft = session.require_draft()
    if draft.saved is None:
        raise PlanError("the plan is not saved, so nothing of it can wait for approval")
    return ReleasePlan.load(draft.path)
