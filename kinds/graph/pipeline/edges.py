"""One edge for each pair of vertices, and the k of each vertex. The makers' side."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.specs.graphs import ONE
from crowdcover.kinds.demands import find_demanded_k
from crowdcover.kinds.graph.pipeline.read import Read
from crowdcover.kinds.graph.plan.sections import GraphPlan, Rule


class PairedEdges(NamedTuple):
    """Edges in the order of their ends: u < v, int32; p in billionths, int32."""

    u: NDArray[np.int32]
    v: NDArray[np.int32]
    p: NDArray[np.int32]


def join_directions(read: Read, rule: Rule) -> PairedEdges:
    """Join the two directions of an edge by the plan's rule; equal ones are one edge.

    Means are rounded up to a billionth, a union to the nearest one.
    """
    low, high = np.minimum(read.u, read.v), np.maximum(read.u, read.v)
    # Now the two directions of a pair are neighbours. No direction occurs twice, see `Read`.
    order = np.lexsort((high, low))
    low, high, p = low[order], high[order], read.p[order]
    again = np.zeros(len(p), dtype=np.bool_)
    again[1:] = (low[1:] == low[:-1]) & (high[1:] == high[:-1])
    second = np.flatnonzero(again)
    # A pair has two rows at most, so no row is both a first and a second one: writes never meet.
    p[second - 1] = _join_probabilities(p[second - 1], p[second], rule)
    return PairedEdges(*(each[~again].astype(np.int32) for each in (low, high, p)))


def _join_probabilities(
    p: NDArray[np.int64], q: NDArray[np.int64], rule: Rule
) -> NDArray[np.int64]:
    if rule == "mean":
        return (p + q + 1) // 2
    if rule == "union":
        # 1 - (1 - p)(1 - q). The product is at most 10^18 < 2^63.
        return ONE - ((ONE - p) * (ONE - q) + ONE // 2) // ONE
    return np.maximum(p, q)


def demands_of(read: Read, plan: GraphPlan) -> NDArray[np.int32]:
    """The k of each vertex; refused: a vertex without one."""
    if isinstance(plan.k, int):
        return np.full(len(read.vertices), plan.k, dtype=np.int32)
    assert read.demands is not None
    return find_demanded_k(read.vertices, read.demands, "vertices")
