"""Side-by-side measurements that print `name: value` lines.

Real tables come from CROWDCOVER_DATA (or ../shared/data).

Programs stand in folders by what they measure. Imports name the folder, commands need not:
`python -m benchmarks.even` runs risk/even.py.
"""

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from anon_core.measures.table.cells import read_cells
from anon_core.measures.table.classes import ReleasedCells
from anon_core.tables.cells import write_cells
from anon_core.tables.records import BinaryTable, MaskedTable
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.kinds.table.pipeline.encode import encode_records
from crowdcover.kinds.table.pipeline.read import read_table
from crowdcover.storage.source.reading import Reading

HERE = Path(__file__).parent
ROOT = HERE.parent
FOLDERS = ("comparisons", "over_time", "risk", "speed")

# Commands that docs and issues name stay when a file moves to another folder.
__path__.extend(str(HERE / folder) for folder in FOLDERS)


def data_file(name: str) -> Path:
    """Return a file of the data folder; without it, end and say what is left out."""
    path = Path(os.environ.get("CROWDCOVER_DATA", ROOT.parent / "shared" / "data")) / name
    if not path.exists():
        leave_out(f"{name} is not in CROWDCOVER_DATA")
    return path


def python_of(name: str) -> Path:
    """Return the Python of an environment of its own, which need not be there.

    The variable NAME says where it is; else `make -C benchmarks NAME` makes it.
    """
    return Path(os.environ.get(name.upper(), HERE / ".venv" / name / "bin/python"))


def leave_out(reason: str) -> None:
    """End this process without an error, and print what is left out."""
    print(f"left out: {reason}")
    sys.exit(0)


def prepare(example: str, data: str) -> tuple[ReleasePlan, BinaryTable]:
    """Return the plan of an example and its source, encoded."""
    plan = ReleasePlan.load(ROOT / "examples" / example, [f"source.path={data_file(data)}"])
    read = read_table(Reading(plan.data.source), plan.data.columns, plan.data.demand, ())
    table = encode_records(read.table, read.k_values, plan.data.columns, plan.data.demand).table
    return plan, table


def released_cells(masked: MaskedTable) -> ReleasedCells:
    """Return the cells of the rows that were made, as the auditor reads them."""
    cells = write_cells(masked.table, masked.hidden)
    return ReleasedCells.of(
        [read_cells(a, cells[a.name].tolist()) for a in masked.table.codebook.attributes]
    )


def timed(work):
    """Return what a call returns, its seconds on the wall and of processor time (all threads)."""
    wall, processor = time.perf_counter(), time.process_time()
    result = work()
    return result, time.perf_counter() - wall, time.process_time() - processor


def memory(what: str) -> float:
    """Return the MiB that this process holds (VmRSS) or held at most (VmHWM).

    ru_maxrss would begin with what its parent held.
    """
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split(f"{what}:")[1].split()[0]) / 2**10


def processor() -> float:
    """Return the seconds of the processor that children took that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def in_child(prefix: str, *arguments: object) -> dict[str, str]:
    """Run a module in a process of its own; print its lines under a prefix, return them by name."""
    command = [sys.executable, "-m", *map(str, arguments)]
    values = {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as child:
        assert child.stdout is not None
        for line in child.stdout:
            print(f"{prefix}.{line}", end="", flush=True)
            name, _, value = line.rstrip("\n").partition(": ")
            values[name] = value
    if child.returncode:  # out of memory, say: what else is to be measured goes on
        print(f"{prefix}.failed: exit code {child.returncode} of {' '.join(command[1:])}")
    return values


def exponent(sizes, amounts) -> float:
    """Return the slope of log amount against log size."""
    return float(np.polyfit(np.log(sizes), np.log(amounts), 1)[0])
