"""Perfect matchings drawn at random inside a compatibility graph."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

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
    from a random place on are listed for each record. Time O(n^2 / 8) word comparisons for the lists and
    O(PROPOSALS n words) for the walk, memory O(n MOST_ROWS).

    References
    ----------
    The idea of publishing a secret assignment: Doka et al., k-Anonymization by Freeform Generalization, assignment
    extraction.
    """
    table, n = masked.table, masked.table.records
    start = (draw(n).astype(np.uint64) * np.uint64(n)) >> np.uint64(32)
    rows = np.empty((n, min(n, MOST_ROWS)), dtype=np.int32)
    found = np.empty(n, dtype=np.int32)
    columns, visible = np.ascontiguousarray(table.bits.T), np.ascontiguousarray(~masked.hidden.T)
    list_fitting_rows(table.bits, columns, visible, start.astype(np.int64), rows, found)
    person = np.arange(n, dtype=np.int64)
    left = PROPOSALS * n
    while left:
        count = min(left, BATCH)
        swap_walk(person, table.bits, masked.hidden, rows, found, draw(2 * count))
        left -= count
    row = np.empty_like(person)
    row[person] = np.arange(n)
    return row
