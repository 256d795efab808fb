"""Algorithm 1 of Epasto et al.: lower-bounded r-median, then the majority of each cluster."""

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.smooth.counts_kernels import ItemRows
from anon_core.anonymizers.smooth.facility import group_by_facility
from anon_core.anonymizers.smooth.settings import Merge

_MOST_ROUNDS = 50


def group_by_median(rows: ItemRows, items: int, a: float, merge: Merge) -> NDArray[np.int32]:
    """Group records around r centres, at least the greatest k each; returns int32 (n,).

    From the clusters of `group_by_facility` on, two steps take turns while the sum of distances
    falls: each cluster takes the record nearest to its members as its centre, and records are
    assigned anew, at least k to each centre, at the least sum. That ends in a local optimum, not in
    the paper's 82.6-approximation (Ahmadian and Swamy): no factor is claimed. Memory is O(n^2).
    """
    least = int(rows.k.max(initial=1))
    uniform = ItemRows(rows.indptr, rows.indices, np.full_like(rows.k, least))
    group = group_by_facility(uniform, items, a, merge)
    distance = _compute_distances(rows, items)
    total = np.iinfo(np.int64).max
    for _ in range(_MOST_ROUNDS):
        centres = np.array([_find_centre(distance, group, c) for c in range(int(group.max()) + 1)])
        found = _assign_records(distance, centres, least)
        cost = int(distance[np.arange(len(group)), centres[found]].sum())
        if cost >= total:
            break
        group, total = found, cost
    return group


def _compute_distances(rows: ItemRows, items: int) -> NDArray[np.int64]:
    held = np.zeros((len(rows.k), items), dtype=np.int64)
    held[np.repeat(np.arange(len(rows.k)), np.diff(rows.indptr)), rows.indices] = 1
    size = held.sum(axis=1)
    distance: NDArray[np.int64] = size[:, None] + size - 2 * (held @ held.T)
    return distance


def _find_centre(distance: NDArray[np.int64], group: NDArray[np.int32], c: int) -> int:
    members = np.flatnonzero(group == c)
    return int(members[distance[np.ix_(members, members)].sum(axis=0).argmin()])


def _assign_records(
    distance: NDArray[np.int64], centres: NDArray[np.int64], least: int
) -> NDArray[np.int32]:
    """Assign at the least sum: `least` seats of each centre are taken, the rest go anywhere."""
    from scipy.optimize import linear_sum_assignment  # takes a third of a second to import

    # As many columns as records: `least` for each centre, and free ones, in which a record pays the
    # distance to its nearest centre. So a least assignment has `least` records at each centre.
    near = distance[:, centres]
    seats = np.repeat(near, least, axis=1)
    free = np.repeat(near.min(axis=1, keepdims=True), len(near) - seats.shape[1], axis=1)
    record, seat = linear_sum_assignment(np.concatenate([seats, free], axis=1))
    taken = seat < seats.shape[1]
    group: NDArray[np.int32] = near.argmin(axis=1).astype(np.int32)
    group[record[taken]] = seat[taken] // least
    return group
