"""The audit of a published folder, from a plan; no Prefect, so that it starts at once."""

from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from anon_core.errors import InputError
from anon_core.promise import Promise
from crowdcover.flows.look.documents import catalogue_finding, report_finding
from crowdcover.flows.look.named_release import read_manifest, refuse_another_kind
from crowdcover.flows.look.version_audit import audit_version
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.flows.runs.known_plan import apply_series_form, recognise_source
from crowdcover.kinds.base import Kind
from crowdcover.kinds.judge.audit import Audit, Finding, audit_folder
from crowdcover.kinds.judge.forms import codebook_form, manifest_form
from crowdcover.kinds.judge.manifest_keys import Keys, list_manifest_keys
from crowdcover.kinds.section import PlanError
from crowdcover.storage.approval.approval import Approval
from crowdcover.storage.approval.attestation import list_stray_names
from crowdcover.storage.approval.decision_rules import find_manifest_objection
from crowdcover.storage.approval.statement import Rules
from crowdcover.storage.ledger.ledger import Ledger
from crowdcover.storage.ledger.other_releases import describe_crowd_counts
from crowdcover.storage.places.place import Place, local_copy
from crowdcover.storage.series.retractions import Retractions, notice_of, retraction_of, same_place
from crowdcover.storage.series.series import Series
from crowdcover.storage.shelf.content import has_version_files, hash_released_file
from crowdcover.storage.shelf.layout import NOTICE, SIGNATURE
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.vault.refusals import FolderError, SecondReleaseError
from crowdcover.storage.vault.run import Run
from crowdcover.storage.vault.vault import Vault


@runtime_checkable
class AffectedMeasured(Protocol):
    """Measured numbers of a kind with sensitive columns."""

    def list_affected_levels(self) -> list[dict[str, Any]]:
        """See `kinds.table.judge.measured.Measured`."""
        ...


_GONE = ("passes",)  # settings that manifests of older releases state
NO_RELEASE = "the vault knows no release of this plan and this source"
SOURCE_CHANGED = (
    f"{NO_RELEASE}; the source has changed since this release was made, its content has another "
    "fingerprint; audit with the source as it was, such as a copy of the file or of the rows"
)
PLAN_CHANGED = (
    f"{NO_RELEASE}; the plan has changed since this release was made, or other --set options are "
    "given, while the source is the same; audit with the plan as it was"
)
NOT_THE_NEWEST = (
    "of an older version of a series the vault keeps who fits which row, and not by which values, "
    "so who is affected is measured of the newest version only; audit that, or leave --affected out"
)
UNKNOWN = (
    f"{NO_RELEASE}; audit with the plan, the "
    "--set options, the source and the vault that the release was made with "
    "(--set publish.vault=...)"
)


def recompute_guarantees(place: Place, plan: ReleasePlan) -> Audit:
    """Recompute every guarantee of a release from the plan's source and the released bytes."""
    vault = Vault(Path(plan.publish.vault))
    audit = _audit_release_source if plan.series is None else _audit_series_version
    with local_copy(place) as folder:
        refuse_another_kind(folder, plan.kind)
        # What a link names is no part of a release, and may change.
        if odd := list_stray_names(folder):
            return Audit((_build_stray_finding(len(odd)),))
        return audit(place, folder, plan, vault)


def list_affected(audit: Audit) -> list[dict[str, Any]]:
    """Which levels have records whose crowd shows one sensitive value: private; of a table only.

    Of a version of a series they are those of its batch, which is at hand of the newest one.
    """
    measured = audit.of_batch.measured
    if measured is None and audit.passed:
        raise PlanError(NOT_THE_NEWEST)
    if measured is None:
        return []
    if not isinstance(measured, AffectedMeasured):
        raise PlanError("only the audit of a table tells which levels are affected")
    return measured.list_affected_levels()


def _build_stray_finding(number: int) -> Finding:
    detail = f"{number} links, folders or devices in place of plain files; nothing was read"
    return Finding("files as published", passed=False, detail=detail)


