"""`crowdcover approve`, `reject` and `reopen`: what a person decides about a release that waits in the vault."""

import argparse
import re
from pathlib import Path

from flows.plan.plan import ReleasePlan
from kinds.section import PlanError
from tasks.vault.approval import PAGE, Approval, Decision, DecisionError, Request
from tasks.vault.storage import FolderError, Run, Vault


def approve(options: argparse.Namespace) -> int:
    """Let the release be published."""
    return _decide(options, approved=True)


def reject(options: argparse.Namespace) -> int:
    """Let nothing be published."""
    return _decide(options, approved=False)


def reopen(options: argparse.Namespace) -> int:
    """Ask once more."""
    run = _run(options)
    with run.locked():
        request = Approval.of(run).reopen()
    print(f"run {run.path.name} waits for approval until {request.until}")
    return 0


def _decide(options: argparse.Namespace, *, approved: bool) -> int:
    decision = Decision.of(approved=approved, by=options.by, note=options.note)
    run = _run(options)
    with run.locked():
        approval = Approval.of(run)
        request = approval.require_open()
        if not options.quiet:
            _show(run, request)
        request = approval.decide(decision)
    if request.suspended is not None:
        # Prefect takes seconds to import: only where it has to be told.
        from flows.approving import resume

        goes_on = resume(request.suspended, decision)
    else:
        goes_on = "run the release again to publish it" if approved else "nothing will be published"
    print(f"run {run.path.name} was {decision.sentence}; {goes_on}")
    return 0


def _show(run: Run, request: Request) -> None:
    """The numbers that the decision is about; they count, and name columns."""
    from rich.console import Console

    from kinds import words_of
    from reports import summary

    manifest = request.question.manifest
    summary.terminal(manifest, Console(), words_of(manifest))
    print("to be published in", request.question.folder)
    print("read", run.path / PAGE)


def _run(options: argparse.Namespace) -> Run:
    if (options.vault is None) == (options.plan is None):
        raise PlanError("give either --vault FOLDER or --plan PLAN.toml")
    if options.vault is not None and options.overrides:
        raise PlanError("--set changes a plan; give --plan PLAN.toml with it")
    if options.vault is not None:
        vault = Vault(options.vault.resolve())
    else:
        vault = Vault(Path(ReleasePlan.load(options.plan, options.overrides).publish.vault))
    name = options.run_id
    if not re.fullmatch(r"[0-9a-f]{16}", name):
        raise PlanError("RUN_ID must be the 16 hex digits that the waiting release has said")
    try:
        run = vault.run_called(name)
    except PermissionError:
        raise FolderError(
            f"the vault {vault.path} is closed to this account; decide as its owner"
        ) from None
    if run is None:
        raise DecisionError(
            f"the vault {vault.path} knows no run {name}; give the RUN_ID and the vault of the release that waits"
        )
    return run
