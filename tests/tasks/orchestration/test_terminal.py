"""What a person at a terminal sees: lines with the names of stages, a row of what is at work."""

import io
import logging
import os
import pty
import re
import subprocess
import sys

import pytest
from prefect.logging.handlers import PrefectConsoleHandler
from rich.console import Console

from crowdcover.storage.vault.vault import Vault
from crowdcover.tasks.orchestration import terminal as module
from crowdcover.tasks.orchestration.stage import log_line, stage
from crowdcover.tasks.orchestration.terminal import (
    Screen,
    build_bar,
    find_screen,
    watch_on_terminal,
)
from tests.flows.orders import Order

CODES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


@pytest.fixture
def shown():
    return io.StringIO()


@pytest.fixture
def screen(shown, monkeypatch):
    """An open screen of 100 columns, whose clock stands."""
    monkeypatch.setattr(module.time, "monotonic", lambda: 0.0)
    console = Console(file=shown, width=100)
    made = Screen(build_bar(console, disable=True))
    monkeypatch.setattr(module, "_OPEN", [made])
    return made


def record(name, level, message):
    return logging.LogRecord(name, level, "", 0, message, None, None)


def test_a_stage_names_its_first_line(screen, shown, tmp_path):
    @stage("double {number}")
    def double(run, number):
        log_line("iteration 1 of at most 3: utility 0.5", passing=True)
        log_line(f"{number} [doubled]")
        log_line("and told")
        return 2 * number

    log_line("before")
    assert double(Vault(tmp_path / "vault").open().run("0" * 64, "1" * 64), 3) == 6
    log_line("after")
    assert shown.getvalue().splitlines() == [
        "                   before",
        "double 3           3 [doubled]",
        "                   and told",
        "                   after",
    ]


def test_of_prefects_own_lines_warnings_are_shown(screen, shown):
    for name, level, words in (
        ("prefect.flow_runs", logging.INFO, "Finished in state Published()"),
        ("prefect.task_runs", logging.INFO, "ingested 90 rows"),  # said by `show_line` already
        ("prefect.flow_runs", logging.WARNING, "the limit is gone"),
    ):
        assert screen.take_record(record(name, level, words)) is False
    assert shown.getvalue().strip() == "the limit is gone"


def test_prefects_console_is_silent_while_the_screen_has_its_log(screen, shown):
    console, said = PrefectConsoleHandler(stream=io.StringIO()), logging.getLogger("prefect.zq7")
    said.addHandler(console)
    try:
        screen.take_console()
        said.warning("to the screen")
        screen.give_back_console()
        said.warning("to the console")
    finally:
        said.removeHandler(console)
    assert "to the screen" in shown.getvalue()
    assert "screen" not in console.stream.getvalue()
    assert "to the console" in console.stream.getvalue()


def test_the_bar_is_lent_and_comes_back_as_it_was(screen):
    with screen.lend_bar() as bar:
        bar.add_task("anonymize", total=4, utility="", speed="")
        assert [task.description for task in bar.tasks if task.visible] == ["anonymize"]
    assert [task.description for task in screen.bar.tasks if task.visible] == ["starting"]


@pytest.mark.parametrize(
    ("terminal", "quiet", "plain"),
    [(False, False, False), (True, True, False), (True, False, True)],
)
def test_no_screen_for_machines_and_for_whom_is_quiet(monkeypatch, terminal, quiet, plain):
    monkeypatch.setattr(module.sys.stderr, "isatty", lambda: terminal, raising=False)
    with watch_on_terminal(quiet=quiet, plain=plain):
        assert find_screen() is None


@pytest.mark.slow
def test_a_release_on_a_terminal(server, tmp_path):
    """Each stage is named once; nothing of Prefect's own words or of pydantic's warnings."""
    order = Order(tmp_path)
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "crowdcover.flows.cli", "release", str(order.plan)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, cwd=tmp_path)
    os.close(theirs)
    shown = b""
    while True:
        try:
            some = os.read(ours, 2**16)
        except OSError:  # of Linux, once the other end is closed
            break
        if not some:
            break
        shown += some
    os.close(ours)
    folder = process.communicate()[0].decode().strip()
    assert (process.returncode, folder) == (0, str(order.folder_of_v1))
    text = CODES.sub("", shown.decode())
    lines = [line.strip() for line in re.split(r"[\r\n]+", text)]
    for name, words in (
        ("ingest", "ingested 90 rows"),
        ("validate ingested", "ingested: 4 of 4"),
        ("encode", "binarized 90 records"),
        ("identify", "identified 90 records"),
        ("anonymize", "anonymized 90 records"),
        ("check", "all 18 guarantees hold"),
        ("publish", "published 90 rows as people v1"),
    ):
        said = [line for line in lines if words in line]
        assert len(said) == 1, (words, said)
        assert re.match(rf"{name} +{words}", said[0])
    assert any("starting" in line for line in lines)
    for never in ("Finished in state", "Warning", "Beginning flow run", "iteration 1", "INFO"):
        assert never not in text
