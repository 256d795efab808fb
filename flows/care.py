"""Care of what stands: the vault verified and backed up, a backup restored, releases audited.

Each duty ends in an artifact of Prefect, `care-<plan>-<duty>`. A duty that fails stops no other
one; the flow run then ends as Failed, and the server is told, for its alarms.
"""

import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from prefect import State, flow
from prefect.runtime import deployment
from prefect.states import Failed

from anon_core.errors import AnonymityError, InputError
from crowdcover.flows.look.audit import PLAN_CHANGED, SOURCE_CHANGED, recompute_guarantees
from crowdcover.flows.look.told_events import tell_server
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.flows.runs.parameters import name_of_plan, read_run_plan, refuse_another
from crowdcover.flows.runs.states import hold_plan_slot
from crowdcover.kinds.section import PlanError
from crowdcover.reports.markdown import escape_markup
from crowdcover.reports.quantities import size
from crowdcover.storage.ledger.ledger import Ledger
from crowdcover.storage.ledger.verification import look_at_ledger
from crowdcover.storage.shelf.shelf import shelf_of
from crowdcover.storage.upkeep.backup import back_up, restore_backup
from crowdcover.storage.upkeep.verification import Report, inspect_vault
from crowdcover.storage.vault.failures import keep_failures
from crowdcover.storage.vault.refusals import FolderError
from crowdcover.storage.vault.vault import Vault
from crowdcover.tasks.orchestration.events import about_plan, key_of
from crowdcover.tasks.orchestration.in_prefect import trim_prefect_log
from crowdcover.tasks.orchestration.stage import log_line, show_in_prefect

trim_prefect_log()

Duty = Literal["verify", "backup", "rehearse", "audit"]


@dataclass(frozen=True)
class Care:
    """What a duty needs: the plan, and where backups lie, for whom."""

    plan: ReleasePlan
    backups: Path | None
    recipient: str | None

    @property
    def vault(self) -> Vault:
        """The vault of the plan."""
        return Vault(Path(self.plan.publish.vault))

    @property
    def folder(self) -> Path:
        """Where backups lie; refused if none is named."""
        if self.backups is None:
            raise PlanError("care: 'backup' and 'rehearse' need the parameter `backups`, a folder")
        return self.backups


@dataclass(frozen=True)
class DutyResult:
    """What a duty found: lines for people, and whether all is well."""

    lines: tuple[str, ...]
    passed: bool = True


@flow(name="care", persist_result=False)
def care(
    plan: str,
    what: list[Duty] | None = None,
    backups: str | None = None,
    recipient: str | None = None,
) -> str | State[Any]:
    """Look after the vault and the releases of a plan; returns what was found, in one line.

    Args:
        plan: path of the plan
        what: any of verify, backup, rehearse, audit; without it, all that can be done
        backups: a folder, outside of the vault, for backups; that of the deployment
        recipient: public key that backups are encrypted to, where it is not the vault's own; that
            of the deployment
    """
    with about_plan(name_of_plan(plan)), hold_plan_slot():
        try:
            about = _begin(plan, backups, recipient)
        except AnonymityError as refusal:
            return _refuse(plan, refusal)
        name = about.plan.name
        duties = what or list_duties(about.backups, recipient)
        found = {duty: _do(duty, about) for duty in duties}
        failed = [duty for duty, outcome in found.items() if not outcome.passed]
        if failed:
            words = ", ".join(failed)
            tell_server("care.failed", [name], failed=words)
            return Failed(message=f"care of {name} found what is not well: {words}")
        return f"care of {name}: {', '.join(found)}: all is well"


def _begin(plan: str, backups: str | None, recipient: str | None) -> Care:
    """What the duties need; refused: a vault that is gone, and what no run may choose.

    A run that chose its own recipient would take the secrets of the vault away.
    """
    refuse_another(plan, backups=backups, recipient=recipient)
    # Not kept in the vault, as a release does: that would make a vault that is gone anew.
    about = Care(read_run_plan(plan), None if backups is None else Path(backups), recipient)
    if not about.vault.runs.is_dir():
        raise FolderError(
            f"there is no vault {about.vault.path}: the first release makes it; if there was one, "
            "restore a backup"
        )
    return about


def _refuse(plan: str, refusal: AnonymityError) -> State[Any]:
    """Tell the server that nothing was looked after, and end the flow run in the refusal."""
    name = name_of_plan(plan)
    # The deployment has the plan's name, also where the plan cannot be read.
    name = deployment.name or name
    failed = "vault" if isinstance(refusal, FolderError) else "plan"
    tell_server("care.failed", [name], failed=failed)
    return Failed(name="Refused", message=f"care of {name}: {refusal}", data=refusal)


