"""A release whose iterations are made by ranks of this machine, from the table to the folder."""

import pytest

from tests.anon_core.engines.mpi.mpirun import MPIRUN
from tests.flows.orders import Order, data_bytes, people

pytestmark = [
    pytest.mark.usefixtures("server"),
    pytest.mark.skipif(not MPIRUN.exists(), reason="mpirun is not installed beside this Python"),
]


@pytest.mark.slow
def test_it_is_that_of_one_process(tmp_path):
    rows = people(400)
    alone = Order(tmp_path / "alone", rows).fix_seed()
    ranks = {"launcher": "mpirun", "tasks_per_node": 3}
    spread = Order(
        tmp_path / "spread", rows, compute={"engine": "mpi", "cluster": ranks}
    ).fix_seed()
    assert data_bytes(spread.release()) == data_bytes(alone.release())
    assert not (spread.run.path / "job").exists()
    assert sorted(path.name for path in (spread.run.path / "job-logs").iterdir()) == [
        "1.err",
        "1.out",
    ]
    assert {path.read_bytes() for path in (spread.run.path / "job-logs").iterdir()} == {b""}
