"""The nearest other records of each record: all compared, or those that hash alike."""

from typing import NamedTuple

import numpy as np

from anon_core.anonymizers.smooth.counts_kernels import LOG_BITS, compute_log2
from anon_core.jit.bits import count_set_bits
from anon_core.jit.kernel import kernel, parallel_kernel
from anon_core.jit.mixing import mix_bits

BEYOND_DISTANCE, BEYOND_ANGLE = (
    np.int64(2**62),
    np.int64(1),
)  # keys of no record: beyond any distance, any angle
SORT_BITS = 21  # of a sort key for each of its three hashes


class Nearest(NamedTuple):
    """Lists of near records for m records; nearest first, of equally near ones those entered first.

    Kernels are told the first of the m records, which follow each other.
    """

    apart: np.ndarray  # int64 (m, most): key of the Hamming distance
    by_distance: np.ndarray  # int32 (m, most), -1: none
    angle: np.ndarray  # int64 (m, most): key of the cosine
    by_cosine: np.ndarray  # int32 (m, most), -1: none


@kernel
def insert_by_key(key, other, keys, others):  # keys int64 (most,) ascending, others int32 (most,)
    """Enter a record into a list of the least keys; of equals, those entered first stay."""
    at = len(keys) - 1
    if key >= keys[at]:
        return
    while at > 0 and keys[at - 1] > key:
        keys[at], others[at] = keys[at - 1], others[at - 1]
        at -= 1
    keys[at], others[at] = key, other


