"""Reliability relevance as Algorithm 6 of the paper estimates it: worlds with an edge and without.

Xiao, Towards Graph Analytic and Privacy Protection, section 4.2.2.
"""

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.uncertain_graph.worlds.relevance import (
    count_shares,
    list_edge_chances,
    refuse_too_many_worlds,
)
from anon_core.graphs.records import UncertainGraph
from benchmarks.graphs.groups_kernels import count_connected, sum_by_group


def count_connected_pairs(graph: UncertainGraph, worlds: int, seed: int) -> NDArray[np.int64]:
    """Return the number of connected pairs of vertices in each sampled world, int64 (worlds,)."""
    refuse_too_many_worlds(graph, worlds)
    pairs = np.empty(worlds, dtype=np.int64)
    count_connected(pairs, list_edge_chances(graph), graph.records, seed)
    return pairs


def estimate_by_groups(graph: UncertainGraph, worlds: int, seed: int) -> NDArray[np.float64]:
    """Return the mean of cc(G) over the worlds with each edge, less that over those without it.

    The paper prints sums, and divides by p and 1 - p but not by the number K of worlds: it is only
    right if e exists in exactly p K worlds. Noise below 0 becomes 0. So does an edge that all
    worlds have or all lack: the worlds then say nothing of it.
    """
    connected = count_connected_pairs(graph, worlds, seed)
    present, pairs = np.zeros((2, count_shares(worlds), graph.edges), dtype=np.int64)
    sum_by_group(present, pairs, list_edge_chances(graph), connected, seed)
    having, with_edge = present.sum(axis=0), pairs.sum(axis=0)
    without = int(connected.sum()) - with_edge
    known = (having > 0) & (having < worlds)
    difference = with_edge / np.maximum(1, having) - without / np.maximum(1, worlds - having)
    return np.where(known, np.maximum(difference, 0), 0.0)
