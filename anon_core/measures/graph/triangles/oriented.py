"""A graph for NodeIterator++: each edge is stored once, at its end of lower degree.

References
----------
Algorithm 1 of Xiao, Towards Graph Analytic and Privacy Protection: the preprocessing step.
"""

from dataclasses import dataclass, field

import numba
import numpy as np
from numpy.typing import NDArray

from anon_core.errors import InputError
from anon_core.jit.kernel import spread_work
from anon_core.measures.graph.triangles.oriented_kernels import (
    count_ends,
    count_lower,
    fill_oriented_edges,
    rank_by_degree,
    sum_rank_starts,
)

_MOST_EDGES = 2**31 - 1
VERTEX_RANGES = 512  # ranges of vertices with about as many edges each, shared out to threads


@dataclass(frozen=True)
class Oriented:
    """The effective neighbours N_x^H of each vertex x: those of higher degree.

    Vertices are named by rank: rank 0 has most edges, and of equal degrees the greater id ranks
    first. So each edge leads from a greater rank to a smaller one, the lists that are read most lie
    together, and no list is longer than sqrt(2 m).

    Attributes
    ----------
    u, v : int32 (m,)
        The edges by id, u < v, ascending by (u, v), each once.
    degree : int32 (n,)
        By id.
    rank : int32 (n,)
        By id.
    start : int64 (n + 1,)
        higher[start[x] : start[x + 1]] are the effective neighbours of rank x.
    higher : int32 (m,)
        Ranks; each list in the order of edges.
    edge : int32 (m,)
        Number of the edge of each entry of `higher`; empty if numbers were not asked for.
    parts : int64 (VERTEX_RANGES + 1,)
        Bounds of ranges of ranks with about equally many edges.
    """

    u: NDArray[np.int32] = field(repr=False)
    v: NDArray[np.int32] = field(repr=False)
    degree: NDArray[np.int32] = field(repr=False)
    rank: NDArray[np.int32] = field(repr=False)
    start: NDArray[np.int64] = field(repr=False)
    higher: NDArray[np.int32] = field(repr=False)
    edge: NDArray[np.int32] = field(repr=False)
    parts: NDArray[np.int64] = field(repr=False)

    @property
    def vertices(self) -> int:
        """Number of vertices n."""
        return len(self.degree)

    @property
    def edges(self) -> int:
        """Number of edges m."""
        return len(self.u)


def orient_edges(
    u: NDArray[np.int32], v: NDArray[np.int32], vertices: int, *, numbered: bool = True
) -> Oriented:
    """Orient the edges of a simple graph by degree, on all threads of numba.

    Parameters
    ----------
    u, v : int32 (m,)
        0 <= u < v < vertices, ascending by (u, v), each pair once.
    vertices : int
    numbered : bool
        Keep the number of each edge. Counting alone does not need it and saves 4 m bytes.

    Raises
    ------
    InputError
        The edges are none of this form, or more than 2^31 - 1.
    """
    _check_edges(u, v, vertices)
    edges, shares = len(u), max(1, numba.get_num_threads())
    bounds = np.linspace(0, edges, shares + 1).astype(np.int64)
    # Each share counts for itself; the sums say where its entries begin, so shares never wait.
    counts = np.zeros((shares, vertices), dtype=np.int32)
    spread_work(count_ends, shares, bounds, u, v, counts)
    degree = counts.sum(axis=0, dtype=np.int32)
    rank = rank_by_degree(degree) if vertices else np.empty(0, dtype=np.int32)
    counts[:] = 0
    spread_work(count_lower, shares, bounds, u, v, rank, counts)
    start = np.empty(vertices + 1, dtype=np.int64)
    at = np.empty((shares, vertices), dtype=np.int64)
    sum_rank_starts(counts, start, at)
    higher = np.empty(edges, dtype=np.int32)
    edge = np.empty(edges if numbered else 0, dtype=np.int32)
    spread_work(fill_oriented_edges, shares, bounds, u, v, rank, at, higher, edge)
    parts = np.searchsorted(start, np.linspace(0, edges, VERTEX_RANGES + 1)).astype(np.int64)
    # Ranks at both ends may have empty lists, which the search for bounds leaves out.
    parts[0], parts[-1] = 0, vertices
    return Oriented(u, v, degree, rank, start, higher, edge, parts)


def _check_edges(u: NDArray[np.int32], v: NDArray[np.int32], vertices: int) -> None:
    if not (u.dtype == v.dtype == np.int32 and u.shape == v.shape == (len(u),)):
        raise InputError("each edge needs two ends, as int32")
    if len(u) > _MOST_EDGES:
        raise InputError(f"the graph has {len(u)} edges; at most {_MOST_EDGES} are possible")
    if len(u) and not (u.min() >= 0 and v.max() < vertices and has_ascending_pairs(u, v)):
        raise InputError("the edges must be pairs u < v of vertices, ascending, each once")


def has_ascending_pairs(u: NDArray[np.int32], v: NDArray[np.int32]) -> bool:
    """Return whether all pairs have u < v and ascend by (u, v)."""
    same = u[1:] == u[:-1]
    grows = (u[1:] > u[:-1]) | (same & (v[1:] > v[:-1]))
    return bool((u < v).all() and grows.all())
