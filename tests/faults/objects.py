"""Object storage that goes down, or a run that dies, while a version is written there."""

import importlib.util
import os
import random
import signal
import threading
import time
import uuid
from unittest import mock

from anon_core.errors import AnonymityError
from crowdcover.storage.places.place import place_of
from tests.faults.moments import release
from tests.faults.runs import Outcome, entries, expected, holds, ordered, published
from tests.flows.orders import FILES
from tests.flows.processes import run
from tests.support.objects import WRITES, die_before


def down(folder, door, seed, seconds=3):
    """Close the storage before one of the writes, for some time: nobody runs the plan again."""
    whole, _ = expected(seed)
    order = _order(folder, seed)
    door.requests, door.close_before = 0, random.Random(f"down {seed}").randint(1, WRITES)
    ended, closed = threading.Event(), []

    def open_again():
        while door.is_open:
            if ended.wait(0.01):
                return
        closed.append(seed)
        time.sleep(seconds)
        door.is_open = True

    thread, refusal = threading.Thread(target=open_again), ""
    thread.start()
    try:
        with mock.patch.dict(os.environ, CROWDCOVER_WAIT="120"):
            order.release()
    except AnonymityError as refused:
        refusal = str(refused)
    ended.set()
    thread.join()
    door.is_open, door.close_before = True, None
    return _after(order, whole, bool(closed), not refusal, ended=not refusal)


def killed(folder, door, seed):
    """Kill -9 in place of one of the writes; run again."""
    whole, _ = expected(seed)
    order = _order(folder, seed)
    number = random.Random(f"killed {seed}").randrange(WRITES)
    died = run(_dying, door.environment, str(order.plan), number).code == -signal.SIGKILL
    return _after(order, whole, died, died)


def _dying(environment, plan, number):
    """Die in place of a write; a forked process, as a fresh one would import for seconds."""
    os.environ.update(environment)
    die_before(number)
    release(plan)


def needs():
    """What this machine lacks; empty if nothing."""
    lost = [name for name in ("moto", "s3fs") if importlib.util.find_spec(name) is None]
    return f"not installed: {', '.join(lost)}" if lost else ""


def _order(folder, seed):
    """A plan that publishes under a prefix of its own: all tries share a bucket."""
    prefix = f"s3://people/{uuid.uuid4()}"
    return ordered(folder / "order", seed, publish={"path": prefix})


def _after(order, whole, met, clear, *, ended=False):
    """Look for half a version, run again, and compare; `ended`: the run completed."""
    version = place_of(order.document["publish"]["path"]) / "people" / "v1"
    # The manifest is written last: a run that did not complete has none.
    half = "manifest.json" in version.below() and not (ended and published(version) == whole)
    finished = order.stage_times()
    folder = order.release()
    lost = published(folder) != whole or not order.stage_times().items() >= finished.items()
    one = [(name, label, seen) for name, label, _, seen in entries(order)] == [("people", "v1", 1)]
    tidy = sorted(version.below()) == FILES
    return Outcome(met, half, lost, clear and tidy and one and holds(order, folder))
