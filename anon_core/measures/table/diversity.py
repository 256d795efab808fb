"""What the crowd of a record still tells about a sensitive attribute."""

from dataclasses import dataclass

import numpy as np
from numba import get_num_threads
from numpy.typing import NDArray

from anon_core.measures.table.classes import Classes
from anon_core.measures.table.diversity_kernels import weigh_crowds

MOST_L = 10  # up to which recursive diversity is measured


@dataclass(frozen=True)
class Diversity:
    """Sensitive values among the rows that each record fits.

    An attacker who knows the quasi-identifiers of a record sees these values.

    Attributes
    ----------
    distinct : int64 (n,)
        Distinct values.
    effective : float64 (n,)
        exp of their entropy: the number of equally frequent values with the same entropy.
    distance : float64 (n,)
        Earth mover's distance of their shares from those in the whole release, 0 .. 1.
    odds : float64 (MOST_L - 1,)
        For l = 2 .. MOST_L the greatest r_1 / (r_l + ... + r_m) of any crowd, where r_i counts its
        i-th commonest value; inf if a crowd has fewer than l values.
    """

    distinct: NDArray[np.int64]
    effective: NDArray[np.float64]
    distance: NDArray[np.float64]
    odds: NDArray[np.float64]


def diversity(classes: Classes, values: NDArray[np.int64], *, ordered: bool) -> Diversity:
    """Measure one sensitive attribute in every crowd.

    Parameters
    ----------
    classes : Classes
        Of source records and released rows.
    values : int64 (rows,)
        The released values as ranks 0 .. m - 1; every rank occurs.
    ordered : bool
        True: values are as far apart as their ranks. False: all values are equally far apart.

    Returns
    -------
    Diversity
        In the order of the records.

    Notes
    -----
    The crowd of a record is its compatible rows. Sums are over whole numbers (exact while rows^2 *
    m < 2^63), and logarithms are added by rising counts, so neither threads nor the order of the
    rows change a digit.

    References
    ----------
    Machanavajjhala et al., l-Diversity (distinct, entropy, recursive (c, l)); Li et al.,
    t-Closeness (equal and ordered distance).
    """
    pairs, number = np.unique(np.stack([classes.row_class, values]), axis=1, return_counts=True)
    start = np.searchsorted(pairs[0], np.arange(classes.cell.shape[1] + 1))
    below = np.concatenate([[0], np.cumsum(np.bincount(values))])
    records = classes.level.shape[1]
    distinct = np.empty(records, dtype=np.int64)
    effective, distance = np.empty((2, records))
    odds = np.zeros((get_num_threads(), MOST_L - 1))
    weigh_crowds(
        classes.level_index,
        classes.bitmap,
        start,
        np.ascontiguousarray(pairs[1]),
        number,
        below,
        ordered,
        distinct,
        effective,
        distance,
        odds,
    )
    of = classes.record_class
    return Diversity(distinct[of], effective[of], distance[of], odds.max(axis=0))
