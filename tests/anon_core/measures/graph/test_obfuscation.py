"""Entropies and levels against their definitions, and the figures of the paper."""

import math
from fractions import Fraction

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.errors import InputError
from anon_core.measures.graph.degrees import Degrees
from anon_core.measures.graph.obfuscation import Obfuscation
from anon_core.measures.graph.posteriors import compute_known_degrees, compute_posteriors
from anon_core.specs.graphs import Knowledge
from tests import naive
from tests.anon_core.measures.graph.graphs import (
    PAPER,
    chances,
    edges_of,
    pairs_of_graphs,
    permuted,
)

KNOWN = st.sampled_from(Knowledge.__args__)


def measure_obfuscation(source, released, knowledge, k):
    return Obfuscation(compute_posteriors(source, released, knowledge).bits, k)


@pytest.fixture
def paper():
    return Degrees.of(edges_of(PAPER, 4))


@pytest.mark.parametrize("knowledge", ["ceiling", "mode"])
def test_the_paper_prints_these_entropies(paper, knowledge):
    known = compute_known_degrees(paper, knowledge)[paper.of_vertex]
    assert known.tolist() == [3, 2, 2, 1]
    found = measure_obfuscation(paper, paper, knowledge, np.full(4, 3))
    assert found.bits == pytest.approx([0.469, 1.742, 1.742, 1.688], abs=5e-4)
    assert found.below.tolist() == [True, False, False, False]  # eps = 0.25
    assert found.least == pytest.approx(2**0.469, rel=1e-3)


def test_entropies_of_rows_and_columns_agree(paper):
    """4.2.3: sum_v H(v) + n log n = sum s(w) H(Y(w)) + n H(s / n); the paper prints no n."""
    chance = np.array([[float(each) for each in row] for row in chances(edges_of(PAPER, 4))])
    total = chance.sum(axis=0)
    columns = [naive.entropy(column / column.sum()) for column in chance.T]
    by_vertex = sum(naive.entropy(row) for row in chance) + 4 * math.log2(4)
    bits = compute_posteriors(paper, paper, "ceiling").bits
    assert [bits[v] for v in (3, 1, 0)] == pytest.approx(columns[1:])
    assert by_vertex == pytest.approx(12.87499, abs=5e-6)
    assert total @ columns + 4 * naive.entropy(total / 4) == pytest.approx(by_vertex)


@given(pairs_of_graphs(), KNOWN)
def test_posteriors_are_those_of_the_definition(drawn, knowledge):
    source, released, k = drawn
    found = compute_posteriors(Degrees.of(source), Degrees.of(released), knowledge)
    degrees, near = chances(released), 1 - Fraction(1, 10**12)
    below = []
    for v, target in enumerate(chances(source)):
        y = naive.posterior(target, degrees, knowledge)
        assert found.bits[v] == pytest.approx(naive.entropy(y), abs=1e-9)
        assert found.own[v] == pytest.approx(float(y[v]))
        assert found.greatest[v] == pytest.approx(float(max(y)))
        likeliest = sum(each >= near * max(y) for each in y) if any(y) else 0
        assert found.likeliest[v] == likeliest
        below.append(k[v] > 1 and naive.entropy(y) < math.log2(k[v]) - 1e-9)
    measured = measure_obfuscation(Degrees.of(source), Degrees.of(released), knowledge, k)
    assert measured.below.tolist() == below


@given(pairs_of_graphs(), KNOWN, st.randoms(use_true_random=False))
def test_names_of_vertices_decide_no_byte(drawn, knowledge, random):
    source, released, _ = drawn
    n = source.vertices
    place = np.array(random.sample(range(n), n), dtype=np.int32)
    before = compute_posteriors(Degrees.of(source), Degrees.of(released), knowledge)
    after = compute_posteriors(
        Degrees.of(permuted(source, place)), Degrees.of(permuted(released, place)), knowledge
    )
    for name in ("bits", "own", "greatest", "likeliest"):
        assert getattr(after, name)[place].tobytes() == getattr(before, name).tobytes()


def test_threads_decide_no_byte():
    draws = np.random.default_rng(19)
    pairs = np.unique(draws.integers(0, 200, (900, 2)), axis=0)
    pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    source, released = (
        Degrees.of(edges_of(dict(zip(map(tuple, pairs), chance, strict=True)), 200))
        for chance in draws.random((2, len(pairs)))
    )
    threads = numba.get_num_threads()
    found = []
    try:
        for number in (1, 2):
            numba.set_num_threads(number)
            found.append(compute_posteriors(source, released, "distribution"))
    finally:
        numba.set_num_threads(threads)
    for name in ("bits", "own", "greatest", "likeliest"):
        assert getattr(found[0], name).tobytes() == getattr(found[1], name).tobytes()


def test_a_degree_that_no_vertex_can_have_hides_nobody():
    source = Degrees.of(edges_of({(0, 1): 1.0, (1, 2): 1.0}, 3))
    released = Degrees.of(edges_of({(0, 1): 1.0}, 3))
    found = measure_obfuscation(source, released, "ceiling", np.full(3, 2))
    assert found.bits.tolist() == [1, 0, 1]
    assert found.below.tolist() == [False, True, False]
    assert compute_posteriors(source, released, "ceiling").own.tolist() == [0.5, 0, 0]


def test_levels_are_counted_from_entropies():
    found = Obfuscation(np.log2([4.0, 2.0, 3.0, 3.0]), np.array([4, 3, 3, 1]))
    assert found.below.tolist() == [False, True, False, False]
    assert found.levels == pytest.approx([4, 2, 3, 3])
    near = Obfuscation(np.log2(3) - np.array([1e-10, 1e-8]), np.array([3, 3]))
    assert near.below.tolist() == [False, True]
    assert [found.quantile(part) for part in (0, 0.25, 0.5, 1)] == pytest.approx([2, 2, 3, 4])


@pytest.mark.parametrize("knowledge", Knowledge.__args__)
def test_a_graph_without_vertices_has_no_posteriors(knowledge):
    nothing = Degrees.of(edges_of({}, 0))
    found = measure_obfuscation(nothing, nothing, knowledge, np.zeros(0, dtype=np.int32))
    assert (found.least, found.quantile(0.5)) == (0, 0)
    with pytest.raises(InputError, match="the same vertices"):
        compute_posteriors(nothing, Degrees.of(edges_of({}, 1)), knowledge)


@pytest.mark.parametrize("knowledge", Knowledge.__args__)
def test_all_hide_in_a_graph_without_edges(knowledge):
    nothing = Degrees.of(edges_of({}, 7))
    bits = compute_posteriors(nothing, nothing, knowledge).bits
    assert bits == pytest.approx([math.log2(7)] * 7)
