"""Blocks of records that hash alike, each grouped by itself, here or wherever a farm has workers.

Further passes cut other blocks, of whole groups: what lay at the border of a block meets others.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.smooth.blocks_kernels import compute_consensus_keys
from anon_core.anonymizers.smooth.counts import compute_jaccard
from anon_core.anonymizers.smooth.counts_kernels import (
    ItemRows,
    Members,
    list_members,
    take_records,
)
from anon_core.anonymizers.smooth.each import Each
from anon_core.anonymizers.smooth.matching import match_groups
from anon_core.anonymizers.smooth.neighbours import list_neighbours
from anon_core.anonymizers.smooth.neighbours_kernels import draw_arrivals
from anon_core.anonymizers.smooth.sweeps import (
    dissolve_small_groups,
    find_group_needs,
    run_annealing_sweep,
    run_sweep,
)

PASSES = 3  # a second one raises J by .2 to .3 points, a third by .2
_AROUND = 8  # neighbours of a record that decide its block

GroupOf = NDArray[np.int32]
GroupingResult = tuple[
    GroupOf, int
]  # the group of each record, and how many moves and swaps were made


class GroupingTask(NamedTuple):
    """What is to be grouped, and how."""

    rows: ItemRows
    items: int
    annealing: int
    sweeps: int


class _Ground:
    """What all blocks of a pass share. Its repr is opaque.

    Attributes
    ----------
    items, annealing, sweeps : int
    whole : (int, int)
        J of all records as a fraction, see `Groups.whole`; (0, 0) in the first pass.
    """

    def __init__(self, items: int, annealing: int, sweeps: int, whole: tuple[int, int]) -> None:
        self.items, self.annealing, self.sweeps, self.whole = items, annealing, sweeps, whole


class _Block:
    """Records that are grouped by themselves, in the order that decides ties. Its repr is opaque.

    Attributes
    ----------
    number : int
        Its place among the blocks.
    rows : ItemRows
    near : int32 (m, most)
        Nearest records of each that are in the block, see `list_neighbours`.
    group : int32 (m,)
        Group of each record, numbered from 0; empty in the first pass.
    """

    def __init__(self, number: int, rows: ItemRows, near: GroupOf, group: GroupOf) -> None:
        self.number, self.rows, self.near, self.group = number, rows, near, group


def group_block(ground: _Ground, block: _Block) -> GroupingResult:
    """Group the records of a block, or let those in groups move and swap."""
    rows, items, near, rest = block.rows, ground.items, block.near, (0, 0)
    if len(block.group):
        group, moved = block.group, 0
        true, entries = compute_jaccard(rows, items, group)
        rest = ground.whole[0] - true, ground.whole[1] - entries
    else:
        group, moved = (
            dissolve_small_groups(rows, items, near, match_groups(rows, items, near)),
            len(rows.k),
        )
    for sweep in range(1, ground.annealing + 1):
        group, made = run_annealing_sweep(rows, items, near, group, sweep, ground.annealing, rest)
        moved += made
    for _ in range(ground.sweeps):
        group, made = run_sweep(rows, items, near, group, rest)
        moved += made
        if not made:
            break
    return group, moved


def run_passes(
    work: GroupingTask,
    group: GroupOf,
    turns: range,
    length: int,
    each: Each,
    report: Callable[[int], None],
) -> Iterator[GroupingResult]:
    """Yield the groups of all records after each of these passes, and the moves made.

    Parameters
    ----------
    work : GroupingTask
    group : int32 (n,)
        Groups before the first of these passes; empty if there was none.
    turns : range
        Numbers of the passes, from 0.
    length : int
        Records of a block.
    each : callable
        Who searches neighbours and groups blocks.
    report : callable
        It receives how many records of the pass are done.
    """
    rows, items = work.rows, work.items
    near = list_neighbours(rows, items, each, length)
    for turn in turns:
        whole = compute_jaccard(rows, items, group) if len(group) else (0, 0)
        members = blocks_of(rows, items, near, group, turn, length)
        first = np.cumsum([0, *map(len, members)])
        blocks = (_build_block(at, rows, near, inside, group) for at, inside in enumerate(members))
        found, moved, done = np.empty(len(rows.k), dtype=np.int64), 0, 0
        ground = _Ground(items, work.annealing, work.sweeps, whole)
        for block, (part, made) in each(group_block, ground, blocks):
            found[members[block.number]] = first[block.number] + part
            moved, done = moved + made, done + len(part)
            report(done)
        group = _number_groups(found)
        yield group, moved


def _build_block(
    number: int, rows: ItemRows, near: GroupOf, inside: NDArray[np.int64], group: GroupOf
) -> _Block:
    # Place in the block of each record; the last one stands for -1, no neighbour.
    place = np.full(len(rows.k) + 1, -1, dtype=np.int32)
    place[inside] = np.arange(len(inside))
    held = _number_groups(group[inside]) if len(group) else group
    return _Block(number, take_records(rows, inside), place[near[inside]], held)


def _number_groups(label: NDArray[np.int64] | GroupOf) -> GroupOf:
    """Number the groups from 0."""
    return np.unique(label, return_inverse=True)[1].astype(np.int32)


def blocks_of(
    rows: ItemRows, items: int, near: GroupOf, group: GroupOf, turn: int, length: int
) -> list[NDArray[np.int64]]:
    """Cut records, or whole groups, into blocks of those that hash alike; others each turn.

    A group hashes by what half of it holds, a record by what half of its neighbours hold.

    Returns
    -------
    list of int64 (m,)
        Records of each block, ascending.
    """
    n = len(rows.k)
    own = np.arange(n, dtype=np.int32)
    if len(group):
        need, size = find_group_needs(rows, group), np.bincount(group)
        around = list_members(group, len(size))
    else:
        need, size = rows.k, np.ones(n, dtype=np.int64)
        sets = np.column_stack([own, np.where(near < 0, own[:, None], near)[:, :_AROUND]])
        around = Members(np.arange(n + 1) * sets.shape[1], sets.ravel())
    keys = np.empty(len(size), dtype=np.uint64)
    frequency = np.bincount(rows.indices, minlength=items)
    arrivals = np.stack([draw_arrivals(frequency, n, 3 * turn + each) for each in range(3)])
    compute_consensus_keys(keys, around, items, rows, arrivals)
    sequence = np.argsort(keys, kind="stable")
    block = np.empty(len(size), dtype=np.int64)
    block[sequence] = cut_into_blocks(size[sequence], need[sequence], length)
    of = block[group] if len(group) else block
    members = np.argsort(of, kind="stable")
    return np.split(members, np.cumsum(np.bincount(of))[:-1])


def cut_into_blocks(
    size: NDArray[np.int64], need: NDArray[np.int64] | NDArray[np.int32], length: int
) -> NDArray[np.int64]:
    """Cut a sequence of groups, or of single records, into blocks of equal length.

    A block with fewer records than one of them demands joins the next; the last, those before.

    Parameters
    ----------
    size : int64 (groups,)
        Records of each; n in all, at least 1.
    need : int (groups,)
        The greatest k of each, at most n.
    length : int
        Records of a block, at most, where no group lies across a border.

    Returns
    -------
    int64 (groups,)
        Number of the block of each.
    """
    n = int(size.sum())
    number = -(-n // length)
    borders = np.arange(1, number) * n // number
    block = np.searchsorted(borders, np.cumsum(size) - size, side="right")
    records, most = np.zeros((2, number), dtype=np.int64)
    np.add.at(records, block, size)
    np.maximum.at(most, block, need)
    ends, begin = [], 0
    for end in range(1, number + 1):
        if records[begin:end].sum() >= most[begin:end].max():
            ends.append(end)
            begin = end
    while ends and records[ends[-1] :].sum() < most[ends[-1] :].max(initial=0):
        ends.pop()
    label = np.searchsorted(ends, block, side="right")
    # A group longer than a block leaves blocks without records.
    return np.unique(label, return_inverse=True)[1]
