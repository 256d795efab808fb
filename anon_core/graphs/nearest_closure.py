"""The b-nearest closure: every vertex joined to its b(v) nearest vertices."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anon_core.graphs.dissimilarity import Dissimilarity
from anon_core.kernels.cover import closure_edges
from anon_core.kernels.nearest import LANES, least_steps, limits_listed, limits_nearby, nearest, number_nodes
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


@dataclass(frozen=True)
class LevelTree:
    """Vertices sorted by their levels, and the tree of shared beginnings that sorting makes.

    Attributes
    ----------
    attributes : int64 (a,)
        Attributes in the order of sorting, those of least entropy first: few large nodes near the root.
    layout : int64 (n,)
        The vertex at each place.
    rows : int32 (n, a)
        Levels of the vertices by place, as rows of a cost table.
    own : int32 (blocks, a, LANES)
        The same by block, -1 past the last vertex.
    distinct : int32 (rows, a)
    first : int64 (rows + 1,)
        First place of each distinct row.
    change : int32 (rows,)
    skip : int32 (rows, a)
        See `number_nodes`.
    """

    attributes: NDArray[np.int64]
    layout: NDArray[np.int64]
    rows: NDArray[np.int32]
    own: NDArray[np.int32]
    distinct: NDArray[np.int32]
    first: NDArray[np.int64]
    change: NDArray[np.int32]
    skip: NDArray[np.int32]

    @classmethod
    def of(cls, graph: Dissimilarity) -> "LevelTree":
        """Sort the vertices of a graph; time O(a n log n), memory O(a n)."""
        n = graph.vertices
        attributes = np.argsort([_entropy(codes) for codes in graph.codes], kind="stable")
        layout = np.lexsort(graph.codes[attributes[::-1]])
        levels = graph.codes + graph.level_offsets[:-1, None].astype(np.int32)
        rows = np.ascontiguousarray(levels[attributes][:, layout].T)
        padded = np.full((-(-n // LANES) * LANES, len(attributes)), -1, dtype=np.int32)
        padded[:n] = rows
        own = np.ascontiguousarray(padded.reshape(-1, LANES, len(attributes)).transpose(0, 2, 1))
        starts = np.flatnonzero(np.concatenate([[True], (rows[1:] != rows[:-1]).any(axis=1)]))
        distinct = rows[starts]
        change, skip = np.empty(len(distinct), dtype=np.int32), np.empty(distinct.shape, dtype=np.int32)
        number_nodes(distinct, change, skip)
        return cls(attributes, layout, rows, own, distinct, np.append(starts, n), change, skip)


def _entropy(codes: NDArray[np.int32]) -> float:
    share = np.bincount(codes) / len(codes)
    return float(-(share[share > 0] * np.log2(share[share > 0])).sum())


def nearest_neighbours(
    graph: Dissimilarity,
    tree: LevelTree,
    counts: NDArray[np.uint16],
    b: NDArray[np.int32],
    before: Neighbours | None = None,
) -> Neighbours:
    """Find the b(v) nearest vertices of every vertex exactly.

    Parameters
    ----------
    graph : Dissimilarity
    tree : LevelTree
        Of this graph.
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
    Branch and bound: blocks of 32 similar vertices walk the tree of levels and leave a subtree as soon as what they pay
    for its levels, and the least that anyone in it pays for theirs, passes the b-th best known to each. On real tables a
    few nodes in a thousand are visited (docs/performance.md); O(n^2) at worst. Memory O(n levels + sum b). The result
    depends on no thread.
    """
    table = graph.cost_table(counts, tree.layout)
    least = np.empty(tree.distinct.shape, dtype=np.int32)
    starts, stops = graph.level_offsets[:-1][tree.attributes], graph.level_offsets[1:][tree.attributes]
    least_steps(table, tree.rows, starts, stops, tree.first, tree.change, least)
    indptr = np.concatenate([[0], np.cumsum(b, dtype=np.int64)])
    vertex = np.empty(indptr[-1], dtype=np.int32)
    cost = np.empty(indptr[-1], dtype=np.int32)
    limit = np.zeros(graph.vertices, dtype=np.int32)
    if before is None:
        limits_nearby(table, tree.rows, b[tree.layout], limit)
    else:
        place = np.empty(graph.vertices, dtype=np.int64)
        place[tree.layout] = np.arange(graph.vertices)
        limits_listed(table, tree.rows, place, before.indptr, before.vertex, limit)
    nearest(
        table, tree.rows, tree.own, tree.distinct, tree.first, tree.change, tree.skip, least,
        tree.layout.astype(np.int32), b[tree.layout], limit, indptr, vertex, cost,
    )  # fmt: skip
    return Neighbours(indptr, vertex, cost)


def nearest_closure(neighbours: Neighbours) -> Edges:
    """Join every vertex to its listed neighbours: the union of the lists as undirected edges, each once."""
    size = len(neighbours.vertex)
    u, v, weight = (np.empty(size, dtype=np.int32) for _ in range(3))
    m = closure_edges(neighbours.indptr, neighbours.vertex, neighbours.cost, u, v, weight)
    return Edges(u[:m], v[:m], weight[:m])
