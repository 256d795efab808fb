"""Every cover against its definition, its optimum and the crowds that it must give."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import Bounds, LinearConstraint, milp

from anon_core.anonymizers import Adaptive
from anon_core.covers import cover_program, optimal_cover
from anon_core.covers.named import COVERS
from anon_core.covers.optimal_cover import fewest_edges
from anon_core.errors import InputError, LimitError
from anon_core.search.dissimilarity import Dissimilarity
from anon_core.search.nearest import level_tree, nearest_neighbours
from anon_core.tables import encoding
from tests import naive
from tests.anon_core.anonymizers.test_adaptive import features, unpack
from tests.anon_core.engines.test_local import traced
from tests.strategies import EPSILONS, bit_matrices, tables

NAMES = list(COVERS)


def scene_of(x, k, counts):
    """A dissimilarity with counts, b, the nearest neighbours, and the weights of the complete graph."""
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


def optimum(weights, b, edges=None):
    """Least weight of a b-edge cover (of so many edges) of the complete graph, by a MILP solver."""
    incidence = np.array([[v in e for e in weights] for v in range(len(b))], dtype=float)
    low, high = list(b), [np.inf] * len(b)
    if edges is not None:
        incidence, low, high = (
            np.vstack([incidence, np.ones(len(weights))]),
            [*low, edges],
            [*high, edges],
        )
    needs = LinearConstraint(incidence, lb=low, ub=high)
    solved = milp(
        list(weights.values()),
        integrality=np.ones(len(weights)),
        bounds=Bounds(0, 1),
        constraints=needs,
    )
    return round(solved.fun) if solved.success else None


@settings(max_examples=200, deadline=None)
@given(scenes(most_records=14))
def test_lse_is_the_greedy_cover_of_the_complete_graph(scene):
    *problem, weights = scene
    assert pairs(COVERS["lse"].find(*problem)) == naive.greedy_cover(weights, problem[2].tolist())


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


@settings(max_examples=150, deadline=None)
@given(scenes(most_records=12))
def test_s_lse_is_mce(scene):
    *problem, weights = scene
    assert pairs(COVERS["s-lse"].find(*problem)) == naive.static_cover(weights, problem[2].tolist())
    assert pairs(COVERS["s-lse"].find(*problem)) == pairs(COVERS["mce"].find(*problem))


@settings(max_examples=150, deadline=None)
@given(scenes(most_records=9))
def test_covers_keep_their_ratios(scene):
    *problem, weights = scene
    best = optimum(weights, problem[2])
    assert COVERS["exact"].find(*problem).weight.sum() == best
    assert 2 * COVERS["lse"].find(*problem).weight.sum() <= 3 * best
    for name in ("mce", "s-lse", "nearest"):
        assert COVERS[name].find(*problem).weight.sum() <= 2 * best


@settings(max_examples=150, deadline=None)
@given(scenes(most_records=9))
def test_b_matching_has_the_fewest_edges_and_then_the_least_weight(scene):
    *problem, weights = scene
    b = problem[2]
    matching = COVERS["b-matching"].find(*problem)
    edges = fewest_edges(b)
    assert len(matching) == edges
    assert matching.weight.sum() == optimum(weights, b, edges)
    assert optimum(weights, b, edges - 1) is None
    if 2 * edges == b.sum():
        degree = np.bincount(np.concatenate([matching.u, matching.v]), minlength=len(b))
        assert (degree == b).all()


@settings(max_examples=25, deadline=None)
@given(scenes(most_records=5))
def test_optima_against_every_subset_of_edges(scene):
    *problem, weights = scene
    best, (edges, weight) = naive.lightest_cover(weights, problem[2].tolist())
    assert COVERS["exact"].find(*problem).weight.sum() == best
    matching = COVERS["b-matching"].find(*problem)
    assert (len(matching), matching.weight.sum()) == (edges, weight)


def test_optima_of_sixty_records():
    rng = np.random.default_rng(8)
    x = rng.integers(0, 2, (60, 12))
    *problem, weights = scene_of(
        x, rng.integers(1, 9, 60), rng.integers(0, 5, (12, 60)).astype(np.uint16)
    )
    assert COVERS["exact"].find(*problem).weight.sum() == optimum(weights, problem[2])
    matching = COVERS["b-matching"].find(*problem)
    assert matching.weight.sum() == optimum(weights, problem[2], len(matching))


@settings(max_examples=60, deadline=None)
@given(scenes(most_records=14))
def test_classes_are_disjoint_cliques_of_the_greatest_k(scene):
    *problem, weights = scene
    cover = COVERS["classes"].find(*problem)
    n, k = len(problem[2]), problem[2].max() + 1
    joined = np.eye(n, dtype=bool)
    joined[cover.u, cover.v] = joined[cover.v, cover.u] = True
    assert (joined @ joined == joined).all()
    assert joined.sum(axis=1).min() >= k
    assert joined.sum(axis=1).max() < max(2, 2 * k)
    assert all(
        weights[u, v] == w
        for u, v, w in zip(cover.u.tolist(), cover.v.tolist(), cover.weight.tolist(), strict=True)
    )


@settings(max_examples=60, deadline=None)
@given(bit_matrices(), st.booleans())
def test_rows_of_a_class_are_equal(data, reclaim):
    table = encoding.from_bits(*data)
    masked = Adaptive(cover="classes", reclaim=reclaim).anonymize(table)
    rows = np.stack(
        [cells.astype(str) for cells in encoding.write_cells(table, masked.hidden).values()], axis=1
    )
    assert (rows[masked.cover.u] == rows[masked.cover.v]).all()
    degree = np.bincount(np.concatenate([masked.cover.u, masked.cover.v]), minlength=table.records)
    assert (degree >= table.k.max() - 1).all()


def test_a_class_grows_by_the_least_loss():
    x = np.array([[0, 0, 0, 0], [1, 1, 1, 1], [0, 0, 0, 1], [1, 1, 1, 0], [0, 0, 1, 0]])
    *problem, _ = scene_of(x, np.full(5, 2), np.zeros((4, 5), dtype=np.uint16))
    assert pairs(COVERS["classes"].find(*problem)) == {(1, 3), (0, 2), (0, 4), (2, 4)}


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40, deadline=None)
@given(table=tables(), epsilon=EPSILONS, weights=st.sampled_from(["bits", "columns"]))
def test_every_cover_hides_everyone(name, table, epsilon, weights):
    masked = Adaptive(epsilon=epsilon, weights=weights, cover=name, max_iterations=3).anonymize(
        table
    )
    cover, x = masked.cover, features(table)
    assert (cover.u < cover.v).all()
    assert len(pairs(cover)) == len(cover)
    fit = naive.compatible(x, x, unpack(masked.hidden, table.codebook.features))
    assert (fit.sum(axis=1) >= table.k).all()
    assert (naive.matchable(fit).sum(axis=1) >= table.k).all()
    degree = np.bincount(np.concatenate([cover.u, cover.v]), minlength=table.records)
    assert (degree >= table.k - 1).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("n", "f", "k"), [(2, 1, 2), (2, 65, 1), (7, 3, 7), (40, 3, 1), (40, 65, 40), (40, 5, 6)]
)
def test_shapes_of_covers(name, n, f, k):
    x = np.random.default_rng(n + f).integers(0, 2, (n, f))
    for matrix in (x, np.zeros_like(x)):
        masked = Adaptive(weights="bits", cover=name, max_iterations=2).anonymize(
            encoding.from_bits(matrix, np.full(n, k))
        )
        cover = masked.cover
        degree = np.bincount(np.concatenate([cover.u, cover.v]), minlength=n)
        assert (degree >= k - 1).all()
        keys = list(zip(cover.weight.tolist(), cover.u.tolist(), cover.v.tolist(), strict=True))
        assert keys == sorted(keys)


def test_a_cover_is_named_or_refused():
    with pytest.raises(InputError, match="cover must be one of mce"):
        Adaptive(cover="best")


@pytest.mark.parametrize("name", ["exact", "b-matching"])
def test_too_many_records_are_refused_before_anything_starts(name):
    table = encoding.from_bits(np.zeros((4097, 1), dtype=int), np.full(4097, 2))
    for verb in (Adaptive(cover=name).memory, Adaptive(cover=name).anonymize):
        with pytest.raises(LimitError, match="at most 4096 records, there are 4097"):
            verb(table)


def test_a_proof_that_fails_is_refused(monkeypatch):
    rng = np.random.default_rng(8)
    *problem, _ = scene_of(
        rng.integers(0, 2, (30, 9)), np.full(30, 4), rng.integers(0, 5, (9, 30)).astype(np.uint16)
    )
    monkeypatch.setattr(cover_program.CoverProgram, "branch", lambda *_: None)
    monkeypatch.setattr(cover_program.CoverProgram, "weight", lambda *_: np.inf)
    with pytest.raises(LimitError, match="no cover was proved best"):
        COVERS["exact"].find(*problem)
    monkeypatch.setattr(optimal_cover, "MOST_ROUNDS", 0)
    with pytest.raises(LimitError, match="within 0 linear programs"):
        COVERS["exact"].find(*problem)


@pytest.mark.parametrize(
    ("name", "n", "k"),
    [
        ("lse", 6000, 40),
        ("lse", 6000, 3),
        ("classes", 4000, 40),
        pytest.param("b-matching", 600, 6, marks=pytest.mark.slow),
    ],
)
def test_stated_memory_of_covers_is_an_upper_bound(name, n, k):
    rng = np.random.default_rng(2)
    table = encoding.from_bits(rng.integers(0, 2, (n, 12)), rng.integers(1, k + 1, n))
    maker = Adaptive(cover=name, max_iterations=2)
    maker.anonymize(
        encoding.from_bits(rng.integers(0, 2, (50, 5)), rng.integers(1, 9, 50))
    )  # compiles
    _, peak = traced(lambda: maker.anonymize(table))
    assert peak <= maker.memory(table)
    if name != "b-matching":  # what the solver holds outside Python is not traced
        assert maker.memory(table) <= 6 * peak
