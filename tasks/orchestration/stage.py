"""What all stages share: the task decorator, the log and artifacts.

A refusal passes as it is. The message of any other failure stays in the vault.
"""

import functools
import inspect
import logging
import os
import re
import sys
from collections.abc import Callable
from contextlib import nullcontext, suppress
from functools import partial
from typing import Any, ParamSpec, TypeVar, cast
from uuid import UUID

from prefect import task
from prefect.artifacts import create_markdown_artifact
from prefect.cache_policies import NO_CACHE
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId
from prefect.context import FlowRunContext
from prefect.exceptions import MissingContextError
from prefect.logging import get_run_logger

from anon_core.errors import AnonymityError, escape_unprintable
from crowdcover.storage.vault.failures import keep_failures
from crowdcover.storage.vault.run import Run
from crowdcover.tasks.orchestration.json_lines import format_line
from crowdcover.tasks.orchestration.memory import give_back_memory
from crowdcover.tasks.orchestration.pulse import Silence, tell_of_work
from crowdcover.tasks.orchestration.spans import trace_stage
from crowdcover.tasks.orchestration.terminal import find_screen

_Params = ParamSpec("_Params")
_Result = TypeVar("_Result")
_SILENCE = Silence()
_DONE = re.compile(r"Finished in state (Completed|Published|Unchanged)\(")


def stage(run_name: str) -> Callable[[Callable[_Params, _Result]], Callable[_Params, _Result]]:
    """Make a stage of a function whose first argument is the run.

    Inside a flow run the stage is a Prefect task; elsewhere it is a plain call.
    The vault's store replaces Prefect's cache.
    The name of its task runs may hold arguments: "validate {name}".
    """

    def make(work: Callable[_Params, _Result]) -> Callable[_Params, _Result]:
        signature = inspect.signature(work)

        def named(*args: _Params.args, **kwargs: _Params.kwargs) -> str:
            return run_name.format(**signature.bind(*args, **kwargs).arguments)

        @functools.wraps(work)
        def guarded(*args: _Params.args, **kwargs: _Params.kwargs) -> _Result:
            run = args[0]
            assert isinstance(run, Run)
            name = work.__name__
            screen = find_screen()
            shown = nullcontext() if screen is None else screen.show_stage(named(*args, **kwargs))
            with (
                shown,
                trace_stage(name, run.path.name),
                keep_failures(run.path, name),
                tell_of_work(name, _SILENCE, partial(log_line, passing=True)),
            ):
                made = work(*args, **kwargs)
            give_back_memory()
            return made

        # Nothing that a stage returns is stored by Prefect: its storage lies outside the vault.
        in_prefect: Any = task(
            cache_policy=NO_CACHE, persist_result=False, name=work.__name__, task_run_name=run_name
        )(guarded)

        @functools.wraps(work)
        def staged(*args: _Params.args, **kwargs: _Params.kwargs) -> _Result:
            context = FlowRunContext.get()
            if context is None or context.flow_run is None:
                return guarded(*args, **kwargs)
            # Of a flow run that was resumed, which passes all stages once more: Prefect would list
            # them a second time.
            done = _list_completed_tasks(context.flow_run.id, context.flow_run.run_count)
            known = named(*args, **kwargs) in done
            return cast("_Result", (guarded if known else in_prefect)(*args, **kwargs))

        return staged

    return make


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
            log_line(
                f"this run was resumed: {len(done)} tasks that it had completed are in the vault, "
                "and are not listed a second time"
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


for _name in ("prefect.flow_runs", "prefect.task_runs"):
    logging.getLogger(_name).addFilter(_RefusalsOnce())
    logging.getLogger(_name).addFilter(_says_more_than_done)
# At the end of a short run it warns of an event not yet sent, and then sends it.
logging.getLogger("EventsWorker").setLevel(logging.ERROR)


def log_line(message: str, *, passing: bool = False) -> None:
    """Log counts and column names: in Prefect's run log, or in a plain one outside a run.

    A line that is `passing` is soon out of date: a terminal shows a bar in its place.
    """
    _SILENCE.note_line()
    line = escape_unprintable(message)
    if (screen := find_screen()) is not None:
        screen.show_line(line, passing=passing)
    try:
        get_run_logger().info(line)
    except MissingContextError:
        logging.getLogger("crowdcover").info(line)


def warn_person(message: str) -> None:
    """Log what a person must know: on standard error where the log is silent, as with --quiet."""
    log_line(message)
    logger: logging.Logger | logging.LoggerAdapter[Any] = logging.getLogger("crowdcover")
    with suppress(MissingContextError):
        logger = get_run_logger()
    if not logger.isEnabledFor(logging.INFO):
        line = escape_unprintable(message)
        as_json = os.environ.get("CROWDCOVER_LOGS") == "json"
        text = format_line(logging.WARNING, line) if as_json else f"crowdcover: {line}"
        sys.stderr.write(f"{text}\n")


def show_in_prefect(key: str, markdown: str, description: str) -> None:
    """Add a markdown artifact to the flow run, if there is one: counts and column names only.

    A server that is away does not stop the work.
    """
    if FlowRunContext.get() is None:
        return
    try:
        create_markdown_artifact(markdown=markdown, key=key, description=description)
    except Exception as error:
        log_line(f"Prefect does not show {key}: its server failed with {type(error).__name__}")
