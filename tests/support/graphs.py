"""Small uncertain graphs."""

import numpy as np

from anon_core.graphs.records import UncertainGraph
from anon_core.specs.graphs import ONE


def graph(n, edges, k, **stated):
    """An uncertain graph of n vertices from {(u, v): p}, and the same k for all."""
    pairs = sorted(edges)
    u, v = np.array(pairs, dtype=np.int32).reshape(-1, 2).T.copy()  # numba compiles layouts apart
    p = np.array([round(edges[pair] * ONE) for pair in pairs], dtype=np.int32)
    return UncertainGraph(u, v, p, np.full(n, k, dtype=np.int32), **stated)


def drawn(n, m, k, seed=1, power=2.0, **stated):
    """A graph of n vertices, m of whose pairs are edges; earlier vertices have more of them."""
    draws = np.random.default_rng(seed)
    rank = np.minimum((draws.random((2, 3 * m)) ** power * n).astype(np.int64), n - 1)
    pairs = {(int(u), int(v)) for u, v in np.sort(rank, axis=0).T if u != v}
    return graph(n, {pair: draws.random() for pair in sorted(pairs)[:m]}, k, **stated)


def graph_of(edges, p, n):
    u, v = np.array(edges, dtype=np.int32).T.copy()
    billionths = np.array([round(q * ONE) for q in p], dtype=np.int32)
    return UncertainGraph(u, v, billionths, np.ones(n, dtype=np.int32))


def pairs_of(graph):
    return list(zip(graph.u.tolist(), graph.v.tolist(), strict=True))
