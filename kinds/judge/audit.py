"""What an audit reports, of any kind of data, and the audit of a published folder."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, Self

from anon_core.promise import Promise
from crowdcover.kinds.judge.limits import ReleaseLimits
from crowdcover.storage.shelf.content import has_version_files, read_document
from crowdcover.storage.shelf.layout import MANIFEST, NOTICE, SIGNATURE

Sections = Mapping[str, Mapping[str, Any]]  # of a manifest
DIRECT = "no direct identifiers"
DIRECT_COUNTS = "direct_identifiers"  # of "protection" in manifests that know this check
OLDER = "this release was made before this check; counted now: "


class Measured(Protocol):
    """The numbers that an audit measures on the way to its findings: aggregates only."""

    def sections(self) -> dict[str, dict[str, Any]]:
        """All numbers by section of the manifest; "privacy" has "records", k_min and k_max."""
        ...


@dataclass(frozen=True)
class Finding:
    """One guarantee of a release.

    Attributes
    ----------
    guarantee : str
        Its name, as in a `Promise`.
    passed : bool
        Whether the release keeps it.
    detail : str
        The counts behind that, without values of the data.
    required : bool
        Whether the release must keep it. A finding that is not required informs only.
    """

    guarantee: str
    passed: bool
    detail: str
    required: bool = True

    @classmethod
    def of_later(cls, guarantee: str) -> Self:
        """Of a guarantee that the version which made the release did not know."""
        detail = "not promised: the release is older than this promise"
        return cls(guarantee, passed=False, detail=detail, required=False)

    @property
    def broken(self) -> bool:
        """Whether the release must keep this guarantee and does not."""
        return self.required and not self.passed


def not_judged(promise: Promise, findings: Sequence[Finding], what: str) -> list[Finding]:
    """A failed finding for each name in the promise that an audit of a `what` does not know."""
    known = {finding.guarantee for finding in findings}
    return [
        Finding(name, passed=False, detail=f"no audit of a {what} judges this")
        for name in promise.findings
        if name not in known
    ]


@dataclass(frozen=True)
class Audit:
    """All findings about one release.

    `measured` is None where the files cannot be read or parts of them are missing. `rows` is the
    released data as it was read, for the kind that read it.
    """

    findings: tuple[Finding, ...]
    measured: Any = None
    rows: Any = field(default=None, repr=False, compare=False)

    @property
    def of_batch(self) -> "Audit":
        """The audit of the rows that are new, of a version; else the same."""
        return replace(self, measured=getattr(self.measured, "batch", self.measured))

    @property
    def is_of_version(self) -> bool:
        """Whether it is of a version, and has the numbers of the rows that are new in it."""
        return hasattr(self.measured, "batch")

    def also(self, *findings: Finding) -> "Audit":
        """The same audit with more findings."""
        return replace(self, findings=(*self.findings, *findings))

    @property
    def passed(self) -> bool:
        """Whether every required guarantee is kept."""
        return not self.broken

    @property
    def broken(self) -> tuple[Finding, ...]:
        """The required guarantees that are not kept."""
        return tuple(finding for finding in self.findings if finding.broken)

    def sentence(self) -> str:
        """The broken guarantees in one line."""
        if not self.broken:
            return f"all {sum(finding.required for finding in self.findings)} guarantees hold"
        return "broken: " + "; ".join(f"{each.guarantee} ({each.detail})" for each in self.broken)


_UNREADABLE = Finding("manifest", passed=False, detail=f"{MANIFEST} cannot be read")


def audit_folder(
    folder: Path,
    audit: Audit,
    limits: ReleaseLimits,
    promise: Promise,
    comparable: Callable[[Mapping[str, Any], Sections], Sections],
) -> Audit:
    """Add findings on the manifest's claims, the folder's files and the plan's [checks].

    `comparable` leaves out what the manifest's version measured in another way.
    """
    try:
        manifest = read_document(folder / MANIFEST)
        claimed_files = dict(manifest["files"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return audit.also(_UNREADABLE)
    sections = {} if audit.measured is None else audit.measured.sections()
    if "privacy" not in manifest or any(
        not isinstance(manifest.get(name, {}), dict) for name in ("privacy", *sections)
    ):
        return audit.also(_UNREADABLE)
    protection = manifest.get("protection")
    if not (isinstance(protection, dict) and DIRECT_COUNTS in protection):
        # The manifest does not state these counts, so they are no numbers that differ.
        sections.get("protection", {}).pop(DIRECT_COUNTS, None)
        audit = replace(audit, findings=tuple(map(_as_remark, audit.findings)))
    audit = audit.also(_compare_files(folder, claimed_files))
    if audit.measured is None:
        return audit
    if "promise" in manifest["privacy"]:  # older manifests do not state it
        sections["privacy"]["promise"] = list(promise.findings)
    audit = audit.also(_compare_numbers(manifest, comparable(manifest, sections)))
    if not limits.stated:
        return audit
    short = [check.shortfall for check in limits.list_shortfalls(sections)]
    detail = "; ".join(short) or "all are reached"
    return audit.also(Finding("checks of the plan", not short, detail))


def _as_remark(finding: Finding) -> Finding:
    """The finding on direct identifiers, of a release that is older than this check."""
    if finding.guarantee != DIRECT:
        return finding
    return replace(finding, required=False, detail=OLDER + finding.detail)


def _compare_files(folder: Path, claimed: Mapping[str, str]) -> Finding:
    """Compare the folder's files with the hashes in its manifest."""
    # No manifest has its own hash. The signature covers it, and the notice comes with a retraction.
    names = {path.name for path in folder.iterdir()} - {MANIFEST, NOTICE, SIGNATURE}
    changed = sum(
        not has_version_files(folder, {name: sha}) for name, sha in claimed.items() if name in names
    )
    strays, lost = len(names - set(claimed)), len(set(claimed) - names)
    return Finding(
        "files as published",
        changed + strays + lost == 0,
        f"{changed} files changed, {lost} missing, {strays} too many of {len(claimed)}",
    )


def _compare_numbers(
    manifest: Mapping[str, Any], sections: Mapping[str, Mapping[str, Any]]
) -> Finding:
    """Compare the manifest's numbers with those that were measured again."""
    number = sum(map(len, sections.values()))
    differ = 0
    for name, section in sections.items():
        claimed = manifest.get(name)
        claims = claimed if isinstance(claimed, dict) else {}
        differ += sum(
            not _are_numbers_equal(claims.get(key), value) for key, value in section.items()
        )
    return Finding("numbers as measured", differ == 0, f"{differ} of {number} numbers differ")


def _are_numbers_equal(claimed: Any, measured: Any) -> bool:
    """Whether numbers are equal; shares up to the rounding of another machine's sums."""
    if isinstance(measured, dict):
        same = isinstance(claimed, dict) and claimed.keys() == measured.keys()
        return same and all(
            _are_numbers_equal(claimed[name], value) for name, value in measured.items()
        )
    if isinstance(measured, list):
        same = isinstance(claimed, list) and len(claimed) == len(measured)
        return same and all(
            _are_numbers_equal(one, value) for one, value in zip(claimed, measured, strict=True)
        )
    # Counts are ints and must be equal; only sums of floats may differ in their last digits.
    if isinstance(measured, float) and isinstance(claimed, (int, float)):
        return math.isclose(claimed, measured, abs_tol=1e-9)
    return bool(claimed == measured)
