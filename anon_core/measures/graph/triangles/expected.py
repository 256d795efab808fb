"""The number of triangles of an uncertain graph: its expectation and its variance.

Every edge e exists with probability p_e, independently of all others. With P_t the product of the
three probabilities of a triangle t, and T the number of triangles that exist,

    E(T)   = sum over t of P_t
    Var(T) = sum over t of P_t (1 - P_t)
             + 2 sum over edges e of p_e (1 - p_e) sum over pairs {s, t} at e of a_s a_t,

where a_t = P_t / p_e is the product of the other two edges of t. Two triangles share one edge or
none. Without a common edge they are independent. With the common edge e they exist together with
probability p_e a_s a_t, which is p_e (1 - p_e) a_s a_t more than P_s P_t.

Theorem 2 of Xiao, Towards Graph Analytic and Privacy Protection, is about another variance: that of
the pairs a map task sends, with effective degrees drawn independently. No edge is uncertain there.
"""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import InputError
from anon_core.measures.graph.triangles.counting import TOLD, build_numbered_lists
from anon_core.measures.graph.triangles.expected_kernels import LIMB, sum_by_edge, sum_products
from anon_core.measures.graph.triangles.oriented import VERTEX_RANGES, Oriented
from anon_core.specs.graphs import ONE


def compute_expected_triangles(graph: Oriented, p: NDArray[np.int32]) -> Fraction:
    """Return the expected number of triangles, exactly.

    Parameters
    ----------
    graph : Oriented
        Every edge that may exist; with numbers.
    p : int32 (m,)
        Probability of each edge, in billionths.
    """
    _check_probabilities(graph, p)
    sums = np.zeros((len(graph.parts) - 1, 3), dtype=np.int64)
    sum_products(sums, build_numbered_lists(graph), p)
    low, middle, high = (sum(column) for column in sums.T.tolist())
    return Fraction(low + (middle << LIMB) + (high << 2 * LIMB), ONE**3)


def compute_triangle_variance(
    graph: Oriented, p: NDArray[np.int32], advanced: Callable[[float], None] | None = None
) -> float:
    """Return the variance of the number of triangles.

    The formula is exact; its sums are float64, added in one order on one thread. All terms are
    positive, so the relative error stays below the number of triangles plus 10, times 2^-52.

    Parameters
    ----------
    graph, p
        As for `compute_expected_triangles`.
    advanced : callable, optional
        Told the share of the work that is done, now and then.
    """
    _check_probabilities(graph, p)
    chance, absent = p / ONE, (ONE - p) / ONE  # in integers, 1 - p does not cancel
    at, before, pairs = np.zeros(graph.vertices, np.int64), *np.zeros((2, graph.edges))
    lists, alone = build_numbered_lists(graph), 0.0
    for first in range(0, VERTEX_RANGES, VERTEX_RANGES // TOLD):
        begin, end = graph.parts[[first, first + VERTEX_RANGES // TOLD]]
        alone += sum_by_edge(begin, end, lists, chance, absent, at, before, pairs)
        if advanced:
            advanced((first + VERTEX_RANGES // TOLD) / VERTEX_RANGES)
    return alone + 2 * math.fsum(chance * absent * pairs)


def _check_probabilities(graph: Oriented, p: NDArray[np.int32]) -> None:
    if p.dtype != np.int32 or p.shape != (graph.edges,):
        raise InputError("each edge needs a probability, as int32")
    if len(p) and not 0 <= p.min() <= p.max() <= ONE:
        raise InputError(f"probabilities must be whole billionths from 0 to {ONE}")
