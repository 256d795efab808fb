"""The kind "table": one record a row, quasi-identifiers masked."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.measures.table.crowds import Crowds
from anon_core.part import DataPart
from anon_core.promise import Promise
from anon_core.tables.records import BinaryTable
from anon_core.tables.settled import Unsettled
from crowdcover.kinds.base import Columns, Facts, Kind, Listener, Take, say_nothing
from crowdcover.kinds.judge.audit import Audit, Sections
from crowdcover.kinds.judge.drift import Changes
from crowdcover.kinds.judge.manifest_keys import EACH, OPEN, Keys
from crowdcover.kinds.sampling import sample_rows
from crowdcover.kinds.table.judge import audit_rows
from crowdcover.kinds.table.judge.before import select_comparable_numbers
from crowdcover.kinds.table.judge.compared import compare_published_tables
from crowdcover.kinds.table.layout import CODEBOOK, CROWDS, FILES, MATCHING, NODES, TABLE
from crowdcover.kinds.table.pipeline.encode import load_encoded, load_source_rows, write_encoded
from crowdcover.kinds.table.pipeline.ingest import ingest_source
from crowdcover.kinds.table.pipeline.overlap import intersect_releases
from crowdcover.kinds.table.pipeline.people import build_people, rebuild_people
from crowdcover.kinds.table.pipeline.write import write_release
from crowdcover.kinds.table.plan.sections import TablePlan
from crowdcover.kinds.table.plan.stated import state_plan
from crowdcover.kinds.table.profile import compare_profiles
from crowdcover.kinds.table.report.catalogued import describe_fields
from crowdcover.kinds.table.rules import TableRules
from crowdcover.kinds.table.series.versions import TableVersions
from crowdcover.reports.catalogue.described import Field, Type
from crowdcover.storage.ledger.digests import People
from crowdcover.storage.ledger.ledger import Ledger, Overlap
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.source.sources import Source
from crowdcover.storage.vault.run import Run, Stored

CLAIMED: Keys = {
    "columns": {
        EACH: dict.fromkeys(
            (
                *("role", "kind", "decides_k", "hierarchy", "cells", "floor", "point"),
                *("step", "top", "bottom", "allow", "allow_note"),
            )
        )
    },
    **dict.fromkeys(("rows_are_people", "mixed")),
    "diverse": dict.fromkeys(("column", "measure", "l", "t")),
    "purpose": dict.fromkeys(("predict", "margins", "learnt", "share")),
    "drift": {
        **dict.fromkeys(("rows_before", "rows", "columns", "shift", "other_types")),
        **dict.fromkeys(("new_categories", "gone_categories")),
    },
    "attacks": {"order": OPEN},  # of 0.1.0
}


class Table(TableRules, Kind):
    """See `kinds.base.Kind`."""

    encoded = "binarize"  # the first release's name: vaults hold it
    checked = ("ingested", "binarized")
    files = FILES
    claimed = CLAIMED
    codebook = CODEBOOK
    beside = (NODES,)
    versions = TableVersions()

    def describe_columns(self, plan: TablePlan) -> Facts:
        """The role of each column, whether rows count as people, and what crowds shall show."""
        return state_plan(plan)

    def list_audit_terms(self, plan: TablePlan) -> list[str]:
        """With checks of other packages, and what limits ask for."""
        return [*super().list_audit_terms(plan), *plan.list_audit_terms()]

    def fields(
        self, manifest: Mapping[str, Any], form: str, types: Mapping[str, Type]
    ) -> tuple[Sequence[Field], Sequence[str]]:
        """Each column with its role."""
        return describe_fields(manifest, types)

    def starter(
        self,
        source: Source,
        header: bool | None = None,
        names: Sequence[str] = (),
        tell: Listener = say_nothing,
    ) -> str:
        """A proposed role for every column."""
        from crowdcover.kinds.table.starter.writing import (
            propose_plan,  # only `crowdcover plan` needs it
        )

        return propose_plan(source, header, names, tell)

    def compile_kernels(self, tell: Listener) -> AbstractContextManager[None]:
        """Compile on a thread, unless this machine has compiled before."""
        from crowdcover.kinds.table.pipeline.warm import compile_in_background

        return compile_in_background(tell)

    def sampled(self, plan: TablePlan, reading: Reading, number: int, seed: int) -> pl.DataFrame:
        """Random rows; of whole people where crowds count people."""
        frame = reading.columns([column.name for column in plan.columns], plan.needed)
        return sample_rows(frame, number, seed, plan.person)

    # ------------------------------------------------------------ the course

    def identified(self, plan: TablePlan) -> bool:
        """Whether the plan names identifiers."""
        return any(column.role == "identifier" for column in plan.columns)

    def ingest(self, plan: TablePlan, reading: Reading, ledger: Ledger, folder: Path) -> Facts:
        """Store the columns that may be released, and the column that k is read from."""
        return ingest_source(plan, reading, ledger, folder)

    def encode(self, plan: TablePlan, ingested: Stored, folder: Path) -> Facts:
        """Store the packed records that stay, and the codebook."""
        return write_encoded(plan, ingested, folder)

    def load(self, encoded: Stored) -> BinaryTable:
        """The packed records."""
        return load_encoded(encoded)[0]

    def part(self, data: BinaryTable, order: NDArray[Any]) -> DataPart:
        """Of a large table the records that do not hide among equal ones."""
        return Unsettled.of(data, order)

    def sizes(self, data: BinaryTable) -> Mapping[str, float]:
        """Records, quasi-identifiers, features and mean k."""
        return {
            "records": data.records,
            "attributes": len(data.codebook.attributes),
            "features": data.codebook.features,
            "k": float(data.k.mean()),
        }

    def suite(self, check: str, plan: TablePlan, stored: Stored) -> tuple[Any, Columns]:
        """What a table must look like as it was read, and as it was encoded."""
        from crowdcover.kinds.table.suites import (
            checked,  # Great Expectations takes seconds to import
        )

        if check == self.checked[0]:
            return checked.build_ingested_suite(plan, stored)
        return checked.build_binarized_suite(stored)

    def people(self, key: bytes, ingested: Stored, encoded: Stored) -> People:
        """Digests of the rows that stay."""
        return build_people(key, ingested, encoded)

    def remade(self, run: Run, key: bytes) -> People:
        """Digests of whole records."""
        return rebuild_people(run, key)

    def write(
        self,
        plan: TablePlan,
        seed: bytes,
        take: Take,
        ingested: Stored,
        encoded: Stored,
        folder: Path,
    ) -> Facts:
        """Store the masked rows."""
        return write_release(plan, seed, take, load_source_rows(encoded), ingested, folder)

    # ------------------------------------------------------------ the auditor

    def judge(
        self,
        plan: TablePlan,
        promise: Promise,
        formats: Sequence[str],
        reading: Reading,
        folder: Path,
        secrets: Path,
    ) -> Audit:
        """Recompute crowds, truth and integrity."""
        return audit_rows(
            folder, formats, reading, plan.columns, plan.demand, secrets / MATCHING, promise,
            **plan.audited,
        )  # fmt: skip

    def released(self, audit: Audit, anonymized: Stored) -> tuple[Any, Columns]:
        """The same expectations in Great Expectations, on counts instead of cells."""
        from crowdcover.kinds.table.suites import checked

        return checked.build_released_suite(audit.measured, anonymized)

    def comparable(self, manifest: Mapping[str, Any], sections: Sections) -> Sections:
        """Manifests of 0.1.0 lack some numbers, and count where attackers were right.

        Manifests before reports named the people without protection do not count them. What crowds
        tell of private demands is compared where it is stated.
        """
        return select_comparable_numbers(manifest, sections)

    def keep_measured(self, audit: Audit, folder: Path) -> None:
        """Store demanded and achieved crowds."""
        crowds = audit.measured.crowds
        np.savez(
            folder / CROWDS,
            demanded=crowds.demanded,
            compatible=crowds.compatible,
            matchable=crowds.matchable,
        )

    def measured(self, verdict: Stored) -> Crowds:
        """Demanded and achieved crowds."""
        with np.load(verdict.file(CROWDS)) as arrays:
            return Crowds(arrays["demanded"], arrays["compatible"], arrays["matchable"])

    # ------------------------------------------------------------ beside other releases

    def compared(self, earlier: Path, later: Path) -> dict[str, dict[str, Any]] | None:
        """Categories of the codebooks, and the bounds of each column's shift from its cells."""
        return compare_published_tables(earlier, later)

    def changes(
        self,
        version: str,
        before: Mapping[str, Any],
        ingested: Stored,
        plan: TablePlan,
        earlier: Sequence[Mapping[str, Any]],
    ) -> Changes:
        """Rows, categories, shapes of columns and types.

        The column of partitions is left out: each partition has other dates.
        """
        frame = pl.read_parquet(ingested.file(TABLE), glob=False)
        divides = None if plan.partition is None else plan.partition.column.name
        columns = tuple(column for column in plan.columns if column.name != divides)
        counts = ingested.facts.get("counts", {})  # of a version of a series
        # The number of rows stays if as many come as leave: such an exchange must show.
        replaced = min(counts["left"], counts["new"]) if "followed" in counts else 0
        return replace(
            compare_profiles(version, before, frame, columns, earlier), replaced=replaced
        )

    def utility(self, sections: Mapping[str, Any]) -> float:
        """The share of bits that stay visible."""
        return float(sections["utility"]["suppression"])

    def intersect_crowds(
        self, run: Run, ledger: Ledger, overlaps: Sequence[Overlap], audit: Audit | None = None
    ) -> dict[str, int]:
        """Rows left of each crowd when all releases are compared."""
        return intersect_releases(run, ledger, overlaps, None if audit is None else audit.rows)


KIND = Table()
