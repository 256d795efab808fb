"""Kill -9 at a random moment of each stage."""

import random
import signal

from tests.faults.moments import STAGES, killed_at
from tests.faults.runs import PARTS, ROWS, after, expected, ordered
from tests.flows.processes import run
from tests.support.crashes import release_until

TABLE = 0  # the seed of the table and of the secrets where kills alone are drawn
KEPT = "crowdcover.storage.vault.checkpoint.CheckpointFile", "save"  # after each part
MADE = ROWS // PARTS["part"]


def killed(folder, stage, seed):
    """Kill a run within a stage, at a random one of its moments; run again."""
    whole, moments = expected(seed)
    order = ordered(folder, seed)
    killed_within(order, stage, moments, random.Random(f"{stage} {seed}"))
    return after(order, whole)


def killed_within(order, stage, moments, chance):
    """Kill a run within a stage, which must not be finished before."""
    done = run(killed_at, str(order.plan), stage, chance.randrange(moments[stage]))
    assert done.code == -signal.SIGKILL, done.err
    assert not (order.versions if stage == "publish" else order.run.has(stage))


def killed_in_turn(folder, seed):
    """Kill a run within every stage, one after the other, and after one of the parts; run again.

    What was finished before a kill stays.
    """
    whole, moments = expected(TABLE)
    order, chance = ordered(folder, TABLE), random.Random(f"in turn {seed}")
    for stage in STAGES:
        if stage == "anonymize":
            done = run(release_until, str(order.plan), *KEPT, chance.randrange(MADE - 1), True)
            assert done.code == -signal.SIGKILL, done.err
        finished = order.stage_times()
        killed_within(order, stage, moments, chance)
        assert order.stage_times().items() >= finished.items()
        assert not order.versions
    return after(order, whole)
