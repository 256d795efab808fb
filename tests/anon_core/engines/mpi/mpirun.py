"""Starting ranks."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from anon_core.engines.mpi.job import write_job

ROOT = Path(__file__).resolve().parents[4]
CASES = [str(Path(__file__).with_name("cases.py"))]
MPIRUN = Path(sys.executable).with_name("mpirun")


def mpirun(ranks, *arguments):
    """Run a program on so many ranks, each with one thread."""
    command = [str(MPIRUN), "-n", str(ranks), sys.executable, "-m", "mpi4py", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, capture_output=True, text=True, env=environment, timeout=300, check=False
    )


def ordered(folder, anonymizer, table, order=None, *, ranks, threads=1, memory=None):
    """Write a job."""
    order = np.arange(table.records) if order is None else order
    write_job(folder, anonymizer, table, order, ranks=ranks, threads=threads, memory=memory)
    return folder
