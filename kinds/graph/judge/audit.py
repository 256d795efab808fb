"""The audit of released edges against the plan and its source."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from anon_core.promise import Promise
from crowdcover.kinds.graph.judge.measured import Measured
from crowdcover.kinds.graph.judge.released import (
    judge_codebook,
    judge_edges,
    judge_map,
    read_released_edges,
)
from crowdcover.kinds.graph.judge.source import SourceGraph
from crowdcover.kinds.graph.layout import FILES, MATCHING, PARQUET, P, U, V
from crowdcover.kinds.graph.pipeline.read import read_source
from crowdcover.kinds.graph.pipeline.rows import flatten_rows
from crowdcover.kinds.graph.plan.sections import GraphPlan
from crowdcover.kinds.judge.audit import Audit, Finding, not_judged
from crowdcover.kinds.judge.files import read_matching, read_rows
from crowdcover.storage.source.reading import Reading

_OBFUSCATED = "obfuscated"
_TYPES = {U: pl.String(), V: pl.String(), P: pl.Float64()}  # of the Parquet file
_NOT_JUDGED = Finding(
    _OBFUSCATED, passed=False, detail="not judged: keys or edges are missing or cannot be read"
)


def audit_graph(
    plan: GraphPlan,
    promise: Promise,
    formats: Sequence[str],
    reading: Reading,
    folder: Path,
    secrets: Path,
) -> Audit:
    """Audit the data files and the codebook in a folder; all of it is required."""
    source = SourceGraph.of(read_source(reading, plan), plan)
    rows, findings = read_rows(folder, FILES, formats, flatten_rows)
    if rows is None:
        return Audit(tuple(findings))
    findings.append(_judge_columns(rows, folder, formats))
    if not {U, V, P} <= set(rows.columns):
        return Audit((*findings, _NOT_JUDGED), rows=rows)
    edges = read_released_edges(rows)
    findings += [*judge_edges(edges), judge_codebook(folder, source.vertices)]
    released, more = judge_map(edges, source, read_matching(secrets / MATCHING))
    findings += more
    # Edges without numbers cannot be measured. A check that cannot count must not pass.
    if released is None:
        return Audit((*findings, _NOT_JUDGED), rows=rows)
    measured = Measured.of(source, released, plan)
    findings.append(_judge_obfuscation(measured, promise))
    return Audit((*findings, *not_judged(promise, findings, "graph")), measured, rows)


def _judge_columns(rows: pl.DataFrame, folder: Path, formats: Sequence[str]) -> Finding:
    """Whether there are two keys and a probability, of the types that the writer gives them."""
    passed = rows.columns == [U, V, P]
    if "parquet" in formats:
        found = pl.scan_parquet(folder / PARQUET, glob=False).collect_schema()
        passed = passed and found == _TYPES
    return Finding("no other column", passed, f"{rows.width} columns; u, v and p are expected")


def _judge_obfuscation(measured: Measured, promise: Promise) -> Finding:
    """Whether all vertices but the exempt ones hide among as many as they demand."""
    below, exempt = measured.below, measured.exempt
    detail = (
        f"{below} of {len(measured.k)} vertices hide among fewer than they demand; "
        f"the plan allows {exempt}"
    )
    return Finding(_OBFUSCATED, below <= exempt, detail, required=_OBFUSCATED in promise.findings)
