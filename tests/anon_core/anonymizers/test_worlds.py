"""Reliability relevance against exact enumeration, and against each world that was drawn."""

import itertools

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.anonymizers.uncertain_graph.worlds import relevance
from anon_core.anonymizers.uncertain_graph.worlds.worlds_kernels import draw_world
from anon_core.errors import InputError, LimitError
from anon_core.specs.graphs import ONE
from benchmarks.graphs.groups import count_connected_pairs, estimate_by_groups
from benchmarks.graphs.relevance import ESTIMATES
from tests import naive
from tests.strategies import uncertain_graphs
from tests.support.graphs import graph_of, pairs_of

MANY = 20_000  # worlds: by Hoeffding, a mean of numbers from 0 to 9 errs by 1/4 once in 10^13


def worlds_of(graph, number, seed):
    """The edges that exist in each world drawn."""
    edges, exists = relevance.list_edge_chances(graph), np.empty(graph.edges, dtype=bool)
    for world in range(number):
        draw_world(exists, edges, seed, world)
        yield list(itertools.compress(pairs_of(graph), exists))


def bridged(p=0.6):
    """Two reliable triangles a b c and d e f that one edge joins, as in Figure 4.3."""
    edges = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5)]
    return graph_of(edges, [p] * 7, 6), edges.index((2, 3))


@given(uncertain_graphs(), st.sampled_from(list(ESTIMATES)))
def test_relevance_is_that_of_exact_enumeration(graph, way):
    p = (graph.p / ONE).tolist()
    exact = np.array(naive.relevances(pairs_of(graph), p, graph.records))
    found = ESTIMATES[way](graph, MANY, 7)
    toggled = way == "toggled"
    seen = toggled | (graph.p > ONE // 5) & (graph.p < ONE - ONE // 5)  # groups of 4000 and more
    assert found.shape == (graph.edges,)
    assert found[seen] == pytest.approx(exact[seen], abs=0.25 if toggled else 1)
    assert (found >= 0).all()


@given(uncertain_graphs(), st.integers(0, 2**63 - 1))
def test_each_world_counts_what_each_edge_connects(graph, seed):
    pairs, total = pairs_of(graph), np.zeros(graph.edges)
    connected = []
    for world in worlds_of(graph, 5, seed):
        certain = [1] * len(world)
        connected.append(naive.expected_connected(world, certain, graph.records))
        for at, edge in enumerate(pairs):
            with_edge, without = {*world, edge}, set(world) - {edge}
            total[at] += len(connections(with_edge, graph)) - len(connections(without, graph))
    assert relevance.estimate_relevance(graph, 5, seed).tolist() == (total / 5).tolist()
    assert count_connected_pairs(graph, 5, seed).tolist() == connected


def connections(edges, graph):
    pairs = itertools.combinations(range(graph.records), 2)
    return [(a, b) for a, b in pairs if b in naive.reached(edges, a)]


@pytest.mark.parametrize("way", list(ESTIMATES))
def test_the_bridge_matters_most(way):
    graph, bridge = bridged()
    found = ESTIMATES[way](graph, 5000, 1)
    assert found.argmax() == bridge
    assert found[bridge] > 2 * np.delete(found, bridge).max()
    central = relevance.compute_centrality(graph, found)
    assert set(np.argsort(central)[-2:].tolist()) == {2, 3}
    assert central.sum() == pytest.approx(2 * 0.6 * found.sum())


def test_certain_and_impossible_edges_have_a_relevance_too():
    graph = graph_of([(0, 1), (1, 2), (2, 3)], [1, 1, 0], 4)
    assert relevance.estimate_relevance(graph, 3, 5).tolist() == [2, 2, 3]
    assert estimate_by_groups(graph, 3, 5).tolist() == [0, 0, 0]


def test_toggled_edges_have_far_less_noise_than_groups():
    graph, _ = bridged()
    variance = {
        way: np.var([estimate(graph, 200, seed) for seed in range(40)], axis=0).sum()
        for way, estimate in ESTIMATES.items()
    }
    assert variance["groups"] > 5 * variance["toggled"]


@pytest.mark.parametrize("way", list(ESTIMATES))
def test_threads_change_no_byte(way):
    random = np.random.default_rng(3)
    edges = sorted({tuple(sorted(random.choice(60, 2, replace=False))) for _ in range(120)})
    graph = graph_of(edges, random.random(len(edges)), 60)
    before, found = numba.get_num_threads(), []
    try:
        for threads in range(1, before + 1):
            numba.set_num_threads(threads)
            found.append(ESTIMATES[way](graph, 101, 9).tobytes())
    finally:
        numba.set_num_threads(before)
    assert len(set(found)) == 1
    assert ESTIMATES[way](graph, 101, 10).tobytes() not in found


@given(st.integers(0, ONE))
def test_chances_are_exact(p):
    graph = graph_of([(0, 1)], [p / ONE], 2)
    assert int(relevance.list_edge_chances(graph).chance[0]) == int(graph.p[0]) * 2**63 // ONE


def test_an_edge_exists_as_often_as_its_probability_says():
    p = [0, 0.001, 0.25, 0.5, 0.9, 1]
    graph = graph_of([(0, v) for v in range(1, 7)], p, 7)
    often = np.zeros(6)
    for world in worlds_of(graph, MANY, 2):
        often += [edge in world for edge in pairs_of(graph)]
    assert often / MANY == pytest.approx(p, abs=0.015)
    assert (often[0], often[-1]) == (0, MANY)


def test_what_cannot_be_estimated_is_refused():
    graph, _ = bridged()
    with pytest.raises(InputError, match="at least one world"):
        relevance.estimate_relevance(graph, 0, 1)
    with pytest.raises(LimitError, match="worlds of 6 vertices"):
        relevance.estimate_relevance(graph, 2**60, 1)
