"""The b-nearest closure: every vertex joined to its b(v) nearest vertices."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anon_core.graphs.dissimilarity import Dissimilarity
from anon_core.kernels.cover import closure_edges
from anon_core.kernels.nearest import edge_costs, nearest
from anon_core.records import Edges


@dataclass(frozen=True)
class Neighbours:
    """The b(v) nearest vertices of each vertex v, ascending by (E, vertex).

    Attributes
    ----------
    indptr : int64 (n + 1,)
    vertex, cost : int32 (sum b,)
    """

    indptr: NDArray[np.int64]
    vertex: NDArray[np.int32]
    cost: NDArray[np.int32]


def nearest_neighbours(
    graph: Dissimilarity, counts: NDArray[np.uint16], b: NDArray[np.int32], before: Neighbours | None = None
) -> Neighbours:
    """Find the b(v) nearest vertices of every vertex exactly.

    Parameters
    ----------
    graph : Dissimilarity
    counts : uint16 (f, n)
        The state of the weights.
    b : int32 (n,)
        0 <= b(v) <= n - 1.
    before : Neighbours, optional
        The answer under other weights: its lists bound the new distances from above, which saves time only.

    Returns
    -------
    Neighbours
        Under the strict total order (E_uv, min(u, v), max(u, v)); seen from one vertex that is (E, other vertex).

    Notes
    -----
    A tile of 64 x 64 pairs is bounded by one side's costs, then summed exactly where the bound does not exclude it. Time
    O(n^2 attributes) additions in the worst case; memory O(n levels + sum b). The result depends on no thread.
    """
    n = graph.vertices
    table, rows = graph.cost_table(counts), graph.rows()
    place = np.empty(n, dtype=np.int64)
    place[graph.layout] = np.arange(n)
    indptr = np.concatenate([[0], np.cumsum(b, dtype=np.int64)])
    vertex = np.empty(indptr[-1], dtype=np.int32)
    cost = np.empty(indptr[-1], dtype=np.int32)
    limit = np.full(n, np.iinfo(np.int32).max, dtype=np.int32)
    if before is not None:
        edge_costs(table, rows, place, before.indptr, before.vertex, limit)
    order = graph.layout
    nearest(table, rows, order.astype(np.int32), b[order], limit[order], indptr, vertex, cost)
    return Neighbours(indptr, vertex, cost)


def nearest_closure(neighbours: Neighbours) -> Edges:
    """Join every vertex to its listed neighbours: the union of the lists as undirected edges, each once."""
    size = len(neighbours.vertex)
    u, v, weight = (np.empty(size, dtype=np.int32) for _ in range(3))
    m = closure_edges(neighbours.indptr, neighbours.vertex, neighbours.cost, u, v, weight)
    return Edges(u[:m], v[:m], weight[:m])
