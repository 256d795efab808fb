"""Reliability relevance: how many pairs of vertices an edge connects, from sampled worlds.

A world has each edge with its probability, independently. cc(G) counts the pairs of vertices that
are connected in G. The relevance of an edge e is RR(e) = E[cc(G + e)] - E[cc(G - e)] >= 0.
"""

import numba
import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.uncertain_graph.worlds.worlds_kernels import SampledEdges, sum_toggled
from anon_core.errors import InputError, LimitError
from anon_core.graphs.records import UncertainGraph
from anon_core.specs.graphs import ONE

_LARGEST = 2**63 - 1  # of a sum of pairs over all worlds


def estimate_relevance(graph: UncertainGraph, worlds: int, seed: int) -> NDArray[np.float64]:
    """Estimate the reliability relevance of each edge, in pairs of vertices, from sampled worlds.

    Parameters
    ----------
    graph : UncertainGraph
    worlds : int
        Number K of sampled worlds, at least 1. Time grows with K (n + m).
    seed : int
        0 <= seed < 2^63. The same seed gives the same bytes on any number of threads.

    Returns
    -------
    float64 (m,)

    Notes
    -----
    The mean of cc(G + e) - cc(G - e) over all worlds. Without e, the ends of an absent edge lie in
    two components of a and b vertices, or e adds nothing; an edge that exists parts its component
    into a and b vertices if it is a bridge. Either way, e adds a b pairs. No world's other edges
    depend on e, so every world counts for every edge, also at p = 0 and 1.

    Algorithm 6 of the paper takes the mean of cc(G) over the worlds with e, less that over those
    without e. This has the variance of cc(G), which the edges elsewhere cause; here they cancel
    out. Variance is 36,000 times less on collins2007 and 20,000 times less on the core of
    krogan2006 (mean over the edges; 1000 worlds, 10 seeds: benchmarks.graphs.relevance), for three
    times the work.

    References
    ----------
    Xiao, Towards Graph Analytic and Privacy Protection, section 4.2.2: Definition 6, Algorithm 6.
    """
    refuse_too_many_worlds(graph, worlds)
    sums = np.zeros((count_shares(worlds), graph.edges), dtype=np.int64)
    sum_toggled(sums, list_edge_chances(graph), graph.records, worlds, seed)
    return np.asarray(sums.sum(axis=0) / worlds, dtype=np.float64)


def compute_centrality(
    graph: UncertainGraph, relevances: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the reliability centrality RC(v) of each vertex: the sum of p(e) RR(e) at v.

    Parameters
    ----------
    relevances : float64 (m,)
        RR(e), from `estimate_relevance`.

    Returns
    -------
    float64 (n,), in pairs of vertices
    """
    weights = graph.p / ONE * relevances
    ends = np.concatenate([graph.u, graph.v])
    sums = np.bincount(ends, np.concatenate([weights, weights]), minlength=graph.records)
    return sums.astype(np.float64)


def list_edge_chances(graph: UncertainGraph) -> SampledEdges:
    """Return the edges with their chances in 2^-63, rounded down.

    p 2^63 does not fit 64 bits: the upper 32 bits of the quotient first, then 31 from the rest.
    """
    upper, rest = np.divmod(graph.p.astype(np.uint64) << np.uint64(32), np.uint64(ONE))
    chance = (upper << np.uint64(31)) + (rest << np.uint64(31)) // np.uint64(ONE)
    return SampledEdges(graph.u, graph.v, chance)


def count_shares(worlds: int) -> int:
    """Each thread sums by itself; sums of integers are the same in any order."""
    return min(worlds, int(numba.get_num_threads()))


def refuse_too_many_worlds(graph: UncertainGraph, worlds: int) -> None:
    """Raise InputError for no world, LimitError where a sum of pairs may not fit 64 bits."""
    if worlds < 1:
        raise InputError("at least one world must be sampled")
    pairs = graph.records * (graph.records - 1) // 2
    if pairs * worlds > _LARGEST:
        raise LimitError(
            f"at most {_LARGEST // pairs} worlds of {graph.records} vertices can be summed, "
            f"not {worlds}"
        )
