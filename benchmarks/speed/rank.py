"""One rank that measures itself: python -m mpi4py -m benchmarks.rank SMALL_JOB JOB.

benchmarks.scaling starts it. The small job loads compiled code. The seconds of a phase are the
rank's own, waiting for others included; rank 0 prints.
"""

import json
import sys
import time
from pathlib import Path

from mpi4py import MPI

from anon_core.anonymizers.adaptive import agreement
from anon_core.anonymizers.adaptive import ranked as grouping
from anon_core.anonymizers.adaptive.memory import rank_memory
from anon_core.engines.mpi import __main__ as engine
from anon_core.engines.mpi import ranks
from anon_core.engines.mpi.job import RESULT_FILE, read_job
from benchmarks import memory

PHASES = {
    "search": (grouping.SpreadGrouping, "nearest"),
    "closure": (grouping, "build_adjacency"),
    "cover": (grouping, "spread_cover"),
    "list": (agreement, "first_agreeing"),
    "price": (agreement, "price_features"),
    "show": (ranks.MpiRanks, "in_turn"),
    "count": (ranks.MpiRanks, "batches"),
    "share": (ranks.MpiRanks, "share"),
    "deliver": (ranks.MpiRanks, "deliver"),
}


def timed(owner, name, spent):
    work = getattr(owner, name)

    def measured(*arguments, **named):
        start = time.perf_counter()
        try:
            return work(*arguments, **named)
        finally:
            spent.append(time.perf_counter() - start)

    setattr(owner, name, measured)


def main(small, folder):
    world, spent = MPI.COMM_WORLD, {phase: [] for phase in PHASES}
    engine.run_rank_job(small, read_job(small), world)
    for phase, (owner, name) in PHASES.items():
        timed(owner, name, spent[phase])
    job, before = read_job(folder), memory("VmRSS")
    world.Barrier()
    start = time.perf_counter()
    engine.run_rank_job(folder, job, world)
    world.Barrier()
    seconds = time.perf_counter() - start
    held = world.allreduce(memory("VmHWM") - before, MPI.MAX)
    if world.rank == 0:
        result = json.loads((folder / RESULT_FILE).read_text())
        iterations = len(result["steps"])
        print(f"seconds: {seconds:.4g}")
        print(f"iterations: {iterations}")
        print(f"bytes_sent_an_iteration: {result['bytes_sent'] / iterations:.4g}")
        print(f"memory_added_MiB: {held:.0f}")
        shape = {"ranks": world.size, "threads": job.threads}
        stated = rank_memory(job.anonymizer, job.data, **shape)
        print(f"stated_memory_MiB: {stated / 2**20:.0f}")
        for phase, times in spent.items():
            print(f"{phase}_seconds_an_iteration: {sum(times) / iterations:.4g}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
