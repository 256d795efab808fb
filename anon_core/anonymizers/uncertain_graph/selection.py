"""Q(v): how much of the uncertainty each vertex is to get, and which vertices are left alone."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.uncertain_graph.degrees import GraphEdges
from anon_core.anonymizers.uncertain_graph.selection_kernels import fill_commonness
from anon_core.anonymizers.uncertain_graph.settings import Selection
from anon_core.anonymizers.uncertain_graph.worlds.betweenness import compute_betweenness
from anon_core.anonymizers.uncertain_graph.worlds.relevance import (
    compute_centrality,
    estimate_relevance,
)
from anon_core.graphs.records import UncertainGraph
from anon_core.specs.graphs import ONE


class SelectionWeights(NamedTuple):
    """What decides where Algorithm 7 puts uncertainty.

    Attributes
    ----------
    sampled : float64 (n,)
        Q(v) of lines 10 and 22: not negative.
    excluded : bool (n,)
        H of line 4.
    """

    sampled: NDArray[np.float64]
    excluded: NDArray[np.bool_]


def compute_vertex_weights(
    graph: UncertainGraph, selection: Selection, worlds: int, seed: int
) -> SelectionWeights:
    """Return Q(v), and the set H of half as many vertices as are exempt, rounded up.

    U is the uniqueness, RC the reliability centrality in parts of the greatest.

    ============= ========== ================ ==============================================
    selection     Q          H: greatest
    ============= ========== ================ ==============================================
    "relevance"   U (1 - RC) U RC             Algorithm 7
    "anonymity"   U          U RC             only one half of line 5
    "utility"     1 - RC     U RC             only the other half
    "betweenness" U (1 - B)  U B              B: RC with edge betweenness for relevance
    "uniqueness"  U          U                Boldi et al.
    "degree"      d          d                d: the expected degree. U is extreme: the rarest
                                              vertices have hundreds of times its mean
    "random"      1          U                all alike
    ============= ========== ================ ==============================================

    Parameters
    ----------
    graph : UncertainGraph
        The graph that is going to be perturbed.
    worlds : int
        K: sampled worlds of Algorithm 6.
    seed : int
        Of these worlds.
    """
    if selection == "degree":
        degree = list_edges(graph).degree_billionths() / ONE
        return SelectionWeights(degree, _select_greatest(degree, graph.exempt))
    unique = compute_uniqueness(list_edges(graph))
    if selection in ("uniqueness", "random"):
        sampled = unique if selection == "uniqueness" else np.ones(graph.records)
        return SelectionWeights(sampled, _select_greatest(unique, graph.exempt))
    of_edge = (
        compute_betweenness(graph)
        if selection == "betweenness"
        else estimate_relevance(graph, worlds, seed)
    )
    central = compute_centrality(graph, of_edge)
    central /= central.max(initial=0) or 1.0
    sampled = {"anonymity": unique, "utility": 1 - central}.get(selection, unique * (1 - central))
    return SelectionWeights(sampled, _select_greatest(unique * central, graph.exempt))


def list_edges(graph: UncertainGraph) -> GraphEdges:
    """Return the edges of a graph."""
    return GraphEdges(graph.records, graph.u, graph.v, graph.p)


def _select_greatest(score: NDArray[np.float64], exempt: int) -> NDArray[np.bool_]:
    chosen = np.zeros(len(score), dtype=np.bool_)
    chosen[np.argsort(-score, kind="stable")[: -(-exempt // 2)]] = True
    return chosen


def compute_uniqueness(edges: GraphEdges) -> NDArray[np.float64]:
    """Return U(v) = 1 / sum over u of the normal density of theta at P(u) - P(v), float64 (n,).

    P is the expected degree and theta = sigma_G its standard deviation over the vertices.

    References
    ----------
    Xiao, Definition 5.
    """
    expected = edges.degree_billionths() / ONE
    theta = float(expected.std())
    # All expected degrees are equal: none is rarer than another.
    if theta == 0:
        return np.ones(edges.vertices)
    value, times = np.unique(expected, return_counts=True)
    common = np.empty(len(value))
    fill_commonness(value / theta, times.astype(np.float64), common)
    return theta / common[np.searchsorted(value, expected)]
