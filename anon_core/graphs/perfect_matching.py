"""Perfect matchings drawn at random inside a compatibility graph."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from anon_core.kernels.agreement import map_allowed
from anon_core.kernels.seating import list_fitting_rows, swap_walk
from anon_core.records import MaskedTable

MOST_ROWS = 256  # fitting rows listed a vertex; longer lists did not mix faster (docs/performance.md)
PROPOSALS = 400  # swaps proposed a vertex; the share left in place does not fall after that
BATCH = 2**21  # proposals whose random words are held at a time


def random_matching(masked: MaskedTable, draw: Callable[[int], NDArray[np.uint32]]) -> NDArray[np.int64]:
    """Draw who sits in which row, so that everyone fits the row they get.

    Parameters
    ----------
    masked : MaskedTable
    draw : callable
        draw(count) gives the next `count` random 32-bit words; the same words give the same matching.

    Returns
    -------
    int64 (n,)
        Row of each record.

    Notes
    -----
    Starts from everyone in the own row and proposes swaps along the compatibility graph, of which up to `MOST_ROWS` rows
    from a random place on are listed for each record. Time O(n^2 / 64) words for the lists at worst and
    O(PROPOSALS n words) for the walk, memory O(n MOST_ROWS) and n bits a level.

    References
    ----------
    The idea of publishing a secret assignment: Doka et al., k-Anonymization by Freeform Generalization, assignment
    extraction.
    """
    table, n = masked.table, masked.table.records
    rows, found = _fitting_rows(masked, draw(n))
    person = np.arange(n, dtype=np.int64)
    left = PROPOSALS * n
    while left:
        count = min(left, BATCH)
        swap_walk(person, table.bits, masked.hidden, rows, found, draw(2 * count))
        left -= count
    row = np.empty_like(person)
    row[person] = np.arange(n)
    return row


def _fitting_rows(masked: MaskedTable, places: NDArray[np.uint32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Up to `MOST_ROWS` rows that each record fits, from a random place on, and how many."""
    table, n, book = masked.table, masked.table.records, masked.table.codebook
    allowed = np.zeros((int(book.level_offsets[-1]), -(-n // 64)), dtype=np.uint64)
    map_allowed(table.codes, masked.hidden, book.level_offsets, book.bit_offsets, book.ordinal, allowed)
    # Attributes of many levels first: they leave few rows for the others.
    most_telling = np.argsort([-attribute.levels for attribute in book.attributes], kind="stable")
    start = (places.astype(np.uint64) * np.uint64(allowed.shape[1])) >> np.uint64(32)
    rows, found = np.empty((n, min(n, MOST_ROWS)), dtype=np.int32), np.empty(n, dtype=np.int32)
    codes, offsets = np.ascontiguousarray(table.codes[most_telling]), book.level_offsets[:-1][most_telling]
    list_fitting_rows(codes, offsets, allowed, start.astype(np.int64), rows, found)
    return rows, found
