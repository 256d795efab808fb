"""The small kind of data of the contract tests: stages, measures and checks."""

import json
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from crowdcover.kinds.base import Kind
from crowdcover.kinds.checks import LimitsSection
from crowdcover.kinds.judge.audit import Audit, Finding
from crowdcover.kinds.judge.drift import Changes
from crowdcover.kinds.section import PlanError, Section, SourceSection
from crowdcover.storage.ledger.digests import People
from tests.contract.bag.pool import Bag

KEY, VALUE = "key", "value"


class BagPrivacy(Section):
    k: int


@dataclass(frozen=True)
class BagPlan:
    source: object
    k: int

    def check_header(self, header):
        if header != [VALUE]:
            raise PlanError("the source of a bag has one column, 'value'; rename it")


@dataclass(frozen=True)
class Counted:
    sizes: np.ndarray
    k: int
    lines: int
    hidden: int

    def sections(self):
        below = int((self.sizes < self.k).sum())
        privacy = {"records": self.lines, "k_min": self.k, "k_max": self.k}
        return {
            "privacy": {**privacy, "groups_below_k": below},
            "utility": {"shown": 1 - self.hidden / self.lines},
        }


class BagKind(Kind):
    name = "bag"
    anonymizer = "pool"
    sections: ClassVar = {
        "source": (SourceSection, ...),
        "privacy": (BagPrivacy, ...),
        "checks": (LimitsSection, LimitsSection()),
    }
    files: ClassVar = {"parquet": "lines.parquet", "csv": "lines.csv"}

    def plan(self, sections):
        return BagPlan(sections.source.source(), sections.privacy.k)

    def identified(self, plan):
        return False

    def ingest(self, plan, reading, ledger, folder):
        frame = reading.columns([VALUE], [VALUE])
        frame.write_parquet(folder / "lines.parquet")
        return {"shape": [frame.height], "source_columns": 1, "profile": {}}

    def encode(self, plan, ingested, folder):
        values = pl.read_parquet(ingested.file("lines.parquet"))[VALUE]
        labels = sorted(set(values))
        codes = np.array([labels.index(value) for value in values])
        np.savez(folder / "bag.npz", codes=codes, k=plan.k)
        (folder / "codebook.json").write_text(json.dumps({"hidden": "*"}))
        return {"shape": [len(codes)], "notes": [f"numbered {len(labels)} values"]}

    def load(self, encoded):
        with np.load(encoded.file("bag.npz")) as arrays:
            return Bag(arrays["codes"], int(arrays["k"]))

    def sizes(self, data):
        return {"records": len(data.codes), "k": float(data.k)}

    def suite(self, check, plan, stored):
        import great_expectations as gx
        import great_expectations.expectations as gxe

        if check == "ingested":
            column = np.array(pl.read_parquet(stored.file("lines.parquet"))[VALUE], dtype=object)
        else:
            column = self.load(stored).codes
        expectation = gxe.ExpectColumnValuesToNotBeNull(column=VALUE, description="No gap.")
        return gx.ExpectationSuite(name=check, expectations=[expectation]), {VALUE: column}

    def people(self, key, ingested, encoded):
        return People(ingested.shape[0], {}, frozenset())

    def remade(self, run, key):
        return People(0, {}, frozenset())

    def write(self, plan, seed, take, ingested, encoded, folder):
        made = take()
        values = pl.read_parquet(ingested.file("lines.parquet"))[VALUE].to_list()
        lines = [
            "*" if hidden else value for value, hidden in zip(values, made.hidden, strict=True)
        ]
        frame = pl.DataFrame({VALUE: sorted(lines)})
        frame.write_parquet(folder / self.files["parquet"])
        frame.write_csv(folder / self.files["csv"])
        (folder / "codebook.json").write_bytes(encoded.file("codebook.json").read_bytes())
        return {"shape": [frame.height]}

    def judge(self, plan, promise, formats, reading, folder, secrets):
        lines = pl.read_parquet(folder / self.files["parquet"])[VALUE]
        source = reading.columns([VALUE], [VALUE])[VALUE]
        sizes = lines.value_counts()
        counted = Counted(sizes["count"].to_numpy(), plan.k, len(lines), int((lines == "*").sum()))
        shown = lines.filter(lines != "*").value_counts(name="shown")
        truth = shown.join(source.value_counts(name="true"), on=VALUE, how="left")
        true = len(lines) == len(source) and bool((truth["shown"] <= truth["true"]).all())
        below = int((counted.sizes < plan.k).sum())
        detail = f"{below} of {len(counted.sizes)} groups"
        required = "groups of k" in promise.findings
        return Audit(
            (
                Finding("groups of k", below == 0, detail, required=required),
                Finding("true lines", true, f"{len(lines)} lines compared"),
            ),
            counted,
            lines,
        )

    def released(self, audit, anonymized):
        import great_expectations as gx
        import great_expectations.expectations as gxe

        least = gxe.ExpectColumnValuesToBeBetween(
            column="size", min_value=audit.measured.k, description="No group is below k."
        )
        suite = gx.ExpectationSuite(name="released", expectations=[least])
        return suite, {"size": audit.measured.sizes.astype(np.int64)}

    def keep_measured(self, audit, folder):
        np.save(folder / "sizes.npy", np.sort(audit.measured.sizes))

    def measured(self, verdict):
        return np.load(verdict.file("sizes.npy"))

    def changes(self, version, before, ingested, plan, earlier):
        return Changes(version=version, rows_before=1, rows=1)

    def utility(self, sections):
        return sections["utility"]["shown"]

    def intersect_crowds(self, run, ledger, overlaps, audit=None):
        return {"overlapping": 0, "people": 0, "below_k": 0, "least_margin": 0}


KIND = BagKind()
