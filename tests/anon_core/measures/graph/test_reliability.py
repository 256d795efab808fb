"""Reliability: exact and sampled against all worlds, the figures of the paper, what noise adds."""

import itertools

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from anon_core.errors import InputError, LimitError
from anon_core.measures.graph.degrees import UncertainEdges
from anon_core.measures.graph.discrepancy import (
    STRATA,
    estimate_discrepancy,
)
from benchmarks.graphs.reliability import enumerate_reliability, factor_reliability
from tests import naive
from tests.anon_core.measures.graph.graphs import (
    PAPER,
    as_edges,
    edges_of,
    pairs_of_graphs,
    permuted,
    plain,
)
from tests.strategies import uncertain_graphs


@pytest.mark.parametrize("exact", [enumerate_reliability, factor_reliability])
def test_the_paper_prints_this_reliability(exact):
    assert exact(edges_of(PAPER, 4), 0, 1) == pytest.approx(0.92272, abs=1e-12)


def test_the_bridge_connects_its_sides():
    """Fig. 4.3: two triangles joined by one edge; all that crosses takes the bridge."""
    triangles = dict.fromkeys([(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5)], 1.0)
    for p in (0.0, 0.3, 1.0):
        edges = edges_of({**triangles, (2, 3): p}, 6)
        for a, b in itertools.product(range(3), range(3, 6)):
            for exact in (enumerate_reliability, factor_reliability):
                assert exact(edges, a, b) == pytest.approx(p, abs=1e-15)
        assert factor_reliability(edges, 0, 2) == 1


@given(uncertain_graphs().filter(lambda graph: graph.records > 1), st.data())
def test_exact_reliability_is_that_over_all_worlds(graph, data):
    edges = as_edges(graph)
    pair = st.lists(st.integers(0, graph.records - 1), min_size=2, max_size=2, unique=True)
    a, b = data.draw(pair)
    pairs, p, _ = plain(edges)
    expected = float(naive.reliability(pairs, p, a, b))
    assert enumerate_reliability(edges, a, b) == pytest.approx(expected, abs=1e-12)
    assert factor_reliability(edges, a, b) == pytest.approx(expected, abs=1e-12)


@given(uncertain_graphs().filter(lambda graph: graph.edges and graph.records > 1), st.data())
def test_an_edge_never_lowers_a_reliability(graph, data):
    """RR = R(G with e) - R(G without e) >= 0, and lemma 1 has R between them."""
    edges = as_edges(graph)
    e = data.draw(st.integers(0, graph.edges - 1))
    p = edges.p.copy()
    values = []
    for chance in (0, int(edges.p[e]), 10**9):
        p[e] = chance
        values.append(enumerate_reliability(edges._replace(p=p), 0, 1))
    without, given_p, certain = values
    share = edges.p[e] / 10**9
    assert without <= certain + 1e-12
    assert given_p == pytest.approx(share * certain + (1 - share) * without, abs=1e-12)


def test_factoring_and_enumerating_agree_up_to_their_limits():
    pairs = list(itertools.combinations(range(7), 2))[:20]
    draws = np.random.default_rng(19).random(len(pairs))
    edges = edges_of(dict(zip(pairs, draws, strict=True)), 7)
    assert factor_reliability(edges, 0, 6) == pytest.approx(
        enumerate_reliability(edges, 0, 6), abs=1e-12
    )
    more = edges_of({**dict(zip(pairs, draws, strict=True)), (5, 6): 0.5}, 7)
    with pytest.raises(LimitError, match="21 edges may exist"):
        enumerate_reliability(more, 0, 6)
    with pytest.raises(LimitError, match="more than 5 branches"):
        factor_reliability(more, 0, 6, branches=5)


@pytest.mark.parametrize("pair", [(1, 1), (0, 4), (-1, 0)])
def test_one_vertex_has_no_reliability(pair):
    with pytest.raises(InputError, match="two distinct vertices"):
        factor_reliability(edges_of(PAPER, 4), *pair)


@given(pairs_of_graphs().filter(lambda drawn: drawn[0].vertices > 1))
def test_discrepancy_is_that_over_all_worlds(drawn):
    source, released, _ = drawn
    n = source.vertices
    found = estimate_discrepancy(source, released, worlds=500)
    (edges, p, _), (others, q, _) = plain(source), plain(released)
    likely = [edge for edge, chance in zip(edges, p, strict=True) if chance]
    apart, strata = [], {}
    for a, b in itertools.combinations(range(n), 2):
        difference = naive.reliability(edges, p, a, b) - naive.reliability(others, q, a, b)
        apart.append(float(abs(difference)))
        hops = naive.hops(likely, a, b)
        name = STRATA[-1] if hops < 0 else STRATA[min(hops, 4) - 1]
        strata.setdefault(name, []).append(apart[-1])
    near = 5 * found.noise + 10 / 500
    assert found.mean == pytest.approx(np.mean(apart), abs=near)
    measured = found.by_hops()
    assert measured.keys() == strata.keys()
    for name, (mean, noise, pairs) in measured.items():
        assert pairs == 2 * len(strata[name])
        assert mean == pytest.approx(np.mean(strata[name]), abs=5 * noise + 10 / 500)


