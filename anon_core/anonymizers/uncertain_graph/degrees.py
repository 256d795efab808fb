"""Edges while an anonymizer changes them, and how likely each degree of their ends is."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.uncertain_graph.degrees_kernels import (
    NEGLIGIBLE_COUNT,
    DegreeChances,
    Incident,
    add_columns,
    convolve_degrees,
)
from anon_core.specs.graphs import ONE


class GraphEdges(NamedTuple):
    """Edges of a graph of n vertices.

    Attributes
    ----------
    vertices : int
        n.
    u, v : int32 (m,)
        Ends, u < v.
    p : int32 (m,)
        Probability in billionths.
    """

    vertices: int
    u: NDArray[np.int32]
    v: NDArray[np.int32]
    p: NDArray[np.int32]

    def degree_billionths(self) -> NDArray[np.int64]:
        """Return the expected degree of each vertex in billionths, int64 (n,): exact."""
        total = np.zeros(self.vertices, dtype=np.int64)
        np.add.at(total, self.u, self.p)
        np.add.at(total, self.v, self.p)
        return total


def degrees_of(edges: GraphEdges) -> DegreeChances:
    """Return how likely each degree of each vertex is."""
    ends = np.concatenate([edges.u, edges.v])
    p = np.concatenate([edges.p, edges.p])
    low = np.bincount(ends[p == ONE], minlength=edges.vertices)
    uncertain = np.flatnonzero((p > 0) & (p < ONE))
    uncertain = uncertain[np.argsort(ends[uncertain], kind="stable")]
    held = np.bincount(ends[uncertain], minlength=edges.vertices)
    start = np.concatenate([[0], np.cumsum(held)])
    # A vertex of h uncertain edges has h + 1 possible degrees.
    degrees = DegreeChances(
        low, start + np.arange(edges.vertices + 1), np.empty(len(uncertain) + edges.vertices)
    )
    convolve_degrees(Incident(start, p[uncertain] / ONE), degrees)
    return degrees


def column_entropies(degrees: DegreeChances, columns: int) -> NDArray[np.float64]:
    """Return H(Y_w) in bits of the vertices that a degree w = 0 .. columns - 1 may mean.

    Y_w(u) = X_u(w) / S(w), X_u(w) = P(degree of u = w), S(w) = sum of X_u(w) over u. A sum below
    `NEGLIGIBLE_COUNT` is taken for 0: no vertex can have the degree, 0 bits.

    References
    ----------
    Xiao, section 2.2.3 and Fig. 2.2.
    """
    most = int((degrees.low + np.diff(degrees.start)).max(initial=0))
    total, weighted = np.zeros(max(most, columns)), np.zeros(max(most, columns))
    add_columns(degrees, total, weighted)
    bits, held = np.zeros(len(total)), total > NEGLIGIBLE_COUNT
    # - sum Y log2 Y with Y = X / S is log2 S - (sum X log2 X) / S: one pass, without the Y.
    bits[held] = np.log2(total[held]) - weighted[held] / total[held]
    return bits[:columns]
