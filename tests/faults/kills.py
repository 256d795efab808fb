"""Kill -9 at a random moment of each stage."""

import random
import signal

from tests.faults.moments import killed_at
from tests.faults.runs import after, expected, ordered
from tests.flows.processes import run

AIMS = 4  # a kill may come when the stage has ended; then an earlier moment is tried, too


def killed(folder, stage, seed):
    """Kill a run within a stage, at a random one of its moments; run again."""
    whole, moments = expected(seed)
    number = random.Random(f"{stage} {seed}").randrange(moments[stage])
    for aim in range(AIMS):
        order = ordered(folder / str(aim), seed)
        code = run(killed_at, str(order.plan), stage, number >> aim).code
        met = code == -signal.SIGKILL and not _is_finished(order, stage)
        outcome = after(order, whole, met, code in (-signal.SIGKILL, 0))
        if outcome.met or not outcome.good:
            break
    return outcome


def _is_finished(order, stage):
    return bool(order.versions) if stage == "publish" else order.run.has(stage)
