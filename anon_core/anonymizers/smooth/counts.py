"""Which items the rows of each group get, and what that keeps of the source."""

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.smooth.counts_kernels import (
    Counts,
    ItemRows,
    Members,
    count_pairs,
    count_true_and_created,
    fill_counts,
    list_majority_items,
    list_members,
)


def counts_of(rows: ItemRows, items: int, members: Members) -> Counts:
    """Count the holders of each item in each group."""
    start = np.zeros(len(members.start), dtype=np.int64)
    count_pairs(start[1:], items, rows, members)
    np.cumsum(start, out=start)
    pairs = int(start[-1])
    counts = Counts(start, np.empty(pairs, dtype=np.int32), np.empty(pairs, dtype=np.int32))
    fill_counts(counts, items, rows, members)
    return counts


def list_released_items(
    rows: ItemRows, items: int, group: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the items of each group's rows, int64 (groups + 1,) and int32 (entries,)."""
    members = list_members(group, int(group.max(initial=-1)) + 1)
    start, item = list_majority_items(counts_of(rows, items, members), members)
    return start, item


def compute_matrix_figures(
    rows: ItemRows, items: int, group: NDArray[np.int32]
) -> dict[str, float]:
    """Return the Jaccard similarity, and what is suppressed and created in parts of the entries."""
    entries = len(rows.indices)
    true, both = compute_jaccard(rows, items, group)
    return {
        "jaccard": true / both if entries else 1.0,
        "suppressed": (entries - true) / max(1, entries),
        "created": (both - entries) / max(1, entries),
        "groups": int(group.max(initial=-1)) + 1,
    }


def compute_jaccard(rows: ItemRows, items: int, group: NDArray[np.int32]) -> tuple[int, int]:
    """Return J as a fraction: entries that stay, and those of source or release."""
    members = list_members(group, int(group.max(initial=-1)) + 1)
    true, created = count_true_and_created(counts_of(rows, items, members), members)
    return true, len(rows.indices) + created
