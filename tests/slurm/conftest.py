"""One Slurm for all tests of this folder; without Slurm they are reported as left out."""

import shutil
import tempfile

import pytest

from tests.slurm.machine import Machine, lacking


@pytest.fixture(scope="session")
def machine():
    if (reason := lacking()) is not None:
        pytest.skip(f"left out: {reason}")
    folder = tempfile.mkdtemp(prefix="cc-slurm-")  # short: sockets have short names
    found = Machine(folder)
    try:
        found.start()
        yield found
    finally:
        found.stop()
        shutil.rmtree(folder)


@pytest.fixture
def slurm(machine, monkeypatch):
    """Slurm's programs in this process speak with the machine; no job of a test outlives it."""
    for name, value in machine.environment.items():
        monkeypatch.setenv(name, value)
    yield machine
    for job in machine.jobs():
        machine.ask("scancel", job)
