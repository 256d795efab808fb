"""What all stages share: the task decorator, the log and artifacts.

A refusal passes as it is. The message of any other failure stays in the vault.
"""

import functools
import logging
import os
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, ParamSpec, TypeVar, cast

from prefect import task
from prefect.artifacts import create_markdown_artifact
from prefect.cache_policies import NO_CACHE
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

_Params = ParamSpec("_Params")
_Result = TypeVar("_Result")
_SILENCE = Silence()


def stage(run_name: str) -> Callable[[Callable[_Params, _Result]], Callable[_Params, _Result]]:
    """Make a stage of a function whose first argument is the run.

    Inside a flow run the stage is a Prefect task; elsewhere it is a plain call.
    The vault's store replaces Prefect's cache.
    The name of its task runs may hold arguments: "validate {name}".
    """

    def make(work: Callable[_Params, _Result]) -> Callable[_Params, _Result]:
        @functools.wraps(work)
        def guarded(*args: _Params.args, **kwargs: _Params.kwargs) -> _Result:
            run = args[0]
            assert isinstance(run, Run)
            name = work.__name__
            with (
                trace_stage(name, run.path.name),
                keep_failures(run.path, name),
                tell_of_work(name, _SILENCE, log_line),
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
            inside = FlowRunContext.get() is not None
            return cast("_Result", (in_prefect if inside else guarded)(*args, **kwargs))

        return staged

    return make


class _RefusalsOnce(logging.Filter):
    """Print a refusal once: `crowdcover` prints it on stderr, and Prefect shows it as the state.

    Prefect logs the traceback of every exception, and the message of every final state. The
    tracebacks of refusals are dropped. A final state is logged with the name of its exception, and
    that of a refused flow run without its message.
    """

    FAILED = re.compile(
        r"(Finished in state Failed)\((?:.*?encountered an exception:? (\w+))?.*", re.DOTALL
    )

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.msg, str):
            record.msg = self.FAILED.sub(r"\1(\2)", record.msg)
        return not (record.exc_info and isinstance(record.exc_info[1], AnonymityError))


def _says_more_than_done(record: logging.LogRecord) -> bool:
    """Whether a line is not Prefect's "Finished in state Completed()": a stage says what it did."""
    return not str(record.msg).startswith("Finished in state Completed(")


for _name in ("prefect.flow_runs", "prefect.task_runs"):
    logging.getLogger(_name).addFilter(_RefusalsOnce())
    logging.getLogger(_name).addFilter(_says_more_than_done)
# At the end of a short run it warns of an event not yet sent, and then sends it.
logging.getLogger("EventsWorker").setLevel(logging.ERROR)


def log_line(message: str) -> None:
    """Log counts and column names: in Prefect's run log, or in a plain one outside a run."""
    _SILENCE.note_line()
    line = escape_unprintable(message)
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
