"""A farm of this process that measures what its reducers hold."""

from functools import partial

from anon_core.engines.local import LocalFarm
from anon_core.engines.shuffle import _reduce_share
from tests.support.large import traced

RUNS = 5


class Watched(LocalFarm):
    """Runs a reducer until it holds at most so many bytes, `RUNS` times at most.

    Python allocates now and then for all that ran before: kernels are loaded, its table of names
    grows, a thread of another test wakes. That only adds to what is measured, and not in each run:
    `peaks` has the least for each reducer. Which run it was changes no byte of the answer.
    """

    def __init__(self, allowed):
        self.allowed, self.peaks = allowed, []

    def each(self, task, ground, chunks):
        for chunk in chunks:
            if task is not _reduce_share:
                yield chunk, task(ground, chunk, 1)
                continue
            held = []
            while not held or (min(held) > self.allowed and len(held) < RUNS):
                result, peak = traced(partial(task, ground, chunk, 1))
                held.append(peak)
            self.peaks.append(min(held))
            yield chunk, result
