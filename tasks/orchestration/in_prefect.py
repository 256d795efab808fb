"""Stages as tasks of Prefect, and what its log leaves out. Imported where a flow run is at work."""

import functools
import logging
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any, ParamSpec, TypeVar
from uuid import UUID

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId
from prefect.logging import get_run_logger

from anon_core.errors import AnonymityError
from crowdcover.tasks.orchestration.events import find_flow_run

_Params = ParamSpec("_Params")
_Result = TypeVar("_Result")
_DONE = re.compile(r"Finished in state (Completed|Published|Unchanged)\(")


def make_task(work: Callable[_Params, _Result], run_name: str) -> Callable[_Params, _Result]:
    """A stage of the flow run at work as a task, whose run has this name.

    Nothing that a stage returns is stored by Prefect: its storage lies outside the vault.
    """
    flow_run = find_flow_run()
    # Of a flow run that was resumed, which passes all stages once more: Prefect would list them a
    # second time.
    if flow_run and run_name in _list_completed_tasks(flow_run.id, flow_run.run_count):
        return work
    made: Any = task(
        cache_policy=NO_CACHE, persist_result=False, name=work.__name__, task_run_name=run_name
    )(work)
    return made  # type: ignore[no-any-return]


@functools.lru_cache(maxsize=1)
def _list_completed_tasks(flow_run: UUID, run_count: int) -> frozenset[str]:
    """The names of task runs that an earlier process of this flow run has completed."""
    if run_count == 0:
        return frozenset()
    this = FlowRunFilter(id=FlowRunFilterId(any_=[flow_run]))
    with suppress(Exception), get_client(sync_client=True) as client:
        found = client.read_task_runs(flow_run_filter=this)
        done = frozenset(each.name for each in found if each.state and each.state.is_completed())
        if done:
            get_run_logger().info(
                "this run was resumed: %d tasks that it had completed are in the vault, and are "
                "not listed a second time",
                len(done),
            )
        return done
    return frozenset()


class _RefusalsOnce(logging.Filter):
    """Print a refusal once: `crowdcover` prints it on stderr, and Prefect shows it as the state.

    Prefect logs the traceback of every exception, and the message of every final state. The
    tracebacks of refusals are dropped. A final state is logged with the name of its exception, and
    that of a refused flow run without its message.
    """

    FAILED = re.compile(
        r"(Finished in state (?:Failed|Refused))\((?:.*?encountered an exception:? (\w+))?.*",
        re.DOTALL,
    )

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.msg, str):
            record.msg = self.FAILED.sub(r"\1(\2)", record.msg)
        return not (record.exc_info and isinstance(record.exc_info[1], AnonymityError))


def _says_more_than_done(record: logging.LogRecord) -> bool:
    """Whether a line is not Prefect's of a good end: a stage says what it did."""
    return _DONE.match(str(record.msg)) is None


@functools.cache
def trim_prefect_log() -> None:
    """Leave out of Prefect's log what a stage or the command says better."""
    for name in ("prefect.flow_runs", "prefect.task_runs"):
        logging.getLogger(name).addFilter(_RefusalsOnce())
        logging.getLogger(name).addFilter(_says_more_than_done)
    # At the end of a short run it warns of an event not yet sent, and then sends it.
    logging.getLogger("EventsWorker").setLevel(logging.ERROR)
