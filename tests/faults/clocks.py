"""A clock that jumps between the runs of a plan and between its stages."""

import os
import random
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from tests.faults.moments import STAGES
from tests.faults.runs import after, expected, ordered
from tests.flows.orders import data_bytes

LIBRARY = next(iter(Path("/usr/lib").glob("*/faketime/libfaketime.so.1")), None)
YEAR = 365 * 86_400
LONGEST = 300
# Dies once the stage is finished: the next run starts under another clock.
PROGRAM = """
import os, signal, sys
plan, stage = sys.argv[1:]
rename = os.rename
def last(source, target):
    rename(source, target)
    if os.path.basename(target) == stage:
        os.kill(os.getpid(), signal.SIGKILL)
os.rename = last
from flows.release import release
release.fn(plan)
"""


def jumped(folder, seed):
    """Run under a clock that is up to two years off, die after a stage, go on with the true one."""
    chance = random.Random(f"clock {seed}")
    whole, _ = expected(seed)
    order = ordered(folder / "order", seed)
    stage = chance.choice([stage for stage in STAGES if stage != "publish"])
    done = _under(chance.randint(-2 * YEAR, 2 * YEAR), PROGRAM, str(order.plan), stage)
    times = order.stage_times()
    died = done.returncode == -signal.SIGKILL
    outcome = after(order, whole, died and stage in times, died)
    later = _under(chance.randint(-2 * YEAR, 2 * YEAR), PROGRAM, str(order.plan), "none")
    same = later.returncode == 0 and order.versions == ["v1"]
    same = same and data_bytes(order.folder_of_v1) == whole
    return replace(outcome, completed=outcome.completed and same)


def _under(seconds, program, *arguments):
    """Run a program whose clock is off by so many seconds."""
    environment = {
        **os.environ,
        "LD_PRELOAD": str(LIBRARY),
        "FAKETIME": f"{seconds:+d}",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env=environment,
        capture_output=True,
        timeout=LONGEST,
        check=False,
    )
