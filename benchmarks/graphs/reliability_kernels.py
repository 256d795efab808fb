"""All worlds of a small graph."""

import numpy as np

from anon_core.jit.kernel import kernel


@kernel
def root_of(parent, x):
    """Return the root of the tree of x; halve the path to it."""
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


@kernel
def enumerate_worlds(u, v, p, n, a, b):  # u, v int32 (m,); p float64 (m,)
    """Return the chance that a and b are connected among n vertices."""
    parent = np.empty(n, dtype=np.int32)
    total = 0.0
    for world in range(1 << len(u)):
        for x in range(n):
            parent[x] = x
        chance = 1.0
        for e in range(len(u)):
            if world >> e & 1:
                chance *= p[e]
                parent[root_of(parent, u[e])] = root_of(parent, v[e])
            else:
                chance *= 1.0 - p[e]
        if root_of(parent, a) == root_of(parent, b):
            total += chance
    return total
