"""What a vault knows of a plan: its text, how an older version understood it, its approval."""

from contextlib import suppress
from pathlib import Path

from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.storage.approval.approval import Approval
from crowdcover.storage.approval.officer_copy import take_up
from crowdcover.storage.approval.statement import Rules
from crowdcover.storage.series.series import Series
from crowdcover.storage.source.drivers import database_of
from crowdcover.storage.source.reading import Absent, Reading
from crowdcover.storage.source.values import FORM
from crowdcover.storage.vault.endings import name_of
from crowdcover.storage.vault.files import read_json
from crowdcover.storage.vault.refusals import BusyError
from crowdcover.storage.vault.run import Run
from crowdcover.storage.vault.vault import Vault, refuse_unusable


def freeze_plan(plan: ReleasePlan) -> Path:
    """Write the plan as it was understood into its vault; its file.

    Refused in plain words where the vault cannot be written.
    """
    vault = Vault(Path(plan.publish.vault)).open()
    with refuse_unusable(vault.path, "keeping the plan in the vault"):
        return plan.freeze(vault.path / "plans")


def take_up_decisions(plan: ReleasePlan, vault: Vault, *, closes: bool = True) -> None:
    """Take up the decisions that people signed in their copies, about waiting runs of this plan.

    `closes`: see `take_up`.
    """
    if plan.publish.terms is None or plan.publish.reports is None:
        return
    rules = Rules.of(plan.publish.terms_rules)
    for run in vault.every_run():
        if run.plan_sha256 == plan.sha256 and Approval.of(run).last is not None:
            # A run that is at work takes its decisions up itself, in `require_approval`.
            with suppress(BusyError), run.hold_lock():
                take_up(Path(plan.publish.reports), run, rules, closes=closes)


def find_approved_run(plan: ReleasePlan, vault: Vault) -> Run | None:
    """The run of this plan that a person approved and that is not published yet, of a query.

    Its table may have moved on since, and the approval is about the rows as they were. A version of
    a series finds its own.
    """
    if plan.series is not None or plan.data.source.path is not None:
        return None
    if plan.publish.time_to_approve is None:
        return None
    for run in vault.every_run():
        if run.plan_sha256 != plan.sha256 or run.ever_visible():
            continue
        last = Approval.of(run).last
        if last is not None and not last.ended and last.decision and last.decision.approved:
            return run
    return None


def is_first_run(plan: ReleasePlan, vault: Vault, run: Run) -> bool:
    """Whether this run is the first of a plan of this name in the vault, and begins."""
    others = (each for each in vault.every_run() if each.path != run.path)
    return not run.stages() and all(name_of(each) != plan.name for each in others)


def find_standing_plan(plan: ReleasePlan, vault: Vault, source_sha256: str) -> ReleasePlan:
    """Return the plan under which the vault knows a release of this source; else the plan itself.

    A rerun gives the release that stands, and an audit holds it to the promise that it made, with
    the source as it was read then.
    """
    first = vault.find(plan.sha256, source_sha256)
    # An unfinished run of the plan as it is goes on: no older release takes its place.
    for known in (plan, *plan.earlier) if first is None else (plan,):
        run = vault.find(known.sha256, source_sha256)
        if run is not None and run.ever_visible():
            return known.read_as(read_source_form(run))
    return plan


def read_source_form(run: Run) -> int:
    """In which form a run read its source; 1 where an older build made it."""
    with suppress(OSError, ValueError):  # a damaged stage is made again
        return int(read_json(run.path / "ingest" / "stage.json")["facts"].get("form", 1))
    return FORM


def recognise_source(
    plan: ReleasePlan, vault: Vault, reading: Reading
) -> tuple[ReleasePlan, Reading]:
    """Return the plan as the vault knows it, and the source as it was read for that.

    Of some databases older builds took another fingerprint: such a source is read as they did.
    """
    known = find_standing_plan(plan, vault, reading.sha256)
    if known.data.source.form != reading.source.form:
        return known, _read_again(known, reading)
    database = database_of(plan.data.source.uri or "")
    hashed_otherwise = database is not None and database.has_older_hash
    # The query would run a second time: only where an older release may be of this source.
    if hashed_otherwise and vault.find(known.sha256, reading.sha256) is None:
        plans = {each.sha256 for each in (plan, *plan.earlier)}
        older = (
            run.plan_sha256 in plans and run.ever_visible() and read_source_form(run) == 1
            for run in vault.every_run()
        )
        if any(older):
            other = Reading(plan.read_as(1).data.source)
            known = find_standing_plan(plan, vault, other.sha256)
            if known.data.source.form == 1:
                reading.end()
                return known, other
            other.end()
    return known, reading


def _read_again(plan: ReleasePlan, reading: Reading) -> Reading:
    """The source in the form of the plan."""
    if isinstance(reading, Absent):
        return Absent(plan.data.source, reading.sha256)
    reading.end()
    return Reading(plan.data.source)


def apply_series_form(plan: ReleasePlan, vault: Vault) -> ReleasePlan:
    """Return the plan of a series as its last version understood it.

    The source is read as for its first version.
    """
    if plan.series is None:
        return plan
    series = Series(vault, plan.name)
    first, last = series.first, series.last
    if first is None or last is None:
        return plan
    before = last.about["plan_sha256"]
    # No match: the plan was changed, and `prepare_next_version` refuses it with its reasons.
    known = next((each for each in (plan, *plan.earlier) if each.sha256 == before), plan)
    return known.read_as(first.about.get("form", 1))
