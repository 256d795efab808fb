"""A representative instance: the certain graph whose degrees are nearest to the expected ones."""

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.uncertain_graph.worlds.relevance import list_edge_chances
from anon_core.anonymizers.uncertain_graph.worlds.representative_kernels import (
    start_of,
    swap_edge_pairs,
)
from anon_core.anonymizers.uncertain_graph.worlds.worlds_kernels import SampledEdges
from anon_core.graphs.records import UncertainGraph
from anon_core.specs.graphs import ONE

STEPS_PER_EDGE = 300  # pairs offered for each edge


def choose_representative(graph: UncertainGraph, seed: int) -> NDArray[np.bool_]:
    """Choose edges so that degrees are near the expected ones: average degree rewiring.

    The number of edges kept is the sum of all p, rounded (half up). At first edges are kept with
    their probability, the likeliest offered first, in turns until there are enough. Then pairs of
    a kept edge and another that may exist (p > 0) are drawn, 300 for each edge, and swapped if
    that lowers the sum over vertices of |degree - expected degree|.

    Parameters
    ----------
    graph : UncertainGraph
    seed : int
        0 <= seed < 2^63. The same seed gives the same edges.

    Returns
    -------
    bool (m,)

    References
    ----------
    Parchas, Gullo, Papadias and Bonchi, The pursuit of a good possible world, SIGMOD 2014: ADR.
    There the kept edge of a pair is drawn at a drawn vertex.
    """
    (some,) = np.nonzero(graph.p > 0)
    order = some[np.argsort(-graph.p[some], kind="stable")]
    wanted = (int(graph.p.sum(dtype=np.int64)) + ONE // 2) // ONE
    edges = SampledEdges(*(each[order] for each in list_edge_chances(graph)))
    kept = start_of(edges, wanted, seed)
    if 0 < wanted < len(order):
        places = np.argsort(~kept, kind="stable").astype(np.int32)
        excess = excess_of(graph, order[kept])
        swap_edge_pairs(kept, places, excess, edges, ONE, STEPS_PER_EDGE * len(order), seed)
    out = np.zeros(graph.edges, dtype=np.bool_)
    out[order[kept]] = True
    return out


def excess_of(graph: UncertainGraph, kept: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return by how much the degree among these edges exceeds the expected one, in billionths."""
    change = -graph.p.astype(np.int64)
    change[kept] += ONE
    out = np.zeros(graph.records, dtype=np.int64)
    for ends in (graph.u, graph.v):
        np.add.at(out, ends, change)
    return out
