"""Draw the edges and pairs whose probabilities are going to change."""

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.uncertain_graph.candidates_kernels import (
    NO_PAIR,
    REMOVED_PAIR,
    PairSet,
    enter_edges,
    take_turns,
)
from anon_core.anonymizers.uncertain_graph.degrees import GraphEdges
from anon_core.specs.graphs import ONE

_TURNS = 64  # times the pairs that are missing: after so many turns the draw ends with fewer


def draw_candidates(
    edges: GraphEdges,
    weight: NDArray[np.float64],
    excluded: NDArray[np.bool_],
    c: float,
    stream: np.random.Generator,
) -> tuple[NDArray[np.bool_], GraphEdges]:
    """Draw E_C: lines 8 to 20 of Algorithm 7.

    Two ends are drawn by weight. A pair that is no edge enters; an edge leaves with its own
    probability (the prose is right: line 14 prints the complement). This ends when c times as many
    pairs are in as at the start, and in any case after `_TURNS` times the missing number of turns:
    a small graph may have no more pairs.

    Parameters
    ----------
    edges : GraphEdges
        The source.
    weight : float64 (n,)
        Q(v): not negative, with some sum.
    excluded : bool (n,)
        H: no end of a candidate; an edge at one of them is none from the start, as the prose says.
    c : float
        At least 1.

    Returns
    -------
    bool (m,)
        Which edges are candidates.
    GraphEdges
        The other candidates, with p = 0.
    """
    n = edges.vertices
    inside = ~(excluded[edges.u] | excluded[edges.v])
    missing = int(c * np.count_nonzero(inside)) - int(np.count_nonzero(inside))
    keys = edges.u.astype(np.int64) * n + edges.v
    # Keys are never removed, and half of the slots stay free: so each search for one ends.
    size = 1 << int(4 * (len(keys) + missing) + 16).bit_length()
    pairs = PairSet(np.full(size, NO_PAIR), np.full(size, NO_PAIR))
    enter_edges(pairs, keys)
    weight = np.where(excluded, 0.0, weight)
    # More pairs may enter than are missing: one for each edge that leaves.
    added, room = np.empty(missing + len(keys) + 1, dtype=np.int64), np.array([0, missing])
    chance = np.where(inside, edges.p / ONE, 0.0)
    if np.count_nonzero(weight) > 1:
        cumulated = np.cumsum(weight) / weight.sum()
        for _ in range(_TURNS):
            if room[1] == 0:
                break
            drawn = _pairs_by_weight(cumulated, max(64, missing), n, stream)
            take_turns(pairs, chance, drawn, added, room)
    left = pairs.edge == REMOVED_PAIR
    if left.any():
        inside = inside & ~np.isin(keys, pairs.key[left])
    new = np.sort(added[: room[0]])
    nothing = np.zeros(len(new), dtype=np.int32)
    return inside, GraphEdges(n, (new // n).astype(np.int32), (new % n).astype(np.int32), nothing)


def _pairs_by_weight(
    cumulated: NDArray[np.float64], turns: int, n: int, stream: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Draw two ends for each turn, as one key each, and a number from [0, 1)."""
    ends = np.searchsorted(cumulated, stream.random((2, turns)), side="right")
    ends = np.sort(np.minimum(ends, n - 1), axis=0)
    return np.where(ends[0] < ends[1], ends[0] * n + ends[1], NO_PAIR), stream.random(turns)
