"""Attackers as code: how likely each of them names the row that is really a person's.

Every attacker guesses one row a record and is judged by the canonical matching; the answer is its chance of being right,
by record, to be compared with 1/k(v).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anon_core.measures.table.attacks_kernels import (
    ALIKE,
    balance_records,
    count_matchable,
    count_partly,
    expect_records,
    find_likeliest,
    find_tightest,
    list_matchable,
)
from anon_core.measures.table.classes import Classes, ReleasedCells, bitmap
from anon_core.measures.table.crowds import Components
from anon_core.tables.records import Codebook

SWEEPS = 50  # after which beliefs stand still in the third digit: docs/performance.md
MOST_PAIRS = 2**27  # of record and row classes listed at a time: 512 MiB

# By chance t guesses or more of n in a random order are right with a probability of at most 1 / t!, whatever n is: of
# sets of t records each lies all right with (n - t)! / n!, and there are n! / (t! (n - t)!) of them. The four guesses of
# `order_hits` together reach this many with less than 4 / 13! < 1e-9.
BEYOND_CHANCE = 13


@dataclass(frozen=True)
class Belief:
    """What an insider makes of a release.

    Attributes
    ----------
    likeliest : float64 (n,)
        The chance, as the insider sees it, that a record sits in the likeliest of its rows.
    right : float64 (n,)
        Chance that a guess among the likeliest rows is right: 0, 1, or a share where several are equally likely.
    """

    likeliest: NDArray[np.float64]
    right: NDArray[np.float64]


def tightest_row(
    codebook: Codebook, released: ReleasedCells, classes: Classes, seat: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Guess among the rows a person fits those that allow the fewest combinations of levels.

    Parameters
    ----------
    codebook : Codebook
    released : ReleasedCells
    classes : Classes
        Of source records and released rows.
    seat : int64 (n,)
        Row of each record: a perfect matching in which every record fits its row.

    Returns
    -------
    float64 (n,)
        0, or 1 / the number of rows that are equally tight.
    """
    # Products of few levels are exact in 63 bits, others in Python's whole numbers.
    exact = np.int64 if sum(math.log2(a.levels) for a in codebook.attributes) < 62 else object
    sizes = released.sizes().astype(exact)
    combinations = np.multiply.reduce(sizes, axis=0)
    rank = np.empty(classes.cell.shape[1], dtype=np.int64)
    rank[classes.row_class] = np.unique(combinations, return_inverse=True)[1]
    least, alike = np.empty((2, classes.level.shape[1]), dtype=np.int64)
    find_tightest(classes.level_index, classes.bitmap, classes.rows_in, rank, least, alike)
    of = classes.record_class
    return np.where(rank[classes.row_class[seat]] == least[of], 1 / alike[of], 0.0)


