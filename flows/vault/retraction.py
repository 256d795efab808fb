"""The command `crowdcover retract`: take back a release that was never handed out."""

import argparse
from pathlib import Path
from typing import Any

from crowdcover.flows.outcome import print_outcome
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.kinds import kind_called
from crowdcover.storage.approval.approval import Approval, DecisionError
from crowdcover.storage.ledger.ledger import Ledger
from crowdcover.storage.places.place import Place
from crowdcover.storage.series.retractions import (
    Retraction,
    Retractions,
    put_aside,
    release_of,
    retraction_of,
)
from crowdcover.storage.vault.refusals import FolderError
from crowdcover.storage.vault.run import Run
from crowdcover.storage.vault.vault import Vault

COPIES = (
    "No command takes back a copy: whoever has one can compare it with your next release, and "
    "crowdcover no longer does"
)


def retract_release(options: argparse.Namespace) -> int:
    """Retract a release; a second call goes on where the first was stopped."""
    plan = ReleasePlan.load(options.plan, options.overrides)
    vault, folder = Vault(Path(plan.publish.vault)), options.release.absolute()
    run = _find_run(vault, folder)
    ledger = Ledger(vault, kind_called(run.kind).remade, plan.publish.ledger_uri)
    # Both locks: neither this run nor another one may publish between two steps.
    with run.hold_lock(), vault.lock_publishing():
        # Looked up again under the locks: another call may have begun it meanwhile.
        known = retraction_of(vault, folder)
        if known is None:
            retraction = _record_retraction(ledger, folder, options.by, options.reason)
        else:
            retraction = known[1]
        asides = _carry_out(run, ledger, retraction)
        outcome = {
            "release": retraction.title,
            "retracted": retraction.claims,
            "folders": [str(path) for path in asides],
            "still_released": _list_other_releases(ledger, run),
        }
    print_outcome(options, outcome, [_format_outcome(outcome)])
    return 0


def _find_run(vault: Vault, folder: Place) -> Run:
    """The run of the release in a folder, also of one that was retracted."""
    try:
        known = retraction_of(vault, folder)
        return release_of(vault, folder)[0] if known is None else known[0]
    except PermissionError:
        raise FolderError(
            f"the vault {vault.path} or {folder} cannot be read by this account; run the command "
            "as their owner"
        ) from None


def _record_retraction(ledger: Ledger, folder: Place, by: str, reason: str) -> Retraction:
    """Record the decision; refused where the plan's ledger is not the one that lists it."""
    run, release = release_of(ledger.vault, folder)
    retraction = Retraction.of(release, folder, by=by, reason=reason)
    # A ledger that lacks the release forgets nothing, and the right one would count it for good.
    if not ledger.lists(run, str(release.folder.parent), release.folder.name):
        raise DecisionError(
            f"the ledger that the plan names does not list {retraction.title}; give the plan and "
            "the --set options that it was released with. If that ledger was lost, "
            "crowdcover audit enters what it lacks"
        )
    return Retractions.of(run).record(retraction)


def _carry_out(run: Run, ledger: Ledger, retraction: Retraction) -> list[Place]:
    """Take every step; those that were taken change nothing. The ledger forgets last."""
    # Also of a retraction that is done: the folder may have been put back since.
    asides = put_aside(retraction)
    if retraction.done:
        return asides
    _close_approval(run)
    # Before the ledger, which `Ledger.mend` fills again with what a run still lists.
    run.forget_released(retraction.release)
    place = retraction.release.folder
    ledger.forget(run, str(place.parent), place.name)
    Retractions.of(run).end(retraction)
    return asides


def _close_approval(run: Run) -> None:
    """Whoever releases these rows again must ask again."""
    approval = Approval.of(run)
    if approval.last is not None and not approval.last.ended:
        approval.amend(ended=True)


def _list_other_releases(ledger: Ledger, run: Run) -> list[str]:
    """Other releases of the same source, for which it still counts as released."""
    overlaps = ledger.find_overlaps(None, run.source_sha256, None)
    return [name for overlap in overlaps for name in overlap.releases]


def _format_outcome(outcome: dict[str, Any]) -> str:
    """The outcome in a sentence for each thing that a person must know."""
    by, at, reason = (outcome["retracted"][name] for name in ("by", "at", "reason"))
    where = f"its folder is now {', '.join(outcome['folders'])}"
    others = outcome["still_released"]
    source = (
        f"Its source still counts as released: {', '.join(others)}"
        if others
        else "Its source counts as not released"
    )
    return (
        f"{outcome['release']} was retracted by {by} at {at}: {reason}; "
        f"{where if outcome['folders'] else 'no folder of it stands'}. {source}. {COPIES}"
    )
