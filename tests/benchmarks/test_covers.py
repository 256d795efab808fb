"""Covers that only comparisons use, against their optima: oracles for the covers of the product."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

from anon_core.anonymizers import Adaptive
from anon_core.covers.named import COVERS
from anon_core.covers.names import SPREADABLE
from anon_core.errors import InputError, LimitError
from anon_core.tables import encoding
from benchmarks.covers import FURTHER, optimal, program, registered
from benchmarks.covers.optimal import fewest_edges
from tests import naive
from tests.strategies import EPSILONS, tables
from tests.support.covers import (
    SHAPES,
    gives_everyone_edges,
    hides_everyone,
    pairs,
    scene_of,
    scenes,
    within_stated_memory,
)


@pytest.fixture(scope="module", autouse=True)
def _registered():
    with registered():
        yield


def test_they_are_taken_while_registered_only():
    assert Adaptive(cover="exact").cover == "exact"
    before = dict(SPREADABLE)
    for name in FURTHER:
        del SPREADABLE[name]
    try:
        with pytest.raises(InputError, match="cover must be one of mce, lse"):
            Adaptive(cover="exact")
    finally:
        SPREADABLE.update(before)


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


@given(scenes(most_records=12))
def test_s_lse_is_mce(scene):
    *problem, weights = scene
    assert pairs(COVERS["s-lse"].find(*problem)) == naive.static_cover(weights, problem[2].tolist())
    assert pairs(COVERS["s-lse"].find(*problem)) == pairs(COVERS["mce"].find(*problem))


@given(scenes(most_records=9))
def test_covers_keep_their_ratios(scene):
    *problem, weights = scene
    best = optimum(weights, problem[2])
    assert COVERS["exact"].find(*problem).weight.sum() == best
    assert 2 * COVERS["lse"].find(*problem).weight.sum() <= 3 * best
    for name in ("mce", "s-lse", "nearest"):
        assert COVERS[name].find(*problem).weight.sum() <= 2 * best


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


@pytest.mark.long
@pytest.mark.parametrize("name", FURTHER)
@given(table=tables(), epsilon=EPSILONS, weights=st.sampled_from(["bits", "columns"]))
def test_every_cover_hides_everyone(name, table, epsilon, weights):
    hides_everyone(name, table, epsilon, weights)


@pytest.mark.long
@pytest.mark.parametrize("name", FURTHER)
@pytest.mark.parametrize(("n", "f", "k"), SHAPES)
def test_shapes_of_covers(name, n, f, k):
    gives_everyone_edges(name, n, f, k)


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
    monkeypatch.setattr(program.CoverProgram, "branch", lambda *_: None)
    monkeypatch.setattr(program.CoverProgram, "weight", lambda *_: np.inf)
    with pytest.raises(LimitError, match="no cover was proved best"):
        COVERS["exact"].find(*problem)
    monkeypatch.setattr(optimal, "MOST_ROUNDS", 0)
    with pytest.raises(LimitError, match="within 0 linear programs"):
        COVERS["exact"].find(*problem)


@pytest.mark.slow
def test_stated_memory_is_an_upper_bound():
    assert within_stated_memory("b-matching", 600, 6) <= 1  # the solver's own memory is not traced
