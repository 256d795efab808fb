"""The matching attack against its definition, and what entropies do not bound."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.measures.graph.degrees import Degrees
from anon_core.measures.graph.linkage import DegreeLinkage
from anon_core.measures.graph.obfuscation import Obfuscation
from anon_core.measures.graph.posteriors import Posteriors, compute_posteriors
from anon_core.specs.graphs import Knowledge
from tests import naive
from tests.anon_core.measures.graph.graphs import PAPER, chances, edges_of, pairs_of_graphs


@given(pairs_of_graphs(), st.sampled_from(Knowledge.__args__))
def test_the_attack_is_that_of_the_definition(drawn, knowledge):
    source, released, k = drawn
    found = DegreeLinkage.of(
        compute_posteriors(Degrees.of(source), Degrees.of(released), knowledge)
    )
    degrees, near = chances(released), 1 - Fraction(1, 10**12)
    hits, surer = [], []
    for v, target in enumerate(chances(source)):
        y = naive.posterior(target, degrees, knowledge)
        likeliest = [u for u, each in enumerate(y) if each >= near * max(y)] if any(y) else []
        hits.append(1 / len(likeliest) if v in likeliest else 0)
        surer.append(max(y) * int(k[v]) > 1 + Fraction(1, 10**12))
    assert found.chance == pytest.approx(hits)
    assert found.hits == pytest.approx(sum(hits))
    assert found.surer(k).tolist() == surer


def test_everybody_of_the_papers_graph_is_found_but_one():
    degrees = Degrees.of(edges_of(PAPER, 4))
    found = DegreeLinkage.of(compute_posteriors(degrees, degrees, "ceiling"))
    assert found.chance.tolist() == [1, 0, 1, 1]  # C is likelier than B to have degree 2
    assert found.hits == 3


def test_vertices_alike_are_found_by_chance():
    ring = Degrees.of(edges_of({(i, (i + 1) % 5): 0.3 for i in range(5)}, 5))
    for knowledge in Knowledge.__args__:
        found = DegreeLinkage.of(compute_posteriors(ring, ring, knowledge))
        assert found.hits == pytest.approx(1)
        assert not found.surer(np.full(5, 5)).any()


def test_an_entropy_does_not_bound_the_greatest_chance():
    """Half of the belief in one vertex, the rest spread over 64: k = 2^(1 + 0.5 * 6) = 16."""
    y = np.array([0.5, *[0.5 / 64] * 64])
    one = np.ones(1)
    bits = one * naive.entropy(y)
    assert not Obfuscation(bits, np.array([16])).below.any()
    found = DegreeLinkage.of(Posteriors(bits, one * 0.5, one * 0.5, np.array([1])))
    assert found.surer(np.array([16])).tolist() == [True]
    assert found.hits == 1
