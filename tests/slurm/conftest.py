"""One Slurm for all tests of this folder; without Slurm they are reported as left out."""

import pytest

from tests.slurm.machine import lacking, start_slurm


@pytest.fixture(scope="session")
def machine():
    if (reason := lacking()) is not None:
        pytest.skip(f"left out: {reason}")
    with start_slurm() as found:
        yield found


@pytest.fixture
def slurm(machine, monkeypatch):
    """Slurm's programs in this process speak with the machine; no job of a test outlives it."""
    for name, value in machine.environment.items():
        monkeypatch.setenv(name, value)
    yield machine
    for job in machine.jobs():
        machine.ask("scancel", job)
