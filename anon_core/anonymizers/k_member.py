"""Disjoint cliques: groups in which everybody is joined to everybody."""

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.k_member_kernels import grow_groups, place_rest
from anon_core.covers.b_edge_cover import in_order
from anon_core.search.dissimilarity import Dissimilarity
from anon_core.search.nearest import Neighbours
from anon_core.search.pairs_kernels import edge_costs
from anon_core.tables.records import Edges


def disjoint_cliques(
    graph: Dissimilarity, counts: NDArray[np.uint16], b: NDArray[np.int32], _near: Neighbours
) -> Edges:
    """Cut the vertices into groups of max b + 1 to 2 max b + 1 and join all pairs of a group.

    Greedy: a group begins with the vertex furthest from the beginning of the last group and takes, one by one, the vertex
    that makes it lose least (the weight of the bits in which its members differ); who is left over at the end joins the group
    that then loses least. Fresh weights decide, whatever the counts. Time O(n^2 attributes), memory O(n max b).

    References
    ----------
    Byun, Kamra, Bertino and Li, Efficient k-anonymization using clustering techniques, DASFAA 2007: greedy k-member.
    """
    n, least = graph.vertices, int(b.max(initial=0)) + 1
    levels = graph.codes + graph.level_offsets[:-1, None].astype(np.int32)
    rows = np.ascontiguousarray(np.take(levels, graph.place, axis=1).T)
    weight = graph.lut[graph.bit_class, 0].astype(np.int64)
    layout = (graph.level_offsets, graph.bit_offsets, graph.ordinal, weight)
    group = np.empty(n, dtype=np.int64)
    grow_groups(rows, *layout, least, group)
    order = np.argsort(group, kind="stable")
    place_rest(rows, *layout, order[(group < 0).sum() :], least, group)
    u, v = _pairs(group)
    cost = np.empty(len(u), dtype=np.int32)
    edge_costs(graph.rows(), graph.costs(counts), graph.place, u, v, cost)
    return in_order(Edges(u, v, cost))


def _pairs(group: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """All pairs u < v of one group."""
    order = np.argsort(group, kind="stable")
    after = np.searchsorted(group[order], group[order], side="right") - 1 - np.arange(len(group))
    first = np.repeat(np.arange(len(group)), after)
    second = first + 1 + np.arange(len(first)) - np.repeat(np.cumsum(after) - after, after)
    return order[first].astype(np.int32), order[second].astype(np.int32)
