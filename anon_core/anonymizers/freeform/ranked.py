"""The segments of each round over ranks: each does its own, and all learn what the others found."""

from collections.abc import Callable

import numpy as np

from anon_core.anonymizers.freeform.freeform_kernels import RowHolders
from anon_core.anonymizers.freeform.segments import SegmentMethod, Starts, on_threads
from anon_core.spread import Ranks


def assign_on_ranks(
    method: SegmentMethod,
    starts: Starts,
    done: int,
    space: RowHolders,
    report: Callable[[int], None],
    *,
    ranks: Ranks,
) -> None:
    """Do a round, each rank its own segments; see `Assign`."""
    number, longest = len(starts) - 1, int(np.diff(starts).max())
    mine = ranks.over(number)
    taken = np.full((number, longest), -1, dtype=np.int32)
    if mine.low < mine.high:
        on_threads(method, starts[mine.low : mine.high + 1], done, space, lambda _: None)
    inside = np.arange(longest) < np.diff(starts)[:, None]
    taken[inside] = space.holder[done]
    mine.share(taken)
    space.holder[done] = taken[inside]
    report(len(space.most))
