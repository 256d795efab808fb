"""What all stages share: the decorator that makes tasks of them, the log and artifacts.

A refusal passes as it is. The message of any other failure stays in the vault.
"""

import functools
import inspect
import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import partial
from typing import Any, ParamSpec, TypeVar

from anon_core.errors import escape_unprintable
from crowdcover.storage.vault.failures import keep_failures
from crowdcover.storage.vault.run import Run
from crowdcover.tasks.orchestration.events import find_flow_run, plan_name
from crowdcover.tasks.orchestration.json_lines import write_line
from crowdcover.tasks.orchestration.memory import give_back_memory
from crowdcover.tasks.orchestration.pulse import Silence, tell_of_work
from crowdcover.tasks.orchestration.spans import trace_stage
from crowdcover.tasks.orchestration.terminal import find_screen

_Params = ParamSpec("_Params")
_Result = TypeVar("_Result")
_SILENCE = Silence()
_STAGE: ContextVar[str] = ContextVar("stage", default="")
_Logger = logging.Logger | logging.LoggerAdapter[Any]


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
            with (
                _show_stage(named(*args, **kwargs)),
                trace_stage(name, run.path.name),
                keep_failures(run.path, name),
                tell_at_work(name),
            ):
                made = work(*args, **kwargs)
            give_back_memory()
            return made

        @functools.wraps(work)
        def staged(*args: _Params.args, **kwargs: _Params.kwargs) -> _Result:
            if find_flow_run() is None:
                return guarded(*args, **kwargs)
            from crowdcover.tasks.orchestration.in_prefect import make_task

            return make_task(guarded, named(*args, **kwargs))(*args, **kwargs)

        return staged

    return make


@contextmanager
def _show_stage(name: str) -> Iterator[None]:
    """Let the log and the screen, if one is open, name the stage that is at work."""
    token, screen = _STAGE.set(name), find_screen()
    try:
        with nullcontext() if screen is None else screen.show_stage(name):
            yield
    finally:
        _STAGE.reset(token)


def tell_at_work(name: str) -> AbstractContextManager[None]:
    """Let the log say every few seconds that the work inside goes on, unless it says more."""
    return tell_of_work(name, _SILENCE, partial(log_line, passing=True))


def log_line(message: str, *, passing: bool = False) -> None:
    """Log counts and column names: in Prefect's run log, or in a plain one outside a run.

    A line that is `passing` is soon out of date: a terminal shows a bar in its place.
    """
    _SILENCE.note_line()
    line = escape_unprintable(message)
    if (screen := find_screen()) is not None:
        screen.show_line(line, passing=passing)
    _find_logger().info(line)


def _find_logger() -> _Logger:
    """The log of the flow run at work; outside of one that of the package, with the same names."""
    if find_flow_run() is None:
        names = {"flow_run_name": plan_name(), "task_run_name": _STAGE.get()}
        return logging.LoggerAdapter(logging.getLogger("crowdcover"), names)
    from prefect.logging import get_run_logger

    return get_run_logger()


def warn_person(message: str) -> None:
    """Log what a person must know: on standard error where the log is silent, as with --quiet."""
    log_line(message)
    if not _find_logger().isEnabledFor(logging.INFO):
        write_line(logging.WARNING, escape_unprintable(message))


def show_in_prefect(key: str, markdown: str, description: str) -> None:
    """Add a markdown artifact to the flow run, if there is one: counts and column names only.

    A server that is away does not stop the work.
    """
    if find_flow_run() is None:
        return
    from prefect.artifacts import create_markdown_artifact

    try:
        create_markdown_artifact(markdown=markdown, key=key, description=description)
    except Exception as error:
        log_line(f"Prefect does not show {key}: its server failed with {type(error).__name__}")
