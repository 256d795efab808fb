"""Open groups whose records may move."""

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.smooth.counts import counts_of
from anon_core.anonymizers.smooth.counts_kernels import ItemRows, list_members
from anon_core.anonymizers.smooth.state_kernels import ChangingGroups, link_members


def open_groups(
    rows: ItemRows, items: int, group: NDArray[np.int32], rest: tuple[int, int] = (0, 0)
) -> ChangingGroups:
    """Count the groups of `group`, int32 (n,); -1: a record in none.

    The result depends on the arguments alone, so a run that goes on from a checkpoint meets the
    same. `rest` is J of records that are not among these, as a fraction; see
    `ChangingGroups.whole`.
    """
    number, n, entries = int(group.max(initial=-1)) + 1, len(group), len(rows.indices)
    counts = counts_of(rows, items, list_members(group, number))
    length = np.diff(counts.start)
    # However records are grouped, groups hold at most `entries` different items in all.
    pool = entries + entries // 2 + 4 * number + 16
    item, count = np.empty(pool, dtype=np.int32), np.empty(pool, dtype=np.int32)
    item[: len(counts.item)], count[: len(counts.item)] = counts.item, counts.held
    figures = [np.zeros(number, dtype=np.int64) for _ in range(5)]
    groups = ChangingGroups(
        group.copy(),
        figures[0],
        np.full(number, -1, dtype=np.int32),
        np.empty(n, dtype=np.int32),
        np.empty(n, dtype=np.int32),
        counts.start[:-1].copy(),
        length,
        length.copy(),
        item,
        count,
        counts.start[-1:].copy(),
        figures[1],
        figures[2],
        figures[3],
        figures[4],
        np.array([rest[0], entries + rest[1]], dtype=np.int64),
    )
    link_members(group, groups)
    return groups
