"""Candidates: the records that may share a group with a record."""

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.smooth.counts_kernels import Members, Rows, members_of
from anon_core.anonymizers.smooth.neighbours_kernels import (
    FAR,
    LEVEL,
    Nearest,
    compare_all,
    compare_further,
    compare_window,
    first_arrivals,
    interleave,
    race,
)

MOST_COMPARED = 50_000  # records; beyond, only records that hash alike are compared
NEAREST, NEAREST_OF_MANY = 32, 16
FREQUENT = 16  # an item that more than a 16th of the records hold is compared as a bit
PASSES, WINDOW = 12, 8


def neighbours(rows: Rows, items: int) -> NDArray[np.int32]:
    """List the nearest records of each record, half by Hamming distance and half by cosine.

    Up to 50,000 records all are compared. Beyond, records are sorted by weighted min-hashes (an
    item weighs log(n / frequency)), compared with those around them in each of 12 sequences, and
    then with the neighbours of their neighbours.

    Returns
    -------
    int32 (n, most)
        -1 where there are no more.
    """
    n = len(rows.k)
    many = n > MOST_COMPARED
    most = max(1, min(NEAREST_OF_MANY if many else NEAREST, n - 1))
    return _interleaved(_lists(rows, items, -(-most // 2) if many else most), most)


def nearest_by_distance(rows: Rows, items: int, most: int) -> NDArray[np.int32]:
    """List the nearest records of each record by Hamming distance, int32 (n, most)."""
    return _lists(rows, items, max(1, min(most, len(rows.k) - 1))).by_distance


def _lists(rows: Rows, items: int, most: int) -> Nearest:
    """Compare all records, or those that hash alike."""
    n = len(rows.k)
    lists = _empty(n, most)
    if n <= MOST_COMPARED:
        bits, rest = _frequent(rows, items)
        compare_all(lists, rows, rest, bits)
        return lists
    frequency = np.bincount(rows.indices, minlength=items)
    keys = np.empty(n, dtype=np.uint64)
    for turn in range(PASSES):
        arrivals = np.stack([race(frequency, n, 3 * turn + each) for each in range(3)])
        first_arrivals(keys, rows, arrivals)
        compare_window(np.argsort(keys, kind="stable"), WINDOW, items, rows, lists)
    compare_further(_interleaved(lists, 2 * most), items, rows, lists)
    return lists


def _interleaved(lists: Nearest, most: int) -> NDArray[np.int32]:
    near = np.empty((len(lists.apart), most), dtype=np.int32)
    interleave(near, lists)
    return near


def _empty(n: int, most: int) -> Nearest:
    nobody = np.full((n, most), -1, dtype=np.int32)
    return Nearest(np.full((n, most), FAR), nobody, np.full((n, most), LEVEL), nobody.copy())


def _frequent(rows: Rows, items: int) -> tuple[NDArray[np.uint64], Members]:
    """Return frequent items as bits, uint64 (words, n), and who holds each other item."""
    n = len(rows.k)
    frequency = np.bincount(rows.indices, minlength=items)
    (often,) = np.nonzero(frequency > n // FREQUENT)
    number = np.full(items, -1, dtype=np.int64)
    number[often] = np.arange(len(often))
    owner = np.repeat(np.arange(n, dtype=np.int32), np.diff(rows.indptr))
    bit = number[rows.indices]
    bits = np.zeros((-(-len(often) // 64), n), dtype=np.uint64)
    of = bit >= 0
    np.bitwise_or.at(
        bits, (bit[of] >> 6, owner[of]), np.uint64(1) << (bit[of] & 63).astype(np.uint64)
    )
    listed = members_of(np.where(of, -1, rows.indices).astype(np.int32), items)
    return bits, Members(listed.start, owner[listed.record])
