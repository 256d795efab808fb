"""What remains of a graph's structure: degrees, triangles, clustering."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anon_core.measures.graph.coupling import couple_graphs
from anon_core.measures.graph.degrees import Degrees, UncertainEdges
from anon_core.measures.graph.triangles.expected import (
    compute_expected_triangles,
    compute_triangle_variance,
)
from anon_core.measures.graph.triangles.oriented import orient_edges
from anon_core.specs.graphs import ONE


@dataclass(frozen=True)
class DegreeChange:
    """How the release moves expected degrees.

    Attributes
    ----------
    error : float
        Mean over the vertices of |d - d~|, where d is the expected degree; 0 without vertices.
    before, after : float
        Mean expected degree, twice the expected edges over the vertices.
    """

    error: float
    before: float
    after: float


def degree_change(source: Degrees, released: Degrees) -> DegreeChange:
    """Compare expected degrees; vertex i of the source is vertex i of the release."""
    before, after = source.expected[source.of_vertex], released.expected[released.of_vertex]
    total = max(1, len(before)) * ONE
    sums = [int(each.sum()) for each in (abs(before - after), before, after)]
    return DegreeChange(*(each / total for each in sums))


def degree_counts(degrees: Degrees) -> NDArray[np.float64]:
    """Return the expected number of vertices of each degree, float64 (highest + 1,)."""
    vertices = np.repeat(degrees.vertices, np.diff(degrees.start))
    counts = np.bincount(degrees.degree(), vertices * degrees.mass)
    return np.asarray(counts, dtype=np.float64)


@dataclass(frozen=True)
class Clustering:
    """Expected triangles and wedges; edges are independent, so that both are sums of products.

    Attributes
    ----------
    triangles : float
        Sum over triples of vertices of the product of their three probabilities.
    deviation : float
        Standard deviation of the number of triangles.
    wedges : float
        Paths of two edges: sum over vertices of (d^2 - sum of p^2) / 2, d the expected degree.
    """

    triangles: float
    deviation: float
    wedges: float

    @property
    def coefficient(self) -> float:
        """3 expected triangles over the expected wedges; 0 without wedges.

        It is the transitivity of a certain graph. Of an uncertain one it is a ratio of
        expectations, not the expected ratio.
        """
        return 3 * self.triangles / self.wedges if self.wedges else 0.0


def compute_expected_clustering(edges: UncertainEdges) -> Clustering:
    """Return expected triangles, their standard deviation and expected wedges."""
    pairs = couple_graphs(edges)
    n = edges.vertices
    p = pairs.p[0] / ONE
    end, twice = np.concatenate([pairs.u, pairs.v]), np.concatenate([p, p])
    expected = np.bincount(end, twice, minlength=n)
    wedges = (expected**2 - np.bincount(end, twice**2, minlength=n)).sum() / 2
    graph = orient_edges(pairs.u, pairs.v, n)
    triangles, spread = (
        compute_expected_triangles(graph, pairs.p[0]),
        compute_triangle_variance(graph, pairs.p[0]),
    )
    return Clustering(float(triangles), math.sqrt(spread), max(float(wedges), 0.0))
