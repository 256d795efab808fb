"""NodeIterator++ against the definition of a triangle, on drawn and on published graphs."""

import numba
import numpy as np
import pytest
from hypothesis import given

from anon_core.engines.local import threads_set
from anon_core.errors import InputError
from anon_core.measures.graph.triangles import counting
from anon_core.measures.graph.triangles.oriented import has_ascending_pairs, orient_edges
from tests import naive
from tests.anon_core.measures.graph.triangles.graphs import GOLDEN, golden, skewed
from tests.strategies import simple_graphs


def pairs(u, v):
    return set(zip(u.tolist(), v.tolist(), strict=True))


@given(simple_graphs())
def test_each_triangle_is_counted_and_listed_once(drawn):
    u, v, n = drawn
    expected = naive.triangles(pairs(u, v))
    graph = orient_edges(u, v, n)
    assert counting.count_triangles(graph) == len(expected)
    assert [tuple(row) for row in counting.list_triangles(graph).tolist()] == expected
    of_edge = counting.per_edge(graph)
    sides = [pair for a, b, c in expected for pair in ((a, b), (a, c), (b, c))]
    assert of_edge.tolist() == [sides.count(pair) for pair in zip(u, v, strict=True)]
    of_vertex = counting.per_vertex(graph, of_edge)
    assert of_vertex.tolist() == [sum(x in each for each in expected) for x in range(n)]


@given(simple_graphs())
def test_shares_of_closed_paths_follow_their_definitions(drawn):
    u, v, n = drawn
    edges, graph = pairs(u, v), orient_edges(u, v, n)
    near = {x: {a + b - x for a, b in edges if x in (a, b)} for x in range(n)}
    ways = {x: len(near[x]) * (len(near[x]) - 1) // 2 for x in range(n)}
    closed = {x: sum(a in near[x] and b in near[x] for a, b in edges) for x in range(n)}
    of_vertex = counting.per_vertex(graph, counting.per_edge(graph))
    assert of_vertex.tolist() == list(closed.values())
    mean = sum(closed[x] / ways[x] for x in range(n) if ways[x]) / n
    assert counting.compute_mean_clustering(graph, of_vertex) == pytest.approx(mean)
    whole = sum(closed.values()) / sum(ways.values()) if any(ways.values()) else 0.0
    assert counting.compute_transitivity(graph, counting.count_triangles(graph)) == pytest.approx(
        whole
    )


@given(simple_graphs())
def test_each_edge_leads_to_the_end_of_higher_degree(drawn):
    """And of equal degrees to the greater id, as NodeIterator++ demands."""
    u, v, n = drawn
    graph = orient_edges(u, v, n)
    degree = np.bincount(np.concatenate([u, v]), minlength=n)
    assert graph.degree.tolist() == degree.tolist()
    by_rank = np.argsort(graph.rank)
    for x in range(n):
        for i in range(graph.start[x], graph.start[x + 1]):
            low, high = by_rank[x], by_rank[graph.higher[i]]
            assert (degree[low], low) < (degree[high], high)
            e = graph.edge[i]
            assert {u[e], v[e]} == {low, high}
    assert sorted(graph.edge.tolist()) == list(range(len(u)))


@pytest.mark.parametrize("threads", [1, 2])
def test_any_number_of_threads_gives_the_same_bytes(threads):
    u, v, n = skewed(2000, 20_000, 5)
    if threads > numba.config.NUMBA_NUM_THREADS:
        pytest.skip("left out: this machine has one thread")
    with threads_set(threads):
        graph = orient_edges(u, v, n)
        of_edge, rows = counting.per_edge(graph), counting.list_triangles(graph)
    assert counting.count_triangles(graph) == len(rows) == of_edge.sum() // 3 > 10_000
    assert (np.diff(rows, axis=1) > 0).all()
    codes = (rows.astype(np.int64) @ [n * n, n, 1]).tolist()
    assert codes == sorted(set(codes))
    with threads_set(1):
        alone = orient_edges(u, v, n)
        assert rows.tobytes() == counting.list_triangles(alone).tobytes()
        assert of_edge.tobytes() == counting.per_edge(alone).tobytes()
    for name in ("rank", "start", "higher", "edge", "parts"):
        assert getattr(graph, name).tobytes() == getattr(alone, name).tobytes()


def test_a_watcher_sees_all_of_the_work():
    u, v, n = skewed(300, 1500, 1)
    graph, seen = orient_edges(u, v, n), []
    watched = counting.per_edge(graph, seen.append)
    assert watched.tobytes() == counting.per_edge(graph).tobytes()
    assert len(seen) == counting.TOLD
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_edges_of_another_form_are_refused():
    good = np.array([0, 0, 1], dtype=np.int32), np.array([1, 2, 2], dtype=np.int32)
    assert counting.count_triangles(orient_edges(*good, 3)) == 1
    for u, v, n in (
        (good[1], good[0], 3),
        (good[0][::-1].copy(), good[1][::-1].copy(), 3),
        (good[0][[0, 0]], good[1][[0, 0]], 3),
        (*good, 2),
        (good[0] - 1, good[1], 3),
        (good[0].astype(np.int64), good[1].astype(np.int64), 3),
        (good[0], good[1][:2], 3),
    ):
        with pytest.raises(InputError, match="each"):
            orient_edges(u, v, n)
    with pytest.raises(InputError, match="without the numbers of its edges"):
        counting.per_edge(orient_edges(*good, 3, numbered=False))
    assert counting.count_triangles(orient_edges(*good, 3, numbered=False)) == 1
    assert counting.list_triangles(orient_edges(*good, 3, numbered=False)).tolist() == [[0, 1, 2]]
    assert not has_ascending_pairs(good[1], good[0])


@pytest.mark.long
@pytest.mark.parametrize("name", GOLDEN)
def test_published_numbers_of_triangles(name):
    edges = golden(name)
    graph = orient_edges(edges.u, edges.v, edges.vertices)
    rows = counting.list_triangles(graph)
    assert counting.count_triangles(graph) == len(rows) == GOLDEN[name]
    codes = rows.astype(object) @ [edges.vertices**2, edges.vertices, 1]
    assert (np.diff(codes) > 0).all()
    assert int(counting.per_edge(graph).sum()) == 3 * GOLDEN[name]
