"""Smooth's blocks on a Dask cluster: the bytes of one process, whoever dies."""

import tracemalloc

import pytest

from anon_core.anonymizers import Smooth
from anon_core.anonymizers.smooth import farmed
from anon_core.engines import farm as dask
from anon_core.engines import local
from tests.observers import Seen
from tests.support.farms import Cluster, Then, kill, spawned
from tests.support.matrices import content, crowded

pytestmark = pytest.mark.slow  # each cluster takes seconds to start

MAKER = Smooth(block=50)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Two workers that no test may harm."""
    yield (made := Cluster(tmp_path_factory.mktemp("dask"), 2))
    kill(*made.processes)


@pytest.fixture(scope="module")
def matrix():
    """It takes 24 tasks a pass."""
    return crowded(1200, 60)


@pytest.fixture(scope="module")
def expected(matrix):
    return content(local.run(MAKER, matrix))


@pytest.mark.parametrize("workers", [1, 3])
def test_a_cluster_of_this_machine(matrix, expected, workers):
    assert content(dask.run(MAKER, matrix, workers=workers)) == expected
    assert spawned() == []


def test_a_run_goes_on_and_is_seen(cluster, matrix, expected):
    seen = Seen()
    assert content(cluster.run(matrix, MAKER, observer=seen)) == expected
    assert len(seen.states) == 3
    for state in seen.states:
        assert content(cluster.run(matrix, MAKER, resume=state)) == expected
        assert content(local.run(MAKER, matrix, resume=state)) == expected


@pytest.mark.parametrize("nth", [5, 30])
def test_one_of_two_is_killed_and_nobody_takes_its_place(tmp_path, matrix, expected, nth):
    mortal = Cluster(tmp_path, 2)
    try:
        murder = Then(nth, lambda: kill(mortal.workers[0]))
        assert content(mortal.run(matrix, MAKER, observer=murder)) == expected
        assert murder.left <= 0
    finally:
        kill(*mortal.processes)


def test_stated_memory_is_an_upper_bound(cluster):
    matrix, maker = crowded(8000, 100), Smooth(block=500)
    cluster.run(crowded(200, 20), MAKER)  # compiles
    tracemalloc.start()
    try:
        cluster.run(matrix, maker)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= farmed.memory(maker, matrix, workers=0)
