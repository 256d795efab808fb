"""The kind "matrix": users x items, released as rows that equal others."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from anon_core.matrices.records import SparseMatrix
from anon_core.promise import Promise
from crowdcover.kinds.base import Columns, Facts, Kind, Listener, Take, say_nothing
from crowdcover.kinds.judge.audit import Audit
from crowdcover.kinds.judge.drift import Changes
from crowdcover.kinds.judge.manifest_keys import EACH, OPEN
from crowdcover.kinds.matrix.judge import audit_matrix
from crowdcover.kinds.matrix.judge.measured import round_step
from crowdcover.kinds.matrix.layout import CODEBOOK, COUNTS, FILES, ITEMS
from crowdcover.kinds.matrix.pipeline.encode import load_encoded, write_encoded
from crowdcover.kinds.matrix.pipeline.ingest import ingest_source
from crowdcover.kinds.matrix.pipeline.items import item_columns
from crowdcover.kinds.matrix.pipeline.overlap import intersect_releases
from crowdcover.kinds.matrix.pipeline.people import build_people, rebuild_people
from crowdcover.kinds.matrix.pipeline.write import write_release
from crowdcover.kinds.matrix.plan.sections import MatrixPlan
from crowdcover.kinds.matrix.profile import compare_profiles
from crowdcover.kinds.matrix.report.catalogued import describe_fields
from crowdcover.kinds.matrix.rules import MatrixRules
from crowdcover.kinds.sampling import sample_rows
from crowdcover.kinds.section import PlanError
from crowdcover.reports.catalogue.described import Field, Type
from crowdcover.storage.ledger.digests import People
from crowdcover.storage.ledger.ledger import Ledger, Overlap
from crowdcover.storage.shelf.content import read_document
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.source.sources import Source
from crowdcover.storage.vault.run import Run, Stored

_COUNTED = ("rows", "items", "entries")  # of drift


class Matrix(MatrixRules, Kind):
    """See `kinds.base.Kind`."""

    claimed = {
        "keyed": OPEN,
        "columns": {EACH: dict.fromkeys(("role", "allow", "allow_note"))},
        "drift": dict.fromkeys([*_COUNTED, *(f"{name}_before" for name in _COUNTED)]),
    }
    files = FILES
    codebook = CODEBOOK
    remedy = "leave these users out"

    def describe_columns(self, plan: MatrixPlan) -> Facts:
        """The role of each column, and whether items are people."""
        role = {plan.user: "identifier"}
        columns = (
            {} if plan.layout == "csr" else {name: role.get(name, "quasi") for name in plan.needed}
        )
        stated: dict[str, dict[str, Any]] = {name: {"role": role} for name, role in columns.items()}
        if plan.allow:
            # Arrays have no columns: their items stand under one name, with what the plan allows.
            for name in item_columns(plan):
                more = {"allow": list(plan.allow), "allow_note": plan.note}
                stated[name] = {"role": "quasi", **more}
        return {"columns": stated, "keyed": bool(plan.keyed)}

    def fields(
        self, manifest: Mapping[str, Any], form: str, types: Mapping[str, Type]
    ) -> tuple[Sequence[Field], Sequence[str]]:
        """Each column with its role."""
        return describe_fields(form, types)

    def tables(self, folder: Path) -> dict[str, pl.LazyFrame]:
        """The rows, and the items that their numbers stand for."""
        labels = read_document(folder / CODEBOOK)["items"]
        numbers = np.arange(len(labels), dtype=np.int64)
        items = pl.LazyFrame({"number": numbers, "item": pl.Series(labels, dtype=pl.String)})
        return {**super().tables(folder), ITEMS: items}

    def starter(
        self,
        source: Source,
        header: bool | None = None,
        names: Sequence[str] = (),
        tell: Listener = say_nothing,
    ) -> str:
        """Users and items of a source with two columns."""
        from crowdcover.kinds.matrix.starter import propose_plan  # only `crowdcover plan` needs it

        tell("Reading the source")
        return propose_plan(source, header, names)

    def sampled(self, plan: MatrixPlan, reading: Reading, number: int, seed: int) -> pl.DataFrame:
        """The rows of random users."""
        if plan.layout == "csr" or plan.undirected or plan.source.beside is not None:
            raise PlanError(
                "--sample takes users of a source.layout other than 'csr', without "
                "source.undirected and privacy.k.path; leave --sample out"
            )
        frame = reading.columns(plan.names, plan.needed)
        return sample_rows(frame, number, seed, plan.user if plan.layout == "edges" else None)

    # ------------------------------------------------------------ the course

    def identified(self, plan: MatrixPlan) -> bool:
        """Whether the source names its users."""
        return plan.user is not None

    def ingest(self, plan: MatrixPlan, reading: Reading, ledger: Ledger, folder: Path) -> Facts:
        """Store the entries, and digests of the users."""
        return ingest_source(plan, reading, ledger, folder)

    def encode(self, plan: MatrixPlan, ingested: Stored, folder: Path) -> Facts:
        """Store the sparse matrix, and the names of its items."""
        return write_encoded(plan, ingested, folder)

    def load(self, encoded: Stored) -> SparseMatrix:
        """The sparse matrix."""
        return load_encoded(encoded)

    def sizes(self, data: SparseMatrix) -> Mapping[str, float]:
        """Users, entries and mean k."""
        return {
            "records": data.records,
            "entries": max(1, data.entries),
            "k": float(data.k.mean()),
        }

    def suite(self, check: str, plan: MatrixPlan, stored: Stored) -> tuple[Any, Columns]:
        """What entries must look like as they were read, and as they were encoded."""
        from crowdcover.kinds.matrix.suites import (
            checked,  # Great Expectations takes seconds to import
        )

        return (
            checked.build_ingested_suite(stored)
            if check == self.checked[0]
            else checked.build_encoded_suite(stored)
        )

    def people(self, key: bytes, ingested: Stored, encoded: Stored) -> People:
        """Digests of the users."""
        return build_people(key, ingested)

    def remade(self, run: Run, key: bytes) -> People:
        """Digests of what users hold."""
        return rebuild_people(run, key)

    def write(
        self,
        plan: MatrixPlan,
        seed: bytes,
        take: Take,
        ingested: Stored,
        encoded: Stored,
        folder: Path,
    ) -> Facts:
        """Store the rows of the groups."""
        return write_release(plan, seed, take(), encoded, folder)

    # ------------------------------------------------------------ the auditor

    def judge(
        self,
        plan: MatrixPlan,
        promise: Promise,
        formats: Sequence[str],
        reading: Reading,
        folder: Path,
        secrets: Path,
    ) -> Audit:
        """Recompute classes, majorities and integrity."""
        return audit_matrix(plan, promise, formats, reading, folder, secrets)

    def released(self, audit: Audit, anonymized: Stored) -> tuple[Any, Columns]:
        """The same expectations in Great Expectations, on counts instead of items."""
        from crowdcover.kinds.matrix.suites import checked

        return checked.build_released_suite(audit.measured, anonymized)

    def keep_measured(self, audit: Audit, folder: Path) -> None:
        """Store the sizes of the classes, and the exact counts for whoever approves."""
        measured = audit.measured
        smooth = measured.smooth
        np.savez(
            folder / COUNTS,
            sizes=np.sort(measured.classes.sizes),
            kept=smooth.true_entries,
            suppressed=smooth.suppression_count,
            created=smooth.false_entries,
        )

    def measured(self, verdict: Stored) -> Any:
        """Sizes of classes, ascending."""
        with np.load(verdict.file(COUNTS)) as arrays:
            return arrays["sizes"]

    def steps(self, iterations: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
        """Shares like those that are measured; counts of groups and moves stay in the vault."""
        return [round_step(step) for step in iterations]

    # ------------------------------------------------------------ beside other releases

    def changes(
        self,
        version: str,
        before: Mapping[str, Any],
        ingested: Stored,
        plan: MatrixPlan,
        earlier: Sequence[Mapping[str, Any]],
    ) -> Changes:
        """Numbers of users, items and entries."""
        return compare_profiles(version, before, ingested.facts["profile"])

    def utility(self, sections: Mapping[str, Any]) -> float:
        """The Jaccard similarity of released and source entries."""
        return float(sections["utility"]["jaccard"])

    def intersect_crowds(
        self,
        run: Run,
        ledger: Ledger,
        overlaps: Sequence[Overlap],
        audit: Audit | None = None,
    ) -> dict[str, int]:
        """Users who stay alike when all releases are compared."""
        return intersect_releases(run, ledger, overlaps, None if audit is None else audit.rows)


KIND = Matrix()
