"""The flow `releases`: several plans at once, each a task run in a process of a Dask cluster."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any, cast

from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.states import Completed, Failed
from prefect.task_runners import TaskRunner
from prefect_dask.task_runners import DaskTaskRunner

from crowdcover.flows.launch.prefect_failures import refuse_prefect_failures
from crowdcover.flows.outcome import Outcome, await_outcome, exit_code
from crowdcover.flows.release import release
from crowdcover.storage.approval.approval import WaitingError

# Its information lines name a dashboard that is switched off.
logging.getLogger("prefect.task_runner.dask").setLevel(logging.WARNING)


@task(name="plan", task_run_name="{name}", cache_policy=NO_CACHE, persist_result=False)
def _release_frozen_plan(name: str, plan: str) -> Outcome:  # noqa: ARG001 - names the task run
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
) -> list[Outcome] | State[list[Outcome]]:
    """Release each frozen plan; the parameters are paths, as in `release`."""
    futures = [_release_frozen_plan.submit(*each) for each in zip(names, plans, strict=True)]
    outcomes = [await_outcome(future) for future in futures]
    waiting = sum(code == exit_code(WaitingError()) for code, _ in outcomes)
    refused = sum(code != 0 for code, _ in outcomes) - waiting
    words = f"{refused} of {len(plans)} plans were not published"
    words += f"; {waiting} wait for approval" if waiting else ""
    if refused:
        return Failed(message=words, data=outcomes)
    return Completed(message=words, data=outcomes) if waiting else outcomes


def release_in_tasks(
    names: Sequence[str], plans: Sequence[str], cluster: Mapping[str, Any]
) -> list[Outcome]:
    """Run the flow on a cluster of these arguments; return one outcome for each plan."""
    runner = cast("TaskRunner[Any]", DaskTaskRunner(cluster_kwargs=dict(cluster)))
    run = release_frozen_plans.with_options(task_runner=runner, flow_run_name=", ".join(names))
    with refuse_prefect_failures():
        ended = run(list(names), list(plans), return_state=True)
    # A Failed state holds the outcomes of all plans; an exception in its place would not.
    return cast("list[Outcome]", ended.result(raise_on_failure=False))
