"""The gate: judge the bytes that would be published; only here is a CheckedRelease made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from anon_core.demands import Demand
from anon_core.errors import GuaranteeError
from anon_core.measures.privacy import Crowds
from tasks.audit import audit_rows
from tasks.floors import Floors
from tasks.layout import KEY, MATCHING, PARQUET
from tasks.measured import Measured
from tasks.sources import Column, Source
from tasks.stage import log, stage
from tasks.storage import Run, Stored

CROWDS = "crowds.npz"


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
) -> CheckedRelease:
    """Recompute every guarantee from the source and the rows; refuse publication if one is broken."""

    def make(folder: Path) -> Mapping[str, Any]:
        audit = audit_rows(anonymized.path, formats, source, columns, demand, anonymized.file(MATCHING))
        measured = audit.measured
        if not audit.holds or measured is None:
            raise GuaranteeError(f"publication refused; {audit.sentence()}")
        words = _great_expectations(measured, anonymized)
        found = measured.crowds
        np.savez(folder / CROWDS, demanded=found.demanded, compatible=found.compatible, matchable=found.matchable)
        return {
            "shape": [len(found.demanded)],
            "rows_sha256": anonymized.sha256,
            **measured.sections(),
            "verdicts": [audit.sentence(), words],
        }

    verdict = run.once("check", [anonymized], make)
    for words in verdict.facts["verdicts"]:
        log(words)
    floors.require(verdict.facts, "publication refused")
    return CheckedRelease(anonymized, verdict)


def _great_expectations(measured: Measured, anonymized: Stored) -> str:
    """The released border, on counts instead of cells."""
    from validations.run import run as judge
    from validations.suites import released

    rows = pl.read_parquet(anonymized.file(PARQUET))
    book = measured.codebook
    frame = {
        released.KEY: np.array(rows[KEY].to_list(), dtype=object),
        **{released.CELL + a.name: sizes for a, sizes in zip(book.attributes, measured.sizes, strict=True)},
        released.DEMANDED: measured.crowds.demanded.astype(np.int64),
        released.COMPATIBLE: measured.crowds.compatible,
        released.MATCHABLE: measured.crowds.matchable,
        released.TRUTHFUL: measured.truthful,
    }
    verdict = judge(released.suite(book, len(measured.crowds.demanded)), frame)
    if not verdict.success:
        raise GuaranteeError(f"publication refused; {verdict.sentence()}")
    return verdict.sentence()
