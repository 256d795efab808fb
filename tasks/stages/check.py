"""Audit the bytes that would be published. Only here is a CheckedRelease made."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from anon_core.errors import GuaranteeError, InputError
from anon_core.promise import Promise
from crowdcover.kinds.base import Kind
from crowdcover.kinds.judge.audit import Audit
from crowdcover.kinds.judge.limits import ReleaseLimits, describe_shortfalls
from crowdcover.kinds.plan.series import Following
from crowdcover.kinds.versions import Before, KnownPeople
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.source.snapshot.pieces import LOST
from crowdcover.storage.vault.run import Run, Stored
from crowdcover.storage.vault.verdicts import VERDICT
from crowdcover.tasks.orchestration.gates import describe_page_place, drop_stage, judge_stage
from crowdcover.tasks.orchestration.stage import log_line, stage
from crowdcover.validations.verdicts import Outcome, Verdict

_REQUIRED = "require"
REFUSED = "publication refused"
CHANGED = (
    f"{REFUSED}; the source file was changed in place after it was ingested, and the check needs "
    "the same content; restore it, or run again to release what it is now. A file that is "
    "replaced as a whole, by a rename, disturbs no run"
)


@dataclass(frozen=True)
class CheckedRelease:
    """Released bytes that keep every guarantee; `publish` accepts nothing else."""

    rows: Stored
    verdict: Stored

    def __post_init__(self) -> None:
        if self.verdict.facts.get("rows_sha256") != self.rows.sha256:
            raise GuaranteeError("the verdict is about other rows; check them again")

    @property
    def sections(self) -> dict[str, Any]:
        """The measured sections of the manifest."""
        facts = self.verdict.facts
        return {name: facts[name] for name in facts.get("sections", _SECTIONS)}


_SECTIONS = ("privacy", "utility", "protection", "attacks")  # of verdicts before kinds
_WITHDRAWN = ("left", "withdrawn", "changed", "pulled")  # counts of rows of the version before
_ISSUED = ("reissued", "returned", "held_back", "held_by_history")  # and who waits
_MEASURED = ("crowd_least", "crowd_median", "kept")  # of all rows of a version


@stage("check")
def check(
    run: Run,
    kind: Kind,
    plan: Any,
    asked: tuple[Promise, ReleaseLimits],
    anonymized: Stored,
    formats: Sequence[str],
    reading: Reading,
) -> CheckedRelease:
    """Recompute every guarantee from the source, read again as it was, and the released files.

    `asked` is what the method promises and what [checks] of the plan demands. Refused: content that
    is not the one ingested, a broken guarantee, a limit of [checks].
    """
    promise, limits = asked

    def make(folder: Path) -> tuple[Mapping[str, Any], list[Verdict]]:
        again = reading.again()
        if again.sha256 != run.source_sha256:
            raise InputError(LOST if plan.source.path is None else CHANGED)
        # Here data files and secrets lie in one folder; a published one lacks the secrets.
        path = anonymized.folder
        audit = kind.judge(plan, promise, formats, again, path, path)
        findings = _build_audit_verdict(audit)
        if not audit.passed or audit.measured is None:
            return {"verdicts": [audit.sentence()]}, [findings]
        from crowdcover.validations.run import validate_columns as checkpoint

        kind.keep_measured(audit, folder)
        sections, sentence = audit.measured.sections(), audit.sentence()
        sections["privacy"]["promise"] = list(promise.findings)
        expected = kind.released(audit, anonymized)
        del audit  # with the rows: what is expected of them is counted
        released = checkpoint(*expected)
        return {
            "shape": [sections["privacy"]["records"]],
            "rows_sha256": anonymized.sha256,
            "sections": list(sections),
            **sections,
            "verdicts": [sentence, released.sentence()],
        }, [findings, released]

    drop_stage(run, _REQUIRED)  # [checks] may have changed
    # No stages of their own: only their hashes count.
    terms = [Stored(anonymized.path, term) for term in kind.list_audit_terms(plan)]
    stored, verdicts = judge_stage(run, "check", [anonymized, *terms], make)
    for sentence, verdict in zip(stored.facts["verdicts"], verdicts, strict=True):
        if not verdict.success:
            raise GuaranteeError(f"{REFUSED}; {sentence}; {describe_page_place(run)}")
        log_line(sentence)
    if limits.stated:
        _require_limits(run, stored, limits)
    return CheckedRelease(anonymized, stored)


@stage("check version")
def check_version(
    run: Run,
    kind: Kind,
    plan: Any,
    following: Following,
    batch: CheckedRelease,
    stages: tuple[Stored, Stored, Stored],
    before: Before | None,
    readings: tuple[Reading, Reading],
    asked: KnownPeople,
) -> CheckedRelease | frozenset[int]:
    """Audit a version beside all versions before it; stages are split, identified and assembled.

    `batch` was checked like a release of its own. Refused: rows that are not as they were, rows
    that are there again, and people who keep fewer than k rows in some version. Where only
    histories are too few, the chains of these records are returned: if they wait, it may hold.
    """
    split, identified, assembled = stages
    versions = kind.versions
    assert versions is not None

    def make(folder: Path) -> tuple[Mapping[str, Any], list[Verdict]]:
        again = (readings[0].again(), readings[1].again())
        findings, section = versions.audit(
            plan, following, (*stages, batch.rows), before, again, asked, folder
        )
        audit = Audit(tuple(findings))
        for name in batch.verdict.record["files"]:
            if name != VERDICT:  # what pages need of the numbers
                shutil.copyfile(batch.verdict.file(name), folder / name)
        sections = {**batch.sections, "series": {**split.facts["counts"], **section}}
        if section:
            sections["series"]["constant"] = list(following.constant)
            if following.short_histories:
                sections["series"]["allow_short_histories"] = following.short_histories
            sections["series"]["versions"] = _list_version_counts(before, sections["series"])
        sections["privacy"] = dict(sections["privacy"])
        promise = versions.promise(sections["privacy"]["promise"], findings)
        sections["privacy"]["promise"] = list(promise.findings)
        return {
            "shape": list(assembled.shape),
            "rows_sha256": assembled.sha256,
            "sections": list(sections),
            **sections,
            "verdicts": [audit.sentence()],
        }, [_build_audit_verdict(audit, "versions")]

    allowed = Stored(assembled.path, f"allowed {following.short_histories}")
    inputs = [identified, assembled, batch.verdict, allowed]
    inputs += [] if before is None else [before.audited]
    stored, (verdict,) = judge_stage(run, "versions", inputs, make)
    if verdict.success:
        log_line(stored.facts["verdicts"][0])
        return CheckedRelease(assembled, stored)
    if verdict.failures == verdict.outcomes[-1:] and before is not None:  # histories are last
        waits, short = versions.short(stored)
        if waits:
            return waits
        raise _build_histories_refusal(short)
    raise GuaranteeError(f"{REFUSED}; {stored.facts['verdicts'][0]}; {describe_page_place(run)}")


def _build_histories_refusal(short: int) -> GuaranteeError:
    """The refusal of a version that leaves people too few histories for good."""
    return GuaranteeError(
        f"{REFUSED}; the rows of versions that are published leave {short} people fewer than k "
        "histories, and no new version changes that: retract these versions and begin a new "
        "series, or state series.allow_short_histories = "
        f"{short}; then this version is published, and every report says so"
    )


def _list_version_counts(before: Before | None, section: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One line of counts for each version so far, the first first."""
    earlier = [] if before is None else before.audited.facts["series"]["versions"]
    taken = ("rows", "frozen", *_WITHDRAWN, *_ISSUED, *_MEASURED)
    now = {"number": len(earlier) + 1, **{name: section.get(name) for name in taken}}
    gone = sum(section[name] for name in _WITHDRAWN)
    return [*earlier, {**now, "new": section["rows"] - section["frozen"], "gone": gone}]


