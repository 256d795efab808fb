"""One attempt at one sigma: Algorithm 7, and what it did to the graph."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.uncertain_graph.candidates import candidates
from anon_core.anonymizers.uncertain_graph.degrees import Edges
from anon_core.anonymizers.uncertain_graph.hiding import Hiding
from anon_core.anonymizers.uncertain_graph.perturbation import (
    Perturbation,
    of_source,
    perturbed,
    spread_of,
)
from anon_core.specs.graphs import ONE


@dataclass(frozen=True)
class Attempt:
    """A graph that may be released, and how well it hides the vertices of the source.

    Attributes
    ----------
    hiding : Hiding
    edges : Edges
        Whole millionths from 1 on, ascending by (u, v).
    """

    hiding: Hiding
    edges: Edges = field(repr=False)

    @cached_property
    def bits(self) -> NDArray[np.float64]:
        """H(Y) of each vertex of the source, float64 (n,)."""
        return self.hiding.entropies(self.edges)

    @cached_property
    def below(self) -> int:
        """Number of vertices that are less hidden than they demand."""
        return int(np.count_nonzero(self.hiding.below(self.bits)))

    @cached_property
    def accepted(self) -> bool:
        """Whether that is no more than the graph exempts."""
        return self.below <= self.hiding.graph.exempt

    @cached_property
    def error(self) -> float:
        """Mean absolute difference of a vertex's expected degree from the source's."""
        return float(np.abs(self._changes).mean() / ONE) if len(self._changes) else 0.0

    @property
    def figures(self) -> dict[str, float]:
        """Aggregates: see `Obfuscate`."""
        graph = self.hiding.graph
        whole = 2 * int(graph.p.sum(dtype=np.int64))
        return {
            "below": self.below,
            "reached k": self.hiding.reached(self.bits),
            "degree error": self.error,
            "added degree": int(self._changes.sum()) / whole if whole else 0.0,
            "edges": len(self.edges.u),
        }

    @cached_property
    def _changes(self) -> NDArray[np.int64]:
        graph = self.hiding.graph
        source = Edges(graph.records, graph.u, graph.v, graph.p)
        return self.edges.expected_billionths() - source.expected_billionths()


@dataclass(frozen=True)
class Ground:
    """What every attempt at a graph reads.

    Attributes
    ----------
    hiding : Hiding
    start : Edges
        The graph that is perturbed: the source, or a representative instance.
    weight : float64 (n,)
        Q(v).
    excluded : bool (n,)
        H.
    q : float
    perturbation : {"towards half", "undirected"}
    """

    hiding: Hiding
    start: Edges = field(repr=False)
    weight: NDArray[np.float64] = field(repr=False)
    excluded: NDArray[np.bool_] = field(repr=False)
    q: float
    perturbation: Perturbation

    def unchanged(self) -> Attempt:
        """Return the graph as it is, in whole millionths: sigma = 0."""
        start = self.start
        return Attempt(self.hiding, present(start._replace(p=of_source(start.p))))

    def attempt(self, sigma: float, c: float, stream: np.random.Generator) -> Attempt:
        """Perturb candidates with deviation sigma on average: one pass of lines 8 to 31."""
        inside, added = candidates(self.start, self.weight, self.excluded, c, stream)
        both = joined(chosen(self.start, inside), added)
        spread = spread_of(both, self.weight, sigma)
        changed = both._replace(p=perturbed(both, spread, self.q, self.perturbation, stream))
        outside = chosen(self.start, ~inside)
        outside = outside._replace(p=of_source(outside.p))
        return Attempt(self.hiding, present(joined(outside, changed)))


def chosen(edges: Edges, which: NDArray[np.bool_]) -> Edges:
    """Return some of the edges; which bool (m,)."""
    return Edges(edges.vertices, edges.u[which], edges.v[which], edges.p[which])


def joined(one: Edges, other: Edges) -> Edges:
    """Return the edges of both."""
    pairs = zip(one[1:], other[1:], strict=True)
    return Edges(one.vertices, *(np.concatenate(pair) for pair in pairs))


def present(edges: Edges) -> Edges:
    """Return the edges with p > 0, ascending by (u, v)."""
    order = np.lexsort((edges.v, edges.u))
    order = order[edges.p[order] > 0]
    return Edges(edges.vertices, edges.u[order], edges.v[order], edges.p[order])
