"""A b-edge cover by effective weights (LSE, locally subdominant edges): the GREEDY cover."""

import numpy as np
from numpy.typing import NDArray

from anon_core.covers.b_edge_cover import sort_edges
from anon_core.covers.edges import Edges
from anon_core.covers.lse_kernels import choose_subdominant
from anon_core.search.dissimilarity import Dissimilarity
from anon_core.search.nearest import Neighbours, level_tree, nearest_neighbours

WIDER = 4  # a list that is used up is searched anew with this many times b entries


def subdominant_edges(
    graph: Dissimilarity, counts: NDArray[np.uint16], b: NDArray[np.int32], near: Neighbours
) -> Edges:
    """Greedy b-edge cover of the complete graph: repeat with the edge of least effective weight.

    Parameters
    ----------
    graph : Dissimilarity
    counts : uint16 (f, n)
        The state of the weights.
    b : int32 (n,)
    near : Neighbours
        The b(v) nearest vertices of every vertex under these weights.

    Returns
    -------
    Edges
        In ascending order of (weight, u, v). At most 3/2 of the optimum.

    Notes
    -----
    Algorithm LSE (Khan and Pothen, A new 3/2-approximation algorithm for the b-edge cover problem).
    The effective weight of an edge is E / (number of its ends in need). Edges are ordered strictly
    by (effective weight, min, max). An edge that is least at all its ends in need can be chosen at
    once, and the cover is that of GREEDY. Redundant edges stay, as there.

    The b-nearest closure does not hold this cover: two vertices in need may be nearest in need
    beyond it. Each vertex has two lists (docs/theory.md): its b nearest, and its nearest among
    those in need. An exhausted second list is searched anew among those still in need.
    """
    n = graph.vertices
    need = b.copy()
    first, partners = near.indptr[:-1].copy(), np.empty_like(near.vertex)
    heads, eager = _append_guards(near, n - 1)
    parts = [np.empty((3, 0), dtype=np.int32)]
    while need.any():
        stalled = np.zeros(n, dtype=np.bool_)
        chosen = np.empty((3, int(need.sum(dtype=np.int64))), dtype=np.int32)
        size = choose_subdominant(
            need, near.indptr, near.vertex, near.cost, first, partners, heads, eager, stalled,
            chosen,
        )  # fmt: skip
        parts.append(chosen[:, :size].copy())
        # Need only falls. A list among those in need grows shorter, and is made anew before it
        # ends.
        stale = stalled | _nearly_used_up(heads, eager, need, b)
        left = np.flatnonzero(need)
        wanted = np.where(stale[left], np.minimum(len(left) - 1, WIDER * b[left]), 0)
        found = _nearest_among(left, graph, counts, wanted.astype(np.int32))
        heads, eager = _replace_stale_lists(
            heads, eager, _append_guards(found, len(left) - 1), stale, left
        )
    return sort_edges(Edges(*np.concatenate(parts, axis=1)))


def _nearest_among(
    members: NDArray[np.int64],
    graph: Dissimilarity,
    counts: NDArray[np.uint16],
    wanted: NDArray[np.int32],
) -> Neighbours:
    """The `wanted` nearest members of each member; ascending members keep the order of ties."""
    if not wanted.any():
        empty = np.empty(0, dtype=np.int32)
        return Neighbours(np.zeros(len(members) + 1, dtype=np.int64), empty, empty)
    part, places = graph.among(members)
    found = nearest_neighbours(part, level_tree(part), np.take(counts, places, axis=1), wanted)
    return Neighbours(found.indptr, members[found.vertex].astype(np.int32), found.cost)


def _append_guards(
    near: Neighbours, all_others: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Append a guard to each list: its last entry, or the greatest int32 if it holds all others.

    Returns int64 (2, n), the first entry and the guard of each vertex, and int32 (2, entries + n),
    vertices and costs.
    """
    length = np.diff(near.indptr)
    starts = near.indptr[:-1] + np.arange(len(length))
    heads = np.stack([starts, starts + length])
    lists = np.full((2, len(near.vertex) + len(length)), np.iinfo(np.int32).max, dtype=np.int32)
    inside = np.ones(lists.shape[1], dtype=np.bool_)
    inside[heads[1]] = False
    lists[:, inside] = near.vertex, near.cost
    partial = (length > 0) & (length < all_others)
    lists[:, heads[1, partial]] = lists[:, heads[1, partial] - 1]
    return heads, lists


def _nearly_used_up(
    heads: NDArray[np.int64],
    lists: NDArray[np.int32],
    need: NDArray[np.int32],
    b: NDArray[np.int32],
) -> NDArray[np.bool_]:
    """Vertices in need with nearly exhausted lists, bool (n,).

    An early search saves rounds and changes no edge.
    """
    live = np.concatenate([[0], np.cumsum(need[np.minimum(lists[0], len(need) - 1)] > 0)])
    fresh = live[heads[1]] - live[heads[0]] - (b - need)
    partial = lists[0, heads[1]] < len(need)
    result: NDArray[np.bool_] = (need > 0) & partial & (2 * fresh <= need)
    return result


def _replace_stale_lists(
    heads: NDArray[np.int64],
    lists: NDArray[np.int32],
    found: tuple[NDArray[np.int64], NDArray[np.int32]],
    stale: NDArray[np.bool_],
    left: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Lists of the vertices left, those found anew in the place of the stale ones."""
    starts, guards = heads.copy()
    starts[stale], guards[stale] = lists.shape[1] + found[0][:, stale[left]]
    length = guards[left] - starts[left] + 1
    new = np.zeros_like(heads)
    new[1, left] = np.cumsum(length) - 1
    new[0, left] = new[1, left] + 1 - length
    entries = np.arange(length.sum()) + np.repeat(starts[left] - new[0, left], length)
    return new, np.concatenate([lists, found[1]], axis=1)[:, entries]
