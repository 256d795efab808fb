"""MR-Baseline, Bermuda-EC and -VC list each triangle once, as one machine does."""

from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.engines import shuffle as engine
from anon_core.engines.farm import DaskFarm, connect_client
from anon_core.engines.local import LocalFarm
from anon_core.engines.shuffle import FarmShuffle
from anon_core.errors import LimitError
from anon_core.measures.graph.triangles import counting, jobs
from anon_core.measures.graph.triangles.mapreduce import MapReduceMethod, list_triangles_by_shuffle
from anon_core.measures.graph.triangles.oriented import orient_edges
from anon_core.measures.graph.triangles.vertex_centric import bucket_bounds
from tests import naive
from tests.anon_core.engines.watched import Watched
from tests.anon_core.measures.graph.triangles.graphs import GOLDEN, golden, skewed
from tests.flows.processes import run
from tests.strategies import simple_graphs
from tests.support.farms import spawned
from tests.support.soaking import soak_after

METHODS = get_args(MapReduceMethod)
SLOWER = [pytest.param(m, marks=pytest.mark.slow) for m in ("vc-bucket", "vc-bucket-usage")]
PLENTY = 2**22
FLOOR = 192 * 1024  # bytes


def local(folder, reducers, memory=PLENTY):
    return FarmShuffle(LocalFarm(), folder, reducers, memory)


@settings(deadline=None, max_examples=40)
@given(simple_graphs(), st.sampled_from(METHODS), st.integers(1, 5), st.integers(1, 4))
def test_each_triangle_is_listed_once(tmp_path_factory, drawn, method, reducers, mappers):
    u, v, n = drawn
    folder = tmp_path_factory.mktemp("shuffle")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs, "SENT_AT_ONCE", 20)
        rows, _ = list_triangles_by_shuffle(
            orient_edges(u, v, n), local(folder, reducers), method, mappers
        )
    edges = set(zip(u.tolist(), v.tolist(), strict=True))
    assert [tuple(row) for row in rows.tolist()] == naive.triangles(edges)


@settings(deadline=None, max_examples=30)
@given(simple_graphs(most_vertices=30), st.sampled_from(METHODS), st.integers(100, 3000))
def test_little_memory_gives_the_same_list_or_is_refused(tmp_path_factory, drawn, method, memory):
    graph = orient_edges(*drawn)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "LEAST_MEMORY", 1)
        try:
            rows, _ = list_triangles_by_shuffle(
                graph, local(tmp_path_factory.mktemp("s"), 2, memory), method, 3
            )
        except LimitError:
            assert method not in ("baseline", "ec-disk")
            return
    assert rows.tobytes() == counting.list_triangles(graph).tobytes()


@pytest.fixture(scope="module")
def graph():
    return orient_edges(*skewed(5000, 60_000, 7))


@pytest.fixture(scope="module")
def expected(graph):
    return counting.list_triangles(graph)


@pytest.mark.long
@pytest.mark.parametrize("method", METHODS)
def test_pairs_and_bytes_follow_the_algorithms(tmp_path, graph, expected, method):
    """Counted here anew from the lists: who sends what to whom."""
    reducers = 4
    rows, traffic = list_triangles_by_shuffle(graph, local(tmp_path, reducers), method)
    assert rows.tobytes() == expected.tobytes()
    lists = [graph.higher[graph.start[x] : graph.start[x + 1]] for x in range(graph.vertices)]
    degree = np.array([len(each) for each in lists])
    reached = np.array([len(set((each % reducers).tolist())) for each in lists])
    pairs, sent = traffic.pairs.sum(axis=(0, 2)), traffic.sent.sum(axis=(0, 2))
    if method.startswith("vc"):
        assert pairs[0] == (graph.degree > 0).sum()
        assert sent[0] == 8 * pairs[0] + 4 * 2 * graph.edges
    else:
        assert pairs[0] == (degree > 0).sum()
        assert sent[0] == 8 * pairs[0] + 4 * graph.edges
    messages = degree if method == "baseline" else reached
    assert pairs[1] == messages.sum()
    assert sent[1] == (messages * (8 + 4 * (1 + degree))).sum()
    assert traffic.kept.sum() == 0


@pytest.mark.long
@pytest.mark.parametrize("reducers", [4, 16])
def test_bytes_are_in_the_order_of_the_paper(tmp_path, graph, reducers):
    """Bermuda-VC sends the lists of lower neighbours, m words, beside what Bermuda-EC sends."""
    way = local(tmp_path, reducers)
    edge, vertex, baseline = (
        int(list_triangles_by_shuffle(graph, way, method)[1].sent.sum())
        for method in ("ec", "vc-usage", "baseline")
    )
    highest = (np.diff(graph.start) == 0) & (graph.degree > 0)
    assert vertex - edge == 4 * graph.edges + 8 * highest.sum()
    assert edge < vertex < baseline


