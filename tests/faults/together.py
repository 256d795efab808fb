"""Two runs of one plan at the same time."""

import random
import time

from tests.faults.moments import release
from tests.faults.runs import after, expected, ordered
from tests.flows.processes import finish, start

MOST_APART = 0.5  # seconds


def two_at_once(folder, seed):
    """Start two runs up to half a second apart; one of them may be told that the other works."""
    whole, _ = expected(seed)
    order = ordered(folder / "order", seed)
    first = start(release, str(order.plan))
    time.sleep(random.Random(f"together {seed}").random() * MOST_APART)
    both = [finish(*each) for each in (first, start(release, str(order.plan)))]
    told = ["another process is at work on this plan" in done.err for done in both]
    published = any(done.code == 0 for done in both) and order.versions == ["v1"]
    clear = all(done.code == 0 or words for done, words in zip(both, told, strict=True))
    return after(order, whole, any(told), published and clear)
