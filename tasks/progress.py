"""Iterations as they happen: a Prefect progress artifact, a bar on a terminal, a line in the log; each is kept when it ends."""

import logging
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import parent_process
from typing import Any

from prefect.artifacts import create_progress_artifact, update_progress_artifact
from prefect.context import FlowRunContext
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from anon_core.records import Checkpoint, Observer
from tasks.stage import log

EVERY = 1.0  # seconds between two messages to Prefect, or two moves of the bar within an iteration
LOOK_BACK = 600.0  # seconds of work that the time left is estimated from

Keep = Callable[[Checkpoint, Sequence[float]], None]


class IterationProgress(Observer):
    """Receives the work on `records` records, `most` iterations at most; `seconds` are those of the iterations so far."""

    def __init__(self, records: int, most: int, seconds: Sequence[float], keep: Keep, bar: Progress) -> None:
        self.seconds = list(seconds)
        self._records, self._most, self._keep, self._bar = records, most, keep, bar
        self._row = bar.add_task("anonymize", total=most, completed=len(seconds), utility="", speed="")
        self._artifact = self._new_artifact()
        self._began = self._moved = self._told = time.perf_counter()

    def searched(self, records: int) -> None:
        """Move on within an iteration."""
        now = time.perf_counter()
        if now - self._moved >= EVERY:
            self._move(len(self.seconds) + records / self._records, speed=_speed(records, now - self._began))

    def iterated(self, checkpoint: Checkpoint) -> None:
        """Keep and show one finished iteration."""
        now = time.perf_counter()
        taken, self._began = now - self._began, now
        self.seconds.append(round(taken, 3))
        self._keep(checkpoint, self.seconds)
        iteration, speed = checkpoint.iterations[-1], _speed(self._records, taken)
        utility = f"utility {iteration.utility:.4f}"
        self._move(iteration.number, utility=utility, speed=speed)
        log(f"iteration {iteration.number} of at most {self._most}: {utility}, {iteration.cover_edges} cover edges, {speed}")

    def finish(self) -> None:
        """An anonymizer may stop early: that is all of it, too."""
        self._told = -EVERY
        self._move(self._most)

    def _move(self, completed: float, **words: Any) -> None:
        self._moved = time.perf_counter()
        self._bar.update(self._row, completed=completed, **words)
        if self._artifact is not None and self._moved - self._told >= EVERY:
            self._told = self._moved
            try:
                update_progress_artifact(artifact_id=self._artifact, progress=100 * completed / self._most)
            except Exception:
                self._artifact = None  # a server that is away does not stop the work

    def _new_artifact(self) -> Any:
        if FlowRunContext.get() is None:
            return None
        done = 100 * len(self.seconds) / self._most
        return create_progress_artifact(progress=done, key="anonymize", description="Iterations of the anonymizer")


def _speed(records: int, seconds: float) -> str:
    return f"{records / max(seconds, 1e-9):,.0f} records/s"


@contextmanager
def iteration_progress(records: int, most: int, seconds: Sequence[float], keep: Keep) -> Iterator[IterationProgress]:
    """Open the artifact (inside a flow run) and the bar (on a terminal that was not asked to be quiet)."""
    alone = parent_process() is None  # where many plans run, each has a process, and all have one terminal
    wanted = alone and sys.stderr.isatty() and logging.getLogger("prefect").isEnabledFor(logging.INFO)
    columns = (
        *(TextColumn("{task.description}"), BarColumn(bar_width=12)),  # all of it fits 80 columns
        *(TextColumn("{task.fields[utility]}"), TextColumn("{task.fields[speed]}")),
        *(TimeRemainingColumn(), TextColumn("left at most")),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not wanted, speed_estimate_period=LOOK_BACK) as bar:
        progress = IterationProgress(records, most, seconds, keep, bar)
        yield progress
        progress.finish()
