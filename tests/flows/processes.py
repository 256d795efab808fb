"""Real processes, and the command line in this one.

Most processes start at once: they are forked from one that has imported Prefect and Great
Expectations. Fresh ones import them again, under settings of their own.
"""

import contextlib
import faulthandler
import importlib
import io
import multiprocessing
import multiprocessing.util
import os
import pkgutil
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["tests.flows.preloaded"])
FRESH = multiprocessing.get_context("spawn")
multiprocessing.util.get_temp_dir()  # now: one that a test sets may be too long for a socket
STARTING = threading.Lock()
AT_IMPORT = ("PREFECT_", "CROWDCOVER_LOGS")  # what Prefect reads when it is imported
LONGEST = 300  # two of them may be compiling


@dataclass(frozen=True)
class Finished:
    """A finished process: exit code (negative: the signal that ended it), stdout, stderr."""

    code: int
    out: str
    err: str

    @property
    def last_line(self):
        return self.out.rstrip("\n").rpartition("\n")[2]


def let_system_write(handle):
    """In place of `os.fsync`: the system writes when it likes, which outlives any process."""


def start(work, *arguments, cwd=None, environment=None):
    """Start `work(*arguments)` in another process; returns it and the folder of its output.

    With variables that are read when Prefect is imported it is a fresh process.
    """
    folder = Path(tempfile.mkdtemp(prefix="crowdcover-process-"))
    for name in ("out", "err"):
        (folder / name).touch()
    environment = environment or {}
    context = FRESH if any(name.startswith(AT_IMPORT) for name in environment) else FORKS
    with STARTING, mock.patch.dict(os.environ, environment):
        process = context.Process(
            target=_child, args=(work, arguments, folder, cwd, dict(os.environ))
        )
        process.start()
    return process, folder


def finish(process, folder):
    """Wait for the end of a process."""
    process.join(LONGEST)
    if process.exitcode is None:
        process.kill()
        process.join()
        raise AssertionError("the process did not end: " + (folder / "err").read_text()[-2000:])
    out, err = ((folder / name).read_text() for name in ("out", "err"))
    shutil.rmtree(folder)
    return Finished(process.exitcode, out, err)


def terminate(process, within):
    """End a program that was started, by force if it takes its time."""
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(within)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def run(work, *arguments, cwd=None, environment=None):
    """Run `work(*arguments)` in a process of its own."""
    return finish(*start(work, *arguments, cwd=cwd, environment=environment))


def crowdcover(*arguments, cwd=None, environment=None, breaks=None, level=None):
    """Run the command line in a process of its own, whose Prefect logs from `level` on."""
    return run(
        _command,
        [str(argument) for argument in arguments],
        breaks,
        level,
        cwd=cwd,
        environment=environment,
    )


def command(*arguments):
    """Run the command line in this process."""
    from crowdcover.flows.cli import main

    out, err, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as ended:
            code = ended.code or 0
    return Finished(code, out.getvalue(), err.getvalue())


def without_heartbeats():
    """Settings under which Prefect's runs send no heartbeats, which cost each a second."""
    from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings

    return temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None})


def hold(run, ready, done):
    """Be at work on a run of the vault until told that it is done."""
    with run.hold_lock():
        ready.set()
        done.wait(LONGEST)


def _command(arguments, breaks, level):
    """Run the command line; breaks = (module, name, words) makes a function fail."""
    if breaks:
        module, name, words = breaks

        def fail(*_, **__):
            if isinstance(words, signal.Signals):
                signal.raise_signal(words)
            try:
                raise KeyError(words)
            except KeyError as inner:
                raise ValueError(words) from inner

        setattr(importlib.import_module(module), name, fail)
    from crowdcover.flows.cli import main

    with _logging_from(level) if level else contextlib.nullcontext():
        main(arguments)


@contextlib.contextmanager
def _logging_from(level):
    """Have Prefect, which was imported before this process was forked, log from a level on."""
    from prefect.logging.configuration import setup_logging
    from prefect.settings import PREFECT_LOGGING_LEVEL, temporary_settings

    os.environ[PREFECT_LOGGING_LEVEL.name] = level  # for the ranks of a job
    with temporary_settings({PREFECT_LOGGING_LEVEL: level}):
        setup_logging()
        yield


def _child(work, arguments, folder, cwd, environment):
    os.environ.clear()  # that of the first test of all, where this was forked
    os.environ.update(environment)
    for name, number in (("out", 1), ("err", 2)):
        os.dup2(os.open(folder / name, os.O_WRONLY), number)
    if cwd is not None:
        os.chdir(cwd)
    faulthandler.enable(2, all_threads=False)
    try:
        work(*arguments)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()


def die_at(module, name, passes, called):
    """Kill this process at a call of module.name, after it was made or instead of it.

    So many calls pass before.
    """
    holder = pkgutil.resolve_name(module)
    work, calls = getattr(holder, name), []

    def last(*arguments, **options):
        calls.append(name)
        if len(calls) <= passes:
            return work(*arguments, **options)
        if called:
            work(*arguments, **options)
        return os.kill(os.getpid(), signal.SIGKILL)

    setattr(holder, name, last)
