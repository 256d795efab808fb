"""What the crowd of a record still tells about a sensitive attribute."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import get_num_threads
from numpy.typing import NDArray

from anon_core.measures.table.bitmaps import Bitmap
from anon_core.measures.table.classes import Classes, list_distinct_items
from anon_core.measures.table.diversity_kernels import weigh_crowds
from anon_core.specs.demands import MOST_L

_BLOCK = 4096  # classes that are measured at once: a bit for each pair of them


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

    def at(self, places: NDArray[np.integer[Any]]) -> "Diversity":
        """The same for the records at these places, int (m,)."""
        return Diversity(
            self.distinct[places], self.effective[places], self.distance[places], self.odds
        )


def measure_diversity(classes: Classes, values: NDArray[np.int64], *, ordered: bool) -> Diversity:
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
    held = _count_class_values(classes, values)
    return _measure_crowds(classes.level_index, classes.bitmap, held, ordered).at(
        classes.record_class
    )


def diversity_in_classes(
    classes: Classes, values: NDArray[np.int64], *, ordered: bool
) -> Diversity:
    """Measure one sensitive attribute in every equivalence class; see `measure_diversity`.

    Returns
    -------
    Diversity
        In the order of the rows: that of each row's class.
    """
    start, value, number, below = _count_class_values(classes, values)
    parts = []
    for first in range(0, len(start) - 1, _BLOCK):
        # Each class of rows gets a level that it alone has, so its "crowd" is the class.
        block = np.eye(min(_BLOCK, len(start) - 1 - first), dtype=np.bool_)
        held = start[first : first + len(block) + 1], value, number, below
        parts.append(
            _measure_crowds(np.arange(len(block))[:, None], Bitmap.of([block]), held, ordered)
        )
    whole = Diversity(
        np.concatenate([part.distinct for part in parts]),
        np.concatenate([part.effective for part in parts]),
        np.concatenate([part.distance for part in parts]),
        np.max([part.odds for part in parts], axis=0),
    )
    return whole.at(classes.row_class)


_Held = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


def _count_class_values(classes: Classes, values: NDArray[np.int64]) -> _Held:
    """What the classes of rows hold: `start`, `value`, `number`, `below` of `weigh_crowds`."""
    start, value, number = list_distinct_items(classes.row_class, values, classes.cell.shape[1])
    below = np.concatenate([[0], np.cumsum(np.bincount(values))])
    return start, value, number, below


def _measure_crowds(
    level: NDArray[np.int64], rows: Bitmap, held: _Held, ordered: bool
) -> Diversity:
    """Measure what crowds hold; `level` and `rows`: `level_index` and `bitmap` of `Classes`."""
    records = len(level)
    distinct = np.empty(records, dtype=np.int64)
    effective, distance = np.empty((2, records))
    odds = np.zeros((get_num_threads(), MOST_L - 1))
    weigh_crowds(level, rows, *held, ordered, distinct, effective, distance, odds)
    return Diversity(distinct, effective, distance, odds.max(axis=0))
