"""A program for mpirun: many jobs in one start, or one job with a rank that dies after a step.

Batches of messages and counts are so small that small tables take many; not so with --traced, which
measures the bytes held.

python -m mpi4py cases.py FOLDER_OF_JOBS [--traced]
python -m mpi4py cases.py JOB --counted
python -m mpi4py cases.py JOB --rank R --dies-after I

With --counted the ranks print how many records each of them made seats for.
"""

import os
import signal
import sys
import tracemalloc
from pathlib import Path

from mpi4py import MPI

from anon_core.anonymizers.adaptive import ranked as grouping
from anon_core.anonymizers.adaptive.memory import rank_memory
from anon_core.anonymizers.in_parts.cut import Cut
from anon_core.covers import suitor as cover
from anon_core.engines.mpi import __main__ as engine
from anon_core.engines.mpi.job import read_job
from anon_core.engines.mpi.keeping import Keeper

if "--traced" not in sys.argv:
    cover.MESSAGES_AT_ONCE, grouping.COUNT_BATCH = (
        (500, 100) if "--dies-after" in sys.argv else (5, 3)
    )

if "--dies-after" in sys.argv:
    folder, _, rank, _, last = sys.argv[1:]
    keep = Keeper.on_step

    def stepped(self, state):
        keep(self, state)
        if len(state.steps) == int(last) and MPI.COMM_WORLD.rank == int(rank):
            os.kill(os.getpid(), signal.SIGKILL)

    Keeper.on_step = stepped
    engine.run_job_folder(Path(folder), MPI.COMM_WORLD)
elif "--traced" in sys.argv:
    for folder in sorted(Path(sys.argv[1]).iterdir()):
        job = read_job(folder)
        tracemalloc.start()
        engine.run_rank_job(folder, job, MPI.COMM_WORLD)
        peaks = MPI.COMM_WORLD.gather(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        if peaks:
            print(
                max(peaks)
                / rank_memory(job.anonymizer, job.data, ranks=job.ranks, threads=job.threads)
            )
elif "--counted" in sys.argv:
    taken, take_part = [], Cut.take_part

    def counted(self, number):
        part = take_part(self, number)
        taken.append(part[0].records)
        return part

    Cut.take_part = counted
    engine.run_job_folder(Path(sys.argv[1]), MPI.COMM_WORLD)
    by_rank = MPI.COMM_WORLD.gather(sum(taken))
    if by_rank:
        print(*by_rank)
else:
    for job in sorted(Path(sys.argv[1]).iterdir()):
        engine.run_job_folder(job, MPI.COMM_WORLD)
