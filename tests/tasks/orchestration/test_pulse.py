"""A stage that is silent says that it is at work."""

import threading
import time

import pytest

from crowdcover.tasks.orchestration import pulse
from crowdcover.tasks.orchestration.pulse import Silence, tell_of_work

LONGEST = 20  # seconds until a line is missed


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr(pulse, "EVERY", 0.2)


class Log:
    def __init__(self):
        self.lines, self.came = [], threading.Event()

    def __call__(self, line):
        self.lines.append(line)
        self.came.set()


def test_a_silent_stage_says_that_it_is_at_work():
    log = Log()
    with tell_of_work("check", Silence(), log):
        assert log.came.wait(LONGEST)
    told = len(log.lines)
    assert log.lines[0] == "check: at work for 0 s"
    time.sleep(0.5)
    assert len(log.lines) == told  # the stage is over


class NeverSilent(Silence):
    def measure_seconds(self):
        return 0.0


def test_a_stage_that_speaks_is_not_spoken_for():
    log = Log()
    with tell_of_work("check", NeverSilent(), log):
        time.sleep(0.7)
    assert not log.lines


def test_a_stage_that_fails_is_over():
    log = Log()
    with pytest.raises(ValueError, match="wrong"), tell_of_work("check", Silence(), log):
        raise ValueError("wrong")
    time.sleep(0.5)
    assert not log.lines


def test_a_log_that_fails_costs_nothing_but_its_line(capsys):
    log, failed = Log(), threading.Event()

    def fail_once(line):
        if not failed.is_set():
            failed.set()
            raise ValueError("cell of Mrs Miller")
        log(line)

    with tell_of_work("check", Silence(), fail_once):
        assert log.came.wait(LONGEST)
    assert capsys.readouterr().err == ""
