"""One rank of a job: `python -m mpi4py -m anon_core.engines.mpi JOB_DIR`, so that an error in one rank ends all.

Exit codes: 0 the result is written, 2 refused (failure.json says why; to submit the job again would not help), anything else
a crash (to submit it again continues after the last finished iteration).
"""

import sys
from functools import partial
from pathlib import Path

import numba
from mpi4py import MPI

from anon_core.anonymizers.adaptive.ranked import SpreadGrouping
from anon_core.anonymizers.adaptive.ranked_memory import afford_rank
from anon_core.engines.mpi.job import REFUSED, Job, read_job, write_failure
from anon_core.engines.mpi.keeping import Keeper
from anon_core.engines.mpi.ranks import Ranks
from anon_core.errors import AnonymityError, LimitError


def main(folder: Path, comm: MPI.Intracomm) -> None:
    """Do the work that the folder describes, or say why it cannot be done."""
    try:
        run(folder, read_job(folder), comm)
    except AnonymityError as refusal:
        write_failure(folder, str(refusal))
        raise SystemExit(REFUSED) from None


def run(folder: Path, job: Job, comm: MPI.Intracomm) -> None:
    """All iterations that are left, and the result."""
    if comm.size != job.ranks:
        raise LimitError(
            f"the job was started on {comm.size} rank(s), {job.ranks} are required; start it with mpirun -n {job.ranks}, or "
            "with the srun --mpi=... that fits the MPI of mpi4py: another one starts ranks that do not know each other"
        )
    most = int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
    if job.threads > most:
        raise LimitError(
            f"a rank has {most} thread(s), {job.threads} are required; lower cores_per_task or ask for more cores"
        )
    threads = job.threads or most
    numba.set_num_threads(threads)
    ranks = Ranks(comm, job.table.records)
    afford_rank(job.anonymizer, job.table, ranks=comm.size, threads=threads, memory=job.memory)
    keeper = Keeper(folder, job, ranks)
    resume = keeper.resume()
    engine = partial(SpreadGrouping, ranks=ranks)
    keeper.finish(
        job.anonymizer.anonymize(
            job.table, order=job.order, observer=keeper, resume=resume, engine=engine
        )
    )


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        raise SystemExit(
            "give the folder of one job, one that exists: python -m mpi4py -m anon_core.engines.mpi JOB_DIR"
        )
    main(Path(sys.argv[1]), MPI.COMM_WORLD)
