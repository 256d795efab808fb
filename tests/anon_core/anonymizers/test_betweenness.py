"""Edge betweenness against the definition, closed forms and a sample's expectation."""

import numba
import numpy as np
import pytest
from hypothesis import given

from anon_core.anonymizers.uncertain_graph.worlds import betweenness as module
from anon_core.anonymizers.uncertain_graph.worlds.betweenness import compute_betweenness
from anon_core.specs.graphs import ONE
from tests import naive
from tests.strategies import uncertain_graphs
from tests.support.graphs import graph_of, pairs_of


@given(uncertain_graphs(most_vertices=8, most_edges=14))
def test_betweenness_is_the_share_of_shortest_paths(graph):
    exists = [edge for edge, p in zip(pairs_of(graph), graph.p, strict=True) if p]
    exact = dict(zip(exists, naive.edge_betweenness(exists, graph.records), strict=True))
    found = compute_betweenness(graph)
    assert found == pytest.approx([exact.get(edge, 0.0) for edge in pairs_of(graph)])


def test_closed_forms():
    n = 9
    path = graph_of([(v, v + 1) for v in range(n - 1)], [0.5] * (n - 1), n)
    assert compute_betweenness(path).tolist() == [(v + 1) * (n - 1 - v) for v in range(n - 1)]
    star = graph_of([(0, v) for v in range(1, n)], [0.1] * (n - 1), n)
    assert compute_betweenness(star).tolist() == [n - 1] * (n - 1)
    cycle = graph_of([(0, 1), (0, 5), (1, 2), (2, 3), (3, 4), (4, 5)], [1] * 6, 6)
    assert compute_betweenness(cycle) == pytest.approx([1 + 2 + 1.5] * 6)


# Zachary's karate club: the later neighbours of each member.
KARATE = """
0 1 2 3 4 5 6 7 8 10 11 12 13 17 19 21 31;1 2 3 7 13 17 19 21 30;2 3 7 8 9 13 27 28 32;3 7 12 13
4 6 10;5 6 10 16;6 16;8 30 32 33;9 33;13 33;14 32 33;15 32 33;18 32 33;19 33;20 32 33;22 32 33
23 25 27 29 32 33;24 25 27 31;25 31;26 29 33;27 33;28 31 33;29 32 33;30 32 33;31 32 33;32 33
"""
GREATEST = {  # edge_betweenness_centrality of networkx 3.6.1, normalized=False
    (0, 31): 71.392857,
    (0, 5): 43.833333,
    (0, 6): 43.833333,
    (0, 2): 43.638889,
    (0, 8): 41.648413,
    (2, 32): 38.701587,
    (13, 33): 38.049206,
    (19, 33): 33.313492,
}


def karate():
    edges = []
    for line in KARATE.strip().replace("\n", ";").split(";"):
        first, *others = map(int, line.split())
        edges += [(first, other) for other in others]
    return graph_of(edges, [1] * len(edges), 34)


def test_the_karate_club_is_that_of_networkx():
    graph = karate()
    found = compute_betweenness(graph)
    greatest = np.argsort(-found, kind="stable")[:8]
    assert {pairs_of(graph)[e]: round(float(found[e]), 6) for e in greatest} == GREATEST
    assert found.sum() == pytest.approx(1351)  # the distances of all pairs


def drawn(n=200, m=230, seed=3):
    random = np.random.default_rng(seed)
    edges = sorted({tuple(sorted(random.choice(n, 2, replace=False))) for _ in range(m)})
    return graph_of(edges, random.random(len(edges)), n)


def test_threads_change_no_byte():
    graph, before, found = drawn(), numba.get_num_threads(), set()
    try:
        for threads in range(1, before + 1):
            numba.set_num_threads(threads)
            found.add(compute_betweenness(graph).tobytes())
    finally:
        numba.set_num_threads(before)
    assert len(found) == 1


def test_a_sample_of_sources_estimates_the_sum(monkeypatch):
    graph = drawn()
    exact = compute_betweenness(graph)
    monkeypatch.setattr(module, "MOST_SOURCES", 50)
    monkeypatch.setattr(module, "SAMPLED", 50)
    estimate = compute_betweenness(graph)
    assert (estimate != exact).any()
    assert estimate.sum() == pytest.approx(exact.sum(), rel=0.1)
    assert np.corrcoef(estimate, exact)[0, 1] > 0.8
    monkeypatch.setattr(module, "SAMPLED", graph.records)
    assert compute_betweenness(graph) == pytest.approx(exact)


def test_an_edge_that_cannot_exist_carries_nothing():
    graph = graph_of([(0, 1), (0, 2), (1, 2)], [0, 1, 1], 3)
    assert compute_betweenness(graph).tolist() == [0, 2, 2]
    assert graph.p.tolist() == [0, ONE, ONE]
