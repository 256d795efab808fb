"""Ask Slurm why a job waits, where it runs, how it ended: PSI/J does not tell.

Commands are argument lists; no shell reads them.
"""

import re
import shutil
import subprocess
from dataclasses import dataclass

NEEDED = ("sbatch", "scancel", "scontrol", "squeue")
_ANSWERS_WITHIN = 60  # seconds
CONTROLLER = "Slurm's controller"
SILENT = f"{CONTROLLER} does not answer"

_ENDED = frozenset(
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

# A job that waits for one of these reasons never starts.
IN_VAIN = {
    "PartitionTimeLimit": "its time limit is above that of the partition; "
    "lower compute.cluster.time_limit",
    "PartitionNodeLimit": "the partition has no such number of nodes; lower compute.cluster.nodes",
    "PartitionConfig": "the partition gives no such cores or time; "
    "lower compute.cluster.tasks_per_node or time_limit",
    "BadConstraints": "no node meets compute.cluster.options",
    "InvalidAccount": "the account is not known; fix compute.cluster.account",
    "AccountNotAllowed": "the partition does not take the account; "
    "fix compute.cluster.account or partition",
    "InvalidQOS": "the quality of service is not known; fix compute.cluster.options",
    "QOSMaxWallDurationPerJobLimit": "its time limit is above that of the account; "
    "lower compute.cluster.time_limit",
    "AssocMaxWallDurationPerJobLimit": "its time limit is above that of the account; "
    "lower compute.cluster.time_limit",
}


class NoAnswer(ConnectionError):  # noqa: N818 - never leaves tasks
    """Slurm's controller does not answer at present: an outage."""


@dataclass(frozen=True)
class JobRecord:
    """The state of a job, in Slurm's words; node is that of its first process."""

    state: str
    reason: str = ""
    node: str = ""

    @property
    def ended(self) -> bool:
        """Return whether nothing of the job runs or waits."""
        return self.state in _ENDED


def list_missing_programs() -> list[str]:
    """Return the programs of Slurm that this machine lacks."""
    return [program for program in NEEDED if shutil.which(program) is None]


def find_job_record(job: str) -> JobRecord | None:
    """Return the state of a job; None once Slurm has forgotten it, minutes after its end."""
    done = _run_slurm_command("scontrol", "--oneliner", "show", "job", job)
    if done.returncode:
        if "Invalid job id" in done.stderr:
            return None
        raise NoAnswer
    shown = {key: _parse_field(key, done.stdout) for key in ("JobState", "Reason", "BatchHost")}
    return JobRecord(shown["JobState"], shown["Reason"], shown["BatchHost"])


def find_job_number(name: str) -> str | None:
    """Return the number of the user's job of this name that waits or runs."""
    done = _run_slurm_command("squeue", "--me", "--noheader", "--format=%i", f"--name={name}")
    if done.returncode:
        raise NoAnswer
    return next(iter(done.stdout.split()), None)


def has_partition(name: str) -> bool:
    """Return whether the partition exists for this user."""
    done = _run_slurm_command("scontrol", "--oneliner", "show", "partition", name)
    # Only these words say no. Any other failure may be a controller that is away.
    if done.returncode and "not found" not in done.stdout + done.stderr:
        raise NoAnswer
    return done.returncode == 0


def list_partitions() -> list[str]:
    """Return the names of all partitions."""
    done = _run_slurm_command("scontrol", "--oneliner", "show", "partition")
    return re.findall(r"^PartitionName=(\S+)", done.stdout, flags=re.MULTILINE)


def _run_slurm_command(*command: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(  # noqa: S603 - an argument list, no shell
            command, capture_output=True, text=True, timeout=_ANSWERS_WITHIN, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        raise NoAnswer from None


def _parse_field(key: str, line: str) -> str:
    value = re.search(rf"\b{key}=(\S+)", line)
    return "" if value is None or value[1] in ("None", "(null)") else value[1]
