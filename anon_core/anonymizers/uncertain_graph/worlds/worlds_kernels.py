"""Sampled worlds of an uncertain graph: their components, and what each edge adds to them."""

from typing import NamedTuple

import numpy as np

from anon_core.jit.kernel import kernel, parallel_kernel
from anon_core.jit.mixing import mix_bits


class SampledEdges(NamedTuple):
    """The edges, and when each exists."""

    u: np.ndarray  # int32 (m,)
    v: np.ndarray  # int32 (m,)
    chance: np.ndarray  # uint64 (m,): in 2^-63


class IncidentEdges(NamedTuple):
    """The edges of each vertex: other[start[v] : start[v + 1]], by the same places of `edge`."""

    start: np.ndarray  # int64 (n + 1,)
    other: np.ndarray  # int32 (2 m,)
    edge: np.ndarray  # int32 (2 m,)


class Forest(NamedTuple):
    """A spanning forest of one world, its vertices numbered so that subtrees are ranges.

    The subtree of x is number[x] .. number[x] + size[x] - 1.
    """

    order: np.ndarray  # int32 (n,): the vertices, parents first
    top: np.ndarray  # int32 (n,): root
    up: np.ndarray  # int32 (n,): parent, -1: none
    came: np.ndarray  # int32 (n,): edge to the parent, -1: none
    size: np.ndarray  # int32 (n,)
    number: np.ndarray  # int32 (n,)
    next: np.ndarray  # int32 (n,): number of the next child
    low: np.ndarray  # int32 (n,): least and
    high: np.ndarray  # int32 (n,): greatest number that other edges of the subtree lead to


@kernel
def links_of(u, v, n):  # u, v int32 (m,)
    """List the edges of each of n vertices, ascending."""
    other, edge = np.empty((2, 2 * len(u)), dtype=np.int32)
    links = IncidentEdges(np.empty(n + 1, dtype=np.int64), other, edge)
    fill_links(links, u, v, np.arange(len(u)))
    return links


@kernel
def fill_links(links, u, v, listed):  # listed int (edges,), ascending
    """List the edges of each vertex, of those listed."""
    start = links.start
    start[:] = 0
    for e in listed:
        start[u[e]] += 1
        start[v[e]] += 1
    for x in range(1, len(start)):
        start[x] += start[x - 1]
    for e in listed[::-1]:  # from the end of each vertex's part to its start
        for x, y in ((u[e], v[e]), (v[e], u[e])):
            start[x] -= 1
            links.other[start[x]], links.edge[start[x]] = y, e


@kernel
def draw_world(exists, edges, seed, world):  # exists bool (m,)
    """Draw which edges exist in a world: what is drawn depends on seed, world and edge alone."""
    stream = mix_bits(mix_bits(np.uint64(seed)) ^ np.uint64(world))
    for e in range(len(exists)):
        exists[e] = mix_bits(stream ^ np.uint64(e)) >> np.uint64(1) < edges.chance[e]


@kernel
def join_trees(parent, x, y):
    """Join the trees of two vertices unless they are one; return whether they were two.

    Rem's algorithm: every parent is less than its child.
    """
    while parent[x] != parent[y]:
        if parent[x] < parent[y]:
            x, y = y, x
        above = parent[x]
        parent[x] = parent[y]  # also if x is no root: its tree gets less deep on the way
        if above == x:
            return True
        x = above
    return False


@kernel
def partition_edges(lists, parent, edges, exists):  # lists int32 (3, m); parent int32 (n,)
    """List the edges of a spanning forest of a world, its other edges, and those that it lacks."""
    for x in range(len(parent)):
        parent[x] = x
    trees, others, absent = 0, 0, 0
    for e in range(len(exists)):  # listed first: no branch to guess
        lists[1, others] = lists[2, absent] = e
        others += exists[e]
        absent += not exists[e]
    left = 0
    for e in lists[1, :others]:
        joins = join_trees(parent, edges.u[e], edges.v[e])
        lists[0, trees] = lists[1, left] = e
        trees += joins
        left += not joins
    return lists[0, :trees], lists[1, :left], lists[2, :absent]


