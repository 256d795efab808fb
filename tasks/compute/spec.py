"""What a batch job asks for, and what PSI/J is told."""

import os
import sys
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

WORK = "psij"  # folder of PSI/J's files beside those of the job

# The rest of the environment stays here: it may hold passwords.
PASSED = ("HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "SLURM_CONF")
PASSED_KINDS = ("FI_", "I_MPI_", "MPICH_", "NUMBA_", "OMPI_", "PRTE_", "UCX_")


@dataclass(frozen=True)
class Cluster:
    """[compute] cluster of the plan: what a job asks for, and which launcher starts it."""

    launcher: Literal["slurm", "mpirun"]
    nodes: int = 1
    tasks_per_node: int = 1
    cores_per_task: int = 1
    partition: str | None = None
    account: str | None = None
    time_limit: timedelta | None = None
    start: Literal["mpirun", "srun"] = "mpirun"
    mpi: str | None = None
    resubmit: int = 3
    options: tuple[tuple[str, str], ...] = ()

    @property
    def ranks(self) -> int:
        """Return the number of processes of a job."""
        return self.nodes * self.tasks_per_node


def job_spec(name: str, folder: Path, logs: Path, cluster: Cluster, engine: str) -> Any:
    """Return what PSI/J submits: the engine on the folder, in a job of this name."""
    import psij

    slurms = cluster.launcher == "slurm"
    attributes = psij.JobAttributes(queue_name=cluster.partition, account=cluster.account)
    attributes.duration = cluster.time_limit  # type: ignore[assignment] # None: the partition's
    attributes.custom_attributes = {
        "slurm.job-name": name,
        **{f"slurm.{key}": value for key, value in cluster.options},
    }
    # Logs of earlier jobs stay; those of this one get the next number.
    number = 1 + sum(1 for _ in logs.glob("*.out"))
    return psij.JobSpec(
        executable=sys.executable,
        # mpi4py ends all ranks if one raises an error; else the others would wait for it.
        arguments=["-m", "mpi4py", "-m", engine, str(folder)],
        directory=folder,
        launcher=cluster.start if slurms else "mpirun",
        inherit_environment=False,
        environment=_build_environment(cluster),
        stdout_path=logs / f"{number}.out",
        stderr_path=logs / f"{number}.err",
        resources=psij.ResourceSpecV1(
            node_count=cluster.nodes,
            processes_per_node=cluster.tasks_per_node,
            cpu_cores_per_process=cluster.cores_per_task,
        ),
        attributes=attributes,
    )


def _build_environment(cluster: Cluster) -> dict[str, str | int]:
    passed = {
        name: value
        for name, value in os.environ.items()
        if name in PASSED or name.startswith(PASSED_KINDS)
    }
    passed["PATH"] = os.pathsep.join(
        [str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]
    )
    if here := os.environ.get("PYTHONPATH"):
        # The job starts in another folder, where relative entries would lead elsewhere.
        passed["PYTHONPATH"] = os.pathsep.join(
            os.path.abspath(path) for path in here.split(os.pathsep)
        )
    if cluster.launcher == "slurm":
        # srun: keep this environment; use all cores of the job; end all ranks if one dies.
        passed |= {
            "SLURM_EXPORT_ENV": "ALL",
            "SRUN_CPUS_PER_TASK": str(cluster.cores_per_task),
            "SLURM_KILL_BAD_EXIT": "1",
        }
    if cluster.mpi is not None:
        passed["SLURM_MPI_TYPE"] = cluster.mpi
    return dict(passed)


def build_job_executor(launcher: str, folder: Path) -> Any:
    """Return what submits, attaches and cancels jobs of this folder."""
    import psij

    if launcher == "mpirun":
        return psij.JobExecutor.get_instance(
            "local", config=psij.JobExecutorConfig(work_directory=folder / WORK)
        )
    from psij.executors.batch.slurm import SlurmExecutorConfig

    # PSI/J's own look at the queue may take the reason of another job for the end of this one.
    never = 10**8
    config = SlurmExecutorConfig(
        work_directory=folder / WORK,
        queue_polling_interval=never,
        initial_queue_polling_delay=never,
        keep_files=True,
    )
    return psij.JobExecutor.get_instance("slurm", config=config)
