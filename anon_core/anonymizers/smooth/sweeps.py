"""Local search: what is too small dissolves, and records move or swap where that raises J."""

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.smooth.annealing_kernels import anneal_records
from anon_core.anonymizers.smooth.counts_kernels import LOG_BITS, ItemRows
from anon_core.anonymizers.smooth.state import open_groups
from anon_core.anonymizers.smooth.sweeps_kernels import (
    apply_moves,
    find_best_moves,
    place_waiting_records,
)

_PARTS = 32  # of a sweep: moves are found for a part at once, and made one by one
_LEAST = 256  # records of a part
_HOTTEST = 0.3  # entries: what annealing gives up at first with a chance of a half


def dissolve_small_groups(
    rows: ItemRows, items: int, near: NDArray[np.int32], group: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Give the records of groups below their need to groups of their neighbours."""
    size, need = np.bincount(group), find_group_needs(rows, group)
    small = size < need
    if small.all():
        return _group_leftovers(rows, np.full_like(group, -1))
    number = np.where(small, -1, np.cumsum(~small) - 1).astype(np.int32)
    group, need = number[group], need[~small]
    groups = open_groups(rows, items, group)
    waiting = np.flatnonzero(groups.group < 0)
    while len(waiting) and place_waiting_records(waiting, need, rows, near, groups, items):
        waiting = np.flatnonzero(groups.group < 0)
    return _group_leftovers(rows, groups.group)


def _group_leftovers(rows: ItemRows, group: NDArray[np.int32]) -> NDArray[np.int32]:
    """Group records that are in no group one after the other; the last of them join the largest."""
    group, begun = group.copy(), []
    groups = int(group.max(initial=-1)) + 1
    for v in np.flatnonzero(group < 0).tolist():
        begun.append(v)
        if len(begun) >= rows.k[begun].max():
            group[begun] = groups
            groups, begun = groups + 1, []
    while begun:
        grouped = np.flatnonzero(group >= 0)
        largest = int(np.bincount(group[grouped]).argmax())
        inside = np.flatnonzero(group == largest)
        if len(inside) + len(begun) >= rows.k[begun].max():
            group[begun] = largest
            break
        group[inside] = -1
        begun += inside.tolist()
    return np.unique(group, return_inverse=True)[1].astype(np.int32)


def find_group_needs(rows: ItemRows, group: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the greatest k of each group's members, int64 (groups,)."""
    need = np.zeros(int(group.max(initial=-1)) + 1, dtype=np.int64)
    np.maximum.at(need, group, rows.k)
    return need


def run_sweep(
    rows: ItemRows,
    items: int,
    near: NDArray[np.int32],
    group: NDArray[np.int32],
    rest: tuple[int, int] = (0, 0),
) -> tuple[NDArray[np.int32], int]:
    """Let each record once move, or swap with another, where that raises J most; see `open_groups`.

    Returns
    -------
    int32 (n,)
        Each record's group.
    int
        Moves and swaps made.
    """
    groups, n, made = open_groups(rows, items, group, rest), len(group), 0
    length = max(_LEAST, -(-n // _PARTS))
    for first in range(0, n, length):
        last = min(n, first + length)
        to, with_whom = np.empty((2, last - first), dtype=np.int32)
        find_best_moves(first, to, with_whom, rows, near, groups, items)
        made += apply_moves(first, to, with_whom, rows, groups, items)
    return groups.group, made


def run_annealing_sweep(
    rows: ItemRows,
    items: int,
    near: NDArray[np.int32],
    group: NDArray[np.int32],
    sweep: int,
    sweeps: int,
    rest: tuple[int, int] = (0, 0),
) -> tuple[NDArray[np.int32], int]:
    """One of so many sweeps of annealing, 1 .. sweeps, whose temperature falls evenly to 0.

    Returns
    -------
    int32 (n,)
        Each record's group.
    int
        Moves and swaps made.
    """
    groups = open_groups(rows, items, group, rest)
    heat = int(_HOTTEST * 2**LOG_BITS) * (sweeps - sweep) // sweeps
    made = anneal_records(sweep, heat, rows, near, groups, items)
    return groups.group, made
