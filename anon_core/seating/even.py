"""Even seats: nobody sits in any row with a chance above 1/k(v).

A row is held in D shares, each by a record that fits it. The chance of a record to sit in a row is
the part that it holds. A record holds D shares in all, and at most D/k(v) of one row. So the shares
are a doubly stochastic matrix of whole multiples of 1/D.
"""

import operator
from collections.abc import Iterable
from dataclasses import dataclass

import numba
import numpy as np
from numpy.typing import NDArray

from anon_core.covers.cover_kernels import hide_differences
from anon_core.search.nearest import search_memory
from anon_core.seating.exchanges.narrowing import LISTED_PER_SHARE, PART, narrow_rows
from anon_core.seating.exchanges.swapping import (
    CLASSES_AT_ONCE,
    NEAR_ROWS,
    NEAR_ROWS_OF_PEOPLE,
    swap_shares,
)
from anon_core.seating.fits import ROWS_PER_NEED
from anon_core.seating.record_classes import FURTHER, RecordClasses
from anon_core.seating.shares import shares_of
from anon_core.seating.widening import fill_row_shares
from anon_core.tables.closing import close_trees, hide_off_path
from anon_core.tables.loss import LossTable
from anon_core.tables.records import BinaryTable

# Nearest classes of each class, at least, and for each row that records need in the mean.
_NEAR, _NEAR_OF_K = 48, 4
_OF_PEOPLE = 4  # times as many where people own several records: few may be held together


@dataclass(frozen=True)
class EvenRows:
    """Masks, and who may sit where.

    Attributes
    ----------
    hidden : uint64 (n, words)
        Features hidden in each record's row.
    holders : int32 (n, D)
        By row and share: the record that holds it. Of equal records with equal k the first stands
        for all, and each of them has the same part of what it holds.
    """

    hidden: NDArray[np.uint64]
    holders: NDArray[np.int32]


