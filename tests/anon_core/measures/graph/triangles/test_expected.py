"""Expected triangles and their variance against all worlds of small uncertain graphs."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anon_core.errors import InputError
from anon_core.measures.graph.triangles import counting, expected
from anon_core.measures.graph.triangles.oriented import orient_edges
from anon_core.specs.graphs import ONE
from tests import naive
from tests.anon_core.measures.graph.triangles.graphs import skewed
from tests.strategies import simple_graphs

ENDS = np.array([[0, 0, 1], [1, 2, 2]], dtype=np.int32)
NEARLY_CERTAIN = ENDS[0], ENDS[1], 3  # with its probabilities: 1 - P is lost if P is subtracted
CHANCES = st.one_of(st.sampled_from([0, 1, ONE // 2, ONE - 1, ONE]), st.integers(0, ONE))


@given(simple_graphs(most_vertices=5), st.lists(CHANCES, min_size=10, max_size=10))
@example(NEARLY_CERTAIN, [ONE - 1] * 3)
def test_moments_are_those_of_all_worlds(drawn, chances):
    u, v, n = drawn
    p = np.array(chances[: len(u)], dtype=np.int32)
    graph = orient_edges(u, v, n)
    edges = zip(u.tolist(), v.tolist(), strict=True)
    worlds = {edge: Fraction(int(each), ONE) for edge, each in zip(edges, p, strict=True)}
    mean, spread = naive.triangle_moments(worlds)
    assert expected.compute_expected_triangles(graph, p) == mean
    assert expected.compute_triangle_variance(graph, p) == pytest.approx(
        float(spread), rel=1e-12, abs=1e-300
    )


def test_an_expectation_is_exact_where_sums_pass_64_bits():
    u, v, n = skewed(300, 6000, 3)
    p = np.random.default_rng(1).integers(ONE - 100, ONE, len(u)).astype(np.int32)
    graph, chance = (
        orient_edges(u, v, n),
        dict(zip(zip(u, v, strict=True), p.tolist(), strict=True)),
    )
    rows = counting.list_triangles(graph).tolist()
    assert len(rows) > 20_000
    total = sum(chance[a, b] * chance[a, c] * chance[b, c] for a, b, c in rows)
    assert expected.compute_expected_triangles(graph, p) == Fraction(total, ONE**3)


def test_certain_edges_give_the_number_itself():
    u, v, n = skewed(300, 3000, 2)
    graph = orient_edges(u, v, n)
    certain = np.full(len(u), ONE, dtype=np.int32)
    matrix = np.zeros((n, n), dtype=np.int64)
    matrix[u, v] = matrix[v, u] = 1
    assert (
        expected.compute_expected_triangles(graph, certain)
        == np.trace(matrix @ matrix @ matrix) // 6
        > 1000
    )
    assert expected.compute_triangle_variance(graph, certain) == 0


@pytest.mark.parametrize("wrong", [[-1] * 3, [ONE + 1] * 3, [1, 2]])
def test_other_probabilities_are_refused(wrong):
    ends = np.array([[0, 1], [0, 2], [1, 2]], dtype=np.int32)
    graph = orient_edges(ends[:, 0].copy(), ends[:, 1].copy(), 3)
    with pytest.raises(InputError, match="probabilit"):
        expected.compute_expected_triangles(graph, np.array(wrong, dtype=np.int32))
    with pytest.raises(InputError, match="as int32"):
        expected.compute_triangle_variance(graph, np.zeros(3))
