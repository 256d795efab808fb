"""[compute] of the plan: engine, threads, memory and cluster; never shapes the release."""

import re
from collections.abc import Collection
from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field

from crowdcover.flows.plan.durations import parse_duration, sum_duration_parts
from crowdcover.kinds.section import PlanError, Section
from crowdcover.tasks.compute.spec import Cluster

OF_DASK = ("scheduler", "workers")
# No `@`: an address with a password would stand in every copy of the plan.
SCHEDULER = r"(tcp|tls|ws|wss|ucx)://[^\s/@]+:\d{1,5}"
OF_SLURM = ("partition", "account", "time_limit", "start", "mpi", "options")
# Options that the job script sets itself, or that a single job cannot have.
NO_OPTIONS = ("array", "chdir", "error", "export", "job-name", "nodes", "ntasks", "output", "wrap")
# Slurm's form, days-hours:minutes:seconds; its groups are those of `sum_duration_parts`.
CLOCK = re.compile(r"(?:(\d+)-)?(\d+):([0-5]\d):([0-5]\d)")

_Positive = Annotated[int, Field(ge=1)]
# Text that job scripts take without quotes.
Plain = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.,:@%+=/-]+$")]


class ClusterSection(Section):
    """[compute] cluster: the resources of a batch job.

    Attributes
    ----------
    launcher : slurm, or mpirun: this machine without a queue.
    nodes : machines of a job.
    tasks_per_node : ranks on each node.
    cores_per_task : threads of a rank.
    partition : Slurm: the partition; the site's unless stated.
    account : Slurm: the account; the site's unless stated.
    time_limit : Slurm: such as 4h, 04:00:00 or 1-00:00:00.
    start : Slurm: what starts the ranks.
    mpi : with start = 'srun': the value of its --mpi.
    resubmit : how many jobs in a row may end without finishing an iteration.
    options : Slurm: further options of sbatch.
    """

    launcher: Literal["slurm", "mpirun"]
    nodes: _Positive = 1
    tasks_per_node: _Positive = 1
    cores_per_task: _Positive = 1
    partition: Plain | None = None
    account: Plain | None = None
    time_limit: str | None = None
    start: Literal["mpirun", "srun"] = "mpirun"
    mpi: Plain | None = None
    resubmit: Annotated[int, Field(ge=0)] = 3
    options: dict[Plain, Plain] = {}

    def cluster(self) -> Cluster:
        """The checked section as the tasks use it."""
        # What is stated, since keys of Slurm have defaults and mpirun must not trip over them.
        stated = self.model_fields_set
        if self.launcher == "mpirun":
            if idle := [key for key in OF_SLURM if key in stated]:
                raise PlanError(f"compute.cluster.{idle[0]} belongs to launcher = 'slurm'")
            if self.nodes > 1:
                raise PlanError(
                    "compute.cluster.nodes: launcher = 'mpirun' uses this machine only; "
                    "set nodes = 1"
                )
        if "mpi" in stated and self.start != "srun":
            raise PlanError("compute.cluster.mpi belongs to start = 'srun'")
        if idle := [key for key in self.options if key in NO_OPTIONS]:
            raise PlanError(
                f"compute.cluster.options.{idle[0]} cannot be set by a plan; leave it out"
            )
        return Cluster(
            launcher=self.launcher,
            nodes=self.nodes,
            tasks_per_node=self.tasks_per_node,
            cores_per_task=self.cores_per_task,
            partition=self.partition,
            account=self.account,
            time_limit=None if self.time_limit is None else _parse_time_limit(self.time_limit),
            start=self.start,
            mpi=self.mpi,
            resubmit=self.resubmit,
            options=tuple(self.options.items()),
        )


class ComputeSection(Section):
    """[compute]: where the plan runs; never changes the release.

    Attributes
    ----------
    engine : local: threads of this process; dask: a Dask cluster; mpi: batch jobs.
    threads : how many; 0 means all.
    memory : the most that the anonymizer holds beyond its input, for each rank of a batch job.
    scheduler : with engine = 'dask': the address of a running cluster.
    workers : with engine = 'dask' and no scheduler: processes on this machine.
    cluster : with engine = 'mpi': what a batch job asks for.
    """

    engine: Literal["local", "mpi", "dask"] = "local"
    threads: Annotated[int, Field(ge=0)] = 0
    memory: str = "4GiB"
    scheduler: str | None = None
    workers: _Positive = 2
    cluster: ClusterSection | None = None

    def check_engine(self, anonymizer: str, engines: Collection[str]) -> None:
        """Refuse an engine that the anonymizer lacks."""
        if self.engine not in engines:
            raise PlanError(
                f"anonymizer {anonymizer!r} with these settings does not run on "
                f"compute.engine = {self.engine!r}; allowed: {', '.join(engines)}"
            )

    def check_dask(self) -> None:
        """Refuse keys of another engine, and addresses that are none."""
        if self.engine != "dask" and (
            idle := [key for key in OF_DASK if key in self.model_fields_set]
        ):
            raise PlanError(f"compute.{idle[0]} belongs to engine = 'dask'")
        if self.scheduler is not None and "workers" in self.model_fields_set:
            raise PlanError(
                "compute.workers belongs to a local cluster; "
                "the cluster of compute.scheduler has its own workers; leave compute.workers out"
            )
        if self.scheduler is not None and not re.fullmatch(SCHEDULER, self.scheduler):
            raise PlanError(
                "compute.scheduler must be an address like 'tcp://host:8786' or 'tls://host:8786'"
            )

    @property
    def jobs(self) -> Cluster | None:
        """The resources of batch jobs; None if no batch job does the work."""
        if self.engine != "mpi":
            if self.cluster is not None:
                raise PlanError("compute.cluster belongs to engine = 'mpi'")
            return None
        if self.cluster is None:
            raise PlanError(
                "compute.engine = 'mpi' needs compute.cluster, "
                "e.g. {launcher = 'mpirun', tasks_per_node = 2}"
            )
        if self.threads:
            raise PlanError(
                "compute.threads belongs to engine = 'local' or 'dask'; "
                "set compute.cluster.cores_per_task instead"
            )
        return self.cluster.cluster()


def _parse_time_limit(text: str) -> timedelta:
    clock = CLOCK.fullmatch(text)
    limit = parse_duration(text) if clock is None else sum_duration_parts(*clock.groups())
    if limit is None:
        raise PlanError(
            "compute.cluster.time_limit must be like '12:30:00', '2-00:00:00' or '2h30m'"
        )
    return limit
