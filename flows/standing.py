"""What a vault knows of a plan: how an older version understood it, and what was approved."""

from contextlib import suppress
from pathlib import Path

from flows.plan.plan import ReleasePlan
from tasks.vault.approval import Approval
from tasks.vault.copies import take_up
from tasks.vault.endings import name_of
from tasks.vault.statement import Rules
from tasks.vault.storage import BusyError, Run, Vault


def take_up_signed(order: ReleasePlan, vault: Vault) -> None:
    """Take up the decisions that people signed in their copies, about waiting runs of this plan."""
    if order.publish.terms is None or order.publish.reports is None:
        return
    rules = Rules.of(order.publish.terms_rules)
    for run in vault.every_run():
        if run.plan_sha256 == order.sha256 and Approval.of(run).last is not None:
            with suppress(BusyError), run.locked():
                take_up(Path(order.publish.reports), run, rules)


def approved_run(order: ReleasePlan, vault: Vault) -> Run | None:
    """The run of this plan that a person approved and that is not published yet, of a query.

    Its table may have moved on since, and the approval is about the rows as they were. A version of
    a series finds its own.
    """
    if order.series is not None or order.data.source.path is not None:
        return None
    if order.publish.time_to_approve is None:
        return None
    for run in vault.every_run():
        if run.plan_sha256 != order.sha256 or run.ever_visible():
            continue
        last = Approval.of(run).last
        if last is not None and not last.ended and last.decision and last.decision.approved:
            return run
    return None


def unused(order: ReleasePlan, vault: Vault, run: Run) -> bool:
    """Whether this run is the first of a plan of this name in the vault, and begins."""
    others = (each for each in vault.every_run() if each.path != run.path)
    return not run.stages() and all(name_of(each) != order.name for each in others)


def standing(order: ReleasePlan, vault: Vault, source_sha256: str) -> ReleasePlan:
    """Return the plan under which the vault knows a release of this source; else the plan itself.

    A rerun gives the release that stands, and an audit holds it to the promise that it made.
    """
    earlier = order.earlier
    if vault.find(order.sha256, source_sha256) is None:
        run = vault.find(earlier.sha256, source_sha256)
        if run is not None and run.ever_visible():
            return earlier
    return order
