"""Crowds and histories in a series of releases, from the rows that fit each record alone.

A cell is the set of rows that were published in the same versions, with the records that own them.
A chain is what one record owns over time: at most one row a cell (docs/theory.md, 10).
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from anon_core.errors import InputError

MOST_HISTORIES = 2**62  # numbers of histories stop here


@dataclass(frozen=True)
class SeriesCell:
    """The records of one cell and the rows that fit them.

    Attributes
    ----------
    chain : int64 (n,)
        Number of each record's chain; no two records of a cell have the same.
    start, row : int64 (n + 1,), int32 (pairs,)
        Rows of this cell that fit record v: row[start[v] : start[v + 1]].
    seat : int64 (n,), optional
        Row of each record; record v owns row v if None.
    value : int64 (n,), optional
        By row: what it carries in the columns that never change for a person. None: nothing.
    """

    chain: NDArray[np.int64]
    start: NDArray[np.int64]
    row: NDArray[np.int32]
    seat: NDArray[np.int64] | None = None
    value: NDArray[np.int64] | None = None


@dataclass(frozen=True)
class Histories:
    """What an attacker cannot exclude who knows of everybody when a row was published or withdrawn.

    Attributes
    ----------
    chain : int64 (chains,)
        Ascending.
    number : int64 (chains,)
        Histories that may be the chain's: a matchable row in each of its cells, all of one value.
        Numbers from 2^62 on are stated as 2^62.
    rows : int64 (chains,)
        Rows on such a history in that version of the chain where they are fewest.
    """

    chain: NDArray[np.int64]
    number: NDArray[np.int64]
    rows: NDArray[np.int64]


def count_crowds(
    cells: Sequence[SeriesCell], person: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Count the matchable rows of each record of some cells, or the people who own them.

    Parameters
    ----------
    cells : sequence of SeriesCell
    person : int64 (n,), optional
        The person of each record of all cells, where people own several.

    Returns
    -------
    int64 (n,)
        Cell by cell. 0 for everybody in a cell whose seats are no perfect matching in which
        everybody fits the own row.
    """
    record, owner = list_matchable_pairs(cells)
    sizes = [len(cell.chain) for cell in cells]
    if person is not None:
        span = int(person.max(initial=0)) + 1
        own = np.repeat(np.arange(len(cells)), sizes) * span + person
        # Pairs (record, person) as one number each: people with several matchable rows count once.
        if len(np.unique(own)) < len(own):
            record = np.unique(record * span + person[owner]) // span
    return np.bincount(record, minlength=sum(sizes))


