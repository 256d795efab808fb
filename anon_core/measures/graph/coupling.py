"""Worlds of two graphs drawn together: an edge of both exists in both, as far as p allows.

One number is drawn for each world and pair of vertices; the edge exists in a graph if the number is
below its probability there. The difference of two graphs then varies less from world to world than
with independent worlds. Seeds are public: nobody's secret decides a number.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.measures.graph.degrees import UncertainEdges


class Coupled(NamedTuple):
    """All pairs of vertices that an edge may join in one of the graphs, ascending.

    Attributes
    ----------
    u, v : int32 (pairs,)
        u < v.
    p : int32 (graphs, pairs)
        The edge exists where the number drawn, from 0 to ONE - 1, is less.
    vertices : int
    """

    u: NDArray[np.int32]
    v: NDArray[np.int32]
    p: NDArray[np.int32]
    vertices: int


def couple_graphs(*graphs: UncertainEdges) -> Coupled:
    """Return the pairs of graphs over the same vertices; the order of their edges is lost."""
    n = graphs[0].vertices
    # An edge may come as (u, v) or (v, u). Keys stay below n^2 < 2^62.
    keys = [
        np.minimum(each.u, each.v).astype(np.int64) * n + np.maximum(each.u, each.v)
        for each in graphs
    ]
    possible = [each.p > 0 for each in graphs]
    ordered = np.sort(
        np.concatenate([key[there] for key, there in zip(keys, possible, strict=True)]),
        kind="stable",  # of parts that are mostly in order
    )
    pairs = ordered[np.diff(ordered, prepend=-1) > 0]
    p = np.zeros((len(graphs), len(pairs)), dtype=np.int32)
    for row, (each, key, there) in enumerate(zip(graphs, keys, possible, strict=True)):
        p[row, np.searchsorted(pairs, key[there])] = each.p[there]
    u, v = np.divmod(pairs, max(n, 1))
    return Coupled(u.astype(np.int32), v.astype(np.int32), p, n)
