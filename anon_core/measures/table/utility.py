"""How much information a release keeps."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anon_core.measures.table.classes import ReleasedCells
from anon_core.measures.table.levels import Levels


@dataclass(frozen=True)
class Utility:
    """Information kept, over all cells of the quasi-identifiers.

    Attributes
    ----------
    suppression : float
        1 - hidden bits / (n f): Definition III.2 of Khan et al.
    exact : float64 (attributes,)
        Share of cells that show one level, by column: a value, or a whole group.
    ncp : float64 (attributes,)
        Mean over rows of (levels allowed - 1) / (levels - 1), by column.
    """

    suppression: float
    exact: NDArray[np.float64]
    ncp: NDArray[np.float64]

    @property
    def cells_exact(self) -> float:
        """Share of all cells that show one level."""
        return float(self.exact.mean())

    @property
    def gcp(self) -> float:
        """Mean NCP of all cells."""
        return float(self.ncp.mean())


def utility(ordinal: NDArray[np.bool_], released: ReleasedCells) -> Utility:
    """Measure released cells; a cell that cannot be read counts as fully masked.

    Parameters
    ----------
    ordinal : bool (attributes,)
        Whether masked cells are intervals instead of value sets.
    released : ReleasedCells

    References
    ----------
    Liang and Samavi, Optimization-based k-Anonymity Algorithms (NCP, GCP); Khan et al.,
    Definition III.2.
    """
    levels = released.level_counts[:, None]
    sizes = released.sizes()
    sizes = np.where(sizes == 0, levels, sizes)
    # A value set of s levels hides s bits; an interval of s levels hides s - 1 thermometer bits.
    hidden = np.where(sizes == 1, 0, sizes - ordinal[:, None])
    features = int((levels[:, 0] - ordinal).sum())
    return Utility(
        suppression=1 - float(hidden.sum()) / (released.rows * features),
        exact=(sizes == 1).mean(axis=1),
        # The sum is over whole numbers, so the order of the rows changes no digit.
        ncp=(sizes - 1).mean(axis=1) / np.maximum(1, levels[:, 0] - 1),
    )


def of_one_value(levels: Sequence[Levels], released: ReleasedCells) -> NDArray[np.float64]:
    """Share of cells that show one value, by column, float64 (attributes,).

    A cell that shows one level does so, unless the level is a group, or numbers or categories that
    share it. That a value is missing counts as one.
    """
    shares = []
    for column, cell, allowed in zip(levels, released.cell, released.levels, strict=True):
        alone = np.array([column.is_value(level) for level in range(len(column.labels))])
        single = (allowed.sum(axis=1) == 1) & (allowed & alone).any(axis=1)
        shares.append(float(single[cell].mean()))
    return np.array(shares, dtype=np.float64)
