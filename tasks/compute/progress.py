"""Show steps as they happen: a Prefect artifact, a bar on a terminal, a line in the log."""

import logging
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from multiprocessing import parent_process
from typing import Any

from rich.console import Console
from rich.progress import Progress

from anon_core.steps import Observer, Pace, State
from crowdcover.tasks.compute.jobs import JobState
from crowdcover.tasks.orchestration.events import find_flow_run, key_of, plan_name
from crowdcover.tasks.orchestration.stage import log_line
from crowdcover.tasks.orchestration.terminal import build_bar, find_screen

EVERY = 1.0  # seconds between two messages to Prefect, or two moves of the bar within a step
_FIRST = "utility"  # the figure that the bar shows, where a step has it

Keep = Callable[[State, Sequence[float]], None]


class _Shown:
    """Shows work on `records` records, `done` steps of it finished before.

    The greatest number of steps is unknown until `_expect`, and may stay so.
    """

    def __init__(self, records: int, done: int, bar: Progress) -> None:
        self._records, self._bar = records, bar
        self._most: int | None = None
        self._done: float = done
        self._row = bar.add_task("anonymize", total=None, completed=done, utility="", speed="")
        self._artifact: Any = None
        self._moved = self._told = time.perf_counter()
        self._described: dict[str, Any] = {}

    def finish(self) -> None:
        """Show all as done: an anonymizer may stop before its last possible step."""
        self._told = -EVERY  # the last message is due at once
        self._move(self._done if self._most is None else self._most)

    def _expect(self, most: int | None) -> None:
        """Show a share of all steps from now on."""
        self._most = most
        self._bar.update(self._row, total=most)

    def _show_step(
        self, number: int, figures: Mapping[str, float], seconds: Sequence[float]
    ) -> None:
        """Show a finished step. Parts tell how many records are done; several end at a time."""
        most = "" if self._most is None else f" of at most {self._most}"
        if figures.keys() == {"records"}:
            done = int(figures["records"])
            speed = _format_speed(done, sum(seconds))
            self._move(number, speed=speed)
            log_line(
                f"part {number}{most}: {done:,d} of {self._records:,d} records, {speed}",
                passing=True,
            )
            return
        values = [
            f"{name.replace('_', ' ')} {_format_value(value)}" for name, value in figures.items()
        ]
        speed = _format_speed(self._records, seconds[-1])
        shown = f"{_FIRST} {_format_value(figures[_FIRST])}" if _FIRST in figures else ""
        self._move(number, utility=shown, speed=speed)
        log_line(f"iteration {number}{most}: {', '.join([*values, speed])}", passing=True)

    def _move(self, completed: float, **fields: Any) -> None:
        self._moved, self._done = time.perf_counter(), completed
        self._bar.update(self._row, completed=completed, **fields)
        if self._artifact is not None and self._moved - self._told >= EVERY:
            from prefect.artifacts import update_progress_artifact

            self._told = self._moved
            try:
                update_progress_artifact(
                    artifact_id=self._artifact, progress=self._percent(), **self._described
                )
            except Exception:
                self._artifact = None  # a server that is away does not stop the work

    def _percent(self) -> float:
        """Return the share of all steps that is done; 0 while their number is unknown."""
        return 100 * self._done / self._most if self._most else 0.0

    def _new_artifact(self) -> Any:
        if find_flow_run() is None:
            return None
        from prefect.artifacts import create_progress_artifact

        try:
            return create_progress_artifact(
                progress=self._percent(),
                key=key_of("anonymize", plan_name()),
                description="Iterations of the anonymizer",
            )
        except Exception:
            return None  # a server that is away does not stop the work


class StepProgress(_Shown, Observer):
    """Watches the steps of this process; `seconds` are those of the steps so far."""

    def __init__(self, records: int, seconds: Sequence[float], keep: Keep, bar: Progress) -> None:
        super().__init__(records, len(seconds), bar)
        self.seconds, self._keep, self._began = list(seconds), keep, time.perf_counter()
        self._pace = Pace()

    def expects(self, steps: int | None) -> None:
        """Show the share of all steps, and say where a run goes on."""
        self._expect(steps)
        self._artifact = self._new_artifact()
        if self.seconds:
            most = "" if steps is None else f" of at most {steps}"
            log_line(f"continuing after iteration {len(self.seconds)}{most}")

    def report_records(self, records: int) -> None:
        """Move the bar within a step."""
        now = time.perf_counter()
        if now - self._moved >= EVERY:
            done = len(self.seconds) + records / self._records
            self._move(done, speed=_format_speed(records, now - self._began))

    def on_step(self, state: State) -> None:
        """Show one finished step, and keep it where that is due."""
        now = time.perf_counter()
        # The checkpoint written below counts to the next step.
        taken, self._began = now - self._began, now
        self.seconds.append(round(taken, 3))
        if self._pace.is_due(now):
            self._keep(state, self.seconds)
            self._pace.set_next(now, time.perf_counter())
        step = state.steps[-1]
        self._show_step(step.number, step.figures, self.seconds)


class JobProgress(_Shown):
    """Watches the steps of a batch job by the progress that each look reads."""

    def __init__(self, records: int, bar: Progress) -> None:
        super().__init__(records, 0, bar)
        self._artifact = self._new_artifact()
        self._line, self._seen = "", 0

    def show_state(self, state: JobState) -> None:
        """Show what is new: the job's state, where it runs, a finished step."""
        progress = state.progress
        if (line := state.line()) != self._line:
            self._line, self._described = line, {"description": line}
            log_line(line)
        if progress is None:
            return
        if progress.most != self._most:
            self._expect(progress.most)
        # Several steps may end between two looks; only the last one is known.
        if progress.step > self._seen and progress.seconds:
            self._seen = progress.step
            self._show_step(progress.step, progress.figures, progress.seconds)
        done = progress.step + progress.advanced / self._records
        self._move(done if self._most is None else min(done, self._most))


def _format_value(value: float) -> str:
    """Return a count in full, a share with four digits."""
    return f"{value:,d}" if isinstance(value, int) else f"{value:.4f}"


def _format_speed(records: int, seconds: float) -> str:
    return f"{records / max(seconds, 1e-9):,.0f} records/s"


@contextmanager
def step_progress(records: int, seconds: Sequence[float], keep: Keep) -> Iterator[StepProgress]:
    """Open the artifact (inside a flow run) and the bar for steps of this process."""
    with _open_bar() as bar:
        progress = StepProgress(records, seconds, keep, bar)
        yield progress
        progress.finish()


@contextmanager
def job_progress(records: int) -> Iterator[JobProgress]:
    """Open the same for steps of a batch job."""
    with _open_bar() as bar:
        progress = JobProgress(records, bar)
        yield progress
        progress.finish()


@contextmanager
def _open_bar() -> Iterator[Progress]:
    """A bar: that of the screen, or one of its own on a terminal unless the log is quiet."""
    if (screen := find_screen()) is not None:
        with screen.lend_bar() as bar:
            yield bar
        return
    # Where many plans run, each has a process of its own, and all share one terminal.
    alone = parent_process() is None
    wanted = (
        alone and sys.stderr.isatty() and logging.getLogger("prefect").isEnabledFor(logging.INFO)
    )
    with build_bar(Console(stderr=True), disable=not wanted) as bar:
        yield bar
