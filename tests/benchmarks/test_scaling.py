"""The benchmark that runs ranks starts, measures every phase and finds equal bytes."""

import pytest

from benchmarks.speed import scaling
from tests.anon_core.engines.mpi.mpirun import MPIRUN

PHASES = ("search", "closure", "cover", "list", "price", "show", "count")


@pytest.mark.skipif(not MPIRUN.exists(), reason="mpirun is not installed beside this Python")
@pytest.mark.slow
def test_ranks_are_measured_phase_by_phase(capsys):
    scaling.main("poker", 600, [1, 2], 1)
    printed = dict(line.split(": ") for line in capsys.readouterr().out.splitlines())
    assert printed["bytes_equal"] == "True"
    assert float(printed["ranks_2_bytes_sent_an_iteration"]) > 0
    for ranks in (1, 2):
        assert all(
            float(printed[f"ranks_{ranks}_{phase}_seconds_an_iteration"]) for phase in PHASES
        )
