"""One rank of a job: `python -m mpi4py -m anon_core.engines.mpi JOB_DIR`.

Started so, an error in one rank ends all. Exit codes: 0 the result is written; 2 refused
(failure.json says why, resubmitting would not help); anything else a crash (resubmitting continues
after the last checkpoint).
"""

import ctypes
import signal
import sys
from pathlib import Path

import numba
from mpi4py import MPI

from anon_core.engines.mpi.job import EXIT_REFUSED, RankJob, afford_rank, read_job, write_failure
from anon_core.engines.mpi.keeping import Keeper
from anon_core.engines.mpi.ranks import MpiRanks
from anon_core.engines.spreading import load_mpi_module
from anon_core.errors import AnonymityError, LimitError

_PR_SET_PDEATHSIG = 1  # of <linux/prctl.h>


def die_with_parent() -> None:
    """End this rank when what started it is killed, on Linux.

    Without its launcher it would wait for the other ranks for ever, and hold what the job's script
    reads, so that the job would not end either.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def run_job_folder(folder: Path, comm: MPI.Intracomm) -> None:
    """Do the work that the folder describes, or write why it cannot be done."""
    try:
        run_rank_job(folder, read_job(folder), comm)
    except AnonymityError as refusal:
        write_failure(folder, str(refusal))
        raise SystemExit(EXIT_REFUSED) from None


def run_rank_job(folder: Path, job: RankJob, comm: MPI.Intracomm) -> None:
    """Do all steps that are left, and write the result."""
    if comm.size != job.ranks:
        raise LimitError(
            f"the job was started on {comm.size} rank(s), {job.ranks} are required; start it with "
            f"mpirun -n {job.ranks}, or with the srun --mpi=... that fits the MPI of mpi4py: "
            "another one starts ranks that do not know each other"
        )
    most = int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
    if job.threads > most:
        raise LimitError(
            f"a rank has {most} thread(s), {job.threads} are required; lower cores_per_task or "
            "ask for more cores"
        )
    threads = job.threads or most
    numba.set_num_threads(threads)
    ranks = MpiRanks(comm, job.data.records)
    spread = load_mpi_module(job.anonymizer)
    afford_rank(job.anonymizer, job.data, ranks=comm.size, threads=threads, memory=job.memory)
    keeper = Keeper(folder, job, ranks, spread)
    resume = keeper.resume()
    keeper.finish(
        spread.anonymize(
            job.anonymizer, job.data, ranks, tie_order=job.tie_order, observer=keeper, resume=resume
        )
    )


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        raise SystemExit(
            "give the folder of one job, one that exists: "
            "python -m mpi4py -m anon_core.engines.mpi JOB_DIR"
        )
    die_with_parent()
    run_job_folder(Path(sys.argv[1]), MPI.COMM_WORLD)
