"""The gate: judge the bytes that would be published; only here is a CheckedRelease made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from anon_core.errors import GuaranteeError
from anon_core.measures.table.crowds import Crowds
from anon_core.promise import Promise
from anon_core.specs.demands import Demand
from kinds.table.columns import Column
from kinds.table.judge import Audit, audit_rows
from kinds.table.judge.measured import Measured
from kinds.table.layout import KEY, MATCHING, PARQUET
from tasks.judging.floors import Floors, sentence
from tasks.orchestration.gates import forget, judged, where
from tasks.orchestration.stage import log, stage
from tasks.source.sources import Source
from tasks.vault.storage import Run, Stored
from validations.verdicts import Outcome, Verdict

CROWDS = "crowds.npz"
REQUIRED = "require"
REFUSED = "publication refused"


@dataclass(frozen=True)
class CheckedRelease:
    """Released bytes that were found to keep every guarantee; `publish` takes nothing else."""

    rows: Stored
    verdict: Stored

    def __post_init__(self) -> None:
        if self.verdict.facts.get("rows_sha256") != self.rows.sha256:
            raise GuaranteeError("the verdict is about other rows; check them again")

    @property
    def crowds(self) -> Crowds:
        """Demanded and achieved crowds, in no particular order."""
        with np.load(self.verdict.file(CROWDS)) as data:
            return Crowds(data["demanded"], data["compatible"], data["matchable"])


@stage("check")
def check(
    run: Run,
    anonymized: Stored,
    source: Source,
    columns: tuple[Column, ...],
    demand: Demand,
    formats: Sequence[str],
    floors: Floors,
    promise: Promise,
) -> CheckedRelease:
    """Recompute every guarantee from the source and the rows; refuse publication if one is broken, or a check not reached."""

    def make(folder: Path) -> tuple[Mapping[str, Any], list[Verdict]]:
        audit = audit_rows(
            anonymized.path, formats, source, columns, demand, anonymized.file(MATCHING), promise
        )
        measured, findings = audit.measured, _of_audit(audit)
        if not audit.passed or measured is None:
            return {"verdicts": [audit.sentence()]}, [findings]
        released = _great_expectations(measured, anonymized)
        found = measured.crowds
        np.savez(
            folder / CROWDS,
            demanded=found.demanded,
            compatible=found.compatible,
            matchable=found.matchable,
        )
        return {
            "shape": [len(found.demanded)],
            "rows_sha256": anonymized.sha256,
            **measured.sections(),
            "verdicts": [audit.sentence(), released.sentence()],
        }, [findings, released]

    forget(run, REQUIRED)  # [checks] may have changed
    verdict, borders = judged(run, "check", [anonymized], make)
    for words, border in zip(verdict.facts["verdicts"], borders, strict=True):
        if not border.success:
            raise GuaranteeError(f"{REFUSED}; {words}; {where(run)}")
        log(words)
    if floors.stated:
        _require(run, verdict, floors)
    return CheckedRelease(anonymized, verdict)


def _require(run: Run, verdict: Stored, floors: Floors) -> None:
    """The border that the plan's [checks] draw, on what was measured."""
    asked = list(floors.requirements(verdict.facts))
    if not asked:
        return

    def make(_: Path) -> tuple[Mapping[str, Any], list[Verdict]]:
        from validations import required
        from validations.run import run as checkpoint

        told = checkpoint(required.suite(asked), required.frame(asked))
        outcomes = [
            replace(outcome, found=each.told)
            for outcome, each in zip(told.outcomes, asked, strict=True)
        ]
        return {}, [replace(told, outcomes=tuple(outcomes))]

    _, (border,) = judged(run, REQUIRED, [verdict], make)
    if not border.success:
        failed = [
            each
            for each, outcome in zip(asked, border.outcomes, strict=True)
            if not outcome.success
        ]
        short = [each for each in failed if not each.holds]
        # Where Great Expectations broke, a number may well reach its limit: then only the expectations are named.
        words = sentence(short, REFUSED) if short == failed else f"{REFUSED}; {border.sentence()}"
        raise GuaranteeError(f"{words}; {where(run)}")
    log(border.sentence())


def _of_audit(audit: Audit) -> Verdict:
    """The audit's findings in the form of the other borders."""
    outcomes = [
        Outcome(each.guarantee, None, not each.broken, found=each.detail) for each in audit.findings
    ]
    return Verdict("audited", tuple(outcomes))


def _great_expectations(measured: Measured, anonymized: Stored) -> Verdict:
    """The released border, on counts instead of cells."""
    from kinds.table.suites import released
    from validations.run import run as checkpoint

    rows = pl.read_parquet(anonymized.file(PARQUET))
    frame = {
        released.KEY: np.array(rows[KEY].to_list(), dtype=object),
        **{
            released.CELL + levels.name: sizes
            for levels, sizes in zip(measured.levels, measured.sizes, strict=True)
        },
        released.DEMANDED: measured.crowds.demanded.astype(np.int64),
        released.COMPATIBLE: measured.crowds.compatible,
        released.MATCHABLE: measured.crowds.matchable,
        released.TRUTHFUL: measured.truthful,
    }
    levels = {each.name: len(each.labels) for each in measured.levels}
    return checkpoint(released.suite(levels, len(measured.crowds.demanded)), frame)
