"""Perfect matchings drawn at random inside a compatibility graph."""

import numpy as np
from numpy.typing import NDArray

from anon_core.kernels.seating import swap_walk
from anon_core.records import MaskedTable

SWEEPS = 20  # proposals per edge; docs/performance.md has the share of records left in their own row by sweeps


def draws_needed(masked: MaskedTable) -> int:
    """How many random 64-bit words `random_matching` takes."""
    return SWEEPS * len(masked.cover)


def random_matching(masked: MaskedTable, draws: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Draw who sits in which row, so that everyone fits the row they get.

    Parameters
    ----------
    masked : MaskedTable
    draws : uint64 (any length)
        Random words; `draws_needed` of them mix well. The same words give the same matching.

    Returns
    -------
    int64 (n,)
        Row of each record. Starts from everyone in the own row and swaps persons along cover edges wherever both fit.

    References
    ----------
    The idea of publishing a secret assignment: Doka et al., k-Anonymization by Freeform Generalization, assignment
    extraction.
    """
    person = np.arange(masked.table.records, dtype=np.int64)
    if len(masked.cover):
        swap_walk(person, masked.table.bits, masked.hidden, masked.cover.u, masked.cover.v, draws)
    row = np.empty_like(person)
    row[person] = np.arange(len(person))
    return row
