"""The commands `crowdcover approve`, `reject` and `reopen`."""

import argparse
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from crowdcover.flows.look.named_release import print_manifest
from crowdcover.flows.look.named_vault import find_named_vault, refuse_unreadable_vault
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.kinds.section import PlanError
from crowdcover.storage.approval import identity
from crowdcover.storage.approval.approval import (
    LONGEST_NAME,
    LONGEST_NOTE,
    PAGE,
    Approval,
    Decision,
    DecisionError,
    Request,
    count_approvals,
    one_line,
)
from crowdcover.storage.approval.decision_rules import find_decision_objection
from crowdcover.storage.approval.officer_copy import (
    accept_signed_decision,
    close_copy,
    find_signed_decision,
)
from crowdcover.storage.approval.signing_keys import public_of, read_key
from crowdcover.storage.approval.statement import LONGEST_SIGNED, Rules, attach_signature
from crowdcover.storage.vault.files import how_to_read
from crowdcover.storage.vault.refusals import FolderError
from crowdcover.storage.vault.run import Run

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

IN_COPY = "."  # of --take without a file: what lies in the officer's copy


def approve_release(options: argparse.Namespace) -> int:
    """Approve the waiting release: the next run publishes it."""
    print(record_decision(options, approved=True))
    return 0


def reject_release(options: argparse.Namespace) -> int:
    """Reject the waiting release: nothing is published."""
    print(record_decision(options, approved=False))
    return 0


def reopen_approval(options: argparse.Namespace) -> int:
    """Ask again after a decision or a timeout."""
    print(reopen_request(options))
    return 0


def reopen_request(options: argparse.Namespace) -> str:
    """Ask again after a decision or a timeout; a sentence about it."""
    _, run = _find_plan_and_run(options)
    with run.hold_lock():
        request = Approval.of(run).reopen()
    return f"run {run.path.name} waits for approval until {request.until}"


def record_decision(options: argparse.Namespace, *, approved: bool) -> str:
    """Store a person's decision in the vault; a sentence about it and what comes next.

    Prints the numbers to decide about first, unless `options.quiet`.
    """
    # `reject` has no --take.
    taken = getattr(options, "take", None)
    if taken is None and options.by is None and options.key is None:
        raise PlanError("give --by NAME, or --key FILE where the plan registers approvers")
    if options.by is not None:
        one_line("the name", options.by, 1, LONGEST_NAME)
    one_line("the note", options.note, 0, LONGEST_NOTE)
    plan, run = _find_plan_and_run(options)
    with run.hold_lock():
        approval = Approval.of(run)
        # What was signed in time counts later, too; `accept_signed_decision` compares the times.
        request = approval.require_open(in_time=taken is not None)
        # A plan that is given decides as it is today, else the request as it was asked.
        rules = Rules.of(request.rules if plan is None else plan.publish.terms_rules)
        if not options.quiet:
            _show_summary(run, request)
        if taken is not None:
            decision = _take_signed_decision(taken, plan, run, request, rules)
        else:
            decision = _build_decision(options, request, rules, approved=approved)
        # Before it is stored, since no stored decision is ever overwritten.
        if reason := find_decision_objection(
            request.question, decision, request.asked_by, rules, request.agreed
        ):
            raise DecisionError(f"nothing was decided: {reason}")
        request = approval.decide(decision, needed=rules.approvals, in_time=taken is not None)
        if plan is not None and plan.publish.reports is not None:
            close_copy(Path(plan.publish.reports), run, request)
    if request.decision is None:
        next_step = f"{count_approvals(request)}; another person must approve, too"
    # Outside of the lock: the flow run that is resumed takes it.
    elif request.suspended is not None:
        # Prefect takes seconds to import: import it only if a flow run waits there.
        from crowdcover.flows.runs.forms import resume_suspended_run

        next_step = resume_suspended_run(request)
    elif decision.approved:
        next_step = "run the release again to publish it"
    else:
        next_step = "nothing will be published"
    return f"run {run.path.name} was {decision.sentence}; {next_step}"


def _build_decision(
    options: argparse.Namespace, request: Request, rules: Rules, *, approved: bool
) -> Decision:
    """The decision of who runs this command: signed, or as the account of this process."""
    if options.key is None:
        return replace(
            Decision.of(
                approved=approved,
                by=options.by,
                note=options.note,
                identity=identity.account_of_process(),
                authenticated=identity.ACCOUNT,
            ),
            # The manifest publishes these names: only where a rule of the plan needs them.
            requested_by={} if rules.need_no_requester else dict(request.asked_by),
        )
    if not rules.approvers:
        raise DecisionError(
            "publish.approvers of the plan registers nobody, so a signature could not be verified; "
            "leave --key out and give --by NAME"
        )
    return sign_decision(
        read_key(options.key), request, rules, (approved, options.by, options.note)
    )


def sign_decision(
    key: "Ed25519PrivateKey", request: Request, rules: Rules, stated: tuple[bool, str | None, str]
) -> Decision:
    """A signed decision: whether it approves, the name or None for the registered one, the note."""
    approved, by, note = stated
    name = by or rules.find_signer(public_of(key)) or "unknown"
    return attach_signature(request, Decision.of(approved=approved, by=name, note=note), key, rules)


def _take_signed_decision(
    taken: Path, plan: ReleasePlan | None, run: Run, request: Request, rules: Rules
) -> Decision:
    """A decision that somebody signed elsewhere: in this file, or in the officer's copy."""
    if str(taken) != IN_COPY:
        try:
            with taken.open("rb") as handle:
                # One byte more than allowed: a longer file is refused, not cut to a valid one.
                text = handle.read(LONGEST_SIGNED + 1).decode("utf-8", "replace")
        except OSError as error:
            raise FolderError(f"{taken} cannot be read ({type(error).__name__})") from None
        return accept_signed_decision(text, request, rules)
    if plan is None or plan.publish.reports is None:
        raise PlanError("--take without FILE needs --plan PLAN.toml with publish.reports")
    found, reasons = find_signed_decision(Path(plan.publish.reports), run, request, rules)
    if found is None:
        raise DecisionError("; ".join(reasons) or "nobody has signed a decision in the copy")
    return found


def _show_summary(run: Run, request: Request) -> None:
    """Print the numbers to decide about: counts, shares and column names, no values."""
    print_manifest(request.question.manifest)
    print("to be published in", request.question.folder)
    print("read", how_to_read(run.path / PAGE))


def _find_plan_and_run(options: argparse.Namespace) -> tuple[ReleasePlan | None, Run]:
    """The plan, where one is given, and the run."""
    plan, vault = find_named_vault(options)
    name = options.run_id
    # The name becomes part of a path: this keeps out `..` and `/`, too.
    if not re.fullmatch(r"[0-9a-f]{16}", name):
        raise PlanError("RUN_ID must be the 16 hex digits that the waiting release printed")
    with refuse_unreadable_vault(vault):
        run = vault.run_called(name)
    if run is None:
        raise DecisionError(
            f"the vault {vault.path} has no run {name}; "
            "give the RUN_ID and the vault of the waiting release"
        )
    return plan, run
