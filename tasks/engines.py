"""Which engine of the core does the work: the local one, or what the plan names instead."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from anon_core.engines import local
from anon_core.records import MaskedTable


@dataclass(frozen=True, kw_only=True)
class Compute:
    """[compute] of the plan: threads (0 = all) and bytes; the Dask scheduler, or how many workers to start without one."""

    engine: Literal["local", "dask"] = "local"
    threads: int
    memory: int
    scheduler: str | None = None
    workers: int = 2


def runner(compute: Compute) -> Callable[..., MaskedTable]:
    """The `run` of an engine, which takes what `local.run` takes."""
    match compute.engine:
        case "dask":
            from anon_core.engines import dask  # an extra of the installation

            quiet_dask()
            where = partial(dask.run, scheduler=compute.scheduler, workers=compute.workers)
            return partial(where, threads=compute.threads, memory=compute.memory)
        case "local":
            return partial(local.run, threads=compute.threads, memory=compute.memory)


def quiet_dask() -> None:
    """To be said once Dask is imported: what fails is raised, and Dask would log it again, with tracebacks."""
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