@kernel
def root_forest(forest, links):
    """Root the trees, and order their vertices by breadth."""
    forest.top[:] = -1
    known = 0
    for root in range(len(forest.top)):
        if forest.top[root] >= 0:
            continue
        forest.number[root] = at = known  # all vertices of earlier trees have their numbers
        forest.order[known] = root
        forest.top[root], forest.up[root], forest.came[root] = root, -1, -1
        known += 1
        while at < known:
            x = forest.order[at]
            at += 1
            for place in range(links.start[x], links.start[x + 1]):
                y = links.other[place]
                if y != forest.up[x]:
                    forest.top[y], forest.up[y], forest.came[y] = root, x, links.edge[place]
                    forest.order[known] = y
                    known += 1


@kernel
def enumerate_subtrees(forest):
    """Count and number the vertices of each subtree."""
    forest.size[:] = 1
    for x in forest.order[::-1]:
        if forest.up[x] >= 0:
            forest.size[forest.up[x]] += forest.size[x]
    for x in forest.order:
        if forest.up[x] >= 0:
            forest.number[x] = forest.next[forest.up[x]]
            forest.next[forest.up[x]] += forest.size[x]
        forest.next[x] = forest.number[x] + 1
        forest.low[x] = forest.high[x] = forest.number[x]


@kernel
def find_subtree_reach(forest, edges, others):  # others int32 (edges outside the forest,)
    """Find the range of numbers that edges outside the forest lead to from each subtree."""
    for e in others:
        for x, y in ((edges.u[e], edges.v[e]), (edges.v[e], edges.u[e])):
            forest.low[x] = min(forest.low[x], forest.number[y])
            forest.high[x] = max(forest.high[x], forest.number[y])
    for x in forest.order[::-1]:
        if forest.up[x] >= 0:
            above = forest.up[x]
            forest.low[above] = min(forest.low[above], forest.low[x])
            forest.high[above] = max(forest.high[above], forest.high[x])


@kernel
def add_gains(sums, forest, edges, absent):  # sums int64 (m,); absent int32 (edges,)
    """Add for each edge how many pairs are connected with it and not without it.

    An edge of the forest is a bridge iff no other edge leaves the subtree below it (Tarjan). An
    edge outside it is none. An absent edge connects pairs iff it joins two trees.
    """
    for x in forest.order:
        last = forest.number[x] + forest.size[x] - 1
        if forest.up[x] >= 0 and forest.low[x] >= forest.number[x] and forest.high[x] <= last:
            whole = forest.size[forest.top[x]]
            sums[forest.came[x]] += np.int64(forest.size[x]) * (whole - forest.size[x])
    for e in absent:
        a, b = forest.top[edges.u[e]], forest.top[edges.v[e]]
        if a != b:
            sums[e] += np.int64(forest.size[a]) * forest.size[b]


@parallel_kernel(lambda sums: len(sums))
def sum_toggled(begin, end, sums, edges, n, worlds, seed):  # sums int64 (shares, m)
    """Sum over worlds how many pairs each edge connects that are not connected without it."""
    exists = np.empty(len(edges.u), dtype=np.bool_)
    lists = np.empty((3, len(edges.u) + 1), dtype=np.int32)
    order, top, up, came, size, number, after, low, high, parent = np.empty((10, n), dtype=np.int32)
    forest = Forest(order, top, up, came, size, number, after, low, high)
    other, edge = np.empty((2, 2 * n), dtype=np.int32)
    links = IncidentEdges(np.empty(n + 1, dtype=np.int64), other, edge)
    for share in range(begin, end):
        for world in range(share, worlds, len(sums)):
            draw_world(exists, edges, seed, world)
            trees, others, absent = partition_edges(lists, parent, edges, exists)
            fill_links(links, edges.u, edges.v, trees)
            root_forest(forest, links)
            enumerate_subtrees(forest)
            find_subtree_reach(forest, edges, others)
            add_gains(sums[share], forest, edges, absent)
