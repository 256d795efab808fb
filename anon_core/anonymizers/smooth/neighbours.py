"""Candidates: the records that may share a group with a record."""

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.smooth.counts_kernels import ItemRows, Members, list_members
from anon_core.anonymizers.smooth.each import Each, one_by_one
from anon_core.anonymizers.smooth.neighbours_kernels import (
    BEYOND_ANGLE,
    BEYOND_DISTANCE,
    Nearest,
    compare_all,
    compare_further,
    compare_window,
    draw_arrivals,
    first_arrivals,
    interleave_lists,
)

MOST_COMPARED = 50_000  # records; beyond, only records that hash alike are compared
NEAREST, _NEAREST_OF_MANY = 32, 16
_FREQUENT = 16  # an item that more than a 16th of the records hold is compared as a bit
_PASSES, _WINDOW = 12, 8
_MOST_STRETCHES = 128  # tasks of a step: each reads all sequences
BYTES_OF_SEARCH = 320  # of a record: lists with their keys, and neighbours
_NOTHING = np.empty((0, 0), dtype=np.int32)


class _Search:
    """What all stretches of a search share. Its repr is opaque.

    Attributes
    ----------
    rows : ItemRows
    items : int
    most : int
        Neighbours listed by distance, and as many by cosine.
    sequences : int32 (turns, n)
        Sequences in which records that hash alike stand together; without any all are compared.
    near : int32 (n, 2 most)
        In the last step, neighbours found so far; else empty.
    """

    def __init__(
        self,
        rows: ItemRows,
        items: int,
        most: int,
        sequences: NDArray[np.int32] = _NOTHING,
        near: NDArray[np.int32] = _NOTHING,
    ) -> None:
        self.rows, self.items, self.most = rows, items, most
        self.sequences, self.near = sequences, near


class Stretch:
    """Records first .. first + size - 1, and what was found of them so far. Its repr is opaque."""

    def __init__(self, first: int, size: int, lists: Nearest | None) -> None:
        self.first, self.size, self.lists = first, size, lists


def search_stretch(search: _Search, stretch: Stretch) -> Nearest:
    """List the nearest records of a stretch; without their keys if no further step follows."""
    rows, items, first = search.rows, search.items, stretch.first
    lists = stretch.lists or _build_empty_lists(stretch.size, search.most)
    if len(search.sequences):
        for sequence in search.sequences:
            (place,) = np.nonzero((sequence >= first) & (sequence < first + stretch.size))
            compare_window(place, sequence, first, _WINDOW, items, rows, lists)
        return lists
    if len(search.near):
        compare_further(first, search.near, items, rows, lists)
    else:
        bits, rest = _separate_frequent_items(rows, items)
        compare_all(first, lists, rows, rest, bits)
    return lists._replace(apart=lists.apart[:, :0], angle=lists.angle[:, :0])


def list_neighbours(
    rows: ItemRows, items: int, each: Each = one_by_one, length: int = 0
) -> NDArray[np.int32]:
    """List the nearest records of each record, half by Hamming distance and half by cosine.

    Up to 50,000 records all are compared. Beyond, records are sorted by weighted min-wise hashes
    (an item weighs log(n / frequency)), compared with those around them in each of 12 sequences,
    and then with the neighbours of their neighbours.

    Parameters
    ----------
    rows : ItemRows
    items : int
    each : callable
        Who searches stretches of `length` records, 0: of all; the result depends on neither.

    Returns
    -------
    int32 (n, most)
        -1 where there are no more.
    """
    n = len(rows.k)
    many = n > MOST_COMPARED
    most = max(1, min(_NEAREST_OF_MANY if many else NEAREST, n - 1))
    search = _Search(rows, items, -(-most // 2) if many else most)
    return _interleave_nearest(_compare_records(search, each, length or n), most)


def nearest_by_distance(rows: ItemRows, items: int, most: int) -> NDArray[np.int32]:
    """List the nearest records of each record by Hamming distance, int32 (n, most)."""
    n = len(rows.k)
    search = _Search(rows, items, max(1, min(most, n - 1)))
    return _compare_records(search, one_by_one, n).by_distance


def _compare_records(search: _Search, each: Each, length: int) -> Nearest:
    """Compare all records, or those that hash alike."""
    rows, items, n = search.rows, search.items, len(search.rows.k)
    if n <= MOST_COMPARED:
        return _search_stretches(search, each, length)
    lists = _search_stretches(
        _Search(rows, items, search.most, _sort_by_min_hashes(rows, items)), each, length
    )
    near = _interleave_nearest(lists, 2 * search.most)
    return _search_stretches(_Search(rows, items, search.most, near=near), each, length, lists)


def _sort_by_min_hashes(rows: ItemRows, items: int) -> NDArray[np.int32]:
    """Sort the records by min-wise hashes in different ways, int32 (turns, n)."""
    n = len(rows.k)
    frequency = np.bincount(rows.indices, minlength=items)
    keys, out = np.empty(n, dtype=np.uint64), np.empty((_PASSES, n), dtype=np.int32)
    for turn in range(_PASSES):
        arrivals = np.stack([draw_arrivals(frequency, n, 3 * turn + each) for each in range(3)])
        first_arrivals(keys, rows, arrivals)
        out[turn] = np.argsort(keys, kind="stable")
    return out


def _search_stretches(
    search: _Search, each: Each, length: int, lists: Nearest | None = None
) -> Nearest:
    """Search stretch by stretch; `lists` are what was found before."""
    n = len(search.rows.k)
    length = max(length, -(-n // _MOST_STRETCHES), 1)

    def stretch(first: int) -> Stretch:
        inside = slice(first, first + length)
        before = None if lists is None else Nearest(*(array[inside] for array in lists))
        return Stretch(first, min(length, n - first), before)

    stretches = map(stretch, range(0, n, length))
    found = {part.first: near for part, near in each(search_stretch, search, stretches)}
    parts = [found[first] for first in sorted(found)] or [_build_empty_lists(0, search.most)]
    return parts[0] if len(parts) == 1 else Nearest(*map(np.concatenate, zip(*parts, strict=True)))


def _interleave_nearest(lists: Nearest, most: int) -> NDArray[np.int32]:
    near = np.empty((len(lists.by_distance), most), dtype=np.int32)
    interleave_lists(near, lists)
    return near


def _build_empty_lists(n: int, most: int) -> Nearest:
    nobody = np.full((n, most), -1, dtype=np.int32)
    return Nearest(
        np.full((n, most), BEYOND_DISTANCE), nobody, np.full((n, most), BEYOND_ANGLE), nobody.copy()
    )


def _separate_frequent_items(rows: ItemRows, items: int) -> tuple[NDArray[np.uint64], Members]:
    """Return frequent items as bits, uint64 (words, n), and who holds each other item."""
    n = len(rows.k)
    frequency = np.bincount(rows.indices, minlength=items)
    (often,) = np.nonzero(frequency > n // _FREQUENT)
    number = np.full(items, -1, dtype=np.int64)
    number[often] = np.arange(len(often))
    owner = np.repeat(np.arange(n, dtype=np.int32), np.diff(rows.indptr))
    bit = number[rows.indices]
    bits = np.zeros((-(-len(often) // 64), n), dtype=np.uint64)
    of = bit >= 0
    np.bitwise_or.at(
        bits, (bit[of] >> 6, owner[of]), np.uint64(1) << (bit[of] & 63).astype(np.uint64)
    )
    listed = list_members(np.where(of, -1, rows.indices).astype(np.int32), items)
    return bits, Members(listed.start, owner[listed.record])
