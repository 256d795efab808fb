"""Kill -9 at a random moment of each stage."""

import random
import time

from tests.faults.runs import after, expected, ordered
from tests.flows.processes import finish, start

STAGES = (
    "ingest",
    "validate-ingested",
    "binarize",
    "validate-binarized",
    "identify",
    "anonymize",
    "check",
    "publish",
)
WITHIN = 120  # seconds until a stage must have begun
PUBLISHING = 0.1  # about what copying and the report take, in seconds


def release(plan):
    """Run the course without Prefect."""
    from flows.release import release as flow

    flow.fn(plan)


def killed(folder, stage, seed):
    """Kill a run within a stage, after a random share of the time that the stage takes."""
    whole, seconds = expected(folder / "whole", seed)
    order = ordered(folder / "killed", seed)
    share = random.Random(f"{stage} {seed}").random()
    process, output = start(release, str(order.plan))
    began = _began(process, lambda: _is_made(order, stage))
    time.sleep(share * seconds.get(stage, PUBLISHING))
    process.kill()
    met = finish(process, output).code < 0
    return after(order, whole, met and began)


def _is_made(order, stage):
    if stage == "publish":
        return any(order.releases.glob(".v1.*.partial"))
    return (order.run.path / f".{stage}.partial").exists()


def _began(process, begins):
    """Wait until something begins, or until the process has ended."""
    end = time.monotonic() + WITHIN
    while time.monotonic() < end and process.is_alive():
        if begins():
            return True
    return False
