"""A clock that jumps while a run is at work, and between two runs of a plan."""

import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.faults.moments import STAGES
from tests.faults.runs import Outcome, after, expected, ordered

LIBRARY = next(iter(Path("/usr/lib").glob("*/faketime/libfaketime.so.1")), None)
YEAR = 365 * 86_400
# Makes the runs that it is asked for, by a clock that is off by what a file says. The clock jumps
# once a stage is finished, and the run is stopped there or goes on.
PROGRAM = """
import json, os, sys
from crowdcover.flows.release import release
clock = os.environ["FAKETIME_TIMESTAMP_FILE"]
rename, now = os.rename, {}

class Stopped(BaseException):
    pass

def last(source, target):
    rename(source, target)
    if os.path.basename(target) == now["stage"]:
        with open(clock, "w") as file:
            file.write(now["jump"])
        if now["stops"]:
            raise Stopped

os.rename = last
for line in sys.stdin:
    now.update(json.loads(line))
    try:
        release.fn(now["plan"])
        print("published", flush=True)
    except Stopped:
        print("stopped", flush=True)
    except Exception as error:
        print(error, file=sys.stderr)
        print("failed", flush=True)
"""


@dataclass(frozen=True)
class Clock:
    """A process that makes runs under a false clock."""

    file: Path
    process: subprocess.Popen

    def run(self, order, offset, stage="", jump=0, stops=False):
        """Run a plan by a clock that is off by some seconds, and jumps after a stage."""
        self.file.write_text(f"{offset:+d}")
        asked = {"plan": str(order.plan), "stage": stage, "jump": f"{jump:+d}", "stops": stops}
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()


@contextlib.contextmanager
def running():
    """One such process for many runs."""
    with tempfile.TemporaryDirectory(prefix="crowdcover-clock-") as folder:
        file = Path(folder) / "clock"
        file.write_text("+0")
        environment = {
            **os.environ,
            "LD_PRELOAD": str(LIBRARY),
            "FAKETIME_TIMESTAMP_FILE": str(file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }
        with subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            yield Clock(file, process)


def jumped(folder, clock, seed):
    """Let the clock jump by up to four years after a stage; run again by a third clock, and more.

    One run goes on when its clock jumps; another one is stopped there.
    """
    chance = random.Random(f"clock {seed}")
    whole, _ = expected(seed)
    stage = chance.choice([stage for stage in STAGES if stage != "publish"])
    going, stopped = (ordered(folder / name, seed) for name in ("going", "stopped"))
    ended = clock.run(going, _far(chance), stage, _far(chance))
    cut = clock.run(stopped, _far(chance), stage, _far(chance), stops=True)
    jumps = ended == "published", cut == "stopped"
    finished = stopped.stage_times()
    again = clock.run(stopped, _far(chance))
    kept = again == "published" and stopped.stage_times().items() >= finished.items()
    outcomes = after(going, whole, clear=jumps[0]), after(stopped, whole, clear=jumps[1])
    return Outcome(
        met=stage in finished,
        half=any(each.half for each in outcomes),
        lost=not kept or any(each.lost for each in outcomes),
        completed=all(each.completed for each in outcomes),
    )


def _far(chance):
    return chance.randint(-2 * YEAR, 2 * YEAR)
