"""Which vertices hide among k by their degree: (k, eps)-obfuscation.

Definition 1 of Xiao, Towards Graph Analytic and Privacy Protection, after Boldi et al.: a vertex
is obfuscated if the adversary's distribution over released vertices has an entropy of at least
log2 k bits.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

_TOLERANCE = 1e-9  # bits; k equal chances may sum up to slightly less than log2 k


@dataclass(frozen=True)
class Obfuscation:
    """How well each vertex hides.

    Attributes
    ----------
    bits : float64 (n,)
        Entropy for each vertex.
    k : int (n,)
        Its demanded level.
    """

    bits: NDArray[np.float64] = field(repr=False)
    k: NDArray[np.integer] = field(repr=False)

    @property
    def levels(self) -> NDArray[np.float64]:
        """The level 2^H of each vertex, float64 (n,)."""
        return np.exp2(self.bits)

    @property
    def below(self) -> NDArray[np.bool_]:
        """Vertices whose entropy is less than log2 k, bool (n,)."""
        return np.asarray(self.bits < np.log2(self.k) - _TOLERANCE, dtype=np.bool_)

    @property
    def least(self) -> float:
        """Lowest level that a vertex reaches; 0 without vertices."""
        return float(self.levels.min(initial=np.inf)) if len(self.bits) else 0.0

    def quantile(self, part: float) -> float:
        """Return the level that this part of the vertices stay at or below; 0 without vertices."""
        if not len(self.bits):
            return 0.0
        return float(np.quantile(self.levels, part, method="inverted_cdf"))
