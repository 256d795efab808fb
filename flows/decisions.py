"""The commands `crowdcover approve`, `reject` and `reopen`."""

import argparse
import re
from pathlib import Path

from flows.plan.plan import ReleasePlan
from kinds.section import PlanError
from tasks.vault.approval import PAGE, Approval, Decision, DecisionError, Request
from tasks.vault.files import how_to_read
from tasks.vault.storage import FolderError, Run, Vault


def approve(options: argparse.Namespace) -> int:
    """Approve the waiting release: the next run publishes it."""
    return _decide(options, approved=True)


def reject(options: argparse.Namespace) -> int:
    """Reject the waiting release: nothing is published."""
    return _decide(options, approved=False)


def reopen(options: argparse.Namespace) -> int:
    """Ask again after a decision or a timeout."""
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
        # Prefect takes seconds to import: import it only if a flow run waits there.
        from flows.approving import resume

        next_step = resume(request.suspended, decision)
    elif approved:
        next_step = "run the release again to publish it"
    else:
        next_step = "nothing will be published"
    print(f"run {run.path.name} was {decision.sentence}; {next_step}")
    return 0


def _show(run: Run, request: Request) -> None:
    """Print the numbers to decide about: counts, shares and column names, no values."""
    from rich.console import Console

    from kinds import words_of
    from reports import summary

    manifest = request.question.manifest
    summary.terminal(manifest, Console(), words_of(manifest))
    print("to be published in", request.question.folder)
    print("read", how_to_read(run.path / PAGE))


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
        raise PlanError("RUN_ID must be the 16 hex digits that the waiting release printed")
    try:
        run = vault.run_called(name)
    except PermissionError:
        raise FolderError(
            f"the vault {vault.path} cannot be read by this account; run the command as its owner"
        ) from None
    if run is None:
        raise DecisionError(
            f"the vault {vault.path} has no run {name}; "
            "give the RUN_ID and the vault of the waiting release"
        )
    return run
