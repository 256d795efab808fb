"""Triangles of a graph in files: each once, within a stated memory."""

from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.engines.local import LocalFarm
from anon_core.engines.shuffle import FarmShuffle
from anon_core.measures.graph.triangles import counting, from_disk
from anon_core.measures.graph.triangles.from_disk import (
    DiskMethod,
    Listed,
    list_triangles_from_disk,
)
from anon_core.measures.graph.triangles.oriented import orient_edges
from tests import naive
from tests.anon_core.engines.watched import Watched
from tests.anon_core.measures.graph.triangles.graphs import skewed
from tests.flows.processes import run
from tests.strategies import simple_graphs

METHODS = get_args(DiskMethod)
EDGES = 300_000
FEWER = 100_000
FLOOR = 384 * 1024  # bytes that Bermuda-VC takes for its buckets and the files of 80 mappers


@pytest.mark.long
@pytest.mark.parametrize("method", METHODS)
@settings(deadline=None, max_examples=60)
@given(simple_graphs(), st.integers(1, 5), st.integers(1, 6), st.randoms(use_true_random=False))
def test_each_triangle_once(tmp_path_factory, method, drawn, reducers, pieces, chance):
    """Edges come in any order and direction, some again, with loops between them."""
    u, v, n = drawn
    edges = list(zip(u.tolist(), v.tolist(), strict=True))
    again = [edge[::-1] for edge in edges if chance.random() < 0.3]
    loops = [(x, x) for x in range(n) if chance.random() < 0.2]
    rows = [*edges, *again, *loops]
    chance.shuffle(rows)
    ends = np.array(rows, dtype=np.int32).reshape(-1, 2)
    batches = [(part[:, 0], part[:, 1]) for part in np.array_split(ends, 3)]
    folder, found = tmp_path_factory.mktemp("s"), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(from_disk, "LEAST_PIECES", pieces)
        patch.setattr(from_disk, "EDGES_AT_ONCE", 5)
        shuffle = FarmShuffle(LocalFarm(), folder, reducers, 2**20)
        take = lambda block: found.extend(map(tuple, block.tolist()))  # noqa: E731 - one line
        told = list_triangles_from_disk(batches, n, folder, shuffle, take, method)
    expected = naive.triangles(set(edges))
    assert sorted(found) == expected
    assert told == Listed(len(rows), len(loops), len(edges), len(expected))
    assert list(folder.iterdir()) == []


def list_within(folder, memory, method, edges):
    u, v, n = skewed(edges * 2 // 15, edges, 8, 1.5)
    held = memory if method == "ec" else max(memory, FLOOR)
    watched, found = Watched(held), []
    batches = zip(np.array_split(u, 9), np.array_split(v, 9), strict=True)
    shuffle = FarmShuffle(watched, Path(folder), 64, held)
    list_triangles_from_disk(batches, n, Path(folder), shuffle, found.append, method)
    expected = counting.list_triangles(orient_edges(u, v, n))
    rows = np.concatenate(found)
    assert rows[np.lexsort(rows.T[::-1])].tolist() == expected.tolist()
    assert max(watched.peaks) <= held


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "edges"),
    # The second sends each edge more often.
    [("ec", EDGES), ("vc", FEWER), pytest.param("vc", EDGES, marks=pytest.mark.soak)],
)
def test_a_reducer_keeps_to_a_tenth_of_the_edges(tmp_path, method, edges):
    finished = run(list_within, str(tmp_path), 8 * edges // 10, method, edges)
    assert finished.code == 0, finished.err
