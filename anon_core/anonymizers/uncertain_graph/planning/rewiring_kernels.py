"""Move probability between pairs of vertices so that expected degrees move as planned."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.uncertain_graph.candidates_kernels import PairSet, find_slot
from anon_core.jit.kernel import kernel
from anon_core.jit.mixing import mix_bits
from anon_core.specs.graphs import ONE

_TRIES = 32  # of finding another end nearby, or at all
_TURNS = 200  # in a row that fail: what is left is moved in another way


class RewiringState(NamedTuple):
    """A graph on its way.

    Attributes
    ----------
    u, v, p : int32 (m,)
        Its edges; p changes.
    start : int64 (n + 1,)
    other : int32 (2 m,)
    edge : int64 (2 m,)
        Neighbours of x and the numbers of the edges: start[x] .. start[x + 1] - 1, shuffled.
    left : int64 (n,)
        What is left of each move, in billionths.
    up : bool (n,)
        Whether the move is upwards.
    pairs : PairSet
        All edges, and the new ones; one that fails is none.
    key : int64 (room,)
    chance : int32 (room,)
        The new edges, as keys u n + v, and their p.
    made : int64 (1,)
        Number of new edges.
    state : uint64 (1,)
        Of the random numbers.
    grain : int64
        Every p, and all that moves, is a multiple of it.
    """

    u: NDArray[np.int32]
    v: NDArray[np.int32]
    p: NDArray[np.int32]
    start: NDArray[np.int64]
    other: NDArray[np.int32]
    edge: NDArray[np.int64]
    left: NDArray[np.int64]
    up: NDArray[np.bool_]
    pairs: PairSet
    key: NDArray[np.int64]
    chance: NDArray[np.int32]
    made: NDArray[np.int64]
    state: NDArray[np.uint64]
    grain: int


@kernel
def draw_below(state, number):
    """Draw one of 0 .. number - 1."""
    state[0] += np.uint64(1)
    # The upper half of a product needs no division; numbers are uneven by number / 2^32 at most.
    return np.int64((mix_bits(state[0]) >> np.uint64(32)) * np.uint64(number) >> np.uint64(32))


@kernel
def part_of(work, p):
    """Draw a part of p, from a quarter to three quarters, in whole grains."""
    grains = p // work.grain
    return (grains // 4 + draw_below(work.state, grains // 2 + 1)) * work.grain


@kernel
def add_edge(work, a, b, mass):
    """Add a new edge; returns False if the pair is an edge, or there is no room."""
    n = len(work.left)
    key = min(a, b) * n + max(a, b)
    place = find_slot(work.pairs, key)
    if a == b or work.pairs.key[place] == key or work.made[0] == len(work.key):
        return False
    work.pairs.key[place] = key
    work.key[work.made[0]], work.chance[work.made[0]] = key, mass
    work.made[0] += 1
    return True


@kernel
def draw_neighbour(work, x):
    """Draw a neighbour of x, -1 if it has none."""
    size = work.start[x + 1] - work.start[x]
    return (
        np.int64(work.other[work.start[x] + draw_below(work.state, size)]) if size else np.int64(-1)
    )


@kernel
def has_edge(work, a, b):
    """Return whether two vertices are the same, or have an edge."""
    key = min(a, b) * len(work.left) + max(a, b)
    return a == b or work.pairs.key[find_slot(work.pairs, key)] == key


@kernel
def draw_riser(work, a, risers, count):
    """Draw a vertex that is to rise and has no edge to a, two steps from a if some try finds it.

    Returns -1 where no try finds any.
    """
    for turn in range(2 * _TRIES):
        if turn < _TRIES:
            x = draw_neighbour(work, a)
            b = draw_neighbour(work, x) if x >= 0 else x
        else:
            b = risers[draw_below(work.state, count)]
        if b >= 0 and work.up[b] and work.left[b] >= work.grain and not has_edge(work, a, b):
            return b
    return np.int64(-1)


@kernel
def pack_vertices(work, vertices, count):
    """Keep those of vertices[:count] that still have to move; returns how many."""
    kept = 0
    for i in range(count):
        if work.left[vertices[i]] >= work.grain:
            vertices[kept] = vertices[i]
            kept += 1
    return kept


@kernel
def lower_between(work, edges):
    """Lower edges whose ends are both to fall."""
    for e in edges:
        u, v = work.u[e], work.v[e]
        # What an edge loses, both its ends lose, and both are to: no third vertex changes.
        mass = min(part_of(work, work.p[e]), work.left[u], work.left[v])
        work.p[e] -= mass
        work.left[u] -= mass
        work.left[v] -= mass


@kernel
def raise_between(work, risers):
    """Join vertices that are both to rise by new edges, most of them two steps apart."""
    count, failed = pack_vertices(work, risers, len(risers)), 0
    while count > 1 and failed < _TURNS:
        a = risers[draw_below(work.state, count)]
        b = draw_riser(work, a, risers, count)
        failed += 1
        if b >= 0:
            mass = min(part_of(work, ONE), work.left[a], work.left[b])
            if mass >= work.grain and add_edge(work, a, b, mass):
                failed = 0
                work.left[a] -= mass
                work.left[b] -= mass
                if work.left[a] < work.grain or work.left[b] < work.grain:
                    count = pack_vertices(work, risers, count)


@kernel
def switch_edges(work, fallers, risers):
    """Replace a part of an edge h x by an edge r x: h falls, r rises, x stays."""
    count = pack_vertices(work, risers, len(risers))
    for h in fallers:
        for i in range(work.start[h], work.start[h + 1]):
            if work.left[h] < work.grain or count == 0:
                break
            x, e = np.int64(work.other[i]), work.edge[i]
            r = draw_riser(work, x, risers, count)
            if r < 0:
                continue
            mass = min(part_of(work, work.p[e]), work.left[h], work.left[r])
            if mass >= work.grain and add_edge(work, x, r, mass):
                work.p[e] -= mass
                work.left[h] -= mass
                work.left[r] -= mass
                count = pack_vertices(work, risers, count)


@kernel
def lower_rest(work, fallers, freed, touched):
    """Lower edges of vertices that are to fall; freed[x] is what x loses, `touched` lists them.

    Returns how many lose something.
    """
    count = 0
    for h in fallers:
        for i in range(work.start[h], work.start[h + 1]):
            if work.left[h] < work.grain:
                break
            x, e = work.other[i], work.edge[i]
            mass = min(part_of(work, work.p[e]), work.left[h])
            if mass >= work.grain:
                work.p[e] -= mass
                work.left[h] -= mass
                if freed[x] == 0:
                    touched[count] = x
                    count += 1
                freed[x] += mass
    return count


@kernel
def join_freed(work, freed, touched, count):
    """Join vertices that lost something, so that their expected degrees stay."""
    for i in range(count):
        a = np.int64(touched[i])
        for _ in range(_TRIES):
            if freed[a] < work.grain:
                break
            b = np.int64(touched[draw_below(work.state, count)])
            # Both have lost: an edge between them gives each the same back.
            mass = min(freed[a], freed[b], ONE)
            if mass >= work.grain and add_edge(work, a, b, mass):
                freed[a] -= mass
                freed[b] -= mass


@kernel
def raise_rest(work, risers):
    """Replace a part of an edge x y by edges r x and r y: r rises, x and y stay."""
    if len(work.p) == 0:
        return
    for r in risers:
        for turn in range(_TURNS):
            if work.left[r] < 2 * work.grain:
                break
            x = draw_neighbour(work, r)
            x = draw_neighbour(work, x) if x >= 0 else x
            e = draw_below(work.state, len(work.p))
            if x >= 0 and turn < _TRIES:
                size = work.start[x + 1] - work.start[x]
                e = work.edge[work.start[x] + draw_below(work.state, size)]
            a, b = np.int64(work.u[e]), np.int64(work.v[e])
            mass = min(part_of(work, work.p[e]), work.left[r] // (2 * work.grain) * work.grain)
            if mass >= work.grain and add_edge(work, r, a, mass):
                work.left[r] -= mass
                work.p[e] -= mass
                if add_edge(work, r, b, mass):
                    work.left[r] -= mass
