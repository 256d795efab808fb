"""Degrees, triangles, clustering and paths against definitions and another program."""

import itertools
import math

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from scipy.sparse import coo_array
from scipy.sparse.csgraph import shortest_path

from anon_core.measures.graph.degrees import Degrees, UncertainEdges
from anon_core.measures.graph.hops import count_hops, path_lengths
from anon_core.measures.graph.structure import (
    compute_expected_clustering,
    degree_change,
    degree_counts,
)
from tests import naive
from tests.anon_core.measures.graph.graphs import (
    PAPER,
    as_edges,
    chances,
    edges_of,
    pairs_of_graphs,
    permuted,
    plain,
)
from tests.strategies import uncertain_graphs


@given(pairs_of_graphs())
def test_degree_changes_are_those_of_the_definition(drawn):
    source, released, _ = drawn
    before, after = (
        [sum(i * c for i, c in enumerate(row)) for row in chances(each)]
        for each in (source, released)
    )
    found = degree_change(Degrees.of(source), Degrees.of(released))
    n = source.vertices
    apart = sum(abs(a - b) for a, b in zip(before, after, strict=True))
    assert found.error == pytest.approx(float(apart / n))
    assert (found.before, found.after) == pytest.approx(
        (float(sum(before) / n), float(sum(after) / n))
    )


@given(uncertain_graphs())
def test_vertices_of_each_degree_are_expected(graph):
    found = degree_counts(Degrees.of(as_edges(graph)))
    expected = [float(sum(column)) for column in zip(*chances(as_edges(graph)), strict=True)]
    assert found == pytest.approx(expected[: len(found)])
    assert not any(expected[len(found) :])


@given(uncertain_graphs())
def test_triangles_and_wedges_are_those_over_all_worlds(graph):
    edges, p, n = plain(as_edges(graph))
    triangles, wedges = naive.triangles_and_wedges(edges, p, n)
    found = compute_expected_clustering(as_edges(graph))
    assert found.triangles == pytest.approx(float(triangles), abs=1e-12)
    assert found.wedges == pytest.approx(float(wedges), abs=1e-12)


@settings(max_examples=30)
@given(uncertain_graphs(most_vertices=4))
def test_triangles_vary_as_over_all_worlds(graph):
    edges, p, _ = plain(as_edges(graph))
    _, spread = naive.triangle_moments(dict(zip(edges, p, strict=True)))
    assert compute_expected_clustering(as_edges(graph)).deviation == pytest.approx(
        math.sqrt(spread), abs=1e-12
    )


def test_the_papers_graph_has_two_triangles():
    found = compute_expected_clustering(edges_of(PAPER, 4))
    assert found.triangles == pytest.approx(0.7 * 0.9 * 0.8 + 0.7 * 0.8 * 0.1)
    assert found.coefficient == pytest.approx(3 * found.triangles / found.wedges)
    assert compute_expected_clustering(edges_of({(0, 1): 1.0}, 2)).coefficient == 0


def random_graph(n, edges):
    draws = np.random.default_rng(19)
    ends = np.sort(draws.integers(0, n, (2, edges)), axis=0)
    u, v = np.unique(ends[:, ends[0] < ends[1]], axis=1).astype(np.int32)
    return UncertainEdges(u, v, np.full(len(u), 10**9, dtype=np.int32), n)


def test_a_certain_graph_has_the_triangles_of_its_matrix():
    edges = random_graph(200, 1500)
    matrix = np.zeros((200, 200), dtype=np.int64)
    matrix[edges.u, edges.v] = matrix[edges.v, edges.u] = 1
    paths = matrix @ matrix
    found = compute_expected_clustering(edges)
    assert found.triangles == np.trace(paths @ matrix) / 6
    assert found.wedges == (paths.sum() - np.trace(paths)) / 2


def test_paths_of_a_certain_graph_are_those_of_another_program():
    edges = random_graph(300, 350)
    matrix = coo_array((np.ones(len(edges.u)), (edges.u, edges.v)), (300, 300))
    expected = shortest_path(matrix.tocsr(), directed=False, unweighted=True)
    found = count_hops(edges, np.arange(300))
    assert (found == np.where(np.isfinite(expected), expected, -1)).all()
    assert (count_hops(edges, np.arange(100, 200), 4) == np.minimum(found[100:200], 4)).all()
    lengths = path_lengths(edges, edges, worlds=2, sources=300)
    joined = np.isfinite(expected) & (expected > 0)
    assert lengths.mean == pytest.approx([expected[joined].mean()] * 2)


@given(pairs_of_graphs())
def test_path_lengths_are_those_over_all_worlds(drawn):
    source, released, _ = drawn
    worlds = 4000
    found = path_lengths(source, released, worlds=worlds)
    for row, each in enumerate((source, released)):
        edges, p, n = plain(each)
        length = reached = 0
        for world, chance in naive.worlds(edges, p) if n > 1 else ():
            there = [naive.hops(world, a, b) for a, b in itertools.permutations(range(n), 2)]
            length += chance * sum(hops for hops in there if hops > 0)
            reached += chance * sum(hops > 0 for hops in there)
        pairs = n * (n - 1)
        rare = 10 / worlds * pairs * n
        for measured, expected in ((found.lengths, length), (found.reached, reached)):
            near = 5 * measured[row].std() / np.sqrt(worlds) + rare
            assert measured[row].mean() == pytest.approx(float(expected), abs=near)


def test_order_of_edges_and_threads_decide_no_byte():
    source = random_graph(150, 300)
    released = source._replace(p=np.arange(len(source.p), dtype=np.int32) * 10**6)
    turned = permuted(released, np.arange(150, dtype=np.int32))
    threads = numba.get_num_threads()
    found = []
    try:
        for number, other in ((1, released), (2, turned)):
            numba.set_num_threads(number)
            found.append((path_lengths(source, other, 8, 100), compute_expected_clustering(other)))
    finally:
        numba.set_num_threads(threads)
    (one, triangles), (two, again) = found
    assert triangles == again
    assert one.lengths.tobytes() + one.reached.tobytes() == (
        two.lengths.tobytes() + two.reached.tobytes()
    )


def test_a_graph_without_vertices_has_no_structure():
    nothing = edges_of({}, 0)
    found = path_lengths(nothing, nothing, 2)
    assert found.mean == (0, 0)
    assert compute_expected_clustering(nothing).coefficient == 0
    change = degree_change(Degrees.of(nothing), Degrees.of(nothing))
    assert (change.error, change.before, change.after) == (0, 0, 0)
