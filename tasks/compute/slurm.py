"""The state of a Slurm job that PSI/J does not report: why it waits, where it runs, how it ended.

Slurm's programs are called with argument lists, never through a shell.
"""

import re
import shutil
import subprocess
from dataclasses import dataclass

NEEDED = ("sbatch", "scancel", "scontrol", "squeue")
ANSWERS_WITHIN = 60  # seconds
SILENT = "Slurm's controller does not answer"

ENDED = frozenset(
    (
        "COMPLETED",
        "FAILED",
        "CANCELLED",
        "TIMEOUT",
        "NODE_FAIL",
        "BOOT_FAIL",
        "PREEMPTED",
        "OUT_OF_MEMORY",
        "DEADLINE",
        "REVOKED",
    )
)

# A job with one of these reasons never starts. By reason: the cause and the fix.
IN_VAIN = {
    "PartitionTimeLimit": "its time limit is above that of the partition; "
    "lower compute.cluster.time_limit",
    "PartitionNodeLimit": "the partition has fewer nodes; lower compute.cluster.nodes",
    "PartitionConfig": "the partition offers fewer cores or less time; "
    "lower compute.cluster.tasks_per_node or time_limit",
    "BadConstraints": "no node meets compute.cluster.options; correct them",
    "InvalidAccount": "the account is not known; correct compute.cluster.account",
    "AccountNotAllowed": "the partition does not take the account; "
    "correct compute.cluster.account or partition",
    "InvalidQOS": "the quality of service is not known; correct compute.cluster.options",
    "QOSMaxWallDurationPerJobLimit": "its time limit is above that of the account; "
    "lower compute.cluster.time_limit",
    "AssocMaxWallDurationPerJobLimit": "its time limit is above that of the account; "
    "lower compute.cluster.time_limit",
}


class NoAnswer(Exception):  # noqa: N818 - never leaves tasks
    """Slurm's controller does not answer now."""


@dataclass(frozen=True)
class JobRecord:
    """The state of a job in Slurm's terms; `node` is that of its first process."""

    state: str
    reason: str = ""
    node: str = ""

    @property
    def ended(self) -> bool:
        """Whether the job neither runs nor waits."""
        return self.state in ENDED


def missing() -> list[str]:
    """Slurm programs that this machine lacks."""
    return [program for program in NEEDED if shutil.which(program) is None]


def show(job: str) -> JobRecord | None:
    """The state of a job; None if Slurm no longer knows it, some minutes after its end."""
    done = _ask("scontrol", "--oneliner", "show", "job", job)
    if done.returncode:
        if "Invalid job id" in done.stderr:
            return None
        raise NoAnswer
    fields = {key: _field(key, done.stdout) for key in ("JobState", "Reason", "BatchHost")}
    return JobRecord(fields["JobState"], fields["Reason"], fields["BatchHost"])


def find(name: str) -> str | None:
    """Number of the user's waiting or running job of this name."""
    done = _ask("squeue", "--me", "--noheader", "--format=%i", f"--name={name}")
    if done.returncode:
        raise NoAnswer
    return next(iter(done.stdout.split()), None)


def has_partition(name: str) -> bool:
    """Whether this user has such a partition."""
    done = _ask("scontrol", "--oneliner", "show", "partition", name)
    if done.returncode and "not found" not in done.stdout + done.stderr:
        raise NoAnswer
    return done.returncode == 0


def partitions() -> list[str]:
    """Names of all partitions."""
    done = _ask("scontrol", "--oneliner", "show", "partition")
    return re.findall(r"^PartitionName=(\S+)", done.stdout, flags=re.MULTILINE)


def _ask(*command: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, timeout=ANSWERS_WITHIN, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        raise NoAnswer from None


def _field(key: str, line: str) -> str:
    value = re.search(rf"\b{key}=(\S+)", line)
    return "" if value is None or value[1] in ("None", "(null)") else value[1]
