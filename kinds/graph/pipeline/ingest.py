"""What a graph's release keeps of its source."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from anon_core.specs.graphs import ONE
from crowdcover.kinds.graph.layout import DEMAND, EDGES
from crowdcover.kinds.graph.pipeline.edges import demands_of, join_directions
from crowdcover.kinds.graph.pipeline.read import read_source
from crowdcover.kinds.graph.plan.sections import GraphPlan
from crowdcover.storage.ledger.digests import write_identifiers
from crowdcover.storage.ledger.ledger import Ledger
from crowdcover.storage.source.reading import Reading

VERTEX = "vertex"  # the kind of digests: whatever the columns are called


def ingest_source(
    plan: GraphPlan, reading: Reading, ledger: Ledger, folder: Path
) -> Mapping[str, Any]:
    """Store the edges between numbered vertices, and the k of each vertex.

    Names of vertices are stored as digests under the ledger's key only.
    """
    read = read_source(reading, plan)
    k = demands_of(read, plan)
    edges = join_directions(read, plan.both_ways)
    np.savez(folder / EDGES, **edges._asdict())
    np.save(folder / DEMAND, k)
    # As spelt: `write_identifiers` finds the one spelling, and digests what older builds knew, too.
    names = pl.DataFrame({VERTEX: read.spelt})
    digested = write_identifiers(ledger.key, ledger.key_print, names, folder)
    n, m = len(k), len(edges.p)
    total = int(edges.p.sum(dtype=np.int64))
    notes = [f"ingested {n} vertices and {m} edges"]
    if joined := len(read.p) - m:
        notes.append(f"{joined} edges are listed in both directions; each counts once")
    if read.rounded:
        notes.append(f"{read.rounded} probabilities are rounded to billionths")
    return {
        "shape": [n, m],
        "source_rows": len(read.p),
        "source_columns": len(plan.needed),
        "profile": {"rows": n, "edges": m, "expected": round(total / ONE)},
        "notes": notes,
        **digested,
    }
