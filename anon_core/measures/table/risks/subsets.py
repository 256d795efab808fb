"""Rows that few quasi-identifiers single out: every subset of at most m columns is looked at."""

from dataclasses import dataclass
from itertools import combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import InputError

_SPARSE = 8  # so many numbers a row are counted in an array, more are sorted


@dataclass(frozen=True)
class SubsetGroups:
    """Groups of rows that agree in some columns.

    Attributes
    ----------
    columns : int
        Number of columns.
    least : tuple of int
        By number of columns, from 1 on: rows, or people, in the smallest group.
    weakest : tuple of tuple of int
        The columns of that group; the first of several.
    alone : tuple of int
        By number of columns: rows that some set of at most so many columns singles out.
    minimal : int64 (most, rows)
        Minimal unique sets of each size of each row: sets of columns that single the row out while
        no part of them does.
    """

    columns: int
    least: tuple[int, ...]
    weakest: tuple[tuple[int, ...], ...]
    alone: tuple[int, ...]
    minimal: NDArray[np.int64]

    @property
    def scores(self) -> NDArray[np.int64]:
        """The SUDA score of each row, int64 (rows,).

        A minimal unique set of s columns adds (columns - s)(columns - s - 1)...(columns - m), where
        m is the greatest size that was looked at: the fewer columns single out, the more.

        References
        ----------
        Elliot, Manning and Ford, A Computational Algorithm for Handling the Special Uniques
        Problem; as sdcMicro's `suda2` with `original_scores`.
        """
        most = len(self.minimal)
        weights = [
            prod(self.columns - each for each in range(size, most + 1))
            for size in range(1, most + 1)
        ]
        return np.array(weights, dtype=np.int64) @ self.minimal


def group_by_subsets(
    codes: NDArray[np.integer], most: int, people: NDArray[np.integer] | None = None
) -> SubsetGroups:
    """Group rows by every set of at most `most` columns.

    Parameters
    ----------
    codes : int (columns, rows)
        Equal numbers are equal cells.
    most : int
        At least 1, below the number of columns.
    people : int (rows,), optional
        The person of each row: groups then count people, and a row stands alone if its group is of
        one person.

    Raises
    ------
    InputError
        `most` is out of range.

    Notes
    -----
    A part of a set is unique for a row only if the set is, so the parts of one column less decide
    whether a set is minimal. Time O(sets * rows), memory 5 bytes a row for each set of less than
    `most` columns.
    """
    columns, rows = codes.shape
    if not 1 <= most < columns:
        raise InputError(
            f"subsets must be at least 1 and below the number of quasi-identifiers, {columns}"
        )
    group: dict[tuple[int, ...], NDArray[np.int32]] = {(): np.zeros(rows, dtype=np.int32)}
    alone: dict[tuple[int, ...], NDArray[np.bool_]] = {(): np.zeros(rows, dtype=np.bool_)}
    minimal = np.zeros((most, rows), dtype=np.int64)
    least, weakest = [], []
    for size in range(1, most + 1):
        wider, wider_alone = {}, {}
        smallest = rows + 1
        for subset in combinations(range(columns), size):
            ranked = _rank_pairs(group[subset[:-1]], codes[subset[-1]])
            held = count_held(ranked, people)
            single = held == 1
            known = np.zeros(rows, dtype=np.bool_)
            for left_out in range(size):
                known |= alone[subset[:left_out] + subset[left_out + 1 :]]
            minimal[size - 1] += single & ~known
            if held.min() < smallest:
                smallest, of = int(held.min()), subset
            if size < most:
                wider[subset], wider_alone[subset] = ranked, single
        least.append(smallest)
        weakest.append(of)
        group, alone = wider, wider_alone
    singled = np.cumsum(minimal, axis=0) > 0
    return SubsetGroups(
        columns, tuple(least), tuple(weakest), tuple(singled.sum(axis=1).tolist()), minimal
    )


def _rank_pairs(group: NDArray[np.int32], codes: NDArray[np.integer]) -> NDArray[np.int32]:
    """Number the groups of rows that agree in two numbers, int32 (rows,)."""
    pairs = group.astype(np.int64) * (int(codes.max()) + 1) + codes
    if int(pairs.max()) < _SPARSE * len(pairs):
        occurs = np.bincount(pairs) > 0
        rank = np.cumsum(occurs, dtype=np.int32) - np.int32(1)
        return rank[pairs]
    return np.unique(pairs, return_inverse=True)[1].astype(np.int32)


def count_held(group: NDArray[np.integer], people: NDArray[np.integer] | None) -> NDArray[np.int64]:
    """Rows, or different people, in the group of each row, int64 (rows,)."""
    held: NDArray[np.int64] = np.bincount(group)
    if people is not None:
        width = int(people.max()) + 1
        held = np.bincount(np.unique(group.astype(np.int64) * width + people) // width)
    found: NDArray[np.int64] = held[group]
    return found
