"""A batch job of a folder in the vault: submit it, find it, look at it, cancel it.

PSI/J writes, submits and cancels; `tasks.compute.slurm` tells the job's state. The job's name is
made from the folder's, so a run finds its job again even if it was killed before it stored the
job's number.
"""

import contextlib
import hashlib
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from anon_core.errors import ClusterError
from crowdcover.storage.places.outages import ask_again, is_outage
from crowdcover.storage.vault.files import read_json, write_json
from crowdcover.tasks.compute import slurm
from crowdcover.tasks.compute.slurm import SILENT, JobRecord, NoAnswer
from crowdcover.tasks.compute.spec import WORK, Cluster, build_job_executor, job_spec

SUBMISSION = "submission"
GONE_WITHIN = 60.0  # seconds that a cancelled job may take to end
LATE = 30.0  # seconds that a file of another machine may take to show


@dataclass
class Handle:
    """A job that was submitted or found.

    `job` is its PSI/J object, None for a job of this machine that another process submitted.
    """

    launcher: str
    number: str
    folder: Path
    after: int  # steps that were finished when it was submitted
    job: Any = None

    def look(self) -> JobRecord:
        """Return the job's state; a job that Slurm has forgotten is over."""
        if self.launcher == "slurm":
            return slurm.find_job_record(self.number) or JobRecord("COMPLETED")
        over = (
            self.job.status.state.final if self.job else _find_script_process(self.folder) is None
        )
        return JobRecord("COMPLETED" if over else "RUNNING")

    def exit_code(self) -> int | None:
        """Return the exit code, None if the job was killed or the code was not recorded."""
        if self.launcher == "slurm":
            code = self.folder / WORK / "slurm" / f"{self.number}.ec"
            # On a shared disk the name appears before the content.
            written = wait_for_condition(lambda: code.exists() and bool(code.read_text().strip()))
            return int(code.read_text()) if written else None
        return self.job.status.exit_code if self.job else None

    def cancel(self) -> bool:
        """Cancel the job; return whether it is gone."""
        with contextlib.suppress(Exception):  # a job that has ended by itself cannot be cancelled
            if self.launcher == "slurm":
                self.job.cancel()
            else:
                _kill_process_tree(int(self.number))
        return wait_for_condition(lambda: self.look().ended, GONE_WITHIN)


def require_ready_cluster(cluster: Cluster, folder: Path) -> None:
    """Refuse, before any work is done, a cluster that no job can run on."""
    if absent := [name for name in ("psij", "mpi4py") if find_spec(name) is None]:
        raise ClusterError(
            f"{' and '.join(absent)} not installed; pip install 'crowdcover[cluster]'"
        )
    for path in (str(folder), sys.executable):
        if shlex.quote(path) != path:
            raise ClusterError(
                "the path of publish.vault, or that of Python, has blanks or signs that "
                "job scripts do not take; use letters, digits and ._-/ only"
            )
    if cluster.launcher == "mpirun":
        return
    if missing := slurm.list_missing_programs():
        raise ClusterError(
            f"this machine has no {', '.join(missing)}; run on one that submits to Slurm, or set "
            "launcher = 'mpirun'"
        )
    partition = cluster.partition
    try:
        unknown = partition is not None and not ask_again(
            slurm.CONTROLLER, lambda: slurm.has_partition(partition)
        )
        there = slurm.list_partitions() if unknown else []
    except NoAnswer:
        raise ClusterError(f"{SILENT}; run again when it does") from None
    if unknown:
        raise ClusterError(
            f"compute.cluster.partition is not known to Slurm; allowed: {', '.join(there)}"
        )


def cancel_folder_job(folder: Path) -> bool:
    """Cancel the folder's job if there is one; return whether none is left."""
    try:
        handle = under_way(folder)
    except NoAnswer:
        return False
    return handle is None or handle.cancel()


