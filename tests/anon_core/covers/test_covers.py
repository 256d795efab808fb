"""The covers, compared with their definitions and with the crowd sizes that they must give."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from anon_core.anonymizers import Adaptive
from anon_core.covers.named import COVERS
from anon_core.errors import InputError
from anon_core.search.dissimilarity import Dissimilarity
from anon_core.search.nearest import level_tree, nearest_neighbours
from anon_core.tables import encoding
from tests import naive
from tests.anon_core.anonymizers.test_adaptive import features, made, unpack
from tests.anon_core.engines.test_local import traced
from tests.strategies import EPSILONS, bit_matrices, tables


def scene_of(x, k, counts):
    """A dissimilarity with counts, b, the nearest neighbours, the weights of the complete graph."""
    table = encoding.from_bits(x, k)
    base = np.array([2**12] * x.shape[1])
    graph = Dissimilarity.of(table, base.astype(np.int32), 2.0)
    w = np.round(base * (2 / 3) ** counts.T.astype(int)).astype(int)
    b = table.k - np.int32(1)
    counts = np.take(counts, graph.layout, axis=1)
    return (
        graph,
        counts,
        b,
        nearest_neighbours(graph, level_tree(graph), counts, b),
        naive.edge_weights(x, w),
    )


@st.composite
def scenes(draw, most_records=9):
    x, k = draw(bit_matrices(most_records=most_records))
    counts = draw(hnp.arrays(np.uint16, (x.shape[1], len(x)), elements=st.integers(0, 4)))
    return scene_of(x, k, counts)


def pairs(edges):
    return set(zip(edges.u.tolist(), edges.v.tolist(), strict=True))


@given(scenes(most_records=14))
def test_lse_is_the_greedy_cover_of_the_complete_graph(scene):
    *problem, weights = scene
    assert pairs(COVERS["lse"].find(*problem)) == naive.greedy_cover(weights, problem[2].tolist())


@pytest.mark.slow
def test_lse_on_a_table_whose_lists_are_used_up():
    rng = np.random.default_rng(5)
    for _ in range(4):
        x = rng.integers(0, 2, (60, 7)) * rng.integers(0, 2, (60, 1))
        *problem, weights = scene_of(
            x, rng.integers(1, 25, 60), rng.integers(0, 5, (7, 60)).astype(np.uint16)
        )
        assert pairs(COVERS["lse"].find(*problem)) == naive.greedy_cover(
            weights, problem[2].tolist()
        )


def hides_everyone(name, table, epsilon, weights):
    """The guarantee of one run with this cover."""
    maker = Adaptive(epsilon=epsilon, weights=weights, cover=name, max_iterations=3)
    masked, ends = made(maker, table)
    x = features(table)
    assert (ends[0] < ends[1]).all()
    assert len(set(zip(*ends.tolist(), strict=True))) == ends.shape[1]
    fit = naive.compatible(x, x, unpack(masked.hidden, table.codebook.features))
    assert (fit.sum(axis=1) >= table.k).all()
    assert (naive.matchable(fit).sum(axis=1) >= table.k).all()
    assert (np.bincount(ends.reshape(-1), minlength=table.records) >= table.k - 1).all()


def gives_everyone_edges(name, n, f, k):
    """The degrees in covers of random records and of equal records."""
    x = np.random.default_rng(n + f).integers(0, 2, (n, f))
    for matrix in (x, np.zeros_like(x)):
        maker = Adaptive(weights="bits", cover=name, max_iterations=2)
        _, ends = made(maker, encoding.from_bits(matrix, np.full(n, k)))
        assert (np.bincount(ends.reshape(-1), minlength=n) >= k - 1).all()


SHAPES = [(2, 1, 2), (2, 65, 1), (7, 3, 7), (40, 3, 1), (40, 65, 40), (40, 5, 6)]


@pytest.mark.parametrize("name", ["mce", "lse"])
@given(table=tables(), epsilon=EPSILONS, weights=st.sampled_from(["bits", "columns"]))
def test_every_cover_hides_everyone(name, table, epsilon, weights):
    hides_everyone(name, table, epsilon, weights)


@pytest.mark.parametrize("name", ["mce", "lse"])
@pytest.mark.parametrize(("n", "f", "k"), SHAPES)
def test_shapes_of_covers(name, n, f, k):
    gives_everyone_edges(name, n, f, k)


@given(scenes())
def test_edges_ascend_by_weight_and_ends(scene):
    *problem, weights = scene
    for cover in (COVERS[name].find(*problem) for name in ("mce", "lse")):
        keys = list(zip(cover.weight.tolist(), cover.u.tolist(), cover.v.tolist(), strict=True))
        assert keys == sorted(keys)
        assert all(weights[u, v] == weight for weight, u, v in keys)


@given(scenes(most_records=12))
def test_mce_is_the_static_greedy_cover_of_the_complete_graph(scene):
    *problem, weights = scene
    assert pairs(COVERS["mce"].find(*problem)) == naive.static_cover(weights, problem[2].tolist())


def test_a_cover_is_named_or_refused():
    with pytest.raises(InputError, match="cover must be one of mce"):
        Adaptive(cover="best")


@pytest.mark.parametrize("name", ["exact", "b-matching", "nearest", "s-lse", "classes"])
def test_covers_of_comparisons_are_refused(name):
    with pytest.raises(InputError, match="cover must be one of mce, lse"):
        Adaptive(cover=name)


def within_stated_memory(name, n, k):
    """The peak memory, as a share of the memory that the cover states."""
    rng = np.random.default_rng(2)
    table = encoding.from_bits(rng.integers(0, 2, (n, 12)), rng.integers(1, k + 1, n))
    maker = Adaptive(cover=name, max_iterations=2)
    small = encoding.from_bits(rng.integers(0, 2, (50, 5)), rng.integers(1, 9, 50))
    maker.anonymize(small)  # compiles
    _, peak = traced(lambda: maker.anonymize(table))
    return peak / maker.memory(table)


@pytest.mark.parametrize("k", [3, 40])
def test_stated_memory_of_covers_is_an_upper_bound(k):
    assert 1 / 6 <= within_stated_memory("lse", 6000, k) <= 1