def measure_a_disk_version(folder, method):
    """List triangles within a tenth of the graph, measured in each reducer."""
    graph = orient_edges(*skewed(40_000, 300_000, 8, 1.5))
    memory = 8 * graph.edges // 10  # the graph takes 8 bytes an edge
    watched = Watched(memory)
    rows, traffic = list_triangles_by_shuffle(
        graph, FarmShuffle(watched, Path(folder), 2, memory), method
    )
    assert rows.tobytes() == counting.list_triangles(graph).tobytes()
    assert len(watched.peaks) == 2
    assert max(watched.peaks) <= memory
    if method == "ec-disk":
        assert traffic.read.sum() > 1.5 * traffic.sent.sum()
    else:
        assert traffic.kept.min() > 0


@pytest.mark.slow
@pytest.mark.parametrize("method", soak_after(1, ["ec-disk", "vc-bucket-usage"]))
def test_a_disk_version_keeps_to_a_tenth_of_the_graph(tmp_path, method):
    """In a process of its own: what other tests left running is not measured."""
    finished = run(measure_a_disk_version, str(tmp_path), method)
    assert finished.code == 0, finished.err


def measure_a_small_graph(folder, method, edges):
    """List triangles where a tenth of the graph is less than Python itself needs."""
    graph = orient_edges(*skewed(edges // 7, edges, 8, 1.5))
    memory, watched = max(engine.LEAST_MEMORY, 8 * graph.edges // 10), Watched(FLOOR)
    list_triangles_by_shuffle(graph, FarmShuffle(watched, Path(folder), 2, memory), method)
    assert memory < FLOOR
    assert max(watched.peaks) <= FLOOR


@pytest.mark.parametrize("method", ["ec-disk", *SLOWER])
@pytest.mark.parametrize("edges", [20_000])
@pytest.mark.slow
def test_a_disk_version_of_a_small_graph_keeps_to_what_python_needs(tmp_path, method, edges):
    """The floor of docs/triangles.md."""
    finished = run(measure_a_small_graph, str(tmp_path), method, edges)
    assert finished.code == 0, finished.err


def test_a_buffer_by_usage_alone_may_be_too_small(tmp_path, graph):
    with pytest.raises(LimitError, match="track messages by bucket"):
        list_triangles_by_shuffle(graph, local(tmp_path, 2, 2**16), "vc-usage")
    with pytest.raises(LimitError, match="let Bermuda-EC work from disk"):
        list_triangles_by_shuffle(graph, local(tmp_path, 2, 2**17), "ec")


@settings(deadline=None)
@given(simple_graphs(), st.integers(1, 3), st.integers(500, 3000))
def test_buckets_cover_all_keys_and_fit(drawn, reducers, memory):
    graph = orient_edges(*drawn)
    try:
        lists = [(graph.start, graph.higher)]
        bounds = bucket_bounds(lambda: lists, graph.vertices, reducers, memory, "bucket")
    except LimitError:
        return
    assert bounds[0] == 0
    assert bounds[-1] == graph.vertices
    assert (np.diff(bounds) > 0).all()


@pytest.mark.slow
def test_a_killed_worker_gives_the_same_list(tmp_path, graph, expected):
    killed = []

    def murder(name, done, of):
        if name == "reduce" and not killed:
            killed.append(spawned()[0])
            killed[0].kill()

    with connect_client(None, 2, 1) as client:
        shuffle = FarmShuffle(DaskFarm(client), tmp_path, 8, 2**16, murder)
        rows, _ = list_triangles_by_shuffle(graph, shuffle, "vc-bucket-usage")
    assert len(killed) == 1
    assert rows.tobytes() == expected.tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("when", ["map", "reduce"])
def test_a_killed_worker_gives_the_same_list_by_every_method(tmp_path, method, when):
    edges = golden("graphs/email-Enron.txt.gz")
    graph, killed = orient_edges(edges.u, edges.v, edges.vertices), []

    def murder(name, done, of):
        if (name, done) == (when, 2):
            killed.append(spawned()[0])
            killed[0].kill()

    with connect_client(None, 2, 1) as client:
        shuffle = FarmShuffle(DaskFarm(client), tmp_path, 8, PLENTY, murder)
        rows, _ = list_triangles_by_shuffle(graph, shuffle, method)
    assert len(killed) == 1
    assert rows.tobytes() == counting.list_triangles(graph).tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", GOLDEN)
def test_published_numbers_by_every_method(tmp_path, name, method):
    edges = golden(name)
    graph = orient_edges(edges.u, edges.v, edges.vertices)
    rows, _ = list_triangles_by_shuffle(graph, local(tmp_path, 7, 2**24), method)
    assert len(rows) == GOLDEN[name]
    assert rows.tobytes() == counting.list_triangles(graph).tobytes()
