"""Orders of records and of columns: sorting by many keys, equal columns, inverse orders."""

from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from anon_core.tables.records import Codebook

_Int = TypeVar("_Int", np.int32, np.int64)


def order_columns(codebook: Codebook) -> NDArray[np.int64]:
    """Order attributes so that records sorted by them, the last one first, have near neighbours.

    int64 (attributes,): those of many levels come first, for they are to decide last.
    """
    levels = [attribute.levels for attribute in codebook.attributes]
    return np.argsort(levels, kind="stable")[::-1]


def invert_order(order: NDArray[_Int]) -> NDArray[_Int]:
    """Return the place of each entry in a permutation, (n,), of its type."""
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return place


def distinct_columns(columns: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the distinct columns of a matrix (rows, n).

    Returns
    -------
    kind : int64 (n,)
        Number of each column, in lexicographic order from the last row.
    first : int64 (kinds,)
        The first column of each kind.
    """
    # Equal columns are neighbours after the sort. It is stable, so the first of a kind comes first.
    keys = join_keys(columns)
    order = np.lexsort(keys)
    changes = np.zeros(len(order), dtype=np.bool_)
    changes[:1] = True
    for key in keys:
        ordered = key[order]
        changes[1:] |= ordered[1:] != ordered[:-1]
    kind = np.empty(len(order), dtype=np.int64)
    kind[order] = np.cumsum(changes) - 1
    return kind, order[changes]


def join_keys(keys: Iterable[NDArray[Any]]) -> list[NDArray[np.uint64]]:
    """Join integer keys of `np.lexsort`, the last one first, into few that sort alike.

    A key of many levels takes as long to sort as one of few.
    """
    joined: list[NDArray[np.uint64]] = []
    room = 1
    for key in keys:
        low, high = (int(end) for end in (key.min(initial=0), key.max(initial=0)))
        span = high - low + 1
        # The difference may not fit the type of the key; modulo 2^64 it is right.
        above = key.astype(np.uint64) - np.uint64(low % 2**64)
        if joined and room * span <= 2**64:
            if span > 1:  # else there is nothing to add, and the room may be 2^64 itself
                joined[-1] += above * np.uint64(room)
            room *= span
        else:
            joined.append(above)
            room = span
    return joined