def list_matchable_pairs(
    cells: Sequence[SeriesCell],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs (record, owner of the row) that lie in some perfect matching of their cell.

    Records are numbered over all cells.

    Notes
    -----
    Such a pair lies in one strongly connected component of the graph that leads from each record to
    the owners of the rows that fit it (docs/theory.md, 5). No edge leads from cell to cell, so one
    search finds the components of all of them.
    """
    sizes, sits = [len(cell.chain) for cell in cells], _number_seats(cells)
    n = len(sits)
    # If two records claim a row, some row stays without an owner, so the seats are no matching.
    owner_of = np.full(n, -1, dtype=np.int64)
    owner_of[sits] = np.arange(n)
    counts, row = _concatenate_columns(
        [
            (np.diff(cell.start), cell.row + np.int64(first))
            for cell, first in zip(cells, _find_first(sizes), strict=True)
        ],
        2,
    )
    record = np.repeat(np.arange(n), counts)
    owner = owner_of[row]
    wrong = owner_of < 0
    wrong |= np.bincount(record[owner == record], minlength=n) == 0
    of = np.repeat(np.arange(len(cells)), sizes)
    sound = np.bincount(of[wrong], minlength=len(cells)) == 0
    within = sound[of[record]]
    record, owner = record[within], owner[within]
    if not len(record):
        return record, owner
    graph = csr_array((np.ones(len(record), dtype=np.int8), (record, owner)), shape=(n, n))
    _, part = connected_components(graph, directed=True, connection="strong")
    same = part[record] == part[owner]
    return record[same], owner[same]


def _find_first(sizes: Sequence[int]) -> list[int]:
    """Number of the first record of each cell."""
    return [0, *itertools.accumulate(sizes)][: len(sizes)]


def _number_seats(cells: Sequence[SeriesCell]) -> NDArray[np.int64]:
    """Row of each record, both numbered over all cells, int64 (n,)."""
    first = _find_first([len(cell.chain) for cell in cells])
    seats = [
        ((np.arange(len(cell.chain)) if cell.seat is None else cell.seat) + at,)
        for cell, at in zip(cells, first, strict=True)
    ]
    return _concatenate_columns(seats, 1)[0]


def count_histories(cells: Sequence[SeriesCell]) -> Histories:
    """Count, for each chain, the histories that may be its own.

    Parameters
    ----------
    cells : sequence of SeriesCell
        All cells of the series; either all have values or none.

    Raises
    ------
    InputError
        Some cells have values and some have none, or a chain has two records in a cell.

    Notes
    -----
    Perfect matchings of different cells combine freely. So a chain has sum over values j of the
    product over its cells c of n_c(j) histories, n_c(j) being the matchable rows of value j.
    """
    if len({cell.value is None for cell in cells}) > 1:
        raise InputError("either all cells of a series state carried values, or none does")
    if any(len(np.unique(cell.chain)) < len(cell.chain) for cell in cells):
        raise InputError("a chain has at most one record in a cell")
    # Records are numbered over all cells, so that a chain has one record for each of its cells.
    record, value, count = _count_by_value(cells)
    (of_record,) = _concatenate_columns([(cell.chain,) for cell in cells], 1)
    chain, of = np.unique(of_record, return_inverse=True)
    # A value counts if each cell of the chain has it.
    places = np.lexsort([record, value, of[record]])
    record, value, count = record[places], value[places], count[places]
    new = np.ones(len(record), dtype=np.bool_)
    new[1:] = (np.diff(of[record]) != 0) | (np.diff(value) != 0)
    first = np.flatnonzero(new)
    cells_with = np.diff(np.append(first, len(record)))
    whole = cells_with == np.bincount(of, minlength=len(chain))[of[record[first]]]
    # Entries of one value and chain lie side by side, one for each cell that has the value. Pass
    # `turn` multiplies by entry number `turn` of all chains at once.
    product = np.where(whole, 1, 0)
    for turn in range(int(cells_with.max(initial=0))):
        here = np.flatnonzero(whole & (cells_with > turn))
        product[here] = _multiply_capped(product[here], count[first[here] + turn])
    # A row lies on a history iff its value is matchable in every cell of the chain.
    left = np.where(np.repeat(whole, cells_with), count, 0)
    rows = np.full(len(chain), MOST_HISTORIES)
    np.minimum.at(rows, of, _sum_by_group(record, left, len(of)))
    return Histories(chain, _sum_by_group(of[record[first]], product, len(chain)), rows)


def _count_by_value(cells: Sequence[SeriesCell]) -> tuple[NDArray[np.int64], ...]:
    """Matchable rows by record, numbered over all cells, and value: record, value, how many."""
    record, owner = list_matchable_pairs(cells)
    (value,) = _concatenate_columns(
        [(np.zeros_like(cell.chain) if cell.value is None else cell.value,) for cell in cells], 1
    )
    kinds, kind = np.unique(value, return_inverse=True)
    # Values are given by row, pairs by the row's owner.
    kind = kind[_number_seats(cells)]
    pairs, count = np.unique(record * len(kinds) + kind[owner], return_counts=True)
    record, kind = np.divmod(pairs, max(1, len(kinds)))
    return record, kinds[kind], count


def _concatenate_columns(
    parts: Sequence[tuple[NDArray[np.int64], ...]], width: int
) -> list[NDArray[np.int64]]:
    nothing = np.empty(0, dtype=np.int64)
    return [np.concatenate([nothing, *(part[at] for part in parts)]) for at in range(width)]


def _multiply_capped(one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return one * other, at most MOST_HISTORIES; `other` is positive."""
    # np.where computes both branches: the smaller factor keeps the unused product below 2^63, too.
    return np.where(
        one > MOST_HISTORIES // other,
        MOST_HISTORIES,
        one * np.minimum(other, MOST_HISTORIES // np.maximum(one, 1)),
    )


def _sum_by_group(
    group: NDArray[np.int64], number: NDArray[np.int64], groups: int
) -> NDArray[np.int64]:
    """Sums of numbers by group, int64 (groups,), at most MOST_HISTORIES."""
    total = np.zeros(groups, dtype=np.int64)
    np.add.at(total, group, number)
    # An int64 sum may wrap around. A float64 sum cannot, and tells 2^62 from 2^63.
    roughly = np.bincount(group, weights=number, minlength=groups)
    return np.where(
        roughly > 1.5 * MOST_HISTORIES, MOST_HISTORIES, np.minimum(total, MOST_HISTORIES)
    )  # exact below 2^63
