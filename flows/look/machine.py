"""`crowdcover doctor`: look at all that a run needs, before it is needed."""

from collections.abc import Iterator
from pathlib import Path

from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.storage.places.answers import SCHEMES
from crowdcover.storage.source.drivers import DATABASES
from crowdcover.tasks.doctor import folders, machines, software
from crowdcover.tasks.doctor.look import Look
from crowdcover.tasks.orchestration.named_server import find_server_address

EXTRAS = {
    **{scheme: driver.extra for scheme, driver in SCHEMES.items()},
    **{
        start.partition("://")[0]: each.extra
        for each in DATABASES
        if each.extra
        for start in each.starts
    },
}


def list_looks(plan: ReleasePlan | None) -> Iterator[Look]:
    """Every look; a plan decides what is needed, and names folders and cluster."""
    yield from software.check_software()
    engine = "local" if plan is None else plan.compute.engine
    launcher = None if plan is None or plan.compute.jobs is None else plan.compute.jobs.launcher
    scheduler = None if plan is None else plan.compute.scheduler
    yield machines.check_mpi(needed=engine == "mpi")
    yield machines.check_slurm(needed=launcher == "slurm")
    yield machines.check_dask(scheduler, needed=engine == "dask")
    yield machines.check_prefect_server(find_server_address())
    yield from software.check_drivers(() if plan is None else _list_driver_extras(plan))
    if plan is not None:
        yield from _list_folder_looks(plan)


def _list_driver_extras(plan: ReleasePlan) -> set[str]:
    """The extras that the addresses and places of a plan need."""
    target, publish = plan.publish.target, plan.publish
    places = (plan.source.uri, plan.source.path, publish.ledger, publish.path)
    stated = (*places, None if target is None else target.uri)
    schemes = {text.partition("://")[0] for text in stated if text and "://" in text}
    return {extra for scheme in schemes if (extra := EXTRAS.get(scheme)) is not None}


def _list_folder_looks(plan: ReleasePlan) -> Iterator[Look]:
    """Room for a run, and the state of the vault."""
    path = plan.data.source.path
    if isinstance(path, Path):
        there = path.exists()
        found = "there" if there else "not there"
        do = "" if there else "correct source.path"
        means = "" if there else "the source cannot be read"
        yield Look("source", "ok" if there else "wrong", found, means, do)
    # Bytes of the source; 0 of queries and objects: theirs is not known yet.
    bytes_ = path.stat().st_size if isinstance(path, Path) and path.is_file() else 0
    vault = Path(plan.publish.vault)
    yield folders.check_room("room of the vault", vault, bytes_)
    if isinstance(plan.releases, Path):
        yield folders.check_room("room of the releases", plan.releases.parent, bytes_)
    yield from folders.check_vault(vault)