def _audit_release_source(place: Place, folder: Path, plan: ReleasePlan, vault: Vault) -> Audit:
    """Audit a release from its source and its bytes."""
    kind, reading = plan.kind, Reading(plan.data.source)
    plan.data.check_header(reading.header)
    # Today's promise first: `recognise_source` may return the plan as an older build understood it.
    today, (plan, reading) = plan.build_anonymizer().promise, recognise_source(plan, vault, reading)
    run = vault.find(plan.sha256, reading.sha256)
    if run is None or not run.has("anonymize"):
        raise InputError(_explain_missing_run(plan, vault, place, reading.sha256))
    formats, promise = plan.publish.formats, plan.build_anonymizer().promise
    # `folder_of`, not `whole`: a changed matching must become a finding, not a run that is missing.
    audit = kind.judge(plan.data, promise, formats, reading, folder, run.folder_of("anonymize"))
    if audit.measured is not None and audit.rows is not None:
        ledger = Ledger(vault, kind.remade, plan.publish.ledger_uri)
        audit = audit.also(*_intersect_others(kind, run, ledger, audit))
    audit = _compare_with_vault(place, folder, plan, run, audit, promise)
    return audit.also(*_list_later_promises(today, promise), *_check_approval(folder, plan, run))


def _explain_missing_run(plan: ReleasePlan, vault: Vault, place: Place, source_sha256: str) -> str:
    """Why the vault knows no release of a plan and a source: which of both is another one."""
    runs = [run for run in vault.every_run() if _is_release_of_run(run, place)]
    plans = {each.sha256 for each in (plan, *plan.earlier)}
    if any(run.plan_sha256 in plans and run.source_sha256 != source_sha256 for run in runs):
        return SOURCE_CHANGED
    if any(run.source_sha256 == source_sha256 for run in runs):
        return PLAN_CHANGED
    return UNKNOWN


def _audit_series_version(place: Place, folder: Path, plan: ReleasePlan, vault: Vault) -> Audit:
    """Audit a version from its bytes and from what the vault keeps of all versions."""
    series, plan = Series(vault, plan.name), apply_series_form(plan, vault)
    versions = series.versions()
    version = next((each for each in versions if _is_release_of_run(each.run, place)), None)
    if version is None:
        raise InputError(UNKNOWN)
    ledger = Ledger(vault, plan.kind.remade, plan.publish.ledger_uri)
    audit, promise = audit_version(folder, plan, series, version, ledger)
    audit = _compare_with_vault(place, folder, plan, version.run, audit, promise)
    return audit.also(*_check_approval(folder, plan, version.run))


def _is_release_of_run(run: Run, folder: Place) -> bool:
    """Whether a folder is a release of this run, by its bytes, else by its place."""
    releases = [*run.ever_visible(), *(each.release for each in Retractions.of(run).all)]
    return any(
        # By place, too: a release whose bytes were changed must be found to be reported.
        has_version_files(folder, each.files) or same_place(folder, each.folder)
        for each in releases
    )


def _compare_with_vault(
    place: Place, folder: Path, plan: ReleasePlan, run: Run, audit: Audit, promise: Promise
) -> Audit:
    """Add whether the folder is what the vault remembers, and what its manifest claims."""
    vault = Vault(Path(plan.publish.vault))
    taken_back = _check_retraction(vault, place)
    # A run forgets a release that was taken back; that has a finding of its own.
    remembered = bool(taken_back) or any(
        has_version_files(folder, release.files) for release in run.ever_visible()
    )
    detail = f"compared with what the vault's runs/{run.path.name} remembers"
    audit = audit.also(
        Finding("manifest as published", remembered, detail),
        *taken_back,
        *_check_signature(folder, run),
        codebook_form(folder, plan.kind.codebook),
        manifest_form(folder, _list_manifest_keys(plan, audit)),
    )
    audit = audit_folder(folder, audit, plan.limits.release_limits, promise, plan.kind.comparable)
    if not audit.passed:  # what is described follows from what is broken
        return audit
    manifest = read_manifest(folder)
    return audit.also(
        *catalogue_finding(folder, plan.kind, manifest),
        *report_finding(folder, plan.kind, manifest, audit),
    )


