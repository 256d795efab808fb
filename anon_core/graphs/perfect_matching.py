"""Perfect matchings drawn at random inside a compatibility graph."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from anon_core.kernels.seating import swap_walk
from anon_core.records import MaskedTable

SWEEPS = 50  # proposals per edge; docs/performance.md shows the share of records left in their own row by sweeps
CHUNK = 2**22  # draws held at a time


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
        Row of each record. Starts from everyone in the own row and swaps persons along cover edges wherever both fit.

    Notes
    -----
    Time O(SWEEPS m words), memory O(n + CHUNK).

    References
    ----------
    The idea of publishing a secret assignment: Doka et al., k-Anonymization by Freeform Generalization, assignment
    extraction.
    """
    person = np.arange(masked.table.records, dtype=np.int64)
    left = SWEEPS * len(masked.cover)
    while left:
        count = min(left, CHUNK)
        swap_walk(person, masked.table.bits, masked.hidden, masked.cover.u, masked.cover.v, draw(count))
        left -= count
    row = np.empty_like(person)
    row[person] = np.arange(len(person))
    return row
