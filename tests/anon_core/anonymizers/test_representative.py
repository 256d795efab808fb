"""Representative instances: sizes, degrees against every choice of edges, seeds."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.anonymizers.uncertain_graph.worlds import representative as module
from anon_core.anonymizers.uncertain_graph.worlds.representative import choose_representative
from anon_core.specs.graphs import ONE
from tests import naive
from tests.strategies import uncertain_graphs
from tests.support.graphs import graph_of, pairs_of


def apart(graph, kept):
    """Sum of |degree - expected degree|, in billionths."""
    places = np.flatnonzero(kept).tolist()
    p = graph.p.tolist()
    return naive.degree_discrepancy(pairs_of(graph), p, ONE, graph.records, places)


def drawn(n, m, seed):
    random = np.random.default_rng(seed)
    pairs = list(itertools.combinations(range(n), 2))
    places = sorted(random.choice(len(pairs), min(m, len(pairs)), replace=False))
    return graph_of([pairs[at] for at in places], random.random(len(places)), n)


@given(uncertain_graphs(most_edges=9), st.integers(0, 2**63 - 1))
def test_as_many_edges_are_kept_as_are_expected(graph, seed):
    kept = choose_representative(graph, seed)
    assert kept.shape == (graph.edges,)
    assert kept.dtype == bool
    assert kept.sum() == (2 * int(graph.p.sum(dtype=np.int64)) + ONE) // (2 * ONE)
    assert not kept[graph.p == 0].any()
    assert choose_representative(graph, seed).tolist() == kept.tolist()


@given(uncertain_graphs(most_edges=9), st.integers(0, 99))
def test_degrees_are_never_further_away_than_at_the_start(graph, seed):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "STEPS_PER_EDGE", 0)
        start = choose_representative(graph, seed)
    assert apart(graph, choose_representative(graph, seed)) <= apart(graph, start)


def test_degrees_are_nearly_as_near_as_any_choice_of_as_many_edges():
    lost = []
    for seed in range(60):
        graph = drawn(3 + seed % 4, 8, seed)
        kept = choose_representative(graph, seed)
        choices = itertools.combinations(range(graph.edges), int(kept.sum()))
        best = min(apart(graph, np.isin(np.arange(graph.edges), each)) for each in choices)
        lost.append((apart(graph, kept) - best) / ONE)
    assert min(lost) >= 0
    assert max(lost) <= 2
    assert np.mean(lost) < 0.05
    assert np.mean(np.array(lost) == 0) > 0.9


def test_rewiring_brings_degrees_much_nearer(monkeypatch):
    graph = drawn(60, 300, 5)
    after = apart(graph, choose_representative(graph, 1))
    monkeypatch.setattr(module, "STEPS_PER_EDGE", 0)
    assert after < apart(graph, choose_representative(graph, 1)) / 2


def test_certain_edges_stay():
    graph = graph_of([(0, 1), (0, 2), (1, 2), (2, 3)], [1, 1, 0, 1], 4)
    assert choose_representative(graph, 4).tolist() == [True, True, False, True]
    assert choose_representative(graph_of([(0, 1)], [0.4], 2), 1).tolist() == [False]


def test_other_seeds_may_keep_other_edges():
    graph = graph_of([(0, v) for v in range(1, 31)], [0.5] * 30, 31)
    assert len({choose_representative(graph, seed).tobytes() for seed in range(5)}) > 1
