"""Split & Carry: parts of the records in order, each solved for itself with what was carried."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from anon_core.anonymizers.optimal.columns import GroupLists, group_losses
from anon_core.anonymizers.optimal.ordered import first_known
from anon_core.anonymizers.optimal.partition import PART_BUDGET, least_loss
from anon_core.tables.loss import LossTable
from anon_core.tables.records import BinaryTable


class Split(NamedTuple):
    """How records are split into parts, and which groups are carried; k: the greatest demand.

    Attributes
    ----------
    sets : int
        S: each part reads `sets` k records.
    boundary : int
        l: the groups of so many last records are carried; 0: of k records.
    part : int
        P: each part holds so many records, those carried included; 0: `sets` and `boundary` count.
    accept : int
        A: of a part of P records so many groups stay, those that lose least; others are carried.
    """

    sets: int = 3
    boundary: int = 0
    part: int = 0
    accept: int = 0


class Solved(NamedTuple):
    """A part: its records, the groups that stay, and the records that are carried to the next."""

    records: list[int]
    groups: GroupLists
    carried: list[int]


def run_split_and_carry(table: BinaryTable, loss: LossTable, split: Split) -> GroupLists:
    """Algorithm 1 of Liang and Samavi, or the bubble carry of their section 6."""
    return [group for part in solve_parts(table, loss, split) for group in part.groups]


def solve_parts(table: BinaryTable, loss: LossTable, split: Split) -> Iterator[Solved]:
    """Solve one part after the other.

    Notes
    -----
    The paper's classes may overlap; it carries a k-set of each boundary record, and the records
    indirectly equivalent to it if they are fewer than k. Here a group has at most 2 k - 1 records,
    so what it has beyond a k-set is fewer than k, and all of it is carried. Lemma 2 holds: a part
    has at most boundary (2 k - 1) + sets k records. Fewer than k records at the end belong to the
    last part in addition, as in the paper's worked example. A part whose best partition is not
    proved within `PART_BUDGET` keeps the best found.
    """
    k, n = int(table.k.max()), table.records
    carried: list[int] = []
    end = 0
    while end < n:
        begin, end = end, end + (split.part - len(carried) if split.part else k * split.sets)
        end = n if n - end < k else end
        records = carried + list(range(begin, end))
        piece = table.at(np.array(records))
        best, _ = least_loss(piece, loss, first_known(piece, loss), PART_BUDGET)
        stay = range(len(best)) if end == n else _list_staying_groups(piece, loss, best, split)
        groups = [[records[v] for v in best[g]] for g in stay]
        done = {v for group in groups for v in group}
        carried = [v for v in records if v not in done]
        yield Solved(records, groups, carried)


def _list_staying_groups(
    piece: BinaryTable, loss: LossTable, groups: GroupLists, split: Split
) -> list[int]:
    """The groups of a part that are not carried."""
    if split.part:
        losses = group_losses(piece, loss, groups)
        return sorted(range(len(groups)), key=losses.__getitem__)[: split.accept]
    first = piece.records - (split.boundary or int(piece.k.max()))
    return [g for g, group in enumerate(groups) if max(group) < first]
