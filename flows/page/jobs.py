"""`crowdcover try` and `crowdcover release` as processes of their own, which a person can stop."""

import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import IO

MOST_LINES = 500  # of a log that is shown at once
_TRACEBACK = "Traceback (most recent call last)"
_PATIENCE = 8.0  # seconds between two signals to a process that is to end


class CommandRun:
    """A command that runs, or has ended.

    Attributes
    ----------
    arguments : tuple of str
        What follows `crowdcover`.
    code : int or None
        The exit code; None while it runs.
    stopped : bool
        Whether a person stopped it.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        self.arguments = tuple(arguments)
        self.code: int | None = None
        self.stopped = False
        self._start, self._end = time.monotonic(), 0.0
        self._printed: list[str] = []
        self._log: list[str] = []
        # Lines for people, whatever the environment of the page says.
        environment = {key: text for key, text in os.environ.items() if key != "CROWDCOVER_LOGS"}
        self._process = subprocess.Popen(  # noqa: S603 - this program, without a shell
            [sys.executable, "-m", "crowdcover.flows.cli", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env=environment,
            start_new_session=True,  # so that its own processes end with it
        )
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        readers = [
            threading.Thread(target=_collect, args=each, daemon=True)
            for each in (
                (self._process.stdout, self._printed),
                (self._process.stderr, self._log),
            )
        ]
        for each in readers:
            each.start()
        self._watch = threading.Thread(target=self._wait, args=(readers,), daemon=True)
        self._watch.start()

    @property
    def command(self) -> str:
        """The same command for a terminal."""
        return format_command(self.arguments)

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self.code is None

    @property
    def seconds(self) -> float:
        """How long it has run."""
        return (time.monotonic() if self.is_running else self._end) - self._start

    @property
    def printed(self) -> list[str]:
        """The lines that it printed on standard output."""
        return list(self._printed)

    @property
    def log(self) -> list[str]:
        """Its log and its refusal; no traceback, such as of a stopped import."""
        lines = list(self._log)
        traced = (at for at, line in enumerate(lines) if line.startswith(_TRACEBACK))
        return lines[: next(traced, None)]

    @property
    def refusal(self) -> str:
        """The message of a command that failed, as a terminal shows it; empty if it did not."""
        if self.code in (None, 0):
            return ""
        lines = [line for line in self._log if line.startswith("crowdcover: ")]
        return lines[-1].removeprefix("crowdcover: ") if lines else f"exit code {self.code}"

    def stop(self) -> None:
        """End the process and those that it started, as Ctrl-C does; at last by force."""
        self.stopped = True
        for each in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, each)
            self._watch.join(_PATIENCE)
            if not self._watch.is_alive():
                return

    def _wait(self, readers: Sequence[threading.Thread]) -> None:
        code = self._process.wait()
        for each in readers:
            each.join(_PATIENCE)
        self._end = time.monotonic()
        self.code = code


def format_command(arguments: Sequence[str]) -> str:
    """A command of crowdcover as one types it."""
    return f"crowdcover {shlex.join(arguments)}"


def _collect(stream: IO[str], lines: list[str]) -> None:
    """Keep the lines of a stream until it ends."""
    for line in stream:
        lines.append(line.rstrip("\n"))  # noqa: PERF401 - others read them meanwhile
    stream.close()
