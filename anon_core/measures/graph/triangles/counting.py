"""The triangles of a graph: how many, of each edge, of each vertex, and the list of all.

A triangle is three vertices, each two of them joined by an edge. All numbers are whole and exact,
and the same for any number of threads.

References
----------
NodeIterator++, Algorithm 1 of Xiao, Towards Graph Analytic and Privacy Protection. Its running time
is O(m^(3/2)).
"""

import math
from collections.abc import Callable, Iterator

import numba
import numpy as np
from numpy.typing import NDArray

from anon_core.errors import InputError
from anon_core.jit.kernel import spread_work
from anon_core.measures.graph.triangles.counting_kernels import (
    HigherNeighbours,
    add_edges,
    add_vertices,
    count_parts,
    list_some,
)
from anon_core.measures.graph.triangles.ordering import sort_triangle_rows
from anon_core.measures.graph.triangles.oriented import VERTEX_RANGES, Oriented

TOLD = 32  # times that a watcher is told
TRIANGLES_AT_ONCE = 2**17  # triangles of a chunk, about


def count_triangles(graph: Oriented) -> int:
    """Return the number of triangles."""
    return int(_count_part_triangles(graph).sum())


def per_edge(graph: Oriented, advanced: Callable[[float], None] | None = None) -> NDArray[np.int32]:
    """Return the number of triangles of each edge, int32 (m,).

    Memory: 4 m bytes a thread, beside the graph.

    Parameters
    ----------
    graph : Oriented
        With numbers of edges.
    advanced : callable, optional
        Told the share of the work that is done, now and then.
    """
    lists, shares = build_numbered_lists(graph), numba.get_num_threads()
    # One row a share, so threads never add to one entry. An edge has fewer than n triangles.
    counts = np.zeros((shares, graph.edges), dtype=np.int32)
    bounds = (
        range(0, VERTEX_RANGES, VERTEX_RANGES // TOLD)
        if advanced
        else range(0, VERTEX_RANGES, VERTEX_RANGES)
    )
    for first in bounds:
        parts = lists.parts[first : first + bounds.step + 1]
        spread_work(add_edges, shares, lists._replace(parts=parts), shares, counts)
        if advanced:
            advanced((first + bounds.step) / VERTEX_RANGES)
    of_edge: NDArray[np.int32] = counts[0]
    return of_edge if shares == 1 else counts.sum(axis=0, dtype=np.int32)


def per_vertex(graph: Oriented, of_edge: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the number of triangles of each vertex, int64 (n,).

    Parameters
    ----------
    graph : Oriented
    of_edge : int32 (m,)
        From `per_edge`. A triangle of a vertex is one of two of its edges.
    """
    totals = np.zeros(graph.vertices, dtype=np.int64)
    add_vertices(graph.u, graph.v, of_edge, totals)
    return totals // 2


def compute_mean_clustering(graph: Oriented, of_vertex: NDArray[np.int64]) -> float:
    """Return the mean over all vertices of the share of its pairs of neighbours that are joined.

    A vertex with fewer than two neighbours counts as 0, as in networkx and SNAP.

    Parameters
    ----------
    graph : Oriented
    of_vertex : int64 (n,)
        From `per_vertex`.
    """
    degree = graph.degree.astype(np.int64)
    pairs = degree * (degree - 1) // 2
    share = np.divide(of_vertex, pairs, out=np.zeros(graph.vertices), where=pairs > 0)
    return math.fsum(share) / max(1, graph.vertices)


def compute_transitivity(graph: Oriented, triangles: int) -> float:
    """Return the share of paths of two edges that close a triangle; 0.0 without such paths."""
    degree = graph.degree.astype(np.int64)
    paths = int((degree * (degree - 1) // 2).sum())
    return 3 * triangles / paths if paths else 0.0


def list_triangles(graph: Oriented) -> NDArray[np.int32]:
    """Return all triangles, int32 (t, 3): ids u < v < w, ascending by (u, v, w), each once.

    Memory: 24 bytes a triangle, and 17 a vertex and thread, beside the graph.
    """
    lists, name = _build_lists(graph), np.empty(graph.vertices, dtype=np.int32)
    name[graph.rank] = np.arange(graph.vertices, dtype=np.int32)
    longest, found = int(np.diff(graph.start).max(initial=0)), {}

    def work(begin: int, end: int) -> None:
        bounds = int(graph.parts[begin]), int(graph.parts[end])
        found[begin] = list(_list_triangle_chunks(lists, name, longest, bounds))

    spread_work(work, VERTEX_RANGES)
    chunks = [chunk for begin in sorted(found) for chunk in found.pop(begin)]
    return sort_triangle_rows(chunks, graph.vertices)


def _list_triangle_chunks(
    lists: HigherNeighbours, name: NDArray[np.int32], longest: int, bounds: tuple[int, int]
) -> Iterator[NDArray[np.int32]]:
    """Yield the triangles whose lowest vertices are from bounds[0] to bounds[1] - 1."""
    marked, hits = np.zeros(len(name), dtype=np.uint8), np.empty(longest + 1, dtype=np.int32)
    cursor = np.array([bounds[0], 0])
    while cursor[0] < bounds[1]:
        # With room for the longest list beside a chunk, each call gets on by one list at least.
        rows = np.empty((longest + TRIANGLES_AT_ONCE, 3), dtype=np.int32)
        yield rows[: list_some(bounds[1], lists, name, marked, hits, cursor, rows)]


def _count_part_triangles(graph: Oriented) -> NDArray[np.int64]:
    """Return the number of triangles of each part, int64 (VERTEX_RANGES,)."""
    totals = np.empty(len(graph.parts) - 1, dtype=np.int64)
    count_parts(totals, _build_lists(graph))
    return totals


def build_numbered_lists(graph: Oriented) -> HigherNeighbours:
    """Return the graph's arrays for kernels that read the numbers of edges."""
    if len(graph.edge) != graph.edges:
        raise InputError("the graph was oriented without the numbers of its edges; keep them")
    return _build_lists(graph)


def _build_lists(graph: Oriented) -> HigherNeighbours:
    return HigherNeighbours(graph.start, graph.higher, graph.edge, graph.parts)
