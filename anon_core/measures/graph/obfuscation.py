"""Which vertices hide among k by their degree: (k, eps)-obfuscation.

Definition 1 of Xiao, Towards Graph Analytic and Privacy Protection, after Boldi et al.: a vertex
is obfuscated if the adversary's distribution over released vertices has an entropy of at least
log2 k bits.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_core.measures.graph.degrees import Degrees
from anon_core.measures.graph.posteriors import compute_posteriors
from anon_core.specs.graphs import Knowledge

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

    def greatest_k(self, exempt: int) -> int:
        """Return the greatest k that all but `exempt` vertices reach."""
        if exempt >= len(self.bits):
            return len(self.bits)
        return int(np.exp2(np.sort(self.bits)[exempt] + _TOLERANCE))


def measure_obfuscation(
    source: Degrees, released: Degrees, knowledge: Knowledge, k: NDArray[np.integer]
) -> Obfuscation:
    """Return how well each vertex of the source hides in the release.

    Parameters
    ----------
    source, released : Degrees
        Vertex i of the source is vertex i of the release.
    knowledge : {"ceiling", "mode", "distribution"}
        What the adversary knows of each vertex, from the source.
    k : int (n,)
    """
    return Obfuscation(compute_entropies(source, released, knowledge), k)


def compute_entropies(
    source: Degrees, released: Degrees, knowledge: Knowledge
) -> NDArray[np.float64]:
    """Return the entropy of the adversary's distribution for each vertex, in bits, float64 (n,)."""
    return compute_posteriors(source, released, knowledge).bits
