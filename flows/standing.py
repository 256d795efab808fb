"""What a vault knows of a plan: how an older version understood it, and what was approved."""

from contextlib import suppress
from pathlib import Path

from flows.plan.plan import ReleasePlan
from storage.approval.approval import Approval
from storage.approval.officer_copy import take_up
from storage.approval.statement import Rules
from storage.series.series import Series
from storage.source.reading import Absent, Reading
from storage.source.sources import DUCKDB
from storage.source.values import FORM
from storage.vault.endings import name_of
from storage.vault.files import read_json
from storage.vault.refusals import BusyError
from storage.vault.run import Run
from storage.vault.vault import Vault


def take_up_signed(order: ReleasePlan, vault: Vault) -> None:
    """Take up the decisions that people signed in their copies, about waiting runs of this plan."""
    if order.publish.terms is None or order.publish.reports is None:
        return
    rules = Rules.of(order.publish.terms_rules)
    for run in vault.every_run():
        if run.plan_sha256 == order.sha256 and Approval.of(run).last is not None:
            with suppress(BusyError), run.hold_lock():
                take_up(Path(order.publish.reports), run, rules)


def find_approved_run(order: ReleasePlan, vault: Vault) -> Run | None:
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


def is_first_run(order: ReleasePlan, vault: Vault, run: Run) -> bool:
    """Whether this run is the first of a plan of this name in the vault, and begins."""
    others = (each for each in vault.every_run() if each.path != run.path)
    return not run.stages() and all(name_of(each) != order.name for each in others)


def find_standing_plan(order: ReleasePlan, vault: Vault, source_sha256: str) -> ReleasePlan:
    """Return the plan under which the vault knows a release of this source; else the plan itself.

    A rerun gives the release that stands, and an audit holds it to the promise that it made, with
    the source as it was read then.
    """
    run, earlier = vault.find(order.sha256, source_sha256), order.earlier
    if run is None:
        before = vault.find(earlier.sha256, source_sha256)
        if before is not None and before.ever_visible():
            order, run = earlier, before
    return order if run is None or not run.ever_visible() else order.read_as(form_of(run))


def form_of(run: Run) -> int:
    """In which form a run read its source; 1 where an older build made it."""
    with suppress(OSError, ValueError):  # a damaged stage is made again
        return int(read_json(run.path / "ingest" / "stage.json")["facts"].get("form", 1))
    return FORM


def recognise_source(
    order: ReleasePlan, vault: Vault, reading: Reading
) -> tuple[ReleasePlan, Reading]:
    """Return the plan as the vault knows it, and the source as it was read for that.

    Of some databases older builds took another fingerprint: such a source is read as they did.
    """
    known = find_standing_plan(order, vault, reading.sha256)
    if known.data.source.form != reading.source.form:
        return known, _read_again(known, reading)
    uri = order.data.source.uri or ""
    if uri.startswith(DUCKDB) and vault.find(known.sha256, reading.sha256) is None:
        plans = {order.sha256, order.earlier.sha256}
        older = (
            run.plan_sha256 in plans and run.ever_visible() and form_of(run) == 1
            for run in vault.every_run()
        )
        if any(older):
            other = Reading(order.read_as(1).data.source)
            known = find_standing_plan(order, vault, other.sha256)
            if known.data.source.form == 1:
                reading.end()
                return known, other
            other.end()
    return known, reading


def _read_again(order: ReleasePlan, reading: Reading) -> Reading:
    """The source in the form of the plan."""
    if isinstance(reading, Absent):
        return Absent(order.data.source, reading.sha256)
    reading.end()
    return Reading(order.data.source)


def apply_series_form(order: ReleasePlan, vault: Vault) -> ReleasePlan:
    """Return the plan of a series with its source read as for its first version."""
    if order.series is None:
        return order
    versions = Series(vault, order.name).versions()
    return order.read_as(versions[0].about.get("form", 1)) if versions else order
