"""The numbers that an audit measures, as the manifest states them: aggregates only.

Entropies and the greatest chances follow from the source and the released bytes. How far the
release is from the source at each vertex, and how often an attacker's best guess is right, also
follow from the vault's map of keys. That is no secret that the promise relies on: entropies do not
depend on it. Such numbers are published rounded all the same, never in favour of the release.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.measures.graph.degrees import Degrees, UncertainEdges
from anon_core.measures.graph.discrepancy import Discrepancy, estimate_discrepancy
from anon_core.measures.graph.hops import PathLengths, path_lengths
from anon_core.measures.graph.linkage import DegreeLinkage
from anon_core.measures.graph.obfuscation import Obfuscation
from anon_core.measures.graph.posteriors import Posteriors, compute_posteriors
from anon_core.measures.graph.shown_edges import ShownEdges, compare_edges
from anon_core.measures.graph.sifting import Sifted, sift_edges
from anon_core.measures.graph.structure import (
    compute_expected_clustering,
    degree_change,
    degree_counts,
)
from anon_core.specs.graphs import Knowledge
from crowdcover.kinds.graph.judge.source import SourceGraph
from crowdcover.kinds.graph.plan.sections import GraphPlan
from crowdcover.kinds.judge.rounding import DIGITS, round_down, round_up

_KNOWN: dict[Knowledge, str] = {
    "ceiling": "the expected degree",
    "mode": "the likeliest degree",
    "distribution": "the chance of each degree",
}
SIFTING = "{}, dropping odd edges"
_RULES = 12  # at most, of an attacker who sifts edges
MOST_MATCHES = 2 * 10**10  # pairs of a distribution and a chance that an attack compares
LEAST_PAIRS = 30  # of a distance that is published


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
    before, after : UncertainEdges
        Source and release, vertices numbered as in the source.
    degrees : (Degrees, Degrees)
        Of source and release.
    tried : dict of Posteriors
        What attackers conclude, by what they know; the plan's knowledge is among them.
    dropping : tuple of Sifted
        What they conclude who have the plan's knowledge, and drop edges by some rule.
    below_before : int
        Vertices that would hide among fewer than they demand in the source itself.
    joined : Discrepancy
        Pairs of vertices that are connected in sampled worlds.
    lengths : PathLengths
        Hops between vertices in sampled worlds.
    shown : ShownEdges
        What the release shows of the source's edges.
    """

    k: NDArray[np.int32] = field(repr=False)
    plan: GraphPlan = field(repr=False)
    exempt: int
    before: UncertainEdges = field(repr=False)
    after: UncertainEdges = field(repr=False)
    degrees: tuple[Degrees, Degrees] = field(repr=False)
    tried: dict[Knowledge, Posteriors] = field(repr=False)
    dropping: tuple[Sifted, ...] = field(repr=False)
    below_before: int
    joined: Discrepancy = field(repr=False)
    lengths: PathLengths = field(repr=False)
    shown: ShownEdges = field(repr=False)

    @classmethod
    def of(cls, source: SourceGraph, released: UncertainEdges, plan: GraphPlan) -> "Measured":
        """Measure a release."""
        knows, graphs = plan.knows, (source.edges, released)
        degrees = Degrees.of(source.edges), Degrees.of(released)
        # Pairs to compare: distributions of the source times chances of the release.
        few = degrees[0].vertices.size * degrees[1].mass.size
        tried = {
            each: compute_posteriors(*degrees, each)
            for each in _KNOWN
            if each in ("ceiling", "mode", knows) or few <= MOST_MATCHES
        }
        sifting = knows != "distribution" or _RULES * few <= MOST_MATCHES
        # The source against itself: who would hide if nothing were changed.
        bits = compute_posteriors(degrees[0], degrees[0], knows).bits
        return cls(
            k=source.k,
            plan=plan,
            exempt=source.exempt,
            before=source.edges,
            after=released,
            degrees=degrees,
            tried=tried,
            dropping=tuple(sift_edges(degrees[0], released, knows)) if sifting else (),
            below_before=int(np.count_nonzero(Obfuscation(bits, source.k).below)),
            joined=estimate_discrepancy(*graphs),
            lengths=path_lengths(*graphs),
            shown=compare_edges(*graphs),
        )

    @property
    def hiding(self) -> Obfuscation:
        """How well each vertex hides from the attacker of the plan."""
        return Obfuscation(self.tried[self.plan.knows].bits, self.k)

    @property
    def below(self) -> int:
        """Vertices that hide among fewer than they demand."""
        return int(np.count_nonzero(self.hiding.below))

    @property
    def graphs(self) -> tuple[UncertainEdges, UncertainEdges]:
        """Source and release."""
        return self.before, self.after

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
            "attacks": self._attacks(),
        }

    def _utility(self) -> dict[str, Any]:
        change, n = degree_change(*self.degrees), len(self.k)
        lengths, shape = self.lengths, [compute_expected_clustering(edges) for edges in self.graphs]
        connected = self.joined.connected.mean(axis=1) / max(1, n * (n - 1) // 2)
        sides: dict[str, Sequence[float]] = {
            "edges": [len(edges.p) for edges in self.graphs],
            # Degrees count each edge twice, once at each end.
            "expected_edges": [round(mean * n / 2) for mean in (change.before, change.after)],
            "isolated": [_count_isolated(edges) for edges in self.graphs],
            "degree": [round(mean, 2) for mean in (change.before, change.after)],
            "clustering": [round(each.coefficient, 3) for each in shape],
            "triangles": [round(each.triangles) for each in shape],
            "triangles_deviation": [round(each.deviation, 2) for each in shape],
            "path_length": [round(mean, 2) for mean in lengths.mean],
            "connected": [round(float(share), 3) for share in connected],
        }
        low, high = self.joined.interval
        return {
            **{name: before for name, (before, _) in sides.items()},
            **{f"{name}_released": after for name, (_, after) in sides.items()},
            "degree_error": round_up(change.error),
            "discrepancy": round_up(self.joined.mean),
            "discrepancy_interval": [round_down(low), round_up(high)],
            "discrepancy_by_hops": self._by_hops(),
            "worlds": self.joined.worlds,
            # In whole numbers: 1 comes out only where every edge is the same.
            "same_edges": (
                self.shown.same * DIGITS // self.shown.either / DIGITS if self.shown.either else 1.0
            ),
        }

    def _by_hops(self) -> dict[str, float]:
        """Discrepancy by distance, where enough pairs were sampled."""
        # A mean over few pairs is noise, and it is about few vertices.
        least = max(LEAST_PAIRS, int(self.k.max()))
        found = self.joined.by_hops()
        return {name: round_up(mean) for name, (mean, _, pairs) in found.items() if pairs >= least}

    def _protection(self) -> dict[str, Any]:
        hiding = self.hiding
        likely = DegreeLinkage.of(self.tried[self.plan.knows]).surer(self.k)
        return {
            "hides_among": {
                "least": round_down(hiding.least),
                "median": round_down(hiding.quantile(0.5)),
                "greatest": round_down(hiding.quantile(1.0)),
            },
            "below_before": self.below_before,
            "likelier": round_up(int(np.count_nonzero(likely)) / len(self.k)),
            "unchanged": round_up(self.shown.same / max(1, len(self.after.p))),
            "edges": self._edges(),
        }

    def _edges(self) -> dict[str, float]:
        """What someone learns of edges who has found vertices, or has their probabilities."""
        shown, n = self.shown, len(self.k)
        added, missing = shown.released - shown.both, shown.source - shown.both
        return {
            "matched": round_up(int(np.count_nonzero(shown.matched)) / n),
            "near": round_up(int(np.count_nonzero(shown.near)) / n),
            "added": round_down(added / max(1, shown.released)),
            "missing": round_down(missing / max(1, shown.source)),
            "joined": round(shown.joined, 6),
            "joined_if_released": round_up(shown.joined_if_released),
        }

    def _attacks(self) -> dict[str, dict[str, Any]]:
        n, guess = len(self.k), math.fsum((1 / self.k).tolist()) / len(self.k)
        found: dict[str, dict[str, Any]] = {
            _KNOWN[knows]: {
                "success": round_up(DegreeLinkage.of(each).hits / n),
                "promised": guess,
                "highest": round_up(float(each.greatest.max())),
                "below": int(np.count_nonzero(Obfuscation(each.bits, self.k).below)),
            }
            for knows, each in self.tried.items()
        }
        if self.dropping:
            # A wrong rule makes sure of wrong vertices: entropies of a rule alone say nothing.
            best = max(DegreeLinkage.of(each.found).hits for each in self.dropping)
            name = SIFTING.format(_KNOWN[self.plan.knows])
            unjudged = {"highest": None, "below": None}
            found[name] = {"success": round_up(best / n), "promised": guess, **unjudged}
        return found

    def picture_arrays(self) -> dict[str, NDArray[np.float64]]:
        """What pictures need: levels in multiples of k, vertices by degree before and after."""
        levels = self.hiding.levels / self.k
        # Logarithms are rounded: k equal chances may give a hair less than k, and count as k.
        levels = np.where(self.hiding.below, levels, np.maximum(levels, 1.0))
        return {
            "levels": np.sort(levels),
            "before": degree_counts(self.degrees[0]),
            "after": degree_counts(self.degrees[1]),
        }


def round_step(step: Mapping[str, Any]) -> dict[str, Any]:
    """What is published of a step: counts as they are, other figures rounded up."""
    plain = ("number", "seconds", "published")
    return {
        name: value if name in plain or not isinstance(value, float) else round_up(value)
        for name, value in step.items()
    }


def _count_isolated(edges: UncertainEdges) -> int:
    """Vertices without an edge that can exist."""
    there = edges.p > 0
    return edges.vertices - len(np.union1d(edges.u[there], edges.v[there]))
