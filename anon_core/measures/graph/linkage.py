"""The matching attack: an adversary who knows a degree picks the likeliest released vertex.

An entropy of log2 k bits does not bound the greatest chance by 1 / k: one vertex may be likely and
many others slightly. The attack measures that chance.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_core.measures.graph.posteriors import TIE, Posteriors


@dataclass(frozen=True)
class DegreeLinkage:
    """What the attack reaches; vertices that tie for the likeliest are picked by chance.

    Attributes
    ----------
    greatest : float64 (n,)
        What the adversary believes of the likeliest vertex; 0 where no vertex has the degree.
    own : float64 (n,)
        The same of the target's own vertex.
    chance : float64 (n,)
        Chance that the adversary picks the target's own vertex.
    """

    greatest: NDArray[np.float64] = field(repr=False)
    own: NDArray[np.float64] = field(repr=False)
    chance: NDArray[np.float64] = field(repr=False)

    @classmethod
    def of(cls, found: Posteriors) -> "DegreeLinkage":
        """Pick the likeliest vertex for each target.

        Distributions of the source against the source itself are the attack before the release.
        """
        hit = (found.likeliest > 0) & (found.own >= found.greatest * (1 - TIE))
        chance = np.divide(1, found.likeliest, out=np.zeros(len(hit)), where=hit)
        return cls(found.greatest, found.own, chance)

    @property
    def hits(self) -> float:
        """Expected number of vertices whose own vertex the adversary picks."""
        return float(np.sort(self.chance).sum())

    def surer(self, k: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Return the vertices of which the adversary believes more than 1 / k, bool (n,)."""
        return np.asarray(self.greatest * k > 1 + TIE, dtype=np.bool_)
