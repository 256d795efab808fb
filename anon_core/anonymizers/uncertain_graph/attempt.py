"""A graph that may be released: how well it hides the source's vertices, and what it changed."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.uncertain_graph.degrees import GraphEdges
from anon_core.anonymizers.uncertain_graph.hiding import Hiding
from anon_core.specs.graphs import ONE


@dataclass(frozen=True)
class Attempt:
    """A graph that may be released, and how well it hides the vertices of the source.

    Attributes
    ----------
    hiding : Hiding
    edges : GraphEdges
        Whole millionths from 1 on, ascending by (u, v).
    """

    hiding: Hiding
    edges: GraphEdges = field(repr=False)

    @cached_property
    def bits(self) -> NDArray[np.float64]:
        """H(Y) of each vertex of the source, float64 (n,)."""
        return self.hiding.entropies(self.edges)

    @cached_property
    def below(self) -> int:
        """Number of vertices that are less hidden than they demand."""
        return int(np.count_nonzero(self.hiding.below(self.bits)))

    @cached_property
    def shortfall(self) -> float:
        """Bits that the vertices below lack, without those that lack most and are exempt."""
        lacking = np.sort(np.maximum(self.hiding.needed - self.bits, 0))
        return float(lacking[: len(lacking) - self.hiding.graph.exempt].sum())

    @property
    def is_acceptable(self) -> bool:
        """Whether no more vertices are below than the graph exempts."""
        return self.below <= self.hiding.graph.exempt

    @cached_property
    def error(self) -> float:
        """Mean absolute difference of a vertex's expected degree from the source's."""
        return float(np.abs(self._changes).mean() / ONE) if len(self._changes) else 0.0

    @property
    def figures(self) -> dict[str, float]:
        """Aggregates: see `Obfuscate`."""
        whole = int(self.hiding.expected.sum())
        return {
            "below": self.below,
            "reached k": self.hiding.find_reached_k(self.bits),
            "degree error": self.error,
            "added degree": int(self._changes.sum()) / whole if whole else 0.0,
            "edges": len(self.edges.u),
        }

    @cached_property
    def _changes(self) -> NDArray[np.int64]:
        return self.edges.degree_billionths() - self.hiding.expected


def join_edges(one: GraphEdges, other: GraphEdges) -> GraphEdges:
    """Return the edges of both."""
    pairs = zip(one[1:], other[1:], strict=True)
    return GraphEdges(one.vertices, *(np.concatenate(pair) for pair in pairs))


def select_edges(edges: GraphEdges, which: NDArray[np.bool_]) -> GraphEdges:
    """Return some of the edges; which bool (m,)."""
    return GraphEdges(edges.vertices, edges.u[which], edges.v[which], edges.p[which])


def list_present_edges(edges: GraphEdges) -> GraphEdges:
    """Return the edges with p > 0, ascending by (u, v)."""
    order = np.lexsort((edges.v, edges.u))
    order = order[edges.p[order] > 0]
    return GraphEdges(edges.vertices, edges.u[order], edges.v[order], edges.p[order])
