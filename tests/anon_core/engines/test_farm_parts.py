"""Parts of a table on a Dask cluster: the bytes of one process, whoever dies."""

import tracemalloc

import pytest

from anon_core.anonymizers import Freeform
from anon_core.anonymizers.in_parts import farmed
from anon_core.engines import farm as dask
from anon_core.engines import local
from anon_core.engines.local import threads_set
from anon_core.steps import Observer
from tests.observers import Seen
from tests.support.farms import Cluster, kill, spawned
from tests.support.large import big_table
from tests.support.masked import kept

pytestmark = pytest.mark.slow  # each cluster takes seconds to start

MAKER = Freeform(segment=50, exchanges=False, part=100)
RECORDS = 1000


def content(made):
    return kept(made), made.holders.tobytes()


class AfterParts(Observer):
    """Acts once so many parts are done."""

    def __init__(self, parts, act):
        self.parts, self.act, self.done = parts, act, False

    def on_step(self, state):
        if len(state.steps) == self.parts:
            self.act()
            self.done = True


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Two workers that no test may harm."""
    yield (made := Cluster(tmp_path_factory.mktemp("dask"), 2))
    kill(*made.processes)


@pytest.fixture(scope="module")
def table():
    """It has eight parts."""
    return big_table(RECORDS, 9, 5)


@pytest.fixture(scope="module")
def expected(table):
    return content(local.run(MAKER, table))


@pytest.mark.parametrize("workers", [1, 3])
def test_a_cluster_of_this_machine(table, expected, workers):
    assert content(dask.run(MAKER, table, workers=workers)) == expected
    assert spawned() == []


def test_a_run_goes_on_and_is_seen(cluster, table, expected):
    seen = Seen()
    assert content(cluster.run(table, MAKER, observer=seen)) == expected
    assert len(seen.states) == 8
    for state in seen.states:
        assert content(cluster.run(table, MAKER, resume=state)) == expected
        assert content(local.run(MAKER, table, resume=state)) == expected


def test_one_of_two_is_killed_and_nobody_takes_its_place(tmp_path, table, expected):
    mortal = Cluster(tmp_path, 2)
    try:
        murder = AfterParts(3, lambda: kill(mortal.workers[0]))
        assert content(mortal.run(table, MAKER, observer=murder)) == expected
        assert murder.done
    finally:
        kill(*mortal.processes)


def test_stated_memory_is_an_upper_bound(cluster):
    table = big_table(6000, 60, 7)
    for maker in (Freeform(segment=300, part=1000), MAKER):
        cluster.run(big_table(200, 3, 2), maker)  # compiles
        tracemalloc.start()
        try:
            cluster.run(table, maker)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak <= farmed.memory(maker, table, workers=0)


def test_a_worker_needs_room_for_its_parts_only():
    table = big_table(6000, 60, 7)
    with threads_set(1):
        here, one, two = (farmed.memory(MAKER, table, workers=number) for number in (0, 1, 2))
    assert here < one < two < 2 * here
    assert two - one == one - here  # a thread each
