"""Uncertain graphs for the tests of their measures."""

import numpy as np
from hypothesis import strategies as st

from anon_core.measures.graph.degrees import UncertainEdges
from anon_core.specs.graphs import ONE
from tests import naive
from tests.strategies import uncertain_graphs

PAPER = {(0, 1): 0.7, (0, 2): 0.9, (0, 3): 0.8, (1, 2): 0.8, (1, 3): 0.1}
"""Fig. 2.1(a): A, B, C, D."""


def edges_of(chances, vertices):
    """Edges of a dictionary of pairs."""
    u, v = np.array(list(chances), dtype=np.int32).reshape(-1, 2).T.copy()
    p = np.rint(np.array(list(chances.values())) * ONE).astype(np.int32)
    return UncertainEdges(u, v, p, vertices)


@st.composite
def pairs_of_graphs(draw):
    """Two drawn graphs over the same vertices, and the demands of the first."""
    source, other = draw(uncertain_graphs()), draw(uncertain_graphs())
    there = np.maximum(other.u, other.v) < source.records
    edges = UncertainEdges(other.u[there], other.v[there], other.p[there], source.records)
    return as_edges(source), edges, source.k


def as_edges(graph):
    return UncertainEdges(graph.u, graph.v, graph.p, graph.records)


def plain(edges):
    """Pairs, probabilities as fractions, and the number of vertices: what naive takes."""
    pairs = list(zip(edges.u.tolist(), edges.v.tolist(), strict=True))
    return pairs, naive.fractions(edges.p, ONE), edges.vertices


def chances(edges):
    return naive.degree_chances(*plain(edges))


def permuted(edges, place):
    """The same graph: vertex i is called place[i], the edges come in another order."""
    order = np.argsort(place[edges.u], kind="stable")[::-1]
    return UncertainEdges(
        place[edges.v][order], place[edges.u][order], edges.p[order], edges.vertices
    )
