"""Every fault by the name that docs/reliability.md gives it."""

import importlib.util
import os
from functools import cache, partial

from tests import postgres
from tests.faults import clocks, databases, disks, kills, objects, prefects, together
from tests.faults.moments import STAGES
from tests.flows.s3 import storage


@cache
def _server(stack):
    """One PostgreSQL cluster for all tries."""
    return stack.enter_context(postgres.running())


@cache
def _prefect(stack):
    """One server of Prefect for all tries, on a cluster of its own."""
    database = stack.enter_context(postgres.running())
    return stack.enter_context(prefects.running(database))


@cache
def _door(stack):
    """One S3 server for all tries, with a bucket."""
    import s3fs

    door = stack.enter_context(storage())
    s3fs.S3FileSystem.retries = 1
    s3fs.S3FileSystem.clear_instance_cache()
    s3fs.S3FileSystem().mkdir("people")
    return door


@cache
def _clock(stack):
    """One process with a false clock for all tries."""
    return stack.enter_context(clocks.running())


def _stored(fault):
    return lambda folder, seed, stack: fault(folder, _door(stack), seed)


def _killed(stage):
    return lambda folder, seed, _: kills.killed(folder, stage, seed)


def _on_disk(fault, which):
    return lambda folder, seed, _: fault(folder, which, seed)


def _prefect_restarted(point):
    return lambda folder, seed, stack: prefects.restarted(folder, _prefect(stack), point, seed)


def _restarted(point):
    return lambda folder, seed, stack: databases.restarted(folder, _server(stack), point, seed)


DURING = dict(
    zip(
        databases.POINTS,
        (
            "the source is read",
            "the ledger is read",
            "the ledger is written",
            "the ledger is told of the release",
            "rows are anonymized",
            "the release is checked",
        ),
        strict=True,
    )
)

KILLED = {f"kill -9 in {stage}": _killed(stage) for stage in STAGES}

# Each takes a folder, a seed, and a stack for what all tries share.
FAULTS = {
    **KILLED,
    "disk of the vault full": _on_disk(disks.full, "vault"),
    "disk of the releases full": _on_disk(disks.full, "releases"),
    "disk of the vault read-only": _on_disk(disks.read_only, "vault"),
    "disk of the releases read-only": _on_disk(disks.read_only, "releases"),
    **{
        f"PostgreSQL restarts while {during}": _restarted(point) for point, during in DURING.items()
    },
    **{
        f"Prefect's PostgreSQL restarts in {point.rpartition('.')[2]}": _prefect_restarted(point)
        for point in prefects.POINTS
    },
    "object storage is down while a version is written": _stored(objects.down),
    "object storage is down for a minute": _stored(partial(objects.down, seconds=60)),
    "kill -9 between objects": _stored(objects.killed),
    "clock jumps by up to four years": lambda folder, seed, stack: clocks.jumped(
        folder, _clock(stack), seed
    ),
    "two runs of one plan at once": lambda folder, seed, _: together.two_at_once(folder, seed),
}


def needs(name):
    """What this machine lacks to try a fault; empty if nothing."""
    if "PostgreSQL" in name:
        driver = importlib.util.find_spec("adbc_driver_postgresql")
        return postgres.missing() or ("" if driver else "the driver is not installed")
    if "object" in name:
        return objects.needs()
    if name.startswith("disk") and os.geteuid() != 0:
        return "mounting a file system needs root"
    if name.startswith("clock") and clocks.LIBRARY is None:
        return "faketime is not installed: apt-get install faketime"
    return ""