@kernel
def compute_cosine_key(common, length):
    """Return a key that falls as the cosine to a record of so many items rises."""
    return -((np.int64(common) * common << 20) // length)


@kernel
def consider_neighbour(at, u, length, common, lists):
    """Enter u, a record of so many items, so many of them in common, into the lists at a place."""
    key, most = length - 2 * common, lists.apart.shape[1]
    if key < lists.apart[at, most - 1]:
        insert_by_key(key, u, lists.apart[at], lists.by_distance[at])
    if common:
        insert_by_key(compute_cosine_key(common, length), u, lists.angle[at], lists.by_cosine[at])


@parallel_kernel(lambda near: len(near))
def interleave_lists(begin, end, near, lists):  # near int32 (m, most)
    """Take of both lists in turn, each record once, until `near` is full; -1 where they end."""
    for v in range(begin, end):
        size = 0
        for at in range(2 * lists.by_distance.shape[1]):
            first = at % 2 == 0
            other = lists.by_distance[v, at // 2] if first else lists.by_cosine[v, at // 2]
            if other < 0 or size == near.shape[1]:
                continue
            known = False
            for before in range(size):
                known = known or near[v, before] == other
            if not known:
                near[v, size] = other
                size += 1
        near[v, size:] = -1


@parallel_kernel(lambda lists: len(lists.apart))
def compare_all(begin, end, first, lists, rows, holders, frequent):
    # holders: Members, the records of each item that `frequent`, uint64 (words, n), has no bit of
    """List the nearest records of each.

    Of equally near ones the next in the order, cyclically, are listed: many equal records would
    else all list the same few.
    """
    n = len(rows.k)
    common, length = np.empty(n, dtype=np.int32), np.diff(rows.indptr).astype(np.int32)
    for at in range(begin, end):
        v = first + at
        common[:] = 0
        for word in range(len(frequent)):
            add_common(frequent[word, v], frequent[word], common)
        for item in rows.indices[rows.indptr[v] : rows.indptr[v + 1]]:
            for u in holders.record[holders.start[item] : holders.start[item + 1]]:
                common[u] += 1
        consider_range(at, v + 1, n, length, common, lists)
        consider_range(at, 0, v, length, common, lists)


@kernel
def add_common(own, words, common):
    """Count the bits that one word of a record has in common with that of each."""
    for u in range(len(words)):
        common[u] += np.int32(count_set_bits(own & words[u]))


@kernel
def consider_range(at, first, last, length, common, lists):
    """Enter records first .. last - 1 into the lists at a place, the nearest first."""
    apart, angle = lists.apart[at], lists.angle[at]
    most = len(apart) - 1
    for u in range(first, last):
        both = np.int64(common[u])
        # The second comparison is that of `compute_cosine_key`, without its division.
        if length[u] - 2 * both < apart[most] or (
            both > 0 and both * both << 20 >= (1 - angle[most]) * length[u]
        ):
            consider_neighbour(at, u, length[u], both, lists)


# ---------------------------------------------------------------- records that hash alike


@kernel
def draw_arrivals(frequency, records, seed):  # frequency int64 (items,)
    """Draw when each item arrives: exponential, at a rate of log2(records / frequency)."""
    out = np.empty(len(frequency), dtype=np.int64)
    for item in range(len(frequency)):
        drawn = mix_bits(np.uint64(item) ^ mix_bits(np.uint64(seed))) >> np.uint64(2)
        late = (62 << LOG_BITS) - compute_log2(np.int64(drawn | np.uint64(1)))
        rate = compute_log2(records) - compute_log2(max(frequency[item], 1)) + 1
        out[item] = (late << 20) // rate
    return out


@parallel_kernel(lambda keys: len(keys))
def first_arrivals(begin, end, keys, rows, arrivals):  # keys uint64 (n,), arrivals (3, items)
    """Return a sort key: which item of a record arrives first in each of three races."""
    for v in range(begin, end):
        key = np.uint64(0)
        for race_of in range(3):
            best, first = BEYOND_DISTANCE, np.int64(-1)
            for item in rows.indices[rows.indptr[v] : rows.indptr[v + 1]]:
                if arrivals[race_of, item] < best:
                    best, first = arrivals[race_of, item], np.int64(item)
            short = mix_bits(np.uint64(first + 1)) >> np.uint64(64 - SORT_BITS)
            key = (key << np.uint64(SORT_BITS)) | short
        keys[v] = key


@kernel
def compare_candidate(
    at, u, marked, rows, lists
):  # marked bool (items,): the items of the record at the place
    """Compare u with a record, and enter it into the lists of that unless it stands there."""
    for other in range(lists.apart.shape[1]):
        if lists.by_distance[at, other] == u or lists.by_cosine[at, other] == u:
            return
    common = 0
    for item in rows.indices[rows.indptr[u] : rows.indptr[u + 1]]:
        common += marked[item]
    consider_neighbour(at, u, rows.indptr[u + 1] - rows.indptr[u], common, lists)


@parallel_kernel(lambda place: len(place))
def compare_window(begin, end, place, sequence, first, window, items, rows, lists):
    # place int64 (m,): where the records stand in `sequence`, int32 (n,), ascending
    """Compare each record with `window` records before and after it in a sequence."""
    marked = np.zeros(items, dtype=np.bool_)
    for here in place[begin:end]:
        v = sequence[here]
        at = v - first
        own = rows.indices[rows.indptr[v] : rows.indptr[v + 1]]
        for item in own:
            marked[item] = True
        for step in range(1, window + 1):
            if here + step < len(sequence):
                compare_candidate(at, sequence[here + step], marked, rows, lists)
            if here >= step:
                compare_candidate(at, sequence[here - step], marked, rows, lists)
        for item in own:
            marked[item] = False


@parallel_kernel(lambda lists: len(lists.apart))
def compare_further(begin, end, first, near, items, rows, lists):  # near int32 (n, most)
    """Compare each record with the neighbours of its neighbours in `near`."""
    marked = np.zeros(items, dtype=np.bool_)
    asked = np.full(len(near), -1, dtype=np.int32)
    for at in range(begin, end):
        v = first + at
        own = rows.indices[rows.indptr[v] : rows.indptr[v + 1]]
        for item in own:
            marked[item] = True
        asked[v] = v
        for u in near[v]:
            if u >= 0:
                for other in near[u]:
                    if other >= 0 and asked[other] != v:
                        asked[other] = v
                        compare_candidate(at, other, marked, rows, lists)
        for item in own:
            marked[item] = False