def _require_limits(run: Run, stored: Stored, limits: ReleaseLimits) -> None:
    """Compare the measured numbers with the limits of the plan's [checks]."""
    checks = limits.compare(stored.facts)
    if not checks:
        return

    def make(_: Path) -> tuple[Mapping[str, Any], list[Verdict]]:
        from crowdcover.validations.measured import build_required_suite, frame_measures
        from crowdcover.validations.run import validate_columns as checkpoint

        verdict = checkpoint(build_required_suite(checks), frame_measures(checks))
        outcomes = [
            replace(outcome, found=each.shown)
            for outcome, each in zip(verdict.outcomes, checks, strict=True)
        ]
        return {}, [replace(verdict, outcomes=tuple(outcomes))]

    _, (verdict,) = judge_stage(run, _REQUIRED, [stored], make)
    if not verdict.success:
        failed = [
            each
            for each, outcome in zip(checks, verdict.outcomes, strict=True)
            if not outcome.success
        ]
        short = [each for each in failed if not each.holds]
        # Where Great Expectations itself broke, a number may reach its limit: name expectations.
        reason = (
            describe_shortfalls(short, REFUSED)
            if short == failed
            else f"{REFUSED}; {verdict.sentence()}"
        )
        raise GuaranteeError(f"{reason}; {describe_page_place(run)}")
    log_line(verdict.sentence())


def _build_audit_verdict(audit: Audit, name: str = "audited") -> Verdict:
    """The audit's findings in the form of the other checks."""
    outcomes = [
        Outcome(each.guarantee, None, not each.broken, found=each.detail) for each in audit.findings
    ]
    return Verdict(name, tuple(outcomes))
