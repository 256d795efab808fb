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

from anon_core.tables.records import Checkpoint, Observer
from tasks.compute.jobs import JobState
from tasks.orchestration.stage import log

EVERY = 1.0  # seconds between two messages to Prefect, or two moves of the bar within an iteration
LOOK_BACK = 600.0  # seconds of work that the time left is estimated from

Keep = Callable[[Checkpoint, Sequence[float]], None]


class _Shown:
    """Work on `records` records, `most` iterations at most, `done` of them before: on the bar, in Prefect, in the log."""

    def __init__(self, records: int, most: int, done: int, bar: Progress) -> None:
        self._records, self._most, self._bar = records, most, bar
        self._row = bar.add_task("anonymize", total=most, completed=done, utility="", speed="")
        self._artifact = self._new_artifact(done)
        self._moved = self._told = time.perf_counter()
        self._stands: dict[str, Any] = {}

    def finish(self) -> None:
        """An anonymizer may stop early: that is all of it, too."""
        self._told = -EVERY
        self._move(self._most)

    def _reached(self, number: int, utility: float, cover_edges: int, taken: float) -> None:
        words, speed = f"utility {utility:.4f}", _speed(self._records, taken)
        self._move(number, utility=words, speed=speed)
        log(
            f"iteration {number} of at most {self._most}: {words}, {cover_edges} cover edges, {speed}"
        )

    def _move(self, completed: float, **words: Any) -> None:
        self._moved = time.perf_counter()
        self._bar.update(self._row, completed=completed, **words)
        if self._artifact is not None and self._moved - self._told >= EVERY:
            self._told = self._moved
            try:
                update_progress_artifact(
                    artifact_id=self._artifact,
                    progress=100 * completed / self._most,
                    **self._stands,
                )
            except Exception:
                self._artifact = None  # a server that is away does not stop the work

    def _new_artifact(self, done: int) -> Any:
        if FlowRunContext.get() is None:
            return None
        progress = 100 * done / self._most
        return create_progress_artifact(
            progress=progress, key="anonymize", description="Iterations of the anonymizer"
        )


class IterationProgress(_Shown, Observer):
    """Watches the iterations of this process; `seconds` are those of the iterations so far."""

    def __init__(
        self, records: int, most: int, seconds: Sequence[float], keep: Keep, bar: Progress
    ) -> None:
        super().__init__(records, most, len(seconds), bar)
        self.seconds, self._keep, self._began = list(seconds), keep, time.perf_counter()

    def searched(self, records: int) -> None:
        """Move on within an iteration."""
        now = time.perf_counter()
        if now - self._moved >= EVERY:
            self._move(
                len(self.seconds) + records / self._records,
                speed=_speed(records, now - self._began),
            )

    def iterated(self, checkpoint: Checkpoint) -> None:
        """Keep and show one finished iteration."""
        now = time.perf_counter()
        taken, self._began = now - self._began, now
        self.seconds.append(round(taken, 3))
        self._keep(checkpoint, self.seconds)
        iteration = checkpoint.iterations[-1]
        self._reached(iteration.number, iteration.utility, iteration.cover_edges, taken)


class JobProgress(_Shown):
    """Watches the iterations of a batch job, by what each look at it finds."""

    def __init__(self, records: int, most: int, bar: Progress) -> None:
        super().__init__(records, most, 0, bar)
        self._words, self._done = "", 0

    def looked(self, state: JobState) -> None:
        """Say what is new: how the job stands, where it runs, an iteration."""
        if (words := state.words()) != self._words:
            self._words, self._stands = words, {"description": words}
            log(words)
        found = state.progress
        if found is None:
            return
        if (
            found.iteration > self._done
            and found.utility is not None
            and found.cover_edges is not None
        ):
            self._done = found.iteration
            self._reached(found.iteration, found.utility, found.cover_edges, found.seconds[-1])
        self._move(min(found.iteration + found.searched / self._records, self._most))


def _speed(records: int, seconds: float) -> str:
    return f"{records / max(seconds, 1e-9):,.0f} records/s"


@contextmanager
def iteration_progress(
    records: int, most: int, seconds: Sequence[float], keep: Keep
) -> Iterator[IterationProgress]:
    """Open the artifact (inside a flow run) and the bar for iterations of this process."""
    with _bar() as bar:
        progress = IterationProgress(records, most, seconds, keep, bar)
        yield progress
        progress.finish()


@contextmanager
def job_progress(records: int, most: int) -> Iterator[JobProgress]:
    """The same for iterations of a batch job."""
    with _bar() as bar:
        progress = JobProgress(records, most, bar)
        yield progress
        progress.finish()


def _bar() -> Progress:
    """A bar on a terminal that was not asked to be quiet."""
    alone = (
        parent_process() is None
    )  # where many plans run, each has a process, and all have one terminal
    wanted = (
        alone and sys.stderr.isatty() and logging.getLogger("prefect").isEnabledFor(logging.INFO)
    )
    columns = (
        *(TextColumn("{task.description}"), BarColumn(bar_width=12)),  # all of it fits 80 columns
        *(TextColumn("{task.fields[utility]}"), TextColumn("{task.fields[speed]}")),
        *(TimeRemainingColumn(), TextColumn("left at most")),
    )
    console = Console(stderr=True)
    return Progress(
        *columns,
        console=console,
        transient=True,
        disable=not wanted,
        speed_estimate_period=LOOK_BACK,
    )
