"""Exchange shares of rows between records as long as the rows hide less."""

import numpy as np
from numpy.typing import NDArray

from anon_core.seating.record_classes import RecordClasses
from anon_core.seating.swapping_kernels import Near, Prices, Shared, exchange, unite
from anon_core.tables.records import BinaryTable

NEAR_ROWS = 80  # rows of the nearest classes that are tried for a share
EQUAL_ROWS = 8  # of one class
SWEEPS = 20


def swapped(
    table: BinaryTable,
    classes: RecordClasses,
    near: NDArray[np.int32],
    holders: NDArray[np.int32],
    blank: NDArray[np.uint64],
    weights: tuple[NDArray[np.int32], NDArray[np.int32]],
) -> NDArray[np.uint64]:
    """Let holders change places, and return what the rows then hide, uint64 (n, words).

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
    shared = Shared(holders, blank.copy(), np.empty((n, words), dtype=np.uint64))
    limit = classes.size * (holders.shape[1] // classes.k)
    tries = _rows_of(classes, near)
    prices = _prices(table, weights)
    unite(shared, classes.bits, table.bits, blank)
    dirty = np.ones(n, dtype=np.bool_)
    for _ in range(SWEEPS):
        if not exchange(shared, classes.bits, table.bits, blank, limit, tries, prices, dirty):
            break
    return shared.hides


def _rows_of(classes: RecordClasses, near: NDArray[np.int32]) -> Near:
    """For each class its own rows, then those of the nearest classes, at most `NEAR_ROWS`."""
    listed = np.column_stack([np.arange(len(classes)), near])
    size = np.minimum(classes.size, EQUAL_ROWS)[listed]
    room = NEAR_ROWS - (np.cumsum(size, axis=1) - size)
    size = np.minimum(size, np.maximum(0, room))
    total = int(size.sum())
    first = np.cumsum(size.ravel()) - size.ravel()
    place = np.arange(total) - np.repeat(first, size.ravel())
    rows = classes.members[np.repeat(classes.start[:-1][listed.ravel()], size.ravel()) + place]
    start = np.concatenate([[0], np.cumsum(size.sum(axis=1))])
    return Near(start, rows.astype(np.int32))


def _prices(table: BinaryTable, weights: tuple[NDArray[np.int32], NDArray[np.int32]]) -> Prices:
    """Weights of features, and which features belong to a cell whose first one costs more."""
    book = table.codebook
    counted = np.flatnonzero(weights[1])
    cells = np.zeros((len(counted), book.words), dtype=np.uint64)
    for place, a in enumerate(counted):
        for bit in range(book.bit_offsets[a], book.bit_offsets[a + 1]):
            cells[place, bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
    return Prices(weights[0].astype(np.int64), cells, weights[1][counted].astype(np.int64))
