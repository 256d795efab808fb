"""Releases by ranks of two machines, under a Slurm of two nodes and the vault on a shared disk."""

import os
import signal

import pytest

from tests.flows.orders import Order, data_bytes, people
from tests.slurm.machine import lacking, start_slurm
from tests.support.machines import Machines, find_lacking_right
from tests.support.ranks import act_in_iteration
from tests.support.soaking import soak_after

PARTS = {"name": "local-search", "part": 100}
ITERATED = {"name": "adaptive", "part": 0, "schedule": "fixed", "max_iterations": 12}
RANKS = {"launcher": "slurm", "nodes": 2, "tasks_per_node": 1, "time_limit": "1h"}

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("server")]


@pytest.fixture(scope="module")
def machines(tmp_path_factory):
    if (reason := lacking() or find_lacking_right()) is not None:
        pytest.skip(f"left out: {reason}")
    with Machines(tmp_path_factory.mktemp("machines")) as made:
        yield made


@pytest.fixture(scope="module")
def machine(machines):
    """The Slurm that `slurm` gives here: its nodes are the two machines."""
    with start_slurm(machines) as made:
        yield made


@pytest.fixture
def orders(tmp_path):
    """A release by this machine alone, and one with equal secrets by the two machines."""
    rows, compute = people(3000), {"engine": "mpi", "cluster": RANKS}
    return [
        Order(tmp_path / name, rows, anonymizer=PARTS, **sections).fix_seed()
        for name, sections in (("here", {}), ("there", {"compute": compute}))
    ]


@pytest.mark.parametrize("method", [PARTS, ITERATED], ids=lambda method: method["name"])
def test_one_rank_on_each_machine(machines, slurm, orders, method):
    """Parts, which every rank makes for itself, and iterations, in which ranks send each other."""
    here, there = orders
    for order in orders:
        order.write(anonymizer=method)
        order.fix_seed()
    places = []
    thread = act_in_iteration(
        there, 2, lambda _, ranks: places.extend(map(machines.find_machine, ranks))
    )
    assert data_bytes(there.release()) == data_bytes(here.release())
    thread.join()
    assert sorted(places) == ["alpha", "beta"]


@pytest.mark.parametrize("name", soak_after(1, Machines.names))
def test_a_rank_of_one_machine_is_killed(machines, slurm, orders, name):
    here, there = orders

    def kill(_, ranks):
        for rank in ranks:
            if machines.find_machine(rank) == name:
                os.kill(rank, signal.SIGKILL)

    thread = act_in_iteration(there, 3, kill)
    assert data_bytes(there.release()) == data_bytes(here.release())
    thread.join()
    assert len(list((there.run.path / "job-logs").iterdir())) == 4  # of two jobs
