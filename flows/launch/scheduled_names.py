"""Names of runs that are due: Prefect gives each a random one until it starts."""

import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.filters import FlowRunFilter
from prefect.exceptions import ObjectNotFound

_EVERY = 60.0  # seconds between two looks: the server adds runs as time goes on
_MOST = 200  # runs that it tells at once


@contextmanager
def name_scheduled_runs(zones: Mapping[str, str]) -> Iterator[None]:
    """While the block runs, call scheduled runs by their plan and the time at which they are due.

    `zones` are the time zones of the schedules, by the name of the plan.
    """
    over = threading.Event()

    def name_runs() -> None:
        pause = 1.0
        while not over.wait(pause):
            pause = min(2 * pause, _EVERY)
            # A name is no reason to stop serving.
            with suppress(Exception), get_client(sync_client=True) as client:
                rename_scheduled_runs(client, zones)

    thread = threading.Thread(target=name_runs, name="names", daemon=True)
    if zones:
        thread.start()
    try:
        yield
    finally:
        over.set()


def rename_scheduled_runs(client: SyncPrefectClient, zones: Mapping[str, str]) -> None:
    """Rename every run that is scheduled for a deployment of these plans."""
    plans = {found: name for name in zones if (found := _find_deployment(client, name))}
    for run in _list_scheduled_runs(client, plans):
        name, due = plans[run.deployment_id], run.expected_start_time
        wanted = f"{name} due {due.astimezone(ZoneInfo(zones[name])):%Y-%m-%d %H:%M}"
        if run.name != wanted:
            client.set_flow_run_name(run.id, wanted)


def _find_deployment(client: SyncPrefectClient, name: str) -> UUID | None:
    with suppress(ObjectNotFound):
        return client.read_deployment_by_name(f"release/{name}").id
    return None


def _list_scheduled_runs(client: SyncPrefectClient, deployments: Collection[UUID]) -> Iterator[Any]:
    of_these = {"any_": [str(each) for each in deployments]}
    wanted = FlowRunFilter.model_validate(
        # By name, too: a run that waits for its turn or was resumed is of this type, and has begun.
        {"deployment_id": of_these, "state": {"name": {"any_": ["Scheduled", "Late"]}}}
    )
    first = 0
    while found := client.read_flow_runs(flow_run_filter=wanted, limit=_MOST, offset=first):
        yield from (run for run in found if run.auto_scheduled)
        first += _MOST