def near_classes(table: BinaryTable) -> int:
    """Return how many nearest classes each class looks at.

    A row is held by k records, so rows of many more must be at hand.
    """
    of_k = -(-_NEAR_OF_K * int(table.k.sum(dtype=np.int64)) // table.records)
    near = max(_NEAR, of_k) * (1 if table.person is None else _OF_PEOPLE)
    return min(near, table.records)


def even_memory(table: BinaryTable, shares: int) -> int:
    """Return the bytes that `build_even_rows`, of so many shares a row, holds beyond its input."""
    n, book = table.records, table.codebook
    near, rows = near_classes(table), NEAR_ROWS
    searched = near
    if table.person is not None:
        searched, rows = FURTHER * near, NEAR_ROWS_OF_PEOPLE
    holders = 20 * n * shares
    pairs = 80 * (n + ROWS_PER_NEED * int(table.k.sum(dtype=np.int64)))
    listed = 4 * n * rows + min(n, CLASSES_AT_ONCE) * (56 * near + 24 * rows)
    per_record = 16 * len(book.attributes) + 48 * book.words + 2 * book.features + 4 * near + 200
    # The nearest classes are found before any share is given out.
    return n * per_record + max(
        8 * n * searched + search_memory(n, searched), holders + pairs + listed
    )


def build_even_rows(
    table: BinaryTable,
    hidden: NDArray[np.uint64],
    weights: tuple[NDArray[np.int32], NDArray[np.int32]],
) -> EvenRows:
    """Change masks until even seats exist, then hide as little as the seats allow.

    Parameters
    ----------
    table : BinaryTable
        In the order that decides ties: the first wins.
    hidden : uint64 (n, words)
        Masks to begin with. Any will do; better ones make the result better.
    weights : int32 (f,) and int32 (attributes,)
        What a hidden feature costs, and the first hidden feature of an attribute in addition.

    Notes
    -----
    A maximum flow gives shares of rows to records that fit them. While shares are left over, the
    rows that are cheapest to widen let the flow grow (`fill_row_shares`). From then on the masks
    follow from the holders: a row hides what they differ in. Shares change hands as long as that
    hides less (`swap_shares`). All numbers are whole, and the result depends on no number of
    threads.
    """
    shares, classes = shares_of(table.k), RecordClasses.of_table(table)
    near = _list_near_classes(table, classes, weights)
    hidden = hide_off_path(table, hidden)
    holders = fill_row_shares(table, classes, near, hidden, shares, weights[0])
    return _exchange_holders(table, classes, near, holders, weights)


def exchange_even_shares(
    table: BinaryTable, rows: EvenRows, weights: tuple[NDArray[np.int32], NDArray[np.int32]]
) -> EvenRows:
    """Let records of even rows exchange shares as long as the rows then hide less.

    See `build_even_rows`; `rows` hold as many shares as the greatest k at least.
    """
    classes = RecordClasses.of_table(table)
    holders = classes.of[rows.holders].astype(np.int32)
    return _exchange_holders(
        table, classes, _list_near_classes(table, classes, weights), holders, weights
    )


def narrow_even_rows(
    table: BinaryTable,
    starts: Iterable[NDArray[np.int32]],
    weights: tuple[NDArray[np.int32], NDArray[np.int32]],
    loss: LossTable,
    effort: int,
) -> EvenRows:
    """Let records of even rows exchange shares so that rows lose less, by `loss`.

    `starts` are the holders of even rows, int32 (n, D) each. Each is narrowed; the rows that lose
    least are returned, of equals the first. See `narrow_rows`; `weights` decide who is near, as in
    `build_even_rows`.
    """
    classes = RecordClasses.of_table(table)
    near = _list_near_classes(table, classes, weights)

    def narrow(start: NDArray[np.int32]) -> tuple[int, NDArray[np.int32]]:
        holders = classes.of[start].astype(np.int32)
        return narrow_rows(table, classes, near, holders, loss, effort), holders

    _, holders = min(map(narrow, starts), key=operator.itemgetter(0))
    return _hide_from_holders(table, classes, holders)


def narrow_memory(table: BinaryTable, shares: int) -> int:
    """Return the bytes that `narrow_even_rows`, of so many shares a row, holds beyond its input."""
    n, book = table.records, table.codebook
    features = 64 * (2 + (2 * int(book.level_offsets[-1])) // 64)
    listed = 8 * (LISTED_PER_SHARE * shares + 1) * min(n, PART) + 16 * n
    threads = 1 if table.person is not None else numba.get_num_threads()
    return even_memory(table, shares) + n * (3 * features + 24 * shares) + threads * listed


def _list_near_classes(
    table: BinaryTable, classes: RecordClasses, weights: tuple[NDArray[np.int32], NDArray[np.int32]]
) -> NDArray[np.int32]:
    return classes.nearest(table, weights, near_classes(table))


def _exchange_holders(
    table: BinaryTable,
    classes: RecordClasses,
    near: NDArray[np.int32],
    holders: NDArray[np.int32],
    weights: tuple[NDArray[np.int32], NDArray[np.int32]],
) -> EvenRows:
    # Features off a row's path cost nothing.
    blank = hide_off_path(table, _find_blank_bits(table))
    swap_shares(table, classes, near, holders, blank, weights)
    return _hide_from_holders(table, classes, holders)


def _hide_from_holders(
    table: BinaryTable, classes: RecordClasses, holders: NDArray[np.int32]
) -> EvenRows:
    """Let rows hide what their holders, int32 (n, D) classes, differ in."""
    hidden = _find_blank_bits(table)
    # Share 0 is that of the own record, which hides nothing.
    for share in range(1, holders.shape[1]):
        hidden |= table.bits ^ classes.bits[holders[:, share]]
    return EvenRows(close_trees(table, hidden), classes.first.astype(np.int32)[holders])


def _find_blank_bits(table: BinaryTable) -> NDArray[np.uint64]:
    """What rows hide in any case, uint64 (n, words)."""
    blank = np.zeros((table.records, table.codebook.words), dtype=np.uint64)
    none = np.zeros((table.codebook.features, table.records), dtype=np.uint16)
    hide_differences(none, table.blank, table.codebook.bit_offsets, blank)
    return blank
