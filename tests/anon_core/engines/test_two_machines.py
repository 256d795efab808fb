"""Dask workers on two machines that share no loopback."""

import numpy as np
import pytest

from anon_core.anonymizers import LocalSearch
from anon_core.engines import local
from anon_core.steps import Observer
from tests.support.farms import Cluster, kill
from tests.support.large import big_table
from tests.support.machines import Machines, find_lacking_right

pytestmark = pytest.mark.slow


@pytest.fixture
def machines(tmp_path):
    if (reason := find_lacking_right()) is not None:
        pytest.skip(f"left out: {reason}")
    with Machines(tmp_path) as made:
        yield made


@pytest.fixture
def cluster(machines, tmp_path):
    yield (made := Cluster(tmp_path, 2, machines))
    kill(*made.processes)


MAKER = LocalSearch(part=300)


def test_one_worker_on_each_machine(machines, cluster):
    table = big_table(3000, 4, 5)
    made = cluster.run(table, MAKER)
    here = local.run(MAKER, table)
    ran = sorted(machines.find_machine(worker.pid) for worker in cluster.workers)
    assert ran == ["alpha", "beta"]
    assert all(np.array_equal(of, here.arrays()[name]) for name, of in made.arrays().items())


@pytest.mark.parametrize("place", range(2), ids=Machines.names)
def test_the_worker_of_one_machine_is_killed(cluster, place):
    table = big_table(3000, 4, 5)

    class AfterThree(Observer):
        def on_step(self, state):
            if len(state.steps) == 3:
                kill(cluster.workers[place])

    made = cluster.run(table, MAKER, observer=AfterThree())
    here = local.run(MAKER, table)
    assert all(np.array_equal(of, here.arrays()[name]) for name, of in made.arrays().items())