def list_duties(backups: Path | None, recipient: str | None) -> list[Duty]:
    """What is done where nothing is named.

    A backup for a key of its own is not rehearsed: that key should not lie on this machine.
    """
    if backups is None:
        return ["verify", "audit"]
    return ["verify", "backup", "audit"] if recipient else ["verify", "backup", "rehearse", "audit"]


def _do(duty: Duty, about: Care) -> DutyResult:
    """Do one duty, and show it in Prefect; a refusal is its outcome."""
    try:
        with keep_failures(about.vault.runs, f"care-{duty}"):
            outcome = _DUTIES[duty](about)
    except AnonymityError as refusal:
        outcome = DutyResult((str(refusal),), passed=False)
    verdict = "all is well" if outcome.passed else "not well"
    log_line(f"{duty}: {verdict}: {'; '.join(outcome.lines)}")
    lines = "\n".join(f"- {escape_markup(line)}" for line in outcome.lines)
    show_in_prefect(
        key_of("care", about.plan.name, duty), f"# {duty}: {verdict}\n\n{lines}\n", verdict
    )
    return outcome


def _verify(about: Care) -> DutyResult:
    """Look for damage in keys, stages, ledger and releases."""
    vault = about.vault
    report = inspect_vault(vault)
    look_at_ledger(report, Ledger(vault, about.plan.kind.remade, about.plan.publish.ledger_uri))
    return _describe_report(report)


def _describe_report(report: Report) -> DutyResult:
    counted = ", ".join(f"{number} {what}" for what, number in report.looked_at.items())
    damage = [f"{each.where}: {each.found}; {each.remedy}" for each in report.damage]
    return DutyResult((counted, *damage), passed=not damage)


def _back_up(about: Care) -> DutyResult:
    """Write a backup, named by the plan and the time."""
    about.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    to = about.folder / f"{about.plan.name}-{moment}.age"
    keys = [] if about.recipient is None else [about.recipient]
    made = back_up(about.vault, to, keys, plain=False)
    tell_server("vault.backed-up", [about.plan.name])
    return DutyResult((f"{made.files} files ({size(made.bytes)}) are in {to}, encrypted",))


def _rehearse(about: Care) -> DutyResult:
    """Restore the newest backup aside, verify what came of it, and remove it."""
    newest = _find_newest_backup(about)
    # Beside the backups: what is restored holds secrets, and other folders may be open to others.
    # Of one name: what a run that was killed has left is removed by the next one.
    aside = about.folder / f".rehearsal-{about.plan.name}"
    shutil.rmtree(aside, ignore_errors=True)
    try:
        aside.mkdir(mode=0o700)
    except FileExistsError:
        raise FolderError(f"{aside} of an earlier rehearsal cannot be removed; remove it") from None
    try:
        made = restore_backup(newest, aside / "vault")
        found = _describe_report(inspect_vault(Vault(aside / "vault")))
        runs = len(list(Vault(aside / "vault").every_run()))
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    if aside.exists():
        raise FolderError(f"{aside} holds a restored vault and cannot be removed; remove it")
    now = len(list(about.vault.every_run()))
    lines = (
        f"{newest.name}, made {made.made}: {made.files} files were restored and removed again",
        f"{runs} runs are in it, {now} in the vault",
    )
    return DutyResult((*lines, *found.lines), passed=found.passed)


def _find_newest_backup(about: Care) -> Path:
    name = re.compile(re.escape(about.plan.name) + r"-\d{8}T\d{6}Z\.age")
    known = sorted(path for path in about.folder.glob("*.age") if name.fullmatch(path.name))
    if not known:
        raise FolderError(f"{about.folder} has no backup that care made for this plan")
    return known[-1]


def _audit(about: Care) -> DutyResult:
    """Audit each version that stands.

    A version of a source or plan that has changed since cannot be recomputed: `verify` compares its
    bytes.
    """
    releases, plan, lines, passed = about.plan.releases, about.plan, [], True
    for version in shelf_of(releases).versions():
        try:
            audit = recompute_guarantees(releases / version, plan)
        except InputError as refusal:
            changed = {SOURCE_CHANGED: "source", PLAN_CHANGED: "plan"}.get(str(refusal))
            if changed is None:
                raise
            lines.append(f"{version}: not audited, since the {changed} has changed")
            continue
        lines.append(f"{version}: {audit.sentence()}")
        if not audit.passed:
            passed = False
            facts = {"broken": len(audit.broken), "findings": len(audit.findings)}
            tell_server("audit.failed", [plan.name], version=version, **facts)
    return DutyResult(tuple(lines) or ("no version stands",), passed)


_DUTIES: Mapping[Duty, Callable[[Care], DutyResult]] = {
    "verify": _verify,
    "backup": _back_up,
    "rehearse": _rehearse,
    "audit": _audit,
}
