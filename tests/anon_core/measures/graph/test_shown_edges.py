"""What a release shows of the source's edges, against definitions over all worlds."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.measures.graph.degrees import UncertainEdges
from anon_core.measures.graph.shown_edges import SHOWN_WITHIN, compare_edges
from anon_core.specs.graphs import ONE
from tests import naive
from tests.anon_core.measures.graph.graphs import permuted

MILLIONTHS = st.sampled_from([0, 1, 30_000, 80_000, 250_000, 300_000, 999_999, 10**6])


@st.composite
def edge_lists(draw):
    """Two graphs over the same few vertices, probabilities in whole millionths."""
    n = draw(st.integers(2, 5))
    pairs = [(i, j) for j in range(n) for i in range(j)]
    graphs = [draw(st.dictionaries(st.sampled_from(pairs), MILLIONTHS, max_size=5)) for _ in "ab"]
    return n, *graphs


def build_edges(chances, n):
    u, v = np.array(list(chances), dtype=np.int32).reshape(-1, 2).T.copy()
    p = 1000 * np.array(list(chances.values()), dtype=np.int32)
    return UncertainEdges(u, v, p, n)


@given(edge_lists())
def test_it_is_what_the_definitions_count(drawn):
    n, *graphs = drawn
    found = compare_edges(*(build_edges(each, n) for each in graphs))
    source, released = (
        {edge: Fraction(p, 10**6) for edge, p in each.items() if p} for each in graphs
    )
    both = source.keys() & released.keys()
    assert (found.source, found.released, found.both) == (len(source), len(released), len(both))
    assert found.either == len(source.keys() | released.keys())
    assert found.same == len(source.items() & released.items())
    near = naive.vertices_with_shown_edge(source, released, Fraction(SHOWN_WITHIN, ONE))
    assert set(np.flatnonzero(found.near).tolist()) == near
    matched = naive.vertices_of_known_edges(source, released, n)
    assert set(np.flatnonzero(found.matched).tolist()) == matched
    joined = sum(source.values(), Fraction()) / (n * (n - 1) // 2)
    assert found.joined == pytest.approx(float(joined))
    assert found.joined_if_released == pytest.approx(float(naive.chance_joined(source, released)))


@given(edge_lists(), st.randoms())
def test_the_order_of_vertices_and_edges_changes_nothing(drawn, random):
    n, *graphs = drawn
    place = list(range(n))
    random.shuffle(place)
    edges = [build_edges(each, n) for each in graphs]
    turned = [permuted(each, np.array(place, dtype=np.int32)) for each in edges]
    found, again = compare_edges(*edges), compare_edges(*turned)
    assert found.joined_if_released == again.joined_if_released
    assert found.near.tolist() == again.near[place].tolist()
    assert found.matched.tolist() == again.matched[place].tolist()


def test_sums_of_many_large_products_are_exact():
    n = 1500
    u, v = np.triu_indices(n, 1)
    p = np.full(len(u), ONE - 1, dtype=np.int32)
    edges = UncertainEdges(u.astype(np.int32), v.astype(np.int32), p, n)
    assert compare_edges(edges, edges).joined_if_released == (ONE - 1) / ONE
    assert len(u) * (ONE - 1) ** 2 > 2**63  # a sum of int64 would have wrapped around


def test_an_edge_of_half_a_millionth_is_none_and_finds_nobody():
    """Rounded to a millionth it would be one, as in the release."""
    ends = np.array([0, 1], dtype=np.int32), np.array([1, 2], dtype=np.int32)
    before, after = (
        UncertainEdges(*ends, np.array([p, p], dtype=np.int32), 3) for p in (500, 1000)
    )
    found = compare_edges(before, after)
    assert (found.source, found.released, found.both) == (0, 2, 0)
    assert not found.matched.any()
