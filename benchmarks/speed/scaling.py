"""The first paper's own algorithm on MPI ranks: python -m benchmarks.scaling [SET] [--ranks 1 2].

Ranks of one thread share the search and the cover of one table (`adaptive` in one part). All
iterations are on all records (schedule = "falling"). All ranks run on this machine: more ranks than
cores measure the machine, not the program. Runs take turns; figures are medians.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from anon_core.anonymizers import Adaptive
from anon_core.engines.mpi.job import read_result, write_job
from benchmarks import tables
from benchmarks.one_run import digest

MPIRUN = Path(sys.executable).with_name("mpirun")


def ties_of(table):
    return np.random.default_rng(1).permutation(table.records)


def order(folder, table, ranks):
    """Write a job with known ties."""
    ties = ties_of(table)
    write_job(
        folder, Adaptive(schedule="falling"), table, ties, ranks=ranks, threads=1, memory=None
    )
    return folder


def once(folder, table, ranks):
    """Return what one run prints, and the digest of what it made."""
    folder.mkdir()
    jobs = (
        order(folder / "small", tables.cut(table, 512), ranks),
        order(folder / "job", table, ranks),
    )
    command = [MPIRUN, "-n", ranks, sys.executable, "-m", "mpi4py", "-m", "benchmarks.rank", *jobs]
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=True
    )
    found = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    made = digest(read_result(jobs[1], table)[0], ties_of(table))
    return {name: float(value) for name, value in found.items()}, made


def main(name, records, counts, repeat):
    table, digests = tables.table(name, records), set()
    runs = {ranks: [] for ranks in counts}
    with tempfile.TemporaryDirectory() as scratch:
        for turn in range(repeat):
            for ranks in counts:
                found, made = once(Path(scratch) / f"{turn}-{ranks}", table, ranks)
                runs[ranks].append(found)
                digests.add(made)
                print(f"turn_{turn}_ranks_{ranks}_seconds: {found['seconds']:.4g}", flush=True)
    print(f"records: {table.records}")
    for ranks, found in runs.items():
        for key in found[0]:
            print(f"ranks_{ranks}_{key}: {statistics.median(run[key] for run in found):.4g}")
    first = min(counts)
    for ranks in counts:
        ratios = [
            a["seconds"] * first / (b["seconds"] * ranks)
            for a, b in zip(runs[first], runs[ranks], strict=True)
        ]
        print(f"efficiency_{ranks}: {statistics.median(ratios):.3f}")
    print(f"bytes_equal: {len(digests) == 1}")


def parsed():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling")
    parser.add_argument("set", nargs="?", default="poker", choices=tables.SETS)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeat", type=int, default=3)
    return parser.parse_args()


if __name__ == "__main__":
    given = parsed()
    main(given.set, given.records, given.ranks, given.repeat)
