"""Sampled worlds of an uncertain graph: their components, and what each edge adds to them."""

from typing import NamedTuple

import numpy as np

from anon_core.jit.kernel import kernel, parallel_kernel
from anon_core.jit.mixing import mixed


class Edges(NamedTuple):
    """The edges, and when each exists."""

    u: np.ndarray  # int32 (m,)
    v: np.ndarray  # int32 (m,)
    chance: np.ndarray  # uint64 (m,): in 2^-63


class Links(NamedTuple):
    """The edges of each vertex: other[start[v] : start[v + 1]], by the same places of `edge`."""

    start: np.ndarray  # int64 (n + 1,)
    other: np.ndarray  # int32 (2 m,)
    edge: np.ndarray  # int32 (2 m,)


class Walk(NamedTuple):
    """A depth-first search of one world."""

    number: np.ndarray  # int32 (n,): when the vertex was reached, -1: not yet
    low: np.ndarray  # int32 (n,): the earliest vertex that its subtree has an edge to
    size: np.ndarray  # int32 (n,): vertices of its subtree
    top: np.ndarray  # int32 (n,): first vertex of its component; `size` is that of the component
    came: np.ndarray  # int32 (n,): the edge by which it was reached, -1: none
    next: np.ndarray  # int64 (n,): its first link not yet followed
    path: np.ndarray  # int32 (n,)


@kernel
def links_of(u, v, n):  # u, v int32 (m,)
    """List the edges of each of n vertices, ascending."""
    start = np.zeros(n + 1, dtype=np.int64)
    for e in range(len(u)):
        start[u[e] + 1] += 1
        start[v[e] + 1] += 1
    for x in range(n):
        start[x + 1] += start[x]
    place = start[:-1].copy()
    other, edge = np.empty((2, 2 * len(u)), dtype=np.int32)
    for e in range(len(u)):
        for x, y in ((u[e], v[e]), (v[e], u[e])):
            other[place[x]], edge[place[x]] = y, e
            place[x] += 1
    return Links(start, other, edge)


@kernel
def drawn(exists, edges, seed, world):  # exists bool (m,)
    """Draw which edges exist in a world: what is drawn depends on seed, world and edge alone."""
    stream = mixed(mixed(np.uint64(seed)) ^ np.uint64(world))
    for e in range(len(exists)):
        exists[e] = mixed(stream ^ np.uint64(e)) >> np.uint64(1) < edges.chance[e]


@kernel
def join(parent, x, y):
    """Join the trees of two vertices; every parent comes before its child (Rem's algorithm)."""
    while parent[x] != parent[y]:
        if parent[x] < parent[y]:
            x, y = y, x
        above = parent[x]
        parent[x] = parent[y]  # also if x is no root: its tree gets less deep on the way
        if above == x:
            return
        x = above


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
        drawn(exists, edges, seed, world)
        for x in range(n):
            parent[x] = x
        found = 0
        for e in range(len(exists)):  # listed first: no branch to guess
            here[found] = e
            found += exists[e]
        for e in here[:found]:
            join(parent, edges.u[e], edges.v[e])
        pairs[world] = pairs_in(parent, size)


@parallel_kernel(lambda present: len(present))
def sum_by_group(begin, end, present, pairs, edges, connected, seed):
    # present, pairs int64 (shares, m); connected int64 (worlds,)
    """Count for each edge the worlds that have it, and sum their connected pairs."""
    exists = np.empty(len(edges.u), dtype=np.bool_)
    for share in range(begin, end):
        for world in range(share, len(connected), len(present)):
            drawn(exists, edges, seed, world)
            for e in range(len(exists)):
                present[share, e] += exists[e]
                pairs[share, e] += exists[e] * connected[world]


# ---------------------------------------------------------------- each edge toggled


@kernel
def explore(root, links, exists, walk, before):
    """Number the vertices of a component, `before` vertices being numbered; return how many."""
    reached, depth = before, 0
    walk.path[0] = root
    walk.came[root] = -1
    while depth >= 0:
        x = walk.path[depth]
        if walk.number[x] < 0:
            walk.number[x] = walk.low[x] = reached
            walk.size[x], walk.top[x], walk.next[x] = 1, root, links.start[x]
            reached += 1
        deeper = False
        at = walk.next[x]
        while at < links.start[x + 1] and not deeper:
            e, y = links.edge[at], links.other[at]
            at += 1
            if exists[e] and e != walk.came[x]:
                if walk.number[y] >= 0:
                    walk.low[x] = min(walk.low[x], walk.number[y])
                else:
                    deeper = True
                    depth += 1
                    walk.path[depth], walk.came[y] = y, e
        walk.next[x] = at
        if not deeper:
            depth -= 1
            if depth >= 0:
                above = walk.path[depth]
                walk.size[above] += walk.size[x]
                walk.low[above] = min(walk.low[above], walk.low[x])
    return reached


@kernel
def gained(e, edges, exists, walk):
    """Return how many pairs are connected with an edge and not without it, in the world explored.

    An edge of the world parts its ends iff it is a bridge: it was followed to the later of them,
    and no edge leads from the subtree below to an earlier vertex. The size of a component is that
    of its first vertex.
    """
    a, b = edges.u[e], edges.v[e]
    if not exists[e]:
        if walk.top[a] == walk.top[b]:
            return np.int64(0)
        return np.int64(walk.size[walk.top[a]]) * walk.size[walk.top[b]]
    if walk.number[a] > walk.number[b]:
        a, b = b, a
    if walk.came[b] != e or walk.low[b] < walk.number[b]:
        return np.int64(0)
    return np.int64(walk.size[b]) * (walk.size[walk.top[b]] - walk.size[b])


@parallel_kernel(lambda sums: len(sums))
def sum_toggled(begin, end, sums, edges, links, worlds, seed):  # sums int64 (shares, m)
    """Sum over worlds how many pairs each edge connects that are not connected without it."""
    n = len(links.start) - 1
    exists = np.empty(len(edges.u), dtype=np.bool_)
    number, low, size, top, came, path = np.empty((6, n), dtype=np.int32)
    walk = Walk(number, low, size, top, came, np.empty(n, dtype=np.int64), path)
    for share in range(begin, end):
        for world in range(share, worlds, len(sums)):
            drawn(exists, edges, seed, world)
            number[:] = -1
            reached = 0
            for x in range(n):
                if number[x] < 0:
                    reached = explore(x, links, exists, walk, reached)
            for e in range(len(exists)):
                sums[share, e] += gained(e, edges, exists, walk)
