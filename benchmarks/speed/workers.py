"""Whole releases by one and by two workers of each engine: python -m benchmarks.workers.

    python -m benchmarks.workers [RECORDS] [--table NAME] [--repeat TURNS] [--engines NAME...]

Tables are those of `benchmarks.whole`, plans the default ones. A worker is a thread of this
process, a Dask worker or an MPI rank, of one thread each. All stages of a run have a core for each
worker. Engines and numbers of workers take turns; figures are medians. Efficiency: the time of one,
by twice that of two.
"""

import argparse
import os
import statistics
import tempfile
from pathlib import Path

from benchmarks.speed.whole import draw_table, measure_release

ENGINES = {  # name: settings for a number of workers
    # One thread for each worker, else one worker would have all cores.
    "local": lambda workers: [f"compute.threads={workers}"],
    "dask": lambda workers: [
        "compute.engine='dask'",
        f"compute.threads={workers}",  # one a worker, and as many for the other stages
        f"compute.workers={workers}",
    ],
    "mpi": lambda workers: [
        "compute.engine='mpi'",
        "compute.cluster.launcher='mpirun'",
        "compute.cluster.cores_per_task=1",
        f"compute.cluster.tasks_per_node={workers}",
    ],
}


def main(table, records, turns, engines):
    runs = {(engine, workers): [] for engine in engines for workers in (1, 2)}
    cores = sorted(os.sched_getaffinity(0))
    for turn in range(turns):
        for (engine, workers), done in runs.items():
            with tempfile.TemporaryDirectory() as folder:
                plan = draw_table(table, records, 1, Path(folder))
                # The command inherits them: else stages beside one rank would have two.
                os.sched_setaffinity(0, cores[:workers])
                found = measure_release(plan, ENGINES[engine](workers))
                os.sched_setaffinity(0, cores)
            done.append(found)
            print(f"turn_{turn}.{engine}_{workers}.seconds: {found['seconds']:.1f}", flush=True)
    for engine in engines:
        for name in ("seconds", "anonymize_seconds"):
            one, two = (
                statistics.median(run[name] for run in runs[engine, workers]) for workers in (1, 2)
            )
            print(f"{engine}.{name}: {one:.1f}, {two:.1f}, efficiency {one / (2 * two):.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.workers")
    parser.add_argument("records", nargs="?", type=int, default=1_000_000)
    parser.add_argument("--table", choices=("payments", "poker"), default="poker")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--engines", nargs="+", choices=list(ENGINES), default=list(ENGINES))
    given = parser.parse_args()
    main(given.table, given.records, given.repeat, given.engines)
