"""Records in the order of their columns' variance, and groups that follow this order."""

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.loss_kernels import LevelCells
from anon_core.anonymizers.optimal.columns import GroupLists, group_losses
from anon_core.anonymizers.optimal.greedy_kernels import (
    Runs,
    grow_greedy_groups,
    place_leftover_records,
)
from anon_core.tables.loss import LossTable, level_values
from anon_core.tables.records import BinaryTable


def by_variance(table: BinaryTable, loss: str) -> NDArray[np.int64]:
    """The records by their values, columns of small variance first (Liang and Samavi, eq. 36).

    The variance of a column is divided by the square of its weight. Equals stay in order, a missing
    value stands first.
    """
    columns = []
    for attribute, codes in zip(table.codebook.attributes, table.codes, strict=True):
        values = level_values(attribute, loss)[codes]
        values = np.where(np.isnan(values), np.nanmin(values, initial=0.0) - 1, values)
        columns.append((values.var() / attribute.weight**2, values))
    order = sorted(range(len(columns)), key=lambda a: columns[a][0])
    return np.lexsort([columns[a][1] for a in reversed(order)])


def build_initial_groups(table: BinaryTable) -> GroupLists:
    """The initial feasible solution: records in order, cut as soon as their demands are met."""
    groups: GroupLists = []
    for v in range(table.records):
        if not groups or len(groups[-1]) >= table.k[groups[-1]].max():
            groups.append([])
        groups[-1].append(v)
    while len(groups) > 1 and len(groups[-1]) < table.k[groups[-1]].max():
        rest = groups.pop()
        groups[-1] += rest
    return groups


def build_greedy_groups(table: BinaryTable, loss: LossTable, *, sequential: bool) -> GroupLists:
    """Algorithm 2 of Liang and Samavi: O(n^2 attributes) time at most, O(n levels) memory."""
    cells, k = LevelCells.of(table, loss), table.k.astype(np.int64)
    group = np.full(table.records, -1, dtype=np.int64)
    rows = grow_greedy_groups(k, cells, Runs.of(cells), group)
    if len(rows) == 0:
        return [list(range(table.records))]
    place_leftover_records(k, cells, rows, sequential, group)
    order, ends = np.argsort(group, kind="stable"), np.cumsum(np.bincount(group))
    return _merge_small_groups([part.tolist() for part in np.split(order, ends[:-1])], table.k)


def first_known(table: BinaryTable, loss: LossTable) -> GroupLists:
    """The better of the initial feasible solution and greedy search."""
    both = build_initial_groups(table), build_greedy_groups(table, loss, sequential=True)
    return min(both, key=lambda groups: group_losses(table, loss, groups).sum())


def _merge_small_groups(groups: GroupLists, k: NDArray[np.int32]) -> GroupLists:
    """Join groups that are too small for a member that came last with the group before them."""
    done: GroupLists = []
    for group in groups:
        if done and len(done[-1]) < k[done[-1]].max():
            done[-1] = sorted(done[-1] + group)
        else:
            done.append(group)
    while len(done) > 1 and len(done[-1]) < k[done[-1]].max():
        rest = done.pop()
        done[-1] = sorted(done[-1] + rest)
    return done
