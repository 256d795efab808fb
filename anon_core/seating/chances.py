"""The chance of each record to sit in each row that it fits.

The chances are a doubly stochastic matrix, as even as the rows allow.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import get_num_threads
from numpy.typing import NDArray

from anon_core.seating.filling_kernels import raise_flow, turn_around
from anon_core.seating.levelling_kernels import (
    add_kept,
    level_left,
    level_right,
    set_limits,
    settle_shares,
)
from anon_core.seating.seats_kernels import list_fitting_rows
from anon_core.seating.shares import SHARE
from anon_core.tables.levels_kernels import map_allowed
from anon_core.tables.orders import distinct_columns
from anon_core.tables.records import BinaryTable, MaskedTable

MOST_LISTED_PAIRS = 3 * 2**24  # listed; 20 bytes each, 1 GiB
_SWEEPS = 20  # more change little (docs/decisions/004)
_CLOSE = 256  # levelling ends when one record in so many misses its row
UNLIMITED = 2**62
_FITTING = 64  # the first limits are those that all but one in so many of the levelled shares keep
# The greatest chances of the own row and of any other row, times k. A later pair takes the rest.
LEVELLED = (SHARE, 4 * SHARE)
CHANCE_LIMITS = (
    *((SHARE, half * SHARE // 2) for half in (2, 3, 4, 6)),
    LEVELLED,
    (3 * SHARE // 2, 8 * SHARE),
    (3 * SHARE, 16 * SHARE),
    (UNLIMITED, UNLIMITED),
)


@dataclass(frozen=True)
class Seats:
    """Which rows each record fits, equal ones merged.

    Attributes
    ----------
    record_class : int64 (n,)
        Number of each record's class: its levels and its k.
    row_class : int64 (n,)
        Number of the class of the row made from each record: what it shows and what it hides.
    size, row_size : int64 (record classes,), int64 (row classes,)
        How many are in each.
    k : int64 (record classes,)
    indptr : int64 (record classes + 1,)
    rows : int32 (pairs,)
        Row classes that class c fits, rows[indptr[c] : indptr[c + 1]], first those made from its
        own records.
    owns : int64 (record classes,)
        How many of them are its own.
    own : int64 (n,)
        Where among the pairs each record stands with the own row.
    """

    record_class: NDArray[np.int64]
    row_class: NDArray[np.int64]
    size: NDArray[np.int64]
    row_size: NDArray[np.int64]
    k: NDArray[np.int64]
    indptr: NDArray[np.int64]
    rows: NDArray[np.int32]
    owns: NDArray[np.int64]
    own: NDArray[np.int64]

    @property
    def lists(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
        """What the kernels read: indptr, rows, owns."""
        return self.indptr, self.rows, self.owns


@dataclass(frozen=True)
class SeatChances:
    """A fractional perfect matching of records to rows.

    Attributes
    ----------
    seats : Seats
    held : int32 or int64 (pairs,)
        By pair of classes, in units of 1 / SHARE. Those of a class of records sum to SHARE times
        its size, and so do those of a class of rows. Members of a class have equal chances.
    """

    seats: Seats
    held: NDArray[np.signedinteger[Any]]


def list_seats(masked: MaskedTable, places: NDArray[np.uint32]) -> Seats:
    """Merge equal records and equal rows, and list which fits which.

    Parameters
    ----------
    masked : MaskedTable
    places : uint32 (n,)
        Random words. If there are more than `MOST_LISTED_PAIRS` pairs, each record lists a share
        that grows with its k: its own rows, then those from a random place on.
    """
    table, n = masked.table, masked.table.records
    record_class, first = distinct_columns(np.vstack([table.codes, table.k[None]]))
    row_class, first_row = distinct_columns(
        np.concatenate([table.bits & ~masked.hidden, masked.hidden], axis=1).T
    )
    size, row_size = np.bincount(record_class), np.bincount(row_class)
    k = table.k[first].astype(np.int64)
    pair = record_class * len(row_size) + row_class
    kinds, kind = np.unique(pair, return_inverse=True)
    own = kinds % len(row_size)
    # Kinds ascend by record class, then by row class: a class lists its own rows in order.
    own_start = np.searchsorted(kinds, np.arange(len(size) + 1) * len(row_size))

    space = build_fitting_space(table, masked.hidden, first, first_row)
    start = np.zeros(len(size), dtype=np.int64)
    found, indptr, rows = (
        np.empty(len(size), dtype=np.int64),
        np.zeros(len(size) + 1, dtype=np.int64),
        np.empty(0, np.int32),
    )
    list_fitting_rows(*space, start, own_start, own, indptr, rows, found)
    if found.sum() > MOST_LISTED_PAIRS:
        found = np.minimum(found, np.maximum(np.diff(own_start), MOST_LISTED_PAIRS * k // k.sum()))
        # Multiplied, not divided: the upper 32 bits of word * words are a word from 0 to words - 1.
        start = (
            (places[first].astype(np.uint64) * np.uint64(space[2].shape[1])) >> np.uint64(32)
        ).astype(np.int64)
    indptr[1:] = np.cumsum(found)
    rows = np.empty(indptr[-1], dtype=np.int32)
    list_fitting_rows(*space, start, own_start, own, indptr, rows, found)
    owns = np.diff(own_start)
    at = indptr[record_class] + kind.reshape(n) - own_start[record_class]
    return Seats(record_class, row_class, size, row_size, k, indptr, rows, owns, at)


def seat_chances(seats: Seats) -> SeatChances:
    """Spread each record's chance over the rows that it fits.

    Parameters
    ----------
    seats : Seats

    Returns
    -------
    SeatChances
        A function of the seats alone.

    Notes
    -----
    Newton steps on the dual approach the doubly stochastic matrix of least sum of k(v) P(v, r)^2
    with P(v, r) <= LEVELLED / k(v): P(v, r) = (a(v) + b(r)) / k(v) within the limits. A maximum
    flow then adds what is missing, under the tightest limits that hardly lower it, and the rest
    under the next limits. All numbers are whole. Time is O(pairs) for each sweep and each round of
    the flow, memory 20 bytes a pair (docs/theory.md, 8).
    """
    indptr, rows, owns = seats.lists
    limits, levelled = np.array(CHANCE_LIMITS, dtype=np.int64), CHANCE_LIMITS.index(LEVELLED)
    # What class c gives to a row for each unit of a share: its members, by 1/k each.
    rate = np.maximum(1, SHARE * seats.size // seats.k)
    a, b = _level_shares(seats, rate, limits[levelled])
    kept = np.zeros(levelled + 1, dtype=np.int64)
    add_kept(indptr, rows, owns, seats.row_size, rate, limits, a, b, kept)
    first = int((_FITTING * (kept[-1] - kept) > kept[-1]).sum())

    left, right = seats.size * SHARE, seats.row_size * SHARE
    # Two arrays have a number for each pair: where 32 bits do, that saves 8 bytes a pair.
    exact = np.int32 if max(left.max(), right.max()) < 2**31 else np.int64
    limit: NDArray[np.signedinteger[Any]] = np.empty(len(rows), dtype=exact)
    held = np.empty_like(limit)
    start = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(right)))])
    slot, owner = np.empty(len(rows), dtype=np.int32), np.empty(len(rows), dtype=np.int32)
    turn_around(indptr, rows, start, slot, owner)
    for step in range(first, len(limits)):
        set_limits(indptr, rows, owns, seats.size, seats.row_size, seats.k, limits[step], limit)
        if step == first:
            settle_shares(indptr, rows, seats.k, a, b, limits[step, 1], limit, held, left, right)
        raise_flow(indptr, rows, limit, held, left, right, start, slot, owner)
        # The last limits let everyone take the own row, which is a matching: nothing is left then.
        if not left.any():
            break
    return SeatChances(seats, held)


def _level_shares(
    seats: Seats, rate: NDArray[np.int64], most: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """a (record classes,) and b (row classes,) of the shares a + b."""
    a, b = (
        np.full(len(seats.size), SHARE, dtype=np.int64),
        np.zeros(len(seats.row_size), dtype=np.int64),
    )
    got = np.empty((get_num_threads(), len(b), 2), dtype=np.int64)
    for _ in range(_SWEEPS):
        level_left(*seats.lists, seats.row_size, seats.k, rate, most, a, b, got)
        missed = level_right(seats.row_size, b, got)
        if missed * _CLOSE <= SHARE * len(seats.record_class):
            break
    return a, b


def build_fitting_space(
    table: BinaryTable,
    hidden: NDArray[np.uint64],
    records: NDArray[np.int64],
    rows: NDArray[np.int64],
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.uint64]]:
    """What `list_fitting_rows` needs to know of records and of rows made from records.

    Parameters
    ----------
    table : BinaryTable
    hidden : uint64 (n, words)
        Of all rows.
    records, rows : int64 (m,), int64 (r,)

    Returns
    -------
    codes : int32 (attributes, m)
        Attributes of many levels first: few rows are left for the others.
    level_offsets : int64 (attributes,)
        First level of each attribute in `allowed`.
    allowed : uint64 (levels, words of r)
        Bitmaps over the rows: who allows each level.
    """
    book = table.codebook
    allowed = np.zeros((int(book.level_offsets[-1]), -(-len(rows) // 64)), dtype=np.uint64)
    codes = np.ascontiguousarray(table.codes[:, rows])
    map_allowed(codes, hidden[rows], book.level_offsets, book.bit_offsets, book.ordinal, allowed)
    order = np.argsort([-attribute.levels for attribute in book.attributes], kind="stable")
    return (
        np.ascontiguousarray(table.codes[order][:, records]),
        book.level_offsets[:-1][order],
        allowed,
    )
