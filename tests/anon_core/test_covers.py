"""Every cover against its definition, its optimum and the crowds that it must give."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from anon_core import encoding
from anon_core.graphs.dissimilarity import Dissimilarity, bit_weights
from anon_core.graphs.nearest_closure import LevelTree, nearest_neighbours
from anon_core.graphs.subdominant_edges import subdominant_edges
from tests import naive
from tests.strategies import bit_matrices


@st.composite
def scenes(draw, most_records=9):
    """A dissimilarity with counts, b, the nearest neighbours, and the weights of the complete graph."""
    x, k = draw(bit_matrices(most_records=most_records))
    table = encoding.from_bits(x, k)
    base = np.array([2**12] * x.shape[1])
    graph = Dissimilarity.of(table, bit_weights(base.astype(float)), 2.0)
    counts = draw(hnp.arrays(np.uint16, (x.shape[1], len(x)), elements=st.integers(0, 4)))
    w = np.round(base * (2 / 3) ** counts.T.astype(int)).astype(int)
    b = table.k - np.int32(1)
    return graph, counts, b, nearest_neighbours(graph, LevelTree.of(graph), counts, b), naive.edge_weights(x, w)


def pairs(edges):
    return set(zip(edges.u.tolist(), edges.v.tolist(), strict=True))


@settings(max_examples=200, deadline=None)
@given(scenes(most_records=14))
def test_lse_is_the_greedy_cover_of_the_complete_graph(scene):
    *problem, weights = scene
    cover = subdominant_edges(*problem)
    assert pairs(cover) == naive.greedy_cover(weights, problem[2].tolist())
    assert len(pairs(cover)) == len(cover)
