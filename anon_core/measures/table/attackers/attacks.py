"""Attackers as code: the chance of each to name the row that is really a person's.

Every attacker guesses one row per record. The chance to be right follows from the released rows and
the law of the seats, never from who really sits where: what is published of it then tells nothing
of the secret. The result is the chance per record, to be compared with 1/k(v).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from anon_core.jit.kernel import call_both
from anon_core.measures.table.attackers.attacks_kernels import (
    balance_records,
    expect_records,
    find_likeliest,
    find_tightest,
    list_matchable,
)
from anon_core.measures.table.classes import Classes, ReleasedCells
from anon_core.measures.table.crowds import Components, count_matchable, count_rows_by_known

SWEEPS = 50  # then the third digit of a belief stays the same: docs/decisions/009
_MOST_PAIRS = 2**27  # pairs of record and row classes listed at a time: 512 MiB


@dataclass(frozen=True)
class Tightest:
    """The rows that allow the fewest combinations of levels, of those that a record fits.

    Attributes
    ----------
    rank : int64 (row classes,)
        Rank of each row by its number of combinations.
    least, alike : int64 (record classes,)
        The least rank of the rows that a record fits, and how many of them have it.
    """

    rank: NDArray[np.int64]
    least: NDArray[np.int64]
    alike: NDArray[np.int64]


@dataclass(frozen=True)
class Belief:
    """What an insider who does not know the law concludes from a release.

    Attributes
    ----------
    likeliest : float64 (record classes,)
        The chance that a record sits in its likeliest row.
    tightest : float64 (record classes,)
        The chance that a guess among its tightest rows is right.
    """

    likeliest: NDArray[np.float64]
    tightest: NDArray[np.float64]


def tightest_rows(released: ReleasedCells, classes: Classes) -> Tightest:
    """Find the rows that somebody guesses who knows one person's quasi-identifiers."""
    # A product that may exceed 63 bits is computed in Python's whole numbers.
    exact = np.int64 if np.log2(released.level_counts).sum() < 62 else object
    sizes = ReleasedCells(classes.cell, released.levels).sizes().astype(exact)
    rank = np.unique(np.multiply.reduce(sizes, axis=0), return_inverse=True)[1]
    least, alike = np.empty((2, classes.level.shape[1]), dtype=np.int64)
    find_tightest(classes.level_index, classes.bitmap, classes.rows_in, rank, least, alike)
    return Tightest(rank, least, alike)


def list_known_subsets(attributes: int) -> dict[int, list[list[int]]]:
    """Sets of attributes that a partial attacker knows, by their number.

    The numbers are all but one attribute, and half of them. Each set is a window of neighbouring
    attributes, around the table, so every attribute is known equally often.
    """
    around = [*range(attributes), *range(attributes)]
    sizes = sorted({attributes - 1, attributes // 2} - {0}, reverse=True)
    return {size: [around[first : first + size] for first in range(attributes)] for size in sizes}


def partial_linkage(released: ReleasedCells, classes: Classes) -> dict[int, NDArray[np.float64]]:
    """Know some quasi-identifiers of a person and guess uniformly among the rows that they fit.

    Returns
    -------
    dict of float64 (record classes,)
        By number of known attributes: the chance of the true row, a mean over
        `list_known_subsets`. The true row always fits, so this chance is at most that of linkage
        with all attributes.
    """
    success = {}
    for size, subsets in list_known_subsets(len(released.cell)).items():
        chance = np.zeros(classes.level.shape[1])
        counts = [partial(count_rows_by_known, released, classes, known) for known in subsets]
        for one, other in zip(counts[::2], counts[1::2], strict=False):
            for rows in call_both(one, other, len(chance)):  # each numbers all classes anew
                chance += 1 / rows
        if len(counts) % 2:
            chance += 1 / counts[-1]()
        success[size] = chance / len(subsets)
    return success


def attack_as_insider(
    classes: Classes,
    components: Components,
    tightest: Tightest,
    *,
    sweeps: int = SWEEPS,
    most_pairs: int = _MOST_PAIRS,
) -> Belief:
    """Know all quasi-identifiers and the plan, but neither the law nor the secret.

    Parameters
    ----------
    classes : Classes
    components : Components
        Components of the same records and rows.
    tightest : Tightest
    sweeps : int
        How often records and rows are balanced in turn.
    most_pairs : int
        Most pairs of classes in memory. If there are more, each sweep lists them again in parts.

    Returns
    -------
    Belief

    Notes
    -----
    The belief is the matrix of maximal entropy among those whose rows and columns sum to 1 and
    which are 0 where no perfect matching seats a record. It has the form record_weight *
    row_weight; balancing records and rows in turn finds it. The last balance is of the records, so
    each belief is a distribution over rows; a row expects one record up to a remainder. Time
    O(sweeps * pairs), memory O(pairs) up to `most_pairs`. Parts and threads change no digit.

    References
    ----------
    Sinkhorn and Knopp, Concerning nonnegative matrices and doubly stochastic matrices. The limit
    stands in for the marginals of a uniform perfect matching, which are #P-hard.
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
    greatest, tight = np.empty((2, len(records_in)))
    rank, least = tightest.rank, tightest.least
    for first, last, listed in pairs.parts():
        balance_records(first, last, pairs.start, listed, rows_in, row_weight, record_weight)
        weights = rows_in, row_weight, rank, least
        find_likeliest(first, last, pairs.start, listed, weights, greatest, tight)
    chances = (record_weight * greatest, record_weight * tight / tightest.alike)
    return Belief(*(np.minimum(1, chance) for chance in chances))


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
        pairs_of = count_matchable(classes, components, np.ones_like(components.row))
        start = np.concatenate([[0], np.cumsum(pairs_of)])
        bounds = [0]
        while bounds[-1] < len(pairs_of):
            bounds.append(
                max(
                    bounds[-1] + 1,
                    int(np.searchsorted(start, start[bounds[-1]] + most, side="right")) - 1,
                )
            )
        room = int(np.diff(start[bounds]).max())
        pairs = cls(classes, components, start, bounds, np.empty(room, dtype=np.int32))
        # A single part stays listed over all sweeps; several take turns in the one array.
        if len(bounds) == 2:
            pairs.list_part(0)
        return pairs

    def parts(self) -> Iterator[tuple[int, int, NDArray[np.int32]]]:
        """Yield first and last record class of each part, and the list of their row classes."""
        for part, (first, last) in enumerate(zip(self.bounds[:-1], self.bounds[1:], strict=True)):
            if len(self.bounds) > 2:
                self.list_part(part)
            yield first, last, self.listed

    def list_part(self, part: int) -> None:
        """List the pairs of one part."""
        list_matchable(
            self.bounds[part],
            self.bounds[part + 1],
            self.classes.level_index,
            self.classes.bitmap,
            self.components.row,
            self.components.record,
            self.start,
            self.listed,
        )
