"""Groups whose rows are equal: their checkpoint, what they hide, and how much of it there is."""

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import InputError
from anon_core.steps import State
from anon_core.tables.packing_kernels import unpack_range
from anon_core.tables.records import BinaryTable, Codebook

GROUP = "group"  # int64 (n,): number of each record's group, the one array of a checkpoint


def groups_of(state: State, k: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the groups of a checkpoint; refuse one that is none of a table with these demands."""
    group = state.arrays.get(GROUP)
    if (
        len(state.steps) != 1
        or group is None
        or group.dtype != np.int64
        or group.shape != k.shape
        or group.min() < 0
        or np.bincount(group).min() == 0
        or (np.bincount(group)[group] < k).any()
    ):
        raise InputError("the checkpoint holds no groups of this table; start anew without it")
    return group


def hidden_by_group(table: BinaryTable, group: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return what the rows of each group hide, uint64 (n, words), the same for all its members."""
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    number = np.cumsum(np.bincount(starts, minlength=len(group))) - 1
    bits = table.bits[order]
    bits ^= bits[starts][number]
    union = np.bitwise_or.reduceat(bits, starts)
    for attribute, blank in enumerate(table.blank):
        if blank.any():
            mask = cell_mask(table.codebook, attribute)
            union[np.logical_or.reduceat(blank[order], starts)] |= mask
    hidden = bits  # its room is free
    hidden[order] = union[number]
    return hidden


def cell_mask(book: Codebook, attribute: int) -> NDArray[np.uint64]:
    """Return the packed features of an attribute, uint64 (words,)."""
    first, end = book.bit_offsets[attribute : attribute + 2].tolist()
    return np.frombuffer(
        ((1 << end) - (1 << first)).to_bytes(8 * book.words, "little"), dtype="<u8"
    ).astype(np.uint64)


def hidden_totals(
    book: Codebook, hidden: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many rows hide each feature, and anything of each attribute."""
    per_bit = np.empty(book.features, dtype=np.int64)
    per_cell = np.empty(len(book.attributes), dtype=np.int64)
    for attribute, (first, end) in enumerate(
        zip(book.bit_offsets[:-1], book.bit_offsets[1:], strict=True)
    ):
        flags = np.empty((len(hidden), end - first), dtype=np.bool_)
        unpack_range(hidden, first, end, flags)
        per_bit[first:end] = flags.sum(axis=0)
        per_cell[attribute] = flags.any(axis=1).sum()
    return per_bit, per_cell
