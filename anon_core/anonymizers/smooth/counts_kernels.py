"""How many members of each group hold each item, and which items a group's rows get."""

from typing import NamedTuple

import numpy as np

from anon_core.jit.kernel import kernel, parallel_kernel
from anon_core.jit.mixing import mix_bits

LOG_BITS = 16  # of a logarithm below one


class ItemRows(NamedTuple):
    """The records, in the order that decides ties."""

    indptr: np.ndarray  # int64 (n + 1,)
    indices: np.ndarray  # int32 (entries,), ascending in each record
    k: np.ndarray  # int32 (n,)


class Members(NamedTuple):
    """The records of each group: record[start[g] : start[g + 1]], ascending."""

    start: np.ndarray  # int64 (groups + 1,)
    record: np.ndarray  # int32 (n,)


class Counts(NamedTuple):
    """The items of each group, ascending, and how many members hold each."""

    start: np.ndarray  # int64 (groups + 1,)
    item: np.ndarray  # int32 (pairs,)
    held: np.ndarray  # int32 (pairs,), at least 1


@kernel
def list_members(group, groups):  # group int32 (n,), -1: in none
    """List the records of each group."""
    start = np.zeros(groups + 1, dtype=np.int64)
    for g in group:
        if g >= 0:
            start[g + 1] += 1
    for g in range(groups):
        start[g + 1] += start[g]
    place, record = start[:-1].copy(), np.empty(start[groups], dtype=np.int32)
    for v in range(len(group)):
        if group[v] >= 0:
            record[place[group[v]]] = v
            place[group[v]] += 1
    return Members(start, record)


@parallel_kernel(lambda pairs: len(pairs))
def count_pairs(begin, end, pairs, items, rows, members):  # pairs int64 (groups,)
    """Count the different items of each group."""
    seen = np.full(items, -1, dtype=np.int32)
    for g in range(begin, end):
        found = 0
        for v in members.record[members.start[g] : members.start[g + 1]]:
            for item in rows.indices[rows.indptr[v] : rows.indptr[v + 1]]:
                if seen[item] != g:
                    seen[item] = g
                    found += 1
        pairs[g] = found


@parallel_kernel(lambda counts: len(counts.start) - 1)
def fill_counts(begin, end, counts, items, rows, members):
    """Fill in the items of each group, ascending, and their counts."""
    held = np.zeros(items, dtype=np.int32)
    for g in range(begin, end):
        place = counts.start[g]
        for v in members.record[members.start[g] : members.start[g + 1]]:
            for item in rows.indices[rows.indptr[v] : rows.indptr[v + 1]]:
                if held[item] == 0:
                    counts.item[place] = item
                    place += 1
                held[item] += 1
        counts.item[counts.start[g] : place].sort()
        for at in range(counts.start[g], place):
            counts.held[at] = held[counts.item[at]]
            held[counts.item[at]] = 0


@kernel
def list_majority_items(counts, members):
    """Return the items of each group's rows, those that at least half of its members hold."""
    groups = len(counts.start) - 1
    start, kept = np.zeros(groups + 1, dtype=np.int64), np.empty_like(counts.item)
    place = 0
    for g in range(groups):
        size = members.start[g + 1] - members.start[g]
        for at in range(counts.start[g], counts.start[g + 1]):
            if 2 * np.int64(counts.held[at]) >= size:
                kept[place] = counts.item[at]
                place += 1
        start[g + 1] = place
    return start, kept[:place].copy()


@kernel
def fingerprint_records(rows):
    """Return a number of each record's items: equal records have equal ones."""
    out = np.empty(len(rows.k), dtype=np.uint64)
    for v in range(len(rows.k)):
        number = np.uint64(rows.indptr[v + 1] - rows.indptr[v])
        for item in rows.indices[rows.indptr[v] : rows.indptr[v + 1]]:
            number = mix_bits(number ^ np.uint64(item))
        out[v] = number
    return out


@kernel
def take_records(rows, place):
    """Return the records at these places, in this order."""
    indptr = np.zeros(len(place) + 1, dtype=np.int64)
    for v in range(len(place)):
        indptr[v + 1] = indptr[v] + rows.indptr[place[v] + 1] - rows.indptr[place[v]]
    indices = np.empty(indptr[-1], dtype=np.int32)
    for v in range(len(place)):
        indices[indptr[v] : indptr[v + 1]] = rows.indices[
            rows.indptr[place[v]] : rows.indptr[place[v] + 1]
        ]
    return ItemRows(indptr, indices, rows.k[place])


@kernel
def count_true_and_created(counts, members):
    """Return how many pairs of record and item stay, and how many are created."""
    true, created = np.int64(0), np.int64(0)
    for g in range(len(counts.start) - 1):
        size = members.start[g + 1] - members.start[g]
        for at in range(counts.start[g], counts.start[g + 1]):
            if 2 * np.int64(counts.held[at]) >= size:
                true += counts.held[at]
                created += size - counts.held[at]
    return true, created


@kernel
def compute_log2(number):
    """Return log2 of a whole number from 1 to 2^62, in 2^-16, rounded down."""
    whole = 0
    while number >> (whole + 1):
        whole += 1
    part = np.uint64(number << (30 - whole) if whole <= 30 else number >> (whole - 30))
    bits = 0
    for _ in range(LOG_BITS):  # squaring doubles the logarithm of the part, 1 to 2 in 2^-30
        part = (part * part) >> np.uint64(30)
        bits <<= 1
        if part >> np.uint64(31):
            part >>= np.uint64(1)
            bits |= 1
    return (whole << LOG_BITS) | bits