def cancel_jobs_of(owner: str, runs: Path) -> None:
    """Cancel all jobs in the vault that a flow run has submitted."""
    for path in runs.glob(f"*/*/{SUBMISSION}"):
        if read_json(path)["owner"] == owner:
            cancel_folder_job(path.parent)


def submit_job(
    folder: Path, logs: Path, cluster: Cluster, owner: str, engine: str, after: int
) -> Handle:
    """Submit a job that makes the folder's result, from its checkpoint if there is one.

    Raises NoAnswer in an outage of Slurm: then it is not known whether there is a job.
    """
    import psij

    logs.mkdir(mode=0o700, exist_ok=True)
    job = psij.Job(job_spec(_build_job_name(folder), folder, logs, cluster, engine))
    # Before the job exists: a process that is killed in between still finds it, by its name.
    record = {"launcher": cluster.launcher, "owner": owner, "after": after}
    write_json(folder / SUBMISSION, record)
    with _private_files():
        try:
            build_job_executor(cluster.launcher, folder).submit(job)
        except psij.SubmitException as error:
            if is_outage(error):
                raise NoAnswer from None
            lines = [
                line.removeprefix("sbatch: error: ")
                for line in str(error).splitlines()
                if line.strip()
            ]
            refusal = (
                f"the job was refused: {'; '.join(dict.fromkeys(lines))}; fix [compute] cluster"
            )
        else:
            write_json(folder / SUBMISSION, {**record, "number": job.native_id})
            return Handle(cluster.launcher, str(job.native_id), folder, after, job)
    # Behind the handler, so that it does not carry the error of PSI/J as its context.
    raise ClusterError(refusal)


def under_way(folder: Path, owner: str | None = None) -> Handle | None:
    """Return the folder's job that waits or runs; from now on it belongs to `owner`, if given."""
    if not (folder / SUBMISSION).exists():
        return None
    record = read_json(folder / SUBMISSION)
    number = (
        # By name: the number may never have been written.
        slurm.find_job_number(_build_job_name(folder))
        if record["launcher"] == "slurm"
        else _find_script_process(folder)
    )
    if number is None:
        return None
    job = None
    if record["launcher"] == "slurm":
        import psij

        job = psij.Job()
        build_job_executor("slurm", folder).attach(job, number)
    if owner is not None:
        write_json(folder / SUBMISSION, {**record, "owner": owner, "number": number})
    return Handle(record["launcher"], number, folder, record["after"], job)


def _build_job_name(folder: Path) -> str:
    return "crowdcover-" + hashlib.sha256(str(folder).encode()).hexdigest()[:12]


def _find_script_process(folder: Path) -> str | None:
    """Return the process on this machine that runs PSI/J's script from the folder."""
    script, parents = os.fsencode(folder / WORK) + b"/", {}
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if any(
                argument.startswith(script)
                # The shell and its script; further arguments may name the folder in any program.
                for argument in (path / "cmdline").read_bytes().split(b"\0")[:2]
            ):
                # The name in parentheses may hold blanks. State and parent follow it.
                parents[path.name] = (path / "stat").read_text().rpartition(")")[2].split()[1]
    # The script forks itself; its first process has a parent that is another program.
    return next((number for number, parent in parents.items() if parent not in parents), None)


def _kill_process_tree(number: int) -> None:
    """End a process and all below it.

    PSI/J's own cancel fails when a local job ends just before.
    """
    import psutil

    root = psutil.Process(number)
    # Children are listed first: once the root is gone, nothing leads to them.
    for process in (*root.children(recursive=True), root):
        with contextlib.suppress(psutil.Error):
            process.kill()


def wait_for_condition(holds: Callable[[], bool], within: float = LATE) -> bool:
    """Return whether a condition becomes true in time; a silent controller decides nothing."""
    end = time.monotonic() + within
    while True:
        with contextlib.suppress(NoAnswer):
            if holds():
                return True
        if time.monotonic() > end:
            return False
        time.sleep(0.2)


@contextlib.contextmanager
def _private_files() -> Iterator[None]:
    """Let only the owner read the files that PSI/J and the job write."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)
