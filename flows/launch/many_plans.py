"""Release several plans at once, each in a process of a local Dask cluster."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import dask
from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import State
from prefect.futures import PrefectFuture
from prefect.settings import PREFECT_API_URL, temporary_settings
from prefect.states import Completed, Failed
from prefect.task_runners import TaskRunner
from prefect_dask.task_runners import DaskTaskRunner

from anon_core.engines.farm import UNSEEN, configure_local_cluster
from anon_core.errors import AnonymityError
from crowdcover.flows.launch.prefect_failures import refuse_prefect_failures
from crowdcover.flows.outcome import exit_code
from crowdcover.flows.release import release
from crowdcover.storage.approval.approval import WaitingError
from crowdcover.tasks.compute.engines import quiet_dask

WAITS = 6  # the exit code of a plan that waits for approval
_Outcome = tuple[int, str]  # exit code; the release folder, or why there is none
# Workers are no daemons: a plan with engine = 'dask' starts processes of its own.
CONFIGURATION = {**UNSEEN, "distributed.worker.daemon": False}

quiet_dask()
# Its information lines name a dashboard that is switched off.
logging.getLogger("prefect.task_runner.dask").setLevel(logging.WARNING)


@task(name="plan", task_run_name="{name}", cache_policy=NO_CACHE, persist_result=False)
def _release_frozen_plan(name: str, plan: str) -> _Outcome:  # noqa: ARG001 - names the task run
    """Release one plan. Prefect turns a refusal into a task state, so Dask logs no exception.

    A plan that waits for approval is no failure of the task.
    """
    try:
        with refuse_prefect_failures():
            return 0, str(release(plan))
    except WaitingError as waiting:
        return exit_code(waiting), str(waiting)


@flow(name="releases", persist_result=False)
def release_frozen_plans(
    names: list[str], plans: list[str]
) -> list[_Outcome] | State[list[_Outcome]]:
    """Release each frozen plan; the parameters are paths, as in `release`."""
    with _share_server():
        futures = [_release_frozen_plan.submit(*each) for each in zip(names, plans, strict=True)]
        outcomes = [_await_outcome(future) for future in futures]
    waiting = sum(code == WAITS for code, _ in outcomes)
    refused = sum(code != 0 for code, _ in outcomes) - waiting
    words = f"{refused} of {len(plans)} plans were not published"
    words += f"; {waiting} wait for approval" if waiting else ""
    if refused:
        return Failed(message=words, data=outcomes)
    return Completed(message=words, data=outcomes) if waiting else outcomes


def release_all(plans: Sequence[tuple[str, Path]], workers: int) -> list[_Outcome]:
    """Run the flow on at most `workers` processes; return one outcome for each named plan."""
    names, frozen = [name for name, _ in plans], [str(plan) for _, plan in plans]
    with dask.config.set(CONFIGURATION):
        cluster = configure_local_cluster(min(workers, len(plans)), 1)
        runner = cast("TaskRunner[Any]", DaskTaskRunner(cluster_kwargs=cluster))
        run = release_frozen_plans.with_options(task_runner=runner, flow_run_name=", ".join(names))
        # A Failed state holds the outcomes of all plans; an exception in its place would not.
        return cast(
            "list[_Outcome]", run(names, frozen, return_state=True).result(raise_on_failure=False)
        )


@contextmanager
def _share_server() -> Iterator[None]:
    """Let all processes use this process's Prefect server; else each would start its own."""
    with (
        get_client(sync_client=True) as client,
        temporary_settings({PREFECT_API_URL: str(client.api_url)}),
    ):
        yield


def _await_outcome(future: PrefectFuture[_Outcome]) -> _Outcome:
    try:
        return future.result()
    except AnonymityError as refusal:
        return exit_code(refusal), str(refusal)
    except Exception as error:  # noqa: BLE001 - from Dask or Prefect; messages may quote values
        name = type(error).__name__
        return 1, f"the process of this plan failed ({name}); run the same command again to go on"
