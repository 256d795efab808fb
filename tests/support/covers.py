"""Scenes for covers, and what a cover must be."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from anon_core.anonymizers import Adaptive
from anon_core.search.dissimilarity import Dissimilarity
from anon_core.search.nearest import level_tree, nearest_neighbours
from anon_core.tables import encoding
from tests import naive
from tests.strategies import bit_matrices
from tests.support.large import traced
from tests.support.masked import features, made, unpack


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


def within_stated_memory(name, n, k):
    """The peak memory, as a share of the memory that the cover states."""
    rng = np.random.default_rng(2)
    table = encoding.from_bits(rng.integers(0, 2, (n, 12)), rng.integers(1, k + 1, n))
    maker = Adaptive(cover=name, max_iterations=2)
    small = encoding.from_bits(rng.integers(0, 2, (50, 5)), rng.integers(1, 9, 50))
    maker.anonymize(small)  # compiles
    _, peak = traced(lambda: maker.anonymize(table))
    return peak / maker.memory(table)
