"""Get a result by batch jobs: watch one until it ends, submit another from the checkpoint.

A refusal says why no further job would help.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from anon_core.engines.mpi.job import (
    EXIT_REFUSED,
    Progress,
    has_result,
    read_failure,
    read_progress,
)
from anon_core.errors import ClusterError
from crowdcover.storage.places.outages import ask_again
from crowdcover.tasks.compute.cluster import (
    Handle,
    cancel_folder_job,
    submit_job,
    under_way,
    wait_for_condition,
)
from crowdcover.tasks.compute.slurm import CONTROLLER, IN_VAIN, SILENT, JobRecord, NoAnswer
from crowdcover.tasks.compute.spec import Cluster

ENGINE = "anon_core.engines.mpi"
# Seconds between two looks at a job, and how they grow.
FIRST_PAUSE, SLOWER, LONGEST_PAUSE = 0.2, 1.5, 10.0

# How a job of Slurm ends without a result: whether another may go on from the checkpoint, and the
# words for it.
_ENDS = {
    "TIMEOUT": (True, "reached its time limit"),
    "NODE_FAIL": (True, "lost a node"),
    "BOOT_FAIL": (True, "lost a node"),
    "PREEMPTED": (True, "had to make room for another"),
    "REVOKED": (True, "was revoked"),
    "CANCELLED": (False, "was cancelled from outside; run again to go on from its last iteration"),
    "OUT_OF_MEMORY": (
        False,
        "ran out of memory; ask for more with compute.cluster.options.mem or use fewer ranks "
        "on a node",
    ),
    "DEADLINE": (False, "missed its deadline; fix compute.cluster.options"),
}


@dataclass(frozen=True)
class JobState:
    """The state of a job at one look."""

    job: str
    state: str
    reason: str
    node: str
    progress: Progress | None

    def line(self) -> str:
        """Return the state as a line for people, without the progress."""
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
    """Get a job's result into its folder: by the job that is under way, or by further ones.

    A job without a result is followed by another if that can go on, until `resubmit` of them in a
    row have finished no step.
    """
    in_vain = 0
    while not has_result(folder):
        handle = None
        try:
            # Looked for in each try: a job may have been submitted without an answer.
            handle = ask_again(
                CONTROLLER,
                lambda: (
                    under_way(folder, owner)
                    or submit_job(
                        folder, logs, cluster, owner, engine, _count_finished_steps(folder)
                    )
                ),
            )
            record = _follow_job(handle, folder, watch)
        except NoAnswer:
            # The job is left alone: the next run finds it by its name.
            raise ClusterError(f"{SILENT}; run again when it does") from None
        except BaseException:
            # An interrupt, a cancelled flow run or a refusal: no job goes on that nobody watches.
            _ = handle.cancel() if handle else cancel_folder_job(folder)
            raise
        if has_result(folder):
            return
        again, end = _explain_end(handle, record, folder)
        # The file of another machine may have shown while the end was looked into.
        if has_result(folder):
            return
        done = _count_finished_steps(folder)
        in_vain = 0 if done > handle.after else in_vain + 1
        if again and (why := _explain_giving_up(record, in_vain, cluster, logs)):
            again, end = False, f"{end}{why}"
        if not again:
            raise ClusterError(f"job {handle.number} {end}")
        reason = f"it {end}; another goes on after iteration {done}"
        watch(JobState(handle.number, "over", reason, "", None))


def _explain_giving_up(record: JobRecord, in_vain: int, cluster: Cluster, logs: Path) -> str:
    """Return why no job follows one that could be followed, empty if one does."""
    # Checkpoints hold finished iterations, so the next job would stop at the same place.
    if in_vain and record.state == "TIMEOUT":
        return " within an iteration; raise compute.cluster.time_limit or ask for more nodes"
    if in_vain > cluster.resubmit:
        where = f"see its log in the vault: {logs.parent.name}/{logs.name}"
        return f", and {in_vain} jobs in a row have finished no iteration; {where}"
    return ""


def _follow_job(handle: Handle, folder: Path, watch: Callable[[JobState], None]) -> JobRecord:
    """Look at a job until it ends, less often while nothing changes; return how it ended."""
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
        # News often come together: after one, look often again.
        now = (record, progress.step if progress else 0)
        pause, before = (pause if now == before else FIRST_PAUSE), now
        time.sleep(pause)
        pause = min(SLOWER * pause, LONGEST_PAUSE)


def _explain_end(handle: Handle, record: JobRecord, folder: Path) -> tuple[bool, str]:
    """Return why a job left no result: whether another may go on, and the words for it."""
    if record.state in _ENDS:
        return _ENDS[record.state]
    code = handle.exit_code()
    if code == EXIT_REFUSED:
        wait_for_condition(lambda: read_failure(folder) is not None)
    if (reason := read_failure(folder)) is not None:
        return False, f"was refused: {reason}"
    if code == 0:
        return True, "has ended" if wait_for_condition(
            lambda: has_result(folder)
        ) else "has ended without a result"
    if code == 127:
        return (
            False,
            "found no mpirun or no Python where it ran; the vault and Python must be on a file "
            "system of all nodes",
        )
    return True, "lost a process" if code is None else f"lost a process (exit code {code})"


def _count_finished_steps(folder: Path) -> int:
    """Return the number of finished steps."""
    progress = read_progress(folder)
    return 0 if progress is None else progress.step
