"""Sampled worlds of an uncertain graph: how many pairs are connected in those with an edge."""

import numpy as np

from anon_core.anonymizers.uncertain_graph.worlds.worlds_kernels import draw_world, join_trees
from anon_core.jit.kernel import kernel, parallel_kernel


@kernel
def pairs_in(parent, size):  # parent, size int32 (n,)
    """Return how many pairs of vertices lie in one tree."""
    size[:] = 0
    pairs = np.int64(0)
    for x in range(len(parent)):
        parent[x] = parent[parent[x]]  # a root: that of an earlier vertex is known
        pairs += size[parent[x]]
        size[parent[x]] += 1
    return pairs


@parallel_kernel(lambda pairs: len(pairs))
def count_connected(begin, end, pairs, edges, n, seed):  # pairs int64 (worlds,)
    """Count the connected pairs of vertices of each world."""
    exists = np.empty(len(edges.u), dtype=np.bool_)
    here = np.empty(len(edges.u), dtype=np.int32)
    parent, size = np.empty((2, n), dtype=np.int32)
    for world in range(begin, end):
        draw_world(exists, edges, seed, world)
        for x in range(n):
            parent[x] = x
        found = 0
        for e in range(len(exists)):  # listed first: no branch to guess
            here[found] = e
            found += exists[e]
        for e in here[:found]:
            join_trees(parent, edges.u[e], edges.v[e])
        pairs[world] = pairs_in(parent, size)


@parallel_kernel(lambda present: len(present))
def sum_by_group(begin, end, present, pairs, edges, connected, seed):
    # present, pairs int64 (shares, m); connected int64 (worlds,)
    """Count for each edge the worlds that have it, and sum their connected pairs."""
    exists = np.empty(len(edges.u), dtype=np.bool_)
    for share in range(begin, end):
        for world in range(share, len(connected), len(present)):
            draw_world(exists, edges, seed, world)
            for e in range(len(exists)):
                present[share, e] += exists[e]
                pairs[share, e] += exists[e] * connected[world]
