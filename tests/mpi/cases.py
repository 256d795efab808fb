"""What a test starts with mpirun: job after job in one start, or one whose ranks die after some iteration.

python -m mpi4py cases.py FOLDER_OF_JOBS | python -m mpi4py cases.py JOB --rank R --dies-after I
"""

import os
import signal
import sys
from pathlib import Path

from mpi4py import MPI

from anon_core.engines.mpi import __main__ as engine
from anon_core.engines.mpi.keeping import Keeper

if "--dies-after" in sys.argv:
    folder, _, rank, _, last = sys.argv[1:]
    keep = Keeper.iterated

    def iterated(self, checkpoint):
        keep(self, checkpoint)
        if len(checkpoint.iterations) == int(last) and MPI.COMM_WORLD.rank == int(rank):
            os.kill(os.getpid(), signal.SIGKILL)

    Keeper.iterated = iterated
    engine.main(Path(folder), MPI.COMM_WORLD)
else:
    for job in sorted(Path(sys.argv[1]).iterdir()):
        engine.main(job, MPI.COMM_WORLD)
