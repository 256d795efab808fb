"""Groups that grow by greedy matching of pairs of groups."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.smooth.counts import counts_of
from anon_core.anonymizers.smooth.counts_kernels import ItemRows, list_members
from anon_core.anonymizers.smooth.matching_kernels import (
    join_pairs,
    propose_partners,
    sum_group_squares,
)
from anon_core.anonymizers.smooth.neighbours_kernels import BEYOND_DISTANCE

_OFFERS = 8  # pairs that a group proposes at a time
_ROUNDS = 8  # at one target
_FEW = 64  # a round that joins fewer than a 64th of the groups is the last of its target


class Grown(NamedTuple):
    """Groups on their way to their size."""

    group: NDArray[np.int32]  # (n,)
    size: NDArray[np.int64]  # (groups,)
    need: NDArray[np.int64]  # (groups,): greatest k of the members
    square: NDArray[np.int64]  # (groups,): sum of c^2


def match_groups(rows: ItemRows, items: int, near: NDArray[np.int32]) -> NDArray[np.int32]:
    """Join single records to pairs, pairs to fours, up to k; some groups stay smaller.

    The targets are k / 2^level, rounded up. At each, pairs of groups below it join in the order of
    what sum c^2 / s loses.
    """
    group = np.arange(len(rows.k), dtype=np.int32)
    for level in reversed(range(int(rows.k.max(initial=1) - 1).bit_length())):
        for _ in range(_ROUNDS):
            before = int(group.max()) + 1
            group, joined = _match_round(rows, items, near, group, level)
            if joined * _FEW < before:
                break
    return group


def _match_round(
    rows: ItemRows, items: int, near: NDArray[np.int32], group: NDArray[np.int32], level: int
) -> tuple[NDArray[np.int32], int]:
    """One round of pairs."""
    size = np.bincount(group)
    need = np.zeros(len(size), dtype=np.int64)
    np.maximum.at(need, group, rows.k)
    members = list_members(group, len(size))
    counts = counts_of(rows, items, members)
    groups = Grown(group, size, need, sum_group_squares(counts))
    loss = np.empty((len(size), _OFFERS), dtype=np.int64)
    partner = np.empty((len(size), _OFFERS), dtype=np.int32)
    propose_partners(loss, partner, level, items, groups, members, counts, near)
    lightest = np.argsort(loss, axis=None, kind="stable")
    lightest = lightest[: np.count_nonzero(loss < BEYOND_DISTANCE)]
    label = np.empty(len(size), dtype=np.int32)
    joined = join_pairs(lightest, partner, label)
    return np.unique(label, return_inverse=True)[1].astype(np.int32)[group], joined
