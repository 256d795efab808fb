"""Compare source and utility with the last release of that name; refuse drift."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from anon_core.errors import GuaranteeError
from crowdcover.kinds.base import Kind
from crowdcover.kinds.judge.drift import Changes, DriftLimits
from crowdcover.storage.places.place import Place
from crowdcover.storage.series.series import Version
from crowdcover.storage.shelf.content import has_version_files, read_document
from crowdcover.storage.shelf.layout import MANIFEST
from crowdcover.storage.vault.files import read_json
from crowdcover.storage.vault.run import Release, Run, Stored
from crowdcover.storage.vault.vault import Vault
from crowdcover.tasks.orchestration.gates import pass_gate
from crowdcover.tasks.orchestration.stage import log_line, stage
from crowdcover.tasks.stages.check import CheckedRelease

_UNREADABLE = (OSError, ValueError, KeyError, TypeError)


@dataclass(frozen=True)
class LastRelease:
    """What the vault keeps of the last release; no published folder is read.

    Attributes
    ----------
    version, plan_sha256 : str
    utility : float
        Of that release, as its kind measures it.
    profile : mapping
        Of its source, as `Kind.ingest` stated it.
    earlier : tuple of mapping
        Profiles of the releases before it.
    limits : DriftLimits
    """

    version: str
    plan_sha256: str
    utility: float
    profile: Mapping[str, Any] = field(repr=False)
    earlier: tuple[Mapping[str, Any], ...] = field(repr=False)
    limits: DriftLimits


def last_release(
    vault: Vault, run: Run, kind: Kind, parent: Place, limits: DriftLimits | None
) -> LastRelease | None:
    """The highest version in this folder that another run published before this one."""
    if limits is None:
        log_line("checks.drift is off: nothing is compared with earlier releases")
        return None
    releases = sorted(
        _list_earlier_releases(vault, run, parent),
        # Of two with one number, the one whose folder stands comes last and is taken.
        key=lambda each: (_find_version_number(each[1]), each[1].stands()),
    )
    if not releases:
        log_line(
            "the vault knows no earlier release of this name in this folder: nothing to compare"
        )
        return None
    other, release = releases.pop()
    version = release.folder.name
    complete = release.stands() and has_version_files(
        release.folder, read_document(release.folder / MANIFEST)["files"]
    )
    if not complete:
        log_line(
            f"{version} is gone or was changed; the comparison is with what the vault keeps of it"
        )
    profile, utility = _load_profile(other), _load_utility(kind, other)
    if profile is None or utility is None:
        raise GuaranteeError(
            f"publication refused; the source must be compared with {version}, and the vault lacks "
            f"what it kept of that (runs/{other.path.name}, ingest and check); restore it, or "
            "allow one run without by --set checks.drift=off"
        )
    earlier = tuple(known for before, _ in releases if (known := _load_profile(before)) is not None)
    return LastRelease(version, other.plan_sha256, utility, profile, earlier, limits)


def last_of_series(kind: Kind, last: Version, limits: DriftLimits) -> LastRelease:
    """The version before, with the profile of its whole source."""
    profile = last.about.get("profile")
    audited = last.run.whole("versions")
    utility = None if audited is None else find_release_utility(kind, audited.facts)
    if profile is None or utility is None:
        raise GuaranteeError(
            "publication refused; the source must be compared with that of the version before, "
            "and the vault lacks what it kept of that; restore it, or allow one run without by "
            "--set checks.drift=off"
        )
    name = f"version {last.number}"
    return LastRelease(name, last.run.plan_sha256, utility, profile, (), limits)


@stage("compare")
def compare(run: Run, kind: Kind, plan: Any, last: LastRelease, ingested: Stored) -> Changes:
    """Refuse data that drifted too far since the last release, before any work is done on it."""
    changes = kind.changes(last.version, last.profile, ingested, plan, last.earlier)
    rows = f"{changes.rows} rows after {changes.rows_before}"
    remark = f"compared with {last.version}: {rows}, {len(changes.columns)} columns"
    log_line(remark)
    with pass_gate(run, "alike") as remarks:
        changes.require(last.limits)
        remarks.append(remark)
    return changes


def drift_claims(
    run: Run,
    kind: Kind,
    last: LastRelease | None,
    changes: Changes | None,
    checked: CheckedRelease,
) -> dict[str, Any]:
    """The manifest's drift section; refused if the release keeps much less than the last one."""
    if last is None or changes is None:
        return {}
    if run.plan_sha256 == last.plan_sha256:
        before, now = last.utility, find_release_utility(kind, checked.sections)
        changes = replace(changes, utility=(before, now))
        with pass_gate(run, "kept") as remarks:
            changes.require(last.limits)
            remarks.append(f"utility {now:.4f} after {before:.4f}")
    else:
        log_line(f"{last.version} was made under another plan: utility is not compared")
    accepted = {"accepted": last.limits.claims} if last.limits.accepted else {}
    return {"drift": {**changes.claims, **accepted}}


def find_release_utility(kind: Kind, sections: Mapping[str, Any]) -> float:
    """What a release keeps; of a version, all its rows count, not only those that are new."""
    if (series := sections.get("series")) is not None:
        return float(series["kept"])
    return kind.utility(sections)


def _list_earlier_releases(vault: Vault, run: Run, parent: Place) -> Iterator[tuple[Run, Release]]:
    """What other runs have published in this folder; before this run did, if it did."""
    own = run.released(parent)
    for other in vault.every_run():
        release = other.released(parent)
        if other.path == run.path or release is None or not (release.published or release.stands()):
            continue
        if (
            own is None
            or not own.published
            or _find_version_number(release) < _find_version_number(own)
        ):
            yield other, release


def _find_version_number(release: Release) -> int:
    return int(release.folder.name.removeprefix("v"))


def _load_profile(run: Run) -> dict[str, Any] | None:
    """The profile that `ingest` stored, by whatever version of the code."""
    try:
        return dict(read_json(run.path / "ingest" / "stage.json")["facts"]["profile"])
    except _UNREADABLE:
        return None


def _load_utility(kind: Kind, run: Run) -> float | None:
    """The utility that `check` measured, by whatever version of the code."""
    try:
        return kind.utility(read_json(run.path / "check" / "stage.json")["facts"])
    except _UNREADABLE:
        return None
