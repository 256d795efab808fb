"""Exchange shares of rows between records as long as the rows hide less."""

import numpy as np
from numpy.typing import NDArray

from anon_core.seating.exchanges.swapping_kernels import (
    FeaturePrices,
    HeldRows,
    ListedRows,
    Parties,
    exchange_row_shares,
    unite_rows,
)
from anon_core.seating.record_classes import RecordClasses
from anon_core.tables.records import BinaryTable

# Rows of the nearest classes that are tried for a share, and where people own several records.
NEAR_ROWS = 80
NEAR_ROWS_OF_PEOPLE = 320
_EQUAL_ROWS = 8  # of one class
CLASSES_AT_ONCE = 2**10  # classes whose rows are listed at once
_SWEEPS = 20


def swap_shares(
    table: BinaryTable,
    classes: RecordClasses,
    near: NDArray[np.int32],
    holders: NDArray[np.int32],
    blank: NDArray[np.uint64],
    weights: tuple[NDArray[np.int32], NDArray[np.int32]],
) -> None:
    """Let holders change places so that rows hide less.

    Parameters
    ----------
    table : BinaryTable
    classes : RecordClasses
    near : int32 (classes, m)
        The nearest classes of each.
    holders : int32 (n, D)
        By row and share the class that holds it, first that of the own record; changed.
    blank : uint64 (n, words)
        What a row hides in any case.
    weights : int32 (f,) and int32 (attributes,)

    Notes
    -----
    A row hides what its holders differ in. If only one share needs a feature hidden, its holder
    looks for another row, among those of its nearest, and for a holder there to take its place. Of
    all such exchanges the one that saves most is made, until none saves anything. The own record
    keeps its share. Time is O(n D NEAR_ROWS D) a sweep at most; the later ones look only at rows
    that changed.
    """
    n, words = blank.shape
    hides, once = np.empty((2, n, words), dtype=np.uint64)
    relief = np.empty(holders.shape, dtype=np.int32)
    shared = HeldRows(holders, hides, once, relief, np.empty(n, dtype=np.int32))
    tries = rows_of_near_classes(classes, near)
    prices = prices_of(table, weights)
    parties = parties_of(classes, holders)
    unite_rows(shared, classes.bits, table.bits, blank, prices)
    dirty = np.ones(n, dtype=np.bool_)
    for _ in range(_SWEEPS):
        if not exchange_row_shares(
            shared, classes.bits, table.bits, blank, parties, tries, prices, dirty
        ):
            break


def parties_of(classes: RecordClasses, holders: NDArray[np.int32]) -> Parties:
    """Limits of parties, and the rows that each class holds where people own several records."""
    limit = classes.of_a_row(holders.shape[1])
    if not classes.people:
        none = np.empty(0, dtype=np.int64)
        return Parties(limit, classes.party, none, none, none.astype(np.int32), none)
    home = classes.party[classes.of]
    return Parties(limit, classes.party, home, *classes.rows_held(holders), limit * classes.size)


def rows_of_near_classes(classes: RecordClasses, near: NDArray[np.int32]) -> ListedRows:
    """For each class its own rows, then those of the nearest classes, up to a number."""
    most = NEAR_ROWS_OF_PEOPLE if classes.people else NEAR_ROWS
    available, rows, found = np.minimum(classes.size, _EQUAL_ROWS), [], []
    for begin in range(0, len(classes), CLASSES_AT_ONCE):
        part = np.arange(begin, min(begin + CLASSES_AT_ONCE, len(classes)))
        listed = np.column_stack([part, near[part]])
        size = np.where(listed < 0, 0, available[listed])
        room = most - (np.cumsum(size, axis=1) - size)
        size = np.minimum(size, np.maximum(0, room))
        found.append(size.sum(axis=1))
        each = size.ravel()
        place = np.arange(int(each.sum())) - np.repeat(np.cumsum(each) - each, each)
        at = np.repeat(classes.start[listed.ravel()], each) + place
        rows.append(classes.members[at].astype(np.int32))
    return ListedRows(np.concatenate([[0], np.cumsum(np.concatenate(found))]), np.concatenate(rows))


def prices_of(
    table: BinaryTable, weights: tuple[NDArray[np.int32], NDArray[np.int32]]
) -> FeaturePrices:
    """Weights of features, and which features belong to a cell whose first one costs more."""
    book = table.codebook
    counted = np.flatnonzero(weights[1])
    cells = np.zeros((len(counted), book.words), dtype=np.uint64)
    for place, a in enumerate(counted):
        for bit in range(book.bit_offsets[a], book.bit_offsets[a + 1]):
            cells[place, bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
    return FeaturePrices(weights[0].astype(np.int64), cells, weights[1][counted].astype(np.int64))
