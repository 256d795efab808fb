"""Groups whose rows are equal: the course of a method that makes them, and what they hide."""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.weights import compute_utilities
from anon_core.errors import InputError
from anon_core.steps import Observer, State, Step
from anon_core.tables.closing import close_trees
from anon_core.tables.packing_kernels import unpack_range
from anon_core.tables.records import BinaryTable, Codebook, MaskedTable

_GROUP = "group"  # int64 (n,): number of each record's group, the one array of a checkpoint


def mask_groups(
    data: BinaryTable,
    k: NDArray[np.int32],
    find: Callable[[], tuple[NDArray[np.int64], Mapping[str, float]]],
    weights: tuple[NDArray[np.int32], NDArray[np.int32]],
    observer: Observer | None,
    resume: State | None,
) -> tuple[MaskedTable, NDArray[np.int64]]:
    """Hide features until the rows of every group are equal: one step.

    Parameters
    ----------
    data : BinaryTable
    k : int32 (n,)
        How many rows the group of each record has at least.
    find : callable
        Returns the number of each record's group, int64 (n,), and figures of the step. Not called
        with a checkpoint.
    weights : int32 (f,) and int32 (attributes,)
        See `feature_weights`.
    observer, resume
        See `Anonymizer.anonymize`.

    Returns
    -------
    MaskedTable
        Its step's figures are `utility`, `weighted_utility`, `classes` and those of `find`.
    int64 (n,)
        Number of each record's group.
    """
    observer = observer or Observer()
    observer.expects(1)
    group, found = find() if resume is None else _restore_groups(resume, k)
    hidden = hide_group_differences(data, group)
    figures = compute_hidden_figures(data, hidden, weights)
    step = Step(1, {**found, **figures, "classes": int(group.max()) + 1})
    if resume is None:
        observer.report_records(data.records)
        observer.on_step(State({_GROUP: group}, (step,)))
    return MaskedTable(data, hidden, (step,), 1), group


def _restore_groups(
    state: State, k: NDArray[np.int32]
) -> tuple[NDArray[np.int64], Mapping[str, float]]:
    """The groups and figures of a checkpoint; refuse one of no table with these demands."""
    group = state.arrays.get(_GROUP)
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
    return group, state.steps[0].figures


def hide_group_differences(table: BinaryTable, group: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return what the rows of each group hide, uint64 (n, words), the same for all its members."""
    permutation = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[permutation], prepend=-1))
    number = np.cumsum(np.bincount(starts, minlength=len(group))) - 1
    bits = table.bits[permutation]
    # Where two members differ, one of them differs from the first, so its differences are enough.
    bits ^= bits[starts][number]
    union = np.bitwise_or.reduceat(bits, starts)
    for attribute, blank in enumerate(table.blank):
        if blank.any():
            mask = cell_mask(table.codebook, attribute)
            union[np.logical_or.reduceat(blank[permutation], starts)] |= mask
    hidden = bits  # its room is free
    hidden[permutation] = union[number]
    return close_trees(table, hidden)


def cell_mask(book: Codebook, attribute: int) -> NDArray[np.uint64]:
    """Return the packed features of an attribute, uint64 (words,)."""
    first, end = book.bit_offsets[attribute : attribute + 2].tolist()
    # Python's integers have any length: an attribute may span several words.
    return np.frombuffer(
        ((1 << end) - (1 << first)).to_bytes(8 * book.words, "little"), dtype="<u8"
    ).astype(np.uint64)


def compute_hidden_figures(
    data: BinaryTable,
    hidden: NDArray[np.uint64],
    weights: tuple[NDArray[np.int32], NDArray[np.int32]],
) -> dict[str, float]:
    """Return the `compute_utilities` of what is hidden, uint64 (n, words)."""
    book = data.codebook
    per_bit = np.empty(book.features, dtype=np.int64)
    per_cell = np.empty(len(book.attributes), dtype=np.int64)
    for attribute, (first, end) in enumerate(
        zip(book.bit_offsets[:-1], book.bit_offsets[1:], strict=True)
    ):
        flags = np.empty((len(hidden), end - first), dtype=np.bool_)
        unpack_range(hidden, first, end, flags)
        per_bit[first:end] = flags.sum(axis=0)
        per_cell[attribute] = flags.any(axis=1).sum()
    return compute_utilities(per_bit, per_cell, weights, data.records)
