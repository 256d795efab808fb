"""Iterations as they happen: a Prefect progress artifact, a bar on a terminal, a line in the log."""

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from prefect.artifacts import create_progress_artifact, update_progress_artifact
from prefect.context import FlowRunContext
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from anon_core.records import Iteration
from tasks.stage import log


class IterationProgress:
    """Receives every iteration with the seconds that it took."""

    def __init__(self, most: int, artifact: Any, bar: Progress) -> None:
        self._most, self._artifact, self._bar = most, artifact, bar
        self._row = bar.add_task("anonymize", total=most, utility="")
        self._last = time.perf_counter()
        self.seconds: list[float] = []

    def __call__(self, iteration: Iteration) -> None:
        """Show one finished iteration."""
        now = time.perf_counter()
        self.seconds.append(round(now - self._last, 3))
        self._last = now
        words = f"utility {iteration.utility:.4f}"
        self._bar.update(self._row, completed=iteration.number, utility=words)
        self._report(100 * iteration.number / self._most)
        log(f"iteration {iteration.number} of at most {self._most}: {words}, {iteration.cover_edges} cover edges")

    def finish(self) -> None:
        """An anonymizer may stop early: that is all of it, too."""
        self._bar.update(self._row, completed=self._most)
        self._report(100.0)

    def _report(self, percent: float) -> None:
        if self._artifact is not None:
            update_progress_artifact(artifact_id=self._artifact, progress=percent)


@contextmanager
def iteration_progress(most: int) -> Iterator[IterationProgress]:
    """Open the artifact (inside a flow run) and the bar (on a terminal that was not asked to be quiet)."""
    artifact = None
    if FlowRunContext.get() is not None:
        artifact = create_progress_artifact(progress=0.0, key="anonymize", description="Iterations of the anonymizer")
    wanted = sys.stderr.isatty() and logging.getLogger("prefect").isEnabledFor(logging.INFO)
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[utility]}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not wanted) as bar:
        progress = IterationProgress(most, artifact, bar)
        yield progress
        progress.finish()
