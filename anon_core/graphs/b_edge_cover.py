"""A b-edge cover of small weight: at least b(v) edges at every vertex v."""

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import InfeasibleError
from anon_core.kernels.cover import reverse_delete, stable_order
from anon_core.records import Edges


def b_edge_cover(edges: Edges, b: NDArray[np.int32]) -> Edges:
    """Reverse delete: from the heaviest edge to the lightest, drop what both ends can spare.

    Parameters
    ----------
    edges : Edges
    b : int32 (n,)
        How many edges each vertex needs.

    Returns
    -------
    Edges
        In ascending order of (weight, u, v).

    Raises
    ------
    InfeasibleError
        A vertex has fewer than b(v) edges.

    Notes
    -----
    This is the complement of the greedy (and so of the b-Suitor) b'-matching with b'(v) = deg(v) - b(v): algorithm MCE,
    weight at most twice the optimum (Khan et al., section IV). On the b-nearest closure of a complete graph it returns the
    cover that MCE returns on the complete graph (docs/theory.md). Time O(m), memory O(m).
    """
    degree = np.bincount(edges.u, minlength=len(b)) + np.bincount(edges.v, minlength=len(b))
    spare = degree - b
    if (spare < 0).any():
        raise InfeasibleError(f"{int((spare < 0).sum())} vertices have fewer edges than they need; add edges or lower b")
    order = _ascending(edges)
    kept = np.ones(len(edges), dtype=np.bool_)
    reverse_delete(order, edges.u, edges.v, spare, kept)
    chosen = order[kept[order]]
    return Edges(edges.u[chosen], edges.v[chosen], edges.weight[chosen])


def in_order(edges: Edges) -> Edges:
    """The edges in ascending order of (weight, u, v)."""
    order = _ascending(edges)
    return Edges(edges.u[order], edges.v[order], edges.weight[order])


def _ascending(edges: Edges) -> NDArray[np.int64]:
    order = np.arange(len(edges), dtype=np.int64)
    for key in (edges.v, edges.u, edges.weight):
        stable_order(key, order)
    return order
