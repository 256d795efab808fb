"""Change edges so that expected degrees move as planned, and hardly any other."""

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.uncertain_graph.candidates_kernels import NO_PAIR, PairSet, enter_edges
from anon_core.anonymizers.uncertain_graph.degrees import GraphEdges
from anon_core.anonymizers.uncertain_graph.planning.rewiring_kernels import (
    RewiringState,
    join_freed,
    lower_between,
    lower_rest,
    raise_between,
    raise_rest,
    switch_edges,
)
from anon_core.specs.graphs import ONE

_AT_LEAST = 16  # new edges for each unit of a move that there is room for
_BESIDE = 1024


def rewire_edges(
    edges: GraphEdges, shift: NDArray[np.float64], grain: int, stream: np.random.Generator
) -> GraphEdges:
    """Change edges by drawn parts of their probability until the moves are made.

    Edges between two vertices that are to fall are lowered, and new edges join two that are to
    rise. For what is left, edges of the one are replaced by edges of the other. What cannot be
    moved is left out: the caller judges the result.

    Parameters
    ----------
    edges : GraphEdges
        Whole grains.
    shift : float64 (n,)
        By how much each expected degree is to rise.
    grain : int
        See `perturbation.grain_of`.
    stream : numpy.random.Generator
        Draws the edges and the parts, from a quarter to three quarters.

    Returns
    -------
    GraphEdges
        In any order; some p may be 0.
    """
    work = _build_work(edges, shift, grain, stream)
    falls, rises = (work.left > 0) & ~work.up, (work.left > 0) & work.up
    fallers, risers = (stream.permutation(np.flatnonzero(each)) for each in (falls, rises))
    both = np.flatnonzero(falls[edges.u] & falls[edges.v])
    lower_between(work, stream.permutation(both))
    switch_edges(work, fallers, risers.copy())
    raise_between(work, risers.copy())
    freed, touched = np.zeros((2, edges.vertices), dtype=np.int64)
    lost = lower_rest(work, fallers, freed, touched)
    join_freed(work, freed, stream.permutation(touched[:lost]), lost)
    raise_rest(work, risers)
    made, n = int(work.made[0]), edges.vertices
    new = (work.key[:made] // n, work.key[:made] % n, work.chance[:made])
    columns = [
        np.concatenate([old, more]).astype(np.int32)
        for old, more in zip((edges.u, edges.v, work.p), new, strict=True)
    ]
    return GraphEdges(n, *columns)


def _build_work(
    edges: GraphEdges, shift: NDArray[np.float64], grain: int, stream: np.random.Generator
) -> RewiringState:
    n, m = edges.vertices, len(edges.u)
    ends = np.concatenate([edges.u, edges.v])
    order = np.lexsort((stream.random(2 * m), ends))
    start = np.searchsorted(ends[order], np.arange(n + 1))
    left = (np.rint(np.abs(shift) * (ONE / grain)) * grain).astype(np.int64)
    room = int(_AT_LEAST * np.abs(shift).sum()) + _BESIDE
    size = 1 << (2 * (m + room)).bit_length()
    pairs = PairSet(np.full(size, NO_PAIR), np.full(size, NO_PAIR))
    enter_edges(pairs, edges.u.astype(np.int64) * n + edges.v)
    return RewiringState(
        edges.u,
        edges.v,
        edges.p.copy(),
        start,
        np.concatenate([edges.v, edges.u])[order],
        # The ends u of all edges come first, then the ends v: the remainder is the edge's number.
        order % max(1, m),
        left,
        shift > 0,
        pairs,
        np.empty(room, dtype=np.int64),
        np.empty(room, dtype=np.int32),
        np.zeros(1, dtype=np.int64),
        stream.integers(0, 2**63, 1, dtype=np.uint64),
        grain,
    )
