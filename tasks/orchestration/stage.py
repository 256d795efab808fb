"""What all stages share: refusals pass as they are, other failures without what they carry, and words for the log."""

import functools
import logging
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

from prefect import task
from prefect.artifacts import create_markdown_artifact
from prefect.cache_policies import NO_CACHE
from prefect.context import FlowRunContext
from prefect.exceptions import MissingContextError
from prefect.logging import get_run_logger

from anon_core.errors import AnonymityError
from tasks.vault.failures import failures_kept
from tasks.vault.storage import Run

Params = ParamSpec("Params")
Result = TypeVar("Result")


def stage(run_name: str) -> Callable[[Callable[Params, Result]], Callable[Params, Result]]:
    """Make a stage of a function whose first argument is the run.

    Inside a flow run the stage is a Prefect task; elsewhere it is a plain call.
    The vault's store replaces Prefect's cache.
    The name of its task runs may hold arguments: "validate {name}".
    """

    def make(work: Callable[Params, Result]) -> Callable[Params, Result]:
        @functools.wraps(work)
        def guarded(*args: Params.args, **kwargs: Params.kwargs) -> Result:
            run = args[0]
            assert isinstance(run, Run)
            return failures_kept(run.path, work.__name__, lambda: work(*args, **kwargs))

        in_prefect: Any = task(
            cache_policy=NO_CACHE, persist_result=False, name=work.__name__, task_run_name=run_name
        )(guarded)

        @functools.wraps(work)
        def staged(*args: Params.args, **kwargs: Params.kwargs) -> Result:
            inside = FlowRunContext.get() is not None
            return cast("Result", (in_prefect if inside else guarded)(*args, **kwargs))

        return staged

    return make


class _RefusalsOnce(logging.Filter):
    """A refusal says all there is to say, and Prefect says it in the final state: no line and no traceback before that."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not (record.exc_info and isinstance(record.exc_info[1], AnonymityError))


for _name in ("prefect.flow_runs", "prefect.task_runs"):
    logging.getLogger(_name).addFilter(_RefusalsOnce())
# It warns at the end of short runs that it still has an event to send, and then sends it.
logging.getLogger("EventsWorker").setLevel(logging.ERROR)


def log(message: str) -> None:
    """Counts and column names only; to Prefect's run log, or to a plain one outside of a run."""
    try:
        get_run_logger().info(message)
    except MissingContextError:
        logging.getLogger("crowdcover").info(message)


def show_in_prefect(key: str, markdown: str, description: str) -> None:
    """A markdown artifact of the flow run, if there is one: counts and column names only."""
    if FlowRunContext.get() is not None:
        create_markdown_artifact(markdown=markdown, key=key, description=description)
