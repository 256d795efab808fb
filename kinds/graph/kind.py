"""The kind "graph": uncertain edges, released so that degrees point to nobody."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from anon_core.graphs.records import UncertainGraph
from anon_core.promise import Promise
from crowdcover.kinds.base import Columns, Facts, Kind, Listener, Take, say_nothing
from crowdcover.kinds.graph.judge import audit_graph
from crowdcover.kinds.graph.judge.measured import round_step
from crowdcover.kinds.graph.layout import CODEBOOK, FILES, MEASURED
from crowdcover.kinds.graph.pipeline.encode import load_encoded, write_encoded
from crowdcover.kinds.graph.pipeline.ingest import ingest_source
from crowdcover.kinds.graph.pipeline.people import build_people, rebuild_people
from crowdcover.kinds.graph.pipeline.write import write_release
from crowdcover.kinds.graph.plan.sections import GraphPlan
from crowdcover.kinds.graph.profile import compare_profiles
from crowdcover.kinds.graph.report.catalogued import describe_fields
from crowdcover.kinds.graph.rules import GraphRules
from crowdcover.kinds.judge.audit import Audit, Sections
from crowdcover.kinds.judge.drift import Changes
from crowdcover.reports.catalogue.described import Field, Type
from crowdcover.storage.ledger.digests import People
from crowdcover.storage.ledger.ledger import Ledger, Overlap
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.source.sources import Source
from crowdcover.storage.vault.refusals import SecondReleaseError
from crowdcover.storage.vault.run import Run, Stored

# Numbers that older manifests lack, by section; of each attack under the attack's name.
_LATER = {
    "utility": ("triangles_deviation", "triangles_deviation_released", "same_edges"),
    "protection": ("edges",),
    "attacks": ("highest",),
}
_COUNTS = ("vertices", "edges", "expected_edges")  # of drift


class Graph(GraphRules, Kind):
    """See `kinds.base.Kind`."""

    claimed = {"drift": dict.fromkeys([*_COUNTS, *(f"{name}_before" for name in _COUNTS)])}
    files = FILES
    codebook = CODEBOOK
    graph = True

    def describe_columns(self, plan: GraphPlan) -> Facts:
        """The role of each column."""
        roles = {plan.u: "identifier", plan.v: "identifier", plan.p: "probability"}
        return {"columns": {name: {"role": roles[name]} for name in plan.needed}}

    def fields(
        self, manifest: Mapping[str, Any], form: str, types: Mapping[str, Type]
    ) -> tuple[Sequence[Field], Sequence[str]]:
        """Each column with its role."""
        return describe_fields(types)

    def starter(
        self,
        source: Source,
        header: bool | None = None,
        names: Sequence[str] = (),
        tell: Listener = say_nothing,
    ) -> str:
        """Ends and probability of a source with two or three columns."""
        from crowdcover.kinds.graph.starter import propose_plan  # only `crowdcover plan` needs it

        tell("Reading the source")
        return propose_plan(source, header, names)

    # ------------------------------------------------------------ the course

    def identified(self, plan: GraphPlan) -> bool:
        """The source names its vertices."""
        return True

    def ingest(self, plan: GraphPlan, reading: Reading, ledger: Ledger, folder: Path) -> Facts:
        """Store the edges by number, and digests of the vertices."""
        return ingest_source(plan, reading, ledger, folder)

    def encode(self, plan: GraphPlan, ingested: Stored, folder: Path) -> Facts:
        """Store the uncertain graph."""
        return write_encoded(plan, ingested, folder)

    def load(self, encoded: Stored) -> UncertainGraph:
        """The uncertain graph."""
        return load_encoded(encoded)

    def sizes(self, data: UncertainGraph) -> Mapping[str, float]:
        """Vertices, edges and mean k."""
        return {"records": data.records, "edges": max(1, data.edges), "k": float(data.k.mean())}

    def suite(self, check: str, plan: GraphPlan, stored: Stored) -> tuple[Any, Columns]:
        """What edges must look like as they were read, and as they were encoded."""
        from crowdcover.kinds.graph.suites import (
            checked,  # Great Expectations takes seconds to import
        )

        return (
            checked.build_ingested_suite(stored)
            if check == self.checked[0]
            else checked.build_encoded_suite(stored)
        )

    def people(self, key: bytes, ingested: Stored, encoded: Stored) -> People:
        """Digests of the vertices."""
        return build_people(key, ingested)

    def remade(self, run: Run, key: bytes) -> People:
        """Digests of the vertices' edges."""
        return rebuild_people(run, key)

    def write(
        self,
        plan: GraphPlan,
        seed: bytes,
        take: Take,
        ingested: Stored,
        encoded: Stored,
        folder: Path,
    ) -> Facts:
        """Store the edges under fresh keys."""
        return write_release(seed, take(), folder)

    # ------------------------------------------------------------ the auditor

    def judge(
        self,
        plan: GraphPlan,
        promise: Promise,
        formats: Sequence[str],
        reading: Reading,
        folder: Path,
        secrets: Path,
    ) -> Audit:
        """Recompute entropies, keys and integrity."""
        return audit_graph(plan, promise, formats, reading, folder, secrets)

    def released(self, audit: Audit, anonymized: Stored) -> tuple[Any, Columns]:
        """The same expectations in Great Expectations, on counts instead of edges."""
        from crowdcover.kinds.graph.suites import checked

        return checked.build_released_suite(audit.measured, anonymized)

    def comparable(self, manifest: Mapping[str, Any], sections: Sections) -> Sections:
        """Older manifests lack how triangles vary, what is shown of edges, and the surest guess."""
        kept = {
            name: _drop_unstated(section, manifest.get(name), _LATER.get(name, ()))
            for name, section in sections.items()
        }
        if "attacks" in kept:
            stated = _read_mapping(manifest.get("attacks"))
            kept["attacks"] = {
                name: _drop_unstated(attack, stated.get(name), _LATER["attacks"])
                for name, attack in kept["attacks"].items()
            }
        return kept

    def keep_measured(self, audit: Audit, folder: Path) -> None:
        """Store among how many vertices hide, and how many have each degree."""
        np.savez(folder / MEASURED, **audit.measured.picture_arrays())

    def measured(self, verdict: Stored) -> Any:
        """The arrays of `Measured.pictured`."""
        with np.load(verdict.file(MEASURED)) as arrays:
            return dict(arrays)

    def steps(self, iterations: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
        """Figures rounded like those that are measured."""
        return [round_step(step) for step in iterations]

    # ------------------------------------------------------------ beside other releases

    def changes(
        self,
        version: str,
        before: Mapping[str, Any],
        ingested: Stored,
        plan: GraphPlan,
        earlier: Sequence[Mapping[str, Any]],
    ) -> Changes:
        """Numbers of vertices and edges."""
        return compare_profiles(version, before, ingested.facts["profile"])

    def utility(self, sections: Mapping[str, Any]) -> float:
        """How well chances to be connected are kept: 1 - discrepancy."""
        return 1 - float(sections["utility"]["discrepancy"])

    def intersect_crowds(
        self,
        run: Run,
        ledger: Ledger,
        overlaps: Sequence[Overlap],
        audit: Audit | None = None,
    ) -> dict[str, int]:
        """Refuse: what several releases of a graph tell together is not measured."""
        raise SecondReleaseError(
            f"{len(overlaps)} other releases show the same vertices; what several releases of a "
            "graph tell together is not measured, so no second one is published; leave these "
            "vertices out"
        )


def _drop_unstated(measured: Mapping[str, Any], stated: Any, later: Sequence[str]) -> Facts:
    """What was measured, without later numbers that an older manifest does not state."""
    known = _read_mapping(stated)
    return {name: each for name, each in measured.items() if name not in later or name in known}


def _read_mapping(stated: Any) -> Mapping[str, Any]:
    """What a manifest states, which may be anything; no number if it is no mapping."""
    return stated if isinstance(stated, Mapping) else {}


KIND = Graph()