def _list_manifest_keys(plan: ReleasePlan, audit: Audit) -> Keys:
    """The keys that the manifest may hold; what is broken may keep numbers from being measured."""
    settings: Keys = {"anonymizer": dict.fromkeys((*plan.anonymizer_settings, *_GONE))}
    whole = audit.passed and audit.measured is not None
    measured = audit.measured.sections() if whole else {}
    return list_manifest_keys({**plan.kind.claimed, **settings}, measured)


def _check_signature(folder: Path, run: Run) -> list[Finding]:
    """Whether the signature is the one that was made; nothing where none was made and none is."""
    visible = [*run.ever_visible(), *(each.release for each in Retractions.of(run).all)]
    made = {release.files[SIGNATURE] for release in visible if SIGNATURE in release.files}
    found = hash_released_file(folder / SIGNATURE) if (folder / SIGNATURE).is_file() else None
    if not made and found is None:
        return []
    detail = "the bytes that were signed; crowdcover verify checks them with the public key"
    if found not in made:
        detail = "another one" if found else f"{SIGNATURE} is missing"
    return [Finding("signature as published", found in made, detail)]


def _check_approval(folder: Path, plan: ReleasePlan, run: Run) -> list[Finding]:
    """Whether the approval that the plan requires was given, and by somebody who may give it."""
    if (terms := plan.publish.terms) is None:
        return []
    missing = Approval.of(run).find_objection(folder)
    detail = missing or "these bytes, by the person that is named"
    findings = [Finding("approved as the plan requires", not missing, detail)]
    rules = Rules.of(terms.rules)
    if not rules.ask_nothing:
        wrong = find_manifest_objection(run, folder, rules)
        known = "by another person than who asked"
        if rules.approvals > 1:
            known = f"by {rules.approvals} different people"
        if rules.approvers:
            known = "signed" if rules.approvals == 1 else f"signed {known}"
        detail = wrong or f"{known}; verified from the manifest and the plan"
        findings.append(Finding("approved by who may", not wrong, detail))
    return findings


def _list_later_promises(today: Promise, promise: Promise) -> list[Finding]:
    """What the same plan promises today and did not when the release was made."""
    return [Finding.of_later(name) for name in today.findings if name not in promise.findings]


def _check_retraction(vault: Vault, folder: Place) -> list[Finding]:
    """That the release was retracted, by the vault or by a notice in the folder, if it was."""
    known, notice = retraction_of(vault, folder), notice_of(folder)
    if known is None and notice is None:
        return []
    detail = known[1].sentence if known else f"{NOTICE} in the folder says so; the vault does not"
    return [Finding("not retracted", passed=False, detail=detail)]


def _intersect_others(kind: Kind, run: Run, ledger: Ledger, audit: Audit) -> list[Finding]:
    """Whether crowds hold beside other releases of the same people; nothing where none are."""
    try:
        # A release that the ledger lacks, as after a crash, would be left out of the comparison.
        with ledger.vault.lock_publishing():
            ledger.mend()
    except OSError as error:
        raise FolderError(
            f"the vault's ledger cannot be written ({type(error).__name__}); "
            "audit where it can be written"
        ) from None
    overlaps = ledger.find_overlaps(run, run.source_sha256, ledger.people(run))
    if not overlaps:
        return []
    try:
        left = kind.intersect_crowds(run, ledger, overlaps, audit)
    # A broken guarantee, not a refusal: the audit goes on with its other findings.
    except SecondReleaseError as gone:
        return [Finding("crowds after intersection", passed=False, detail=str(gone))]
    passed = not left["below_k"]
    return [Finding("crowds after intersection", passed=passed, detail=describe_crowd_counts(left))]
