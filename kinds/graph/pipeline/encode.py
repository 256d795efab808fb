"""From numbered edges to the uncertain graph of an anonymizer."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from anon_core.graphs.records import UncertainGraph
from crowdcover.kinds.graph.layout import DEMAND, EDGES, GRAPH
from crowdcover.kinds.graph.plan.sections import GraphPlan
from crowdcover.kinds.section import refuse_alone
from crowdcover.storage.vault.run import Stored


def write_encoded(plan: GraphPlan, ingested: Stored, folder: Path) -> Mapping[str, Any]:
    """Store the graph with what its adversary knows, and how many vertices may stay below k.

    Refuses k = 1 for anybody unless the plan allows it.
    """
    k = np.load(ingested.file(DEMAND))
    if not plan.allow_unprotected:
        refuse_alone(k, "vertices")
    graph = encode_edges(plan, ingested, k)
    document, arrays = graph.pack_arrays()
    packed: dict[str, Any] = {**document, **arrays}
    np.savez(folder / GRAPH, **packed)
    note = f"encoded {graph.edges} edges of {graph.records} vertices"
    if graph.exempt:
        note += f", of which up to {graph.exempt} may stay below their k"
    return {"shape": [graph.records, graph.edges], "notes": [note]}


def encode_edges(plan: GraphPlan, ingested: Stored, k: Any) -> UncertainGraph:
    """Return the graph; eps n vertices, rounded down, may stay below their k."""
    with np.load(ingested.file(EDGES)) as edges:
        arrays = (edges["u"], edges["v"], edges["p"])
    # eps is a Fraction. As floats 0.29 * 100 is below 29: one exemption would be lost.
    graph = UncertainGraph(*arrays, k, plan.knows, int(plan.eps * len(k)))
    graph.check()
    graph.refuse_impossible_demands()
    return graph


def load_encoded(stored: Stored) -> UncertainGraph:
    """Return the graph of a stage."""
    with np.load(stored.file(GRAPH)) as arrays:
        document = {"knowledge": str(arrays["knowledge"]), "exempt": int(arrays["exempt"])}
        return UncertainGraph.unpack_arrays(document, arrays)
