"""NH: rows made in rings within small parts (Wong, Mamoulis and Cheung, SIGMOD 2010).

The text of that paper was not at hand. As paper 001 (Doka et al., section 8) describes it, parts
have k to 2k - 1 records. Here they are split top-down by two seeds far apart, and the records of a
part stand in the order of a greedy tour.
"""

import numpy as np

from anon_core.anonymizers.loss_kernels import LevelCells
from benchmarks.baselines.rings_kernels import ring, split


def rings(table, loss, k):
    """Who holds each row, int32 (n, k): its record and the k - 1 that follow it in its ring.

    loss is a `LossTable`. Each column is an assignment of records to rows.
    """
    cells = LevelCells.of(table, loss)
    holders = np.empty((table.records, k), dtype=np.int32)
    for part in parts(table.records, k, cells):
        ring(part, cells)
        places = np.arange(len(part))[:, None] + np.arange(k)
        holders[part] = part[places % len(part)]
    return holders


def parts(records, k, cells):
    """Yield parts of the records 0 .. records - 1, int64: k to 2k - 1 each if there are k."""
    waiting = [np.arange(records)]
    while waiting:
        members = waiting.pop()
        if len(members) < 2 * k:
            yield members
            continue
        left = np.empty(len(members), dtype=np.bool_)
        split(members, k, left, cells)
        waiting += [members[left], members[~left]]
