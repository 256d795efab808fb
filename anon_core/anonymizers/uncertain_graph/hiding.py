"""Which vertices an uncertain graph hides among k."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.uncertain_graph.degrees import GraphEdges, column_entropies, degrees_of
from anon_core.anonymizers.uncertain_graph.degrees_kernels import (
    DegreeChances,
    fill_match_entropies,
)
from anon_core.graphs.records import UncertainGraph
from anon_core.specs.graphs import ONE

# Bits that rounding may take; half of what the auditor allows: it sums otherwise.
_TOLERANCE = 5e-10
_TIE = 1e-12  # of the greatest chance: degrees that are equally likely


@dataclass(frozen=True)
class Hiding:
    """Says how well a release hides each vertex of a graph.

    Attributes
    ----------
    graph : UncertainGraph
        The source.
    needed : float64 (n,)
        log2 k of each vertex, in bits.
    known : int64 (n,), or DegreeChances
        The degree that the adversary knows, or how likely each degree is.
    expected : int64 (n,)
        Expected degrees of the source, in billionths.
    """

    graph: UncertainGraph
    needed: NDArray[np.float64] = field(repr=False)
    known: NDArray[np.int64] | DegreeChances = field(repr=False)
    expected: NDArray[np.int64] = field(repr=False)

    @classmethod
    def of(cls, graph: UncertainGraph) -> "Hiding":
        """Take what the adversary knows from the source."""
        needed = np.log2(graph.k.astype(np.float64))
        edges = GraphEdges(graph.records, graph.u, graph.v, graph.p)
        return cls(graph, needed, find_known_degrees(graph), edges.degree_billionths())

    def entropies(self, edges: GraphEdges) -> NDArray[np.float64]:
        """Return H(Y) in bits of each vertex of the source, float64 (n,), in a release."""
        return self.compute_levels_of(degrees_of(edges))

    def compute_levels_of(self, released: DegreeChances) -> NDArray[np.float64]:
        """Return the same of the degrees of a release."""
        if isinstance(self.known, DegreeChances):
            bits = np.empty(self.graph.records)
            fill_match_entropies(self.known, released, bits)
            return bits
        columns = column_entropies(released, int(self.known.max(initial=0)) + 1)
        return columns[self.known]

    def below(self, bits: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which vertices have less than log2 k bits."""
        return bits < self.needed - _TOLERANCE

    def accepts(self, edges: GraphEdges) -> bool:
        """Return whether at most as many vertices are below as the graph exempts."""
        return int(np.count_nonzero(self.below(self.entropies(edges)))) <= self.graph.exempt

    def find_reached_k(self, bits: NDArray[np.float64]) -> int:
        """Return the greatest k that all vertices but the exempt ones have."""
        # The vertices with fewest bits are the exempt ones.
        counted = np.sort(bits)[self.graph.exempt :]
        return int(np.exp2(counted[0] + _TOLERANCE)) if len(counted) else self.graph.records


def find_known_degrees(graph: UncertainGraph) -> NDArray[np.int64] | DegreeChances:
    """Return what the adversary knows of each degree; see `anon_core.specs.graphs.Knowledge`."""
    edges = GraphEdges(graph.records, graph.u, graph.v, graph.p)
    if graph.knowledge == "ceiling":
        return -(-edges.degree_billionths() // ONE)
    degrees = degrees_of(edges)
    if graph.knowledge == "distribution":
        return degrees
    greatest = np.maximum.reduceat(degrees.chance, degrees.start[:-1])
    size = np.diff(degrees.start)
    likely = np.flatnonzero(degrees.chance >= np.repeat(greatest, size) * (1 - _TIE))
    # Of degrees that are equally likely, the adversary takes the smallest.
    first = likely[np.searchsorted(likely, degrees.start[:-1])]
    return degrees.low + first - degrees.start[:-1]
