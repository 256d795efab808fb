"""What a person at a terminal sees of a run: what each stage says, and what is at work now.

A machine that collects logs gets lines of a log instead; see `watch_on_terminal`.
Prefect is not imported: the screen is open while others import it, which takes seconds.
"""

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import parent_process

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

_LOOK_BACK = 600.0  # seconds of work that the time left is estimated from
_NAMES = 19  # letters of the longest name of a stage, and a blank
_CONSOLE = "PrefectConsoleHandler"  # writes Prefect's log on the terminal


class _Time(ProgressColumn):
    """The time left at most where the number of steps is known, else the time taken."""

    def __init__(self) -> None:
        super().__init__()
        self._left, self._taken = TimeRemainingColumn(), TimeElapsedColumn()

    def render(self, task: Task) -> Text:
        if task.total is None:
            return self._taken.render(task)
        return self._left.render(task) + Text(" left at most")


def build_bar(console: Console, *, disable: bool = False) -> Progress:
    """A bar with the fields `utility` and `speed`; it goes with the work."""
    columns = (
        *(SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=12)),
        *(TextColumn("{task.fields[utility]}"), TextColumn("{task.fields[speed]}"), _Time()),
    )  # all of it fits 80 columns
    return Progress(
        *columns,
        console=console,
        transient=True,
        disable=disable,
        speed_estimate_period=_LOOK_BACK,
        refresh_per_second=4,
    )


class Screen:
    """Lines that stay, each with the stage that says it, and a row that says what is at work."""

    def __init__(self, bar: Progress) -> None:
        self.bar = bar
        self._row = bar.add_task("starting", total=None, utility="", speed="")
        self._stage = self._named = ""
        self._began = time.monotonic()
        self._taken: list[logging.Handler] = []

    @contextmanager
    def show_stage(self, name: str) -> Iterator[None]:
        """Show that a stage is at work; its lines carry its name."""
        before = self._stage, self._began
        self._stage, self._began = name, time.monotonic()
        self._show_work(name)
        try:
            yield
        finally:
            self._stage, self._began = before
            self._show_work(self._stage or "at work")

    def show_line(self, line: str, *, passing: bool = False) -> None:
        """Print a line, or show one that is soon out of date in the row."""
        if passing:
            return  # rows of the bar say the same
        # A name stands once, before the first line of its stage.
        name = "" if self._stage == self._named else self._stage
        self._named = self._stage
        seconds = time.monotonic() - self._began
        taken = f"  ({seconds:.0f} s)" if self._stage and seconds >= 1 else ""
        self.bar.console.print(
            Text(f"{name:<{_NAMES}}", "bold") + Text(f"{line}{taken}"), soft_wrap=True
        )

    @contextmanager
    def lend_bar(self) -> Iterator[Progress]:
        """The bar for rows of the work inside, in place of the one that says what is at work."""
        before: set[TaskID] = {*self.bar.task_ids}
        self.bar.update(self._row, visible=False)
        try:
            yield self.bar
        finally:
            for row in {*self.bar.task_ids} - before:
                self.bar.remove_task(row)
            self.bar.update(self._row, visible=True)

    def take_record(self, record: logging.LogRecord) -> bool:
        """Show a record of the log here rather than in Prefect's console, which drops it then.

        What runs say has come by `show_line`; of Prefect's own lines only warnings are shown,
        without traces, which may quote cells.
        """
        if record.levelno >= logging.WARNING:
            self.show_line(record.getMessage())
        return False

    def take_console(self) -> None:
        """Let Prefect's log, which is set up by now, come here."""
        for logger in (logging.root, *logging.root.manager.loggerDict.values()):
            for handler in logger.handlers if isinstance(logger, logging.Logger) else ():
                if type(handler).__name__ == _CONSOLE:
                    handler.addFilter(self.take_record)
                    self._taken.append(handler)

    def give_back_console(self) -> None:
        """Let Prefect write its log itself again."""
        for handler in self._taken:
            handler.removeFilter(self.take_record)

    def _show_work(self, name: str) -> None:
        self.bar.reset(self._row, description=name)


_OPEN: list[Screen] = []


def find_screen() -> Screen | None:
    """The screen that is open; None where a log is written instead."""
    return _OPEN[-1] if _OPEN else None


@contextmanager
def watch_on_terminal(*, quiet: bool, plain: bool) -> Iterator[None]:
    """Let a person at a terminal watch the work inside.

    Nothing is done if standard error is no terminal, `quiet`, or if lines stay `plain`, for
    machines.
    """
    # Where many plans run, each has a process of its own, and all share one terminal.
    if quiet or plain or _OPEN or not sys.stderr.isatty() or parent_process() is not None:
        yield
        return
    with build_bar(Console(stderr=True, highlight=False)) as bar:
        _OPEN.append(screen := Screen(bar))
        try:
            yield
        finally:
            _OPEN.remove(screen)
            screen.give_back_console()
