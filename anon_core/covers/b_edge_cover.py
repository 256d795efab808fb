"""A b-edge cover of small weight: at least b(v) edges at every vertex v."""

import numpy as np
from numpy.typing import NDArray

from anon_core.covers.cover_kernels import (
    closure_edges,
    count_edges,
    pack_edges,
    reverse_delete,
    unpack_edges,
)
from anon_core.covers.edges import Edges
from anon_core.errors import InfeasibleError
from anon_core.search.nearest import Neighbours

_KEY_BITS = 63  # of weight, u and v together, up to which one number is the edge


def b_edge_cover(edges: Edges, b: NDArray[np.int32]) -> Edges:
    """Reverse delete: from the heaviest edge to the lightest, drop what both ends can spare.

    Parameters
    ----------
    edges : Edges
        Sorted and thinned in its own arrays, which are of no use afterwards.
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
    Algorithm MCE (matching complement edge cover; Khan et al., section IV): the complement of the
    greedy b'-matching, which is that of the b-Suitor, with b'(v) = deg(v) - b(v). The weight is at
    most twice the optimum. On the b-nearest closure of a complete graph the cover is the one that
    MCE returns on the complete graph (docs/theory.md). Time is O(m log m), memory O(m).
    """
    # A vertex can spare its degree less b(v); reverse delete counts down from that.
    spare = -b.astype(np.int64)
    count_edges(edges.u, edges.v, spare)
    if (spare < 0).any():
        raise InfeasibleError(
            f"{int((spare < 0).sum())} vertices have fewer edges than they need; "
            "add edges or lower b"
        )
    rest = sort_edges(edges)
    begin = reverse_delete(rest.u, rest.v, rest.weight, spare)
    return Edges(rest.u[begin:], rest.v[begin:], rest.weight[begin:])


def sort_edges(edges: Edges) -> Edges:
    """Sort the edges by (weight, u, v) in their own arrays: fresh memory would take time."""
    width = int(edges.v.max(initial=0)).bit_length()
    if int(edges.weight.max(initial=0)).bit_length() + 2 * width > _KEY_BITS:
        order = np.lexsort((edges.v, edges.u, edges.weight))
        for column in (edges.u, edges.v, edges.weight):
            column[:] = column[order]
        return edges
    # One number holds weight, u and v, so that its order is that of the three.
    keys = np.empty(len(edges), dtype=np.int64)
    pack_edges(edges.u, edges.v, edges.weight, width, keys)
    keys.sort()  # many times as fast as a sort of indices
    unpack_edges(keys, width, edges.u, edges.v, edges.weight)
    return edges


def nearest_closure(neighbours: Neighbours) -> Edges:
    """Join every vertex to its listed neighbours: the union of the lists, each edge once."""
    size = len(neighbours.vertex)
    u, v, weight = (np.empty(size, dtype=np.int32) for _ in range(3))
    m = closure_edges(neighbours.indptr, neighbours.vertex, neighbours.cost, u, v, weight)
    return Edges(u[:m], v[:m], weight[:m])
