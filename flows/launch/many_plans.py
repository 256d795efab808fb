"""Release several plans at once, each in a process of a local Dask cluster.

Where Prefect has a server, they are task runs of one flow run (many_tasks.py).
"""

from collections.abc import Sequence
from pathlib import Path

import dask

from anon_core.engines.farm import UNSEEN, configure_local_cluster, connect_client
from anon_core.errors import AnonymityError
from crowdcover.flows.launch.one_plan import compile_beside, release_alone
from crowdcover.flows.outcome import Outcome, await_outcome, exit_code
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.tasks.compute.engines import quiet_dask
from crowdcover.tasks.orchestration.named_server import await_server, find_server_address

# Workers are no daemons: a plan with engine = 'dask' starts processes of its own.
CONFIGURATION = {**UNSEEN, "distributed.worker.daemon": False}

quiet_dask()


def release_all(
    plans: Sequence[tuple[str, Path]], workers: int, *, quiet: bool = False
) -> list[Outcome]:
    """Release frozen plans on at most `workers` processes; return one outcome for each name."""
    names, frozen = [name for name, _ in plans], [str(plan) for _, plan in plans]
    workers = min(workers, len(plans))
    with dask.config.set(CONFIGURATION):
        if address := find_server_address():
            from crowdcover.flows.launch.many_tasks import release_in_tasks

            await_server(address, quiet=quiet)
            return release_in_tasks(names, frozen, configure_local_cluster(workers, 1))
        with connect_client(None, workers, 1) as client:
            futures = client.map(_release_frozen_plan_alone, frozen, quiet=quiet, pure=False)
            return [await_outcome(future) for future in futures]


def _release_frozen_plan_alone(path: str, *, quiet: bool) -> Outcome:
    """Release one plan without Prefect. A refusal is returned, so Dask logs no exception."""
    try:
        plan = ReleasePlan.load(Path(path))
        with compile_beside(plan, quiet=quiet):
            return 0, release_alone(plan, quiet=quiet)
    except AnonymityError as refusal:
        return exit_code(refusal), str(refusal)
