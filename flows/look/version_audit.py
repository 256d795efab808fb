"""The audit of a version of a series, from its bytes and from what the vault keeps."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from anon_core.promise import Promise
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.kinds.judge.audit import Audit, Finding, Measured
from crowdcover.kinds.versions import Before
from crowdcover.storage.ledger.ledger import Ledger
from crowdcover.storage.series.series import Series, Version
from crowdcover.storage.source.reading import Reading


@dataclass(frozen=True)
class Versioned:
    """The numbers of a batch, and those of the version."""

    batch: Measured
    series: Mapping[str, Any]

    def sections(self) -> dict[str, dict[str, Any]]:
        """All numbers by section of the manifest."""
        return {**self.batch.sections(), "series": dict(self.series)}


def audit_version(
    folder: Path, plan: ReleasePlan, series: Series, version: Version, ledger: Ledger
) -> tuple[Audit, Promise]:
    """Audit a version; returns what it promises, too.

    The last version's batch is audited like a release of its own. Of older batches the vault keeps
    who fitted which row, and nothing that could be audited anew.
    """
    versions, last = plan.kind.versions, series.last
    assert versions is not None
    assert last is not None
    kept = Before.of(series.versions())
    # What the plan states by now is no part of a version that promised more when it was published.
    following = replace(plan.following, short_histories=version.about.get("short_histories", 0))
    findings, section = versions.audit_published(
        following, folder, plan.publish.formats, version.number, kept, ledger.key
    )
    promise = versions.promise(plan.build_anonymizer().promise.findings, findings)
    if version.number != last.number or not section:
        return Audit(tuple(findings)), promise
    batch = _audit_batch(plan, series, version)
    measured = None
    if batch.measured is not None:
        measured = Versioned(batch.measured, {**version.about["counts"], **section})
    return replace(batch.also(*findings), measured=measured), promise


def _audit_batch(plan: ReleasePlan, series: Series, version: Version) -> Audit:
    """The rows that are new in the last version, from the snapshot of their source."""
    versions = plan.kind.versions
    assert versions is not None
    split = series.folder(version.number).whole("split")
    anonymized = version.run.whole("anonymize")
    if split is None or anonymized is None:
        detail = "the vault lacks the snapshot of the batch; restore it from a backup"
        return Audit((Finding("source of the batch", passed=False, detail=detail),))
    source = plan.data.source.at(versions.batch(split))
    formats, promise = plan.publish.formats, plan.build_anonymizer().promise
    # The batch as it was made: the folder of the version also holds rows of earlier batches.
    return plan.kind.judge(
        plan.data, promise, formats, Reading(source), anonymized.folder, anonymized.folder
    )
