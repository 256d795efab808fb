"""Breadth-first search, in a graph and in its sampled worlds."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.jit.kernel import kernel, parallel_kernel
from anon_core.measures.graph.coupling_kernels import draw


class Ends(NamedTuple):
    """Ends of the pairs at each vertex x: other[start[x] : start[x + 1]], of pairs `pair`."""

    start: NDArray[np.int64]
    other: NDArray[np.int32]
    pair: NDArray[np.int64]


@kernel
def search(source, ends, exists, hops, queue):
    # exists bool (pairs,); hops, queue int32 (n,): hops is -1 where no path leads, filled
    """Number the vertices by their hops from a source; return how many are reached."""
    for x in range(len(hops)):
        hops[x] = -1
    hops[source], queue[0], reached = 0, source, 1
    at = 0
    while at < reached:
        x = queue[at]
        at += 1
        for e in range(ends.start[x], ends.start[x + 1]):
            y = ends.other[e]
            if exists[ends.pair[e]] and hops[y] < 0:
                hops[y] = hops[x] + 1
                queue[reached] = y
                reached += 1
    return reached


@parallel_kernel(lambda sources: len(sources))
def hops_from(begin, end, sources, ends, exists, hops):  # hops int32 (sources, n)
    """Fill in the hops from each source."""
    queue = np.empty(hops.shape[1], dtype=np.int32)
    for s in range(begin, end):
        search(sources[s], ends, exists, hops[s], queue)


@kernel
def ones(word):
    """Return the number of set bits of a uint64."""
    word -= word >> np.uint64(1) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + (
        word >> np.uint64(2) & np.uint64(0x3333333333333333)
    )
    word = word + (word >> np.uint64(4)) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64(word * np.uint64(0x0101010101010101) >> np.uint64(56))


@kernel
def search_together(sources, ends, exists, words, queue):
    # words uint64 (3, n), all 0 but `seen`; queue int32 (2, n)
    """Search from up to 64 sources, a bit each; return the sum of hops and the vertices reached."""
    seen, now, later = words[0], words[1], words[2]
    seen[:] = 0
    active = len(sources)
    for s in range(active):
        now[sources[s]] = seen[sources[s]] = np.uint64(1) << np.uint64(s)
        queue[0, s] = sources[s]
    length, reached, hops = 0, 0, 0
    while active:
        hops += 1
        found = 0
        for at in range(active):
            x = queue[0, at]
            for e in range(ends.start[x], ends.start[x + 1]):
                y = ends.other[e]
                fresh = now[x] & ~seen[y]
                if fresh and exists[ends.pair[e]]:
                    if not later[y]:
                        queue[1, found] = y
                        found += 1
                    later[y] |= fresh
        for at in range(active):
            now[queue[0, at]] = 0
        for at in range(found):
            y = queue[1, at]
            seen[y] |= later[y]
            number = ones(later[y])
            length, reached = length + hops * number, reached + number
            now[y], later[y], queue[0, at] = later[y], 0, y
        active = found
    return length, reached


@parallel_kernel(lambda lengths: lengths.shape[1])
def sum_lengths(begin, end, lengths, reached, pairs, ends, sources, seed):
    # lengths, reached int64 (graphs, worlds), zeros; sources int64 (sources,), each once
    """Sum the hops from the sources to what they reach in each world; count what they reach."""
    numbers = np.empty(len(pairs.u), dtype=np.int32)
    exists = np.empty(len(pairs.u), dtype=np.bool_)
    words = np.zeros((3, pairs.vertices), dtype=np.uint64)
    queue = np.empty((2, pairs.vertices), dtype=np.int32)
    for world in range(begin, end):
        draw(numbers, pairs, seed, world)
        for g in range(len(lengths)):
            for e in range(len(exists)):
                exists[e] = numbers[e] < pairs.p[g, e]
            for first in range(0, len(sources), 64):
                some = sources[first : first + 64]
                length, found = search_together(some, ends, exists, words, queue)
                lengths[g, world] += length
                reached[g, world] += found