def test_noise_is_the_error_of_a_difference_and_raises_its_mean():
    """Independent worlds would have an error of sqrt(2 * 0.25 / N); equal graphs have none."""
    source, released = edges_of({(0, 1): 0.5}, 2), edges_of({(0, 1): 0.6}, 2)
    assert estimate_discrepancy(source, source, 400).interval == (0, 0)
    errors, covered = [], 0
    for seed in range(200):
        found = estimate_discrepancy(source, released, 400, seed=seed)
        errors.append(found.mean - 0.1)
        covered += found.interval[0] <= 0.1 <= found.interval[1]
    assert np.std(errors) == pytest.approx(np.sqrt(0.1 * 0.9 / 400), rel=0.15)
    assert found.noise == pytest.approx(np.std(errors), rel=0.25)
    assert covered >= 180
    apart = estimate_discrepancy(edges_of({(0, 1): 0.1}, 2), edges_of({(0, 1): 0.9}, 2), 400)
    assert apart.noise == pytest.approx(np.sqrt(0.8 * 0.2 / 400), rel=0.15)


def test_sampled_vertices_stand_for_all():
    """Certain edges: every world is the same, and only the sample of vertices errs."""
    draws = np.random.default_rng(19)
    pairs = [(a, b) for a, b in draws.integers(0, 60, (110, 2)).tolist() if a < b]
    source = edges_of(dict.fromkeys(pairs, 1.0), 60)
    released = edges_of(dict.fromkeys(pairs[::2], 1.0), 60)
    whole = estimate_discrepancy(source, released, 1, (60, 60))
    assert len(whole.weight) == 60 * 59
    assert whole.interval == (whole.mean, whole.mean)
    assert sum(number for *_, number in whole.by_hops().values()) == 60 * 59
    assert 0.2 < whole.mean < 0.8
    covered = 0
    for seed in range(100):
        part = estimate_discrepancy(source, released, 1, (20, 3), seed)
        assert part.weight.sum() == pytest.approx(20 * 59)
        covered += part.interval[0] <= whole.mean <= part.interval[1]
    assert 90 <= covered < 100


def test_one_sampled_vertex_tells_nothing_of_the_others():
    source, released = edges_of({(0, 1): 1.0, (2, 3): 1.0}, 4), edges_of({(0, 1): 1.0}, 4)
    found = estimate_discrepancy(source, released, 5, (1, 4))
    assert set(found.vertex) == {0}
    assert found.interval == (0, 1)


def test_components_are_those_of_another_program():
    """Certain graphs: every world is the graph."""
    draws = np.random.default_rng(19)
    u, v = draws.integers(0, 300, (2, 250))
    u, v = np.unique(np.sort([u[u != v], v[u != v]], axis=0), axis=1).astype(np.int32)
    edges = UncertainEdges(u, v, np.full(len(u), 10**9, dtype=np.int32), 300)
    none = UncertainEdges(u[:0], v[:0], edges.p[:0], 300)
    found = estimate_discrepancy(edges, none, 3, (300, 300))
    _, label = connected_components(coo_array((np.ones(len(u)), (u, v)), (300, 300)), False)
    sizes = np.bincount(label)
    joined = int((sizes * (sizes - 1) // 2).sum())
    assert found.connected.tolist() == [[joined] * 3, [0] * 3]
    assert found.mean * (300 * 299 // 2) == pytest.approx(joined)


@given(pairs_of_graphs().filter(lambda drawn: drawn[0].vertices > 1))
def test_a_release_decides_no_world_of_the_source(drawn):
    source, released, _ = drawn
    alone, together = (
        estimate_discrepancy(source, source, 20),
        estimate_discrepancy(source, released, 20),
    )
    before, after = (each.times[:, [1, 3]].sum(axis=1) for each in (alone, together))
    assert before.tolist() == after.tolist()
    assert alone.connected[0].tolist() == together.connected[0].tolist()


def test_order_of_edges_and_threads_decide_no_byte():
    draws = np.random.default_rng(19)
    pairs = [(a, b) for a, b in draws.integers(0, 40, (90, 2)).tolist() if a < b]
    source = edges_of({pair: draws.random() for pair in pairs}, 40)
    released = edges_of({pair: draws.random() for pair in pairs}, 40)
    turned = permuted(released, np.arange(40, dtype=np.int32))
    threads = numba.get_num_threads()
    found = []
    try:
        for number, other in ((1, released), (2, turned)):
            numba.set_num_threads(number)
            found.append(estimate_discrepancy(source, other, 50))
    finally:
        numba.set_num_threads(threads)
    for name in ("times", "weight", "connected"):
        assert getattr(found[0], name).tobytes() == getattr(found[1], name).tobytes()
    assert found[0].mean == found[1].mean


def test_one_vertex_has_no_pairs():
    one = edges_of({}, 1)
    found = estimate_discrepancy(one, one, 5)
    assert (found.mean, found.interval, found.by_hops()) == (0, (0, 0), {})
    with pytest.raises(InputError, match="the same vertices"):
        estimate_discrepancy(one, edges_of({}, 2), 5)