def known_subsets(attributes: int) -> dict[int, list[list[int]]]:
    """Which attributes a partial attacker knows, by their number: all windows of that many neighbours, around the table.

    All but one of them, and half of them; every attribute is known equally often.
    """
    around = [*range(attributes), *range(attributes)]
    sizes = sorted({attributes - 1, attributes // 2} - {0}, reverse=True)
    return {size: [around[first : first + size] for first in range(attributes)] for size in sizes}


def partial_linkage(released: ReleasedCells, classes: Classes) -> dict[int, NDArray[np.float64]]:
    """Know some quasi-identifiers of one person and guess uniformly among the rows that these fit.

    Returns
    -------
    dict of float64 (n,)
        By how many are known: the chance of the true row, as a mean over `known_subsets`. The true row is always among
        those that fit, so this is never more than by linkage with all of them.
    """
    rows = bitmap(
        [levels[cell].T for cell, levels in zip(released.cell, released.levels, strict=True)]
    )
    success = {}
    for size, subsets in known_subsets(len(released.cell)).items():
        counts = np.zeros((len(subsets), classes.level.shape[1]), dtype=np.int32)
        start = np.arange(len(subsets) + 1) * size
        count_partly(classes.level_index, rows, start, np.concatenate(subsets), counts)
        success[size] = (1 / counts).mean(axis=0)[classes.record_class]
    return success


def insider(
    classes: Classes,
    components: Components,
    seat: NDArray[np.int64],
    *,
    sweeps: int = SWEEPS,
    most_pairs: int = MOST_PAIRS,
) -> Belief:
    """Know everybody's quasi-identifiers, the plan and the code, but not the secret; guess the likeliest row.

    Parameters
    ----------
    classes : Classes
    components : Components
        Those of the same records and rows.
    seat : int64 (n,)
        As for `tightest_row`.
    sweeps : int
        How often records and rows are balanced in turn.
    most_pairs : int
        Pairs of classes that are listed at once; the list of more than these is made anew in parts for each sweep.

    Returns
    -------
    Belief

    Notes
    -----
    The belief is the matrix of maximal entropy among those whose rows and columns sum to 1 and that are 0 where no perfect
    matching seats a record: record_weight * row_weight, found by balancing records and rows in turn. It ends with
    the records, so each belief is a distribution over rows, while rows expect one record up to what the sweeps leave.
    Time O(sweeps * pairs), memory O(pairs) up to `most_pairs`; the parts change no digit, nor do threads.

    References
    ----------
    Sinkhorn and Knopp, Concerning nonnegative matrices and doubly stochastic matrices; its limit stands in for the
    marginals of a uniform perfect matching, which are #P-hard.
    """
    rows_in, records_in = classes.rows_in, classes.records_in
    pairs = _Pairs.of(classes, components, most_pairs)
    row_weight, record_weight = np.ones(len(rows_in)), np.empty(len(records_in))
    for _ in range(sweeps):
        expected = np.zeros(len(rows_in))
        for first, last, listed in pairs.parts():
            balance_records(first, last, pairs.start, listed, rows_in, row_weight, record_weight)
            expect_records(first, last, pairs.start, listed, records_in, record_weight, expected)
        row_weight = 1 / expected
    greatest, alike = np.empty(len(records_in)), np.empty(len(records_in), dtype=np.int64)
    for first, last, listed in pairs.parts():
        balance_records(first, last, pairs.start, listed, rows_in, row_weight, record_weight)
        find_likeliest(first, last, pairs.start, listed, rows_in, row_weight, greatest, alike)
    of = classes.record_class
    right = row_weight[classes.row_class[seat]] >= greatest[of] * ALIKE
    return Belief(np.minimum(1, record_weight * greatest)[of], np.where(right, 1 / alike[of], 0.0))


@dataclass
class _Pairs:
    """Matchable pairs of record and row classes, listed as a whole or in parts."""

    classes: Classes
    components: Components
    start: NDArray[np.int64]
    bounds: list[int]
    listed: NDArray[np.int32]

    @classmethod
    def of(cls, classes: Classes, components: Components, most: int) -> "_Pairs":
        found = np.empty(classes.level.shape[1], dtype=np.int64)
        count_matchable(
            classes.level_index, classes.bitmap, components.row, components.record, found
        )
        start = np.concatenate([[0], np.cumsum(found)])
        bounds = [0]
        while bounds[-1] < len(found):
            bounds.append(
                max(
                    bounds[-1] + 1,
                    int(np.searchsorted(start, start[bounds[-1]] + most, side="right")) - 1,
                )
            )
        room = int(np.diff(start[bounds]).max())
        pairs = cls(classes, components, start, bounds, np.empty(room, dtype=np.int32))
        if len(bounds) == 2:
            pairs.list_part(0)
        return pairs

    def parts(self) -> Iterator[tuple[int, int, NDArray[np.int32]]]:
        """First and last record class of each part, and the list of their row classes."""
        for part, (first, last) in enumerate(zip(self.bounds[:-1], self.bounds[1:], strict=True)):
            if len(self.bounds) > 2:
                self.list_part(part)
            yield first, last, self.listed

    def list_part(self, part: int) -> None:
        """Fill the list."""
        list_matchable(
            self.bounds[part], self.bounds[part + 1], self.classes.level_index, self.classes.bitmap, self.components.row,
            self.components.record, self.start, self.listed,
        )  # fmt: skip


def order_hits(seat: NDArray[np.int64]) -> dict[str, NDArray[np.bool_]]:
    """Guess rows by nothing but their order, bool (n,) by guess: whether it is right.

    Parameters
    ----------
    seat : int64 (n,)
        Row of each record, records in the order of the source; -1: none.

    Returns
    -------
    dict of bool (n,)
        "same place": record i sits in row i; "from the end": in row n - 1 - i; "next row", "row before": in the row
        after or before that of the record before it.
    """
    place = np.arange(len(seat))
    before = np.concatenate([[-1], seat[:-1]])
    known = (before >= 0) & (seat >= 0)
    return {
        "same place": seat == place,
        "from the end": seat == place[::-1],
        "next row": (seat == before + 1) & known,
        "row before": (seat == before - 1) & known,
    }
