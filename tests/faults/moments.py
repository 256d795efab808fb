"""Moments of a run: those of each stage are counted in one run, and met in another.

A moment is an event of the interpreter: a function, of Python or of C, is called or returns. So a
moment is the same work on a machine that is busy and on one that is idle.
"""

import json
import os
import signal
import sys
import threading
import time
from fnmatch import fnmatch
from pathlib import Path

from tests.flows.orders import STAGES as KEPT
from tests.flows.processes import LONGEST

# Stages by what appears when one begins, and by what it is renamed to.
STAGES = {stage: (f".{stage}.partial", stage) for stage in KEPT} | {
    "publish": (".v1.*.partial", "v1")
}


def release(plan):
    """Run the course without Prefect."""
    from crowdcover.flows.release import release as flow

    flow.fn(plan)


def counted(plan, counts):
    """Run the course, and write down how many moments each stage has."""
    numbers = {}
    for stage in STAGES:
        _within(stage, lambda stage=stage: numbers.update({stage: numbers.get(stage, 0) + 1}))
    release(plan)
    Path(counts).write_text(json.dumps(numbers))


def killed_at(plan, stage, number):
    """Run the course, and die by kill -9 soon after a moment of a stage, at its end at the latest.

    Another thread kills, as soon as it is its turn: between two steps of Python, or while a
    function of C is at work.
    """
    moments, turn = iter(range(number + 1)), threading.Event()

    def kill():
        turn.wait()
        os.kill(os.getpid(), signal.SIGKILL)

    def end():
        turn.set()
        time.sleep(LONGEST)

    threading.Thread(target=kill, daemon=True).start()
    _within(stage, lambda: turn.set() if next(moments, number) == number else None, end)
    release(plan)


def _within(stage, happened, ending=lambda: None):
    """Call a function at each moment between the begin of a stage and its end, another there."""
    begins, ends = STAGES[stage]
    mkdir, rename = os.mkdir, os.rename

    def begun(path, *arguments, **options):
        mkdir(path, *arguments, **options)
        if fnmatch(os.path.basename(path), begins):
            sys.setprofile(lambda *_: happened())

    def ended(source, target, **options):
        if fnmatch(os.path.basename(source), begins) and os.path.basename(target) == ends:
            sys.setprofile(None)
            ending()
        rename(source, target, **options)

    os.mkdir, os.rename = begun, ended
