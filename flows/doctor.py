"""`crowdcover doctor`: look at all that a run needs, before it is needed."""

from collections.abc import Iterator
from pathlib import Path

from flows.plan.plan import ReleasePlan
from storage.places.answers import SCHEMES
from storage.source.databases import DRIVERS
from tasks.doctor import folders, machines, software
from tasks.doctor.look import Look

EXTRAS = {
    **{scheme: driver.extra for scheme, driver in SCHEMES.items()},
    **{scheme: extra for scheme, (_, extra) in DRIVERS.items()},
}


def list_looks(order: ReleasePlan | None) -> Iterator[Look]:
    """Every look; a plan decides what is needed, and names folders and cluster."""
    yield from software.check_software()
    engine = "local" if order is None else order.compute.engine
    launcher = None if order is None or order.compute.jobs is None else order.compute.jobs.launcher
    scheduler = None if order is None else order.compute.scheduler
    yield machines.check_mpi(needed=engine == "mpi")
    yield machines.check_slurm(needed=launcher == "slurm")
    yield machines.check_dask(scheduler, needed=engine == "dask")
    yield machines.check_prefect_server(machines.prefect_address())
    yield from software.check_drivers(() if order is None else _list_driver_extras(order))
    if order is not None:
        yield from _list_folder_looks(order)


def _list_driver_extras(order: ReleasePlan) -> set[str]:
    """The extras that the addresses and places of a plan need."""
    stated = (order.source.uri, order.source.path, order.publish.ledger, order.publish.path)
    schemes = {text.partition("://")[0] for text in stated if text and "://" in text}
    return {extra for scheme in schemes if (extra := EXTRAS.get(scheme)) is not None}


def _list_folder_looks(order: ReleasePlan) -> Iterator[Look]:
    """Room for a run, and the state of the vault."""
    path = order.data.source.path
    if isinstance(path, Path):
        there = path.exists()
        found = "there" if there else "not there"
        do = "" if there else "correct source.path"
        means = "" if there else "the source cannot be read"
        yield Look("source", "ok" if there else "wrong", found, means, do)
    bytes_ = path.stat().st_size if isinstance(path, Path) and path.is_file() else 0
    vault = Path(order.publish.vault)
    yield folders.check_room("room of the vault", vault, bytes_)
    if isinstance(order.releases, Path):
        yield folders.check_room("room of the releases", order.releases.parent, bytes_)
    yield from folders.check_vault(vault)
