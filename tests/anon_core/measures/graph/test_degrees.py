"""Degree distributions against all worlds, a closed form, and the FFTs past a size."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from anon_core.measures.graph import degrees as rooms
from anon_core.measures.graph.degrees import Degrees, UncertainEdges, fast_error
from anon_core.specs.graphs import ONE
from tests.anon_core.measures.graph.graphs import PAPER, as_edges, chances, edges_of, permuted
from tests.strategies import uncertain_graphs


def mass_of(degrees, vertex):
    group = degrees.of_vertex[vertex]
    return degrees.mass[degrees.start[group] : degrees.start[group + 1]]


def star(p):
    """A vertex with these edges."""
    ends = np.arange(1, len(p) + 1, dtype=np.int32)
    return UncertainEdges(np.zeros_like(ends), ends, np.array(p, dtype=np.int32), len(p) + 1)


def test_the_paper_prints_these_degrees():
    degrees = Degrees.of(edges_of(PAPER, 4))
    printed = [
        [0.006, 0.092, 0.398, 0.504],
        [0.054, 0.348, 0.542, 0.056],
        [0.020, 0.260, 0.720],
        [0.180, 0.740, 0.080],
    ]
    for vertex, row in enumerate(printed):
        assert mass_of(degrees, vertex) == pytest.approx(row, abs=1e-15)


@given(uncertain_graphs())
def test_degrees_are_those_over_all_worlds(graph):
    degrees = Degrees.of(as_edges(graph))
    for vertex, row in enumerate(chances(as_edges(graph))):
        mass = mass_of(degrees, vertex)
        assert mass == pytest.approx([float(each) for each in row[: len(mass)]], rel=1e-13)
        at = (graph.u == vertex) | (graph.v == vertex)
        assert len(mass) - 1 == np.count_nonzero(graph.p[at])
        assert not any(row[len(mass) :])
        expected = sum(i * each for i, each in enumerate(row)) * ONE
        assert degrees.expected[degrees.of_vertex[vertex]] == expected


@given(uncertain_graphs(), st.randoms(use_true_random=False))
def test_names_of_vertices_decide_no_byte(graph, random):
    place = np.array(random.sample(range(graph.records), graph.records), dtype=np.int32)
    before = Degrees.of(as_edges(graph))
    after = Degrees.of(permuted(as_edges(graph), place))
    assert (after.of_vertex[place] == before.of_vertex).all()
    for name in ("vertices", "expected", "start", "mass"):
        assert getattr(after, name).tobytes() == getattr(before, name).tobytes()


def test_many_equal_edges_are_binomial():
    mass = mass_of(Degrees.of(star([ONE // 4] * 3000)), 0)
    expected = stats.binom.pmf(np.arange(3001), 3000, 0.25)
    seen = expected > 1e-280
    assert mass[seen] == pytest.approx(expected[seen], rel=1e-10)
    assert mass.sum() == pytest.approx(1, abs=1e-12)


def test_ffts_join_pieces_within_their_bound(monkeypatch):
    p = np.random.default_rng(19).integers(1, ONE, 3000)
    p[:50] = ONE
    exact = mass_of(Degrees.of(star(p)), 0)
    monkeypatch.setattr(rooms, "FAST_FROM", 2000)
    monkeypatch.setattr(rooms, "PIECE", 100)
    joined = mass_of(Degrees.of(star(p)), 0)
    assert 0 < abs(joined - exact).max() <= fast_error(3000)
    assert (joined[exact > fast_error(3000)] > 0).all()
    assert (joined[:50] == 0).all()
    assert fast_error(3000) < 1e-11
