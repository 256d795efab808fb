"""Edge betweenness: how many shortest paths take an edge."""

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.uncertain_graph.worlds.betweenness_kernels import (
    hash_numbers,
    sum_passing,
)
from anon_core.anonymizers.uncertain_graph.worlds.worlds_kernels import IncidentEdges, links_of
from anon_core.graphs.records import UncertainGraph

_SHARES = 16  # fixed: sums of fractions depend on their order, so never on the number of threads
MOST_SOURCES = 5000  # vertices that have edges; beyond, paths are counted from a sample of them
SAMPLED = 1000


def compute_betweenness(graph: UncertainGraph) -> NDArray[np.float64]:
    """Sum over pairs of vertices the share of their shortest paths that take each edge.

    A path is as long as it has edges. Every edge that may exist (p > 0) counts alike, however
    unlikely: this is the betweenness of the certain graph that the paper compares relevance with.

    Parameters
    ----------
    graph : UncertainGraph

    Returns
    -------
    float64 (m,)
        In pairs of vertices; 0 where p = 0. If more than 5000 vertices have edges, an estimate:
        the sum over 1000 of them, drawn by their numbers, times how many there are for each.

    References
    ----------
    Brandes, A faster algorithm for betweenness centrality, 2001. Sampled sources: Brandes and Pich,
    Centrality estimation in large networks, 2007.
    """
    (some,) = np.nonzero(graph.p > 0)
    links = IncidentEdges(*links_of(graph.u[some], graph.v[some], graph.records))
    (sources,) = np.nonzero(np.diff(links.start))
    drawn = sources
    if len(sources) > MOST_SOURCES:
        drawn = np.sort(sources[np.argsort(hash_numbers(sources), kind="stable")[:SAMPLED]])
    sums = np.zeros((_SHARES, len(some)), dtype=np.float64)
    sum_passing(sums, drawn, links)
    out = np.zeros(graph.edges, dtype=np.float64)
    # Each pair is counted from both of its ends.
    out[some] = sums.sum(axis=0) * (len(sources) / max(1, len(drawn)) / 2)
    return out
