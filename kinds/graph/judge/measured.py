"""The numbers that an audit measures, as the manifest states them: aggregates only.

Entropies and the greatest chances follow from the source and the released bytes. How far the
release is from the source at each vertex, and how often an attacker's best guess is right, also
follow from the vault's map of keys. That is no secret that the promise relies on: entropies do not
depend on it. Such numbers are published rounded all the same, never in favour of the release.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.measures.graph.degrees import Degrees, Edges, mean_degree
from anon_core.measures.graph.obfuscation import Obfuscation
from anon_core.measures.graph.posteriors import Posteriors, posteriors
from anon_core.specs.graphs import ONE, Knowledge
from kinds.graph.judge.source import SourceGraph
from kinds.graph.plan import GraphPlan

DIGITS = 1000  # published shares and differences are multiples of 0.001
ROUNDING = 1e-6  # of chances: a chance of 1/k(v) is not above it
KNOWN: dict[Knowledge, str] = {
    "ceiling": "the expected degree, rounded up",
    "mode": "the likeliest degree",
    "distribution": "how likely each degree is",
}
MILLIONTH = ONE // 10**6
MOST_MATCHES = 2 * 10**10  # pairs of a distribution and a chance that an attack compares


@dataclass(frozen=True)
class Measured:
    """All numbers of a release.

    Attributes
    ----------
    k : int32 (n,)
        Demanded level of each vertex.
    plan : GraphPlan
    exempt : int
        Vertices that may stay below their level.
    before, after : Edges
        Source and release, vertices numbered as in the source.
    degrees : (Degrees, Degrees)
        Of source and release.
    tried : dict of Posteriors
        What attackers conclude, by what they know; the plan's knowledge is among them.
    """

    k: NDArray[np.int32] = field(repr=False)
    plan: GraphPlan = field(repr=False)
    exempt: int
    before: Edges = field(repr=False)
    after: Edges = field(repr=False)
    degrees: tuple[Degrees, Degrees] = field(repr=False)
    tried: dict[Knowledge, Posteriors] = field(repr=False)

    @classmethod
    def of(cls, source: SourceGraph, released: Edges, plan: GraphPlan) -> "Measured":
        """Measure a release."""
        degrees = Degrees.of(source.edges), Degrees.of(released)
        tried = {
            knows: posteriors(*degrees, knows)
            for knows in KNOWN
            if knows == plan.knows or knows != "distribution" or _few(*degrees)
        }
        return cls(source.k, plan, source.exempt, source.edges, released, degrees, tried)

    @property
    def hiding(self) -> Obfuscation:
        """How well each vertex hides from the attacker of the plan."""
        return Obfuscation(self.tried[self.plan.knows].bits, self.k)

    @property
    def below(self) -> int:
        """Vertices that hide among fewer than they demand."""
        return int(np.count_nonzero(self.hiding.below))

    @property
    def graphs(self) -> tuple[Edges, Edges]:
        """Source and release."""
        return self.before, self.after

    @property
    def expected(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Expected degree of each vertex in source and release, float64 (n,)."""
        before, after = self.degrees
        return mean_degree(before), mean_degree(after)

    def sections(self) -> dict[str, dict[str, Any]]:
        """Return all numbers by section of the manifest."""
        return {
            "privacy": {
                "records": len(self.k),
                "k_min": int(self.k.min()),
                "k_max": int(self.k.max()),
                "unprotected": int(np.count_nonzero(self.k < 2)),
                "knows": self.plan.knows,
                "eps": float(self.plan.eps),
                "exempt": self.exempt,
                "below": self.below,
                "rows": len(self.after.p),
            },
            "utility": self._utility(),
            "protection": self._protection(),
            "attacks": {KNOWN[knows]: self._attack(each) for knows, each in self.tried.items()},
        }

    def _utility(self) -> dict[str, Any]:
        before, after = self.expected
        total = [int(edges.p.sum(dtype=np.int64)) / ONE for edges in self.graphs]
        return {
            "edges": len(self.before.p),
            "edges_released": len(self.after.p),
            "edges_expected": round(total[0], 1),
            "edges_expected_released": round(total[1], 1),
            "degree": round(2 * total[0] / len(before), 2),
            "degree_released": round(2 * total[1] / len(before), 2),
            "degree_error": _up(math.fsum(np.abs(after - before).tolist()) / len(before)),
            "isolated": _isolated(self.before),
            "isolated_released": _isolated(self.after),
        }

    def _protection(self) -> dict[str, Any]:
        hiding = self.hiding
        likely = self.tried[self.plan.knows].greatest * self.k > 1 + ROUNDING
        return {
            "hides_among": {
                "least": _down(hiding.least),
                "median": _down(hiding.quantile(0.5)),
                "greatest": _down(hiding.quantile(1.0)),
            },
            "likelier": _up(int(np.count_nonzero(likely)) / len(self.k)),
            "unchanged": _up(self._unchanged() / max(1, len(self.after.p))),
        }

    def _unchanged(self) -> int:
        """Released edges with the probability of the source, in millionths."""
        before, after = (
            pl.DataFrame({"u": edges.u, "v": edges.v, "p": edges.p.astype(np.int64)})
            for edges in self.graphs
        )
        both = after.join(before, on=["u", "v"])
        return int(((both["p"] - both["p_right"]).abs() * 2 <= MILLIONTH).sum())

    def pictured(self) -> dict[str, NDArray[np.float64]]:
        """What pictures need: levels in multiples of k, vertices by degree before and after."""
        return {
            "levels": np.sort(self.hiding.reached / self.k),
            "before": _by_degree(self.degrees[0]),
            "after": _by_degree(self.degrees[1]),
        }

    def _attack(self, found: Posteriors) -> dict[str, Any]:
        hit = (found.own > 0) & (found.own >= found.greatest * (1 - ROUNDING))
        chance = np.where(hit, 1 / np.maximum(found.likeliest, 1), 0.0)
        return {
            "success": _up(math.fsum(chance.tolist()) / len(self.k)),
            "promised": math.fsum((1 / self.k).tolist()) / len(self.k),
            "below": int(np.count_nonzero(Obfuscation(found.bits, self.k).below)),
        }


def published_step(step: Mapping[str, Any]) -> dict[str, Any]:
    """What is published of a step: counts as they are, other figures rounded up."""
    plain = ("number", "seconds", "published")
    return {
        name: value if name in plain or not isinstance(value, float) else _up(value)
        for name, value in step.items()
    }


def _by_degree(degrees: Degrees) -> NDArray[np.float64]:
    """Expected number of vertices of each degree."""
    each = np.repeat(degrees.vertices, np.diff(degrees.start)) * degrees.mass
    return np.bincount(degrees.degree(), each).astype(np.float64)


def _few(source: Degrees, released: Degrees) -> bool:
    """Whether each distribution of the source can be compared with every released chance."""
    return len(source.vertices) * len(released.mass) <= MOST_MATCHES


def _isolated(edges: Edges) -> int:
    """Vertices without an edge that can exist."""
    there = edges.p > 0
    return edges.vertices - len(np.union1d(edges.u[there], edges.v[there]))


def _down(level: float) -> float:
    return math.floor(level * DIGITS + ROUNDING) / DIGITS


def _up(share: float) -> float:
    """A share or a difference, rounded up: a release is not told to be better than it is."""
    return math.ceil(share * DIGITS - ROUNDING) / DIGITS
