"""Where work may be done beside this process: MPI ranks, Slurm, Dask, a Prefect server."""

import json
import os
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

from crowdcover.tasks.compute import slurm
from crowdcover.tasks.doctor.look import Look, rate_missing
from crowdcover.tasks.doctor.software import check_extra_package

RANKS = 2
STARTS_WITHIN = 60  # seconds
_ANSWERS_WITHIN = 5
# One write for each rank: mpirun may mix the parts of two lines.
HELLO = (
    "import os; from mpi4py import MPI; "
    "os.write(1, f'rank {MPI.COMM_WORLD.Get_rank()} {MPI.COMM_WORLD.size}\\n'.encode())"
)
WITHOUT = "releases run without Prefect"


def check_mpi(*, needed: bool) -> Look:
    """Whether mpirun starts two ranks that know of each other."""
    what = f"MPI, {RANKS} ranks"
    means = "[compute] engine = 'mpi' cannot work here"
    # As batch jobs look for it: beside Python first.
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    program = shutil.which("mpirun", path=places)
    if program is None:
        install = "install an MPI, or pip install 'crowdcover[cluster]'"
        return Look(what, rate_missing(needed), "no mpirun", means, install)
    try:
        done = subprocess.run(  # noqa: S603 - an argument list, no shell
            [program, "-n", str(RANKS), sys.executable, "-c", HELLO],
            capture_output=True,
            text=True,
            timeout=STARTS_WITHIN,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        do = "run the same by hand: mpirun -n 2 hostname"
        return Look(what, rate_missing(needed), "mpirun does not answer", means, do)
    expected = {f"rank {rank} {RANKS}" for rank in range(RANKS)}
    answered = expected & set(done.stdout.splitlines())
    if answered == expected:
        return Look(what, "ok", "both answer")
    do = "install mpi4py for this MPI: pip install 'crowdcover[cluster]', or load the site's module"
    return Look(what, rate_missing(needed), f"{len(answered)} of {RANKS} answer", means, do)


def check_slurm(*, needed: bool) -> Look:
    """Whether this machine submits to Slurm, and to which partitions."""
    means = "launcher = 'slurm' cannot work here"
    if lost := slurm.list_missing_programs():
        found = f"no {', '.join(lost)}"
        do = "run on a machine that submits to Slurm, or set launcher = 'mpirun'"
        return Look("Slurm", rate_missing(needed), found, means, do)
    try:
        there = slurm.list_partitions()
    except slurm.NoAnswer:
        there = []
    if not there:
        do = "ask the site, or look at: sinfo"
        return Look("Slurm", rate_missing(needed), "its controller does not answer", means, do)
    return Look("Slurm", "ok", f"partitions {', '.join(there)}")


def check_dask(scheduler: str | None, *, needed: bool) -> Look:
    """Whether Dask is installed and the plan's scheduler takes connections."""
    installed = check_extra_package("Dask", "distributed", "dask", needed=needed)
    if installed.state != "ok" or scheduler is None:
        return installed
    place = urlsplit(scheduler)
    try:
        with socket.create_connection((place.hostname, place.port or 0), _ANSWERS_WITHIN):
            return Look("Dask", "ok", "the scheduler of the plan takes connections")
    except OSError:
        means = "compute.scheduler names a cluster that no run can reach"
        do = "start it, or correct compute.scheduler, or leave it out for workers of this machine"
        return Look("Dask", "wrong", "the scheduler of the plan does not answer", means, do)


def check_prefect_server(address: str | None) -> Look:
    """Whether the server that runs report to answers, and with which version."""
    what = "Prefect server"
    if not address:
        do = "for schedules and a UI: prefect server start, and set PREFECT_API_URL"
        return Look(what, "ok", f"none is set: {WITHOUT}", "", do)
    try:
        request = urllib.request.Request(f"{address.rstrip('/')}/admin/version")  # noqa: S310
        with urllib.request.urlopen(request, timeout=_ANSWERS_WITHIN) as answer:  # noqa: S310
            there = str(json.load(answer))
    except urllib.error.HTTPError as error:
        do = "check PREFECT_API_URL, and PREFECT_API_AUTH_STRING or PREFECT_API_KEY"
        return Look(what, "warning", f"answers {error.code}", "it may refuse runs", do)
    except (OSError, ValueError):
        means = "no run can start: PREFECT_API_URL is set and nothing answers there"
        do = "start it: prefect server start; or remove PREFECT_API_URL to run without"
        return Look(what, "wrong", "does not answer", means, do)
    return Look(what, "ok", f"answers, version {there}")
