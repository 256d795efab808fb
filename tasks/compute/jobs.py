"""A result by batch jobs: watch one until it ends, submit another from the checkpoint, say in plain words why none helps."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from anon_core.engines.mpi.job import REFUSED, Progress, has_result, read_failure, read_progress
from anon_core.errors import ClusterError
from tasks.compute.cluster import Cluster, Handle, cancel, shows, submitted, under_way
from tasks.compute.slurm import IN_VAIN, SILENT, JobRecord, NoAnswer

ENGINE = "anon_core.engines.mpi"
FIRST_PAUSE, SLOWER, LONGEST_PAUSE = (
    0.2,
    1.5,
    10.0,
)  # seconds between two looks at a job, and how they grow

# How a job of Slurm ends without a result: whether another may go on from the checkpoint, and what to say.
ENDS = {
    "TIMEOUT": (True, "reached its time limit"),
    "NODE_FAIL": (True, "lost a node"),
    "BOOT_FAIL": (True, "lost a node"),
    "PREEMPTED": (True, "had to make room for another"),
    "REVOKED": (True, "was revoked"),
    "CANCELLED": (False, "was cancelled from outside; run again to go on from its last iteration"),
    "OUT_OF_MEMORY": (
        False,
        "ran out of memory; ask for more with compute.cluster.options.mem or use fewer ranks on a node",
    ),
    "DEADLINE": (False, "missed its deadline; mend compute.cluster.options"),
}


@dataclass(frozen=True)
class JobState:
    """What one look at a job found."""

    job: str
    state: str
    reason: str
    node: str
    progress: Progress | None

    def words(self) -> str:
        """The same in a line, without the progress."""
        why = f" ({self.reason})" if self.reason else ""
        where = f" on {self.node}" if self.node else ""
        stands = {"PENDING": f"waits in the queue{why}", "RUNNING": f"runs{where}"}
        return f"job {self.job} {stands.get(self.state, f'is {self.state.lower()}{where}{why}')}"


def run_job(
    folder: Path,
    logs: Path,
    cluster: Cluster,
    watch: Callable[[JobState], None],
    owner: str = "",
    engine: str = ENGINE,
) -> None:
    """Have a job's result in its folder: by the job that is under way, or by as many as it takes.

    A job that leaves no result is submitted again if it could go on, until `resubmit` of them in a row were in vain.
    """
    in_vain = 0
    while not has_result(folder):
        handle = None
        try:
            handle = under_way(folder, owner) or submitted(
                folder, logs, cluster, owner, engine, _iterations(folder)
            )
            record = _followed(handle, folder, watch)
        except NoAnswer:
            raise ClusterError(f"{SILENT}; run again when it does") from None
        except BaseException:
            _ = handle.cancel() if handle else cancel(folder)
            raise
        if has_result(folder):
            return
        again, words = _end(handle, record, folder)
        if has_result(folder):
            return
        done = _iterations(folder)
        in_vain = 0 if done > handle.after else in_vain + 1
        if again and in_vain and record.state == "TIMEOUT":
            again, words = (
                False,
                f"{words} within an iteration; raise compute.cluster.time_limit or ask for more nodes",
            )
        elif again and in_vain > cluster.resubmit:
            where = f"see its log in the vault: {logs.parent.name}/{logs.name}"
            again, words = (
                False,
                f"{words}, and {in_vain} jobs in a row have finished no iteration; {where}",
            )
        if not again:
            raise ClusterError(f"job {handle.number} {words}")
        watch(
            JobState(
                handle.number,
                "over",
                f"it {words}; another goes on after iteration {done}",
                "",
                None,
            )
        )


def _followed(handle: Handle, folder: Path, watch: Callable[[JobState], None]) -> JobRecord:
    """Look at a job, less and less often while nothing about it changes, until it ends; how it ended."""
    pause, before = FIRST_PAUSE, (JobRecord(""), 0)
    while True:
        try:
            record = handle.look()
        except NoAnswer:  # it runs on meanwhile
            record = JobRecord("unknown", SILENT)
        progress = read_progress(folder)
        watch(JobState(handle.number, record.state, record.reason, record.node, progress))
        if record.ended:
            return record
        if record.state == "PENDING" and record.reason in IN_VAIN:
            raise ClusterError(f"job {handle.number} would wait for ever: {IN_VAIN[record.reason]}")
        now = (record, progress.iteration if progress else 0)
        pause, before = (pause if now == before else FIRST_PAUSE), now
        time.sleep(pause)
        pause = min(SLOWER * pause, LONGEST_PAUSE)


def _end(handle: Handle, record: JobRecord, folder: Path) -> tuple[bool, str]:
    """Why a job left no result: whether another may go on, and what to say."""
    if record.state in ENDS:
        return ENDS[record.state]
    code = handle.exit_code()
    if code == REFUSED:
        shows(lambda: read_failure(folder) is not None)
    if (reason := read_failure(folder)) is not None:
        return False, f"was refused: {reason}"
    if code == 0:
        return True, "has ended" if shows(
            lambda: has_result(folder)
        ) else "has ended without a result"
    if code == 127:
        return (
            False,
            "found no mpirun or no Python where it ran; the vault and Python must be on a file system of all nodes",
        )
    return True, "lost a process" if code is None else f"lost a process (exit code {code})"


def _iterations(folder: Path) -> int:
    progress = read_progress(folder)
    return 0 if progress is None else progress.iteration
