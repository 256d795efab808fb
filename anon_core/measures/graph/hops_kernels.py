"""Breadth-first search, in a graph and in its sampled worlds."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.jit.bits import count_set_bits
from anon_core.jit.kernel import kernel, parallel_kernel
from anon_core.measures.graph.coupling_kernels import draw_pair_numbers


class Ends(NamedTuple):
    """Ends of the pairs at each vertex x: other[start[x] : start[x + 1]], of pairs `pair`."""

    start: NDArray[np.int64]
    other: NDArray[np.int32]
    pair: NDArray[np.int64]


class Searches(NamedTuple):
    """Up to 64 searches at once: a bit of each word is one search."""

    seen: NDArray[np.uint64]  # (n,): which searches have reached the vertex
    now: NDArray[np.uint64]  # (n,), of `reached`: which reached it in the last step
    later: NDArray[np.uint64]  # (n,): all 0 between steps
    reached: NDArray[np.int32]  # (n,): vertices that a search reached in the last step, each once
    fresh: NDArray[np.int32]  # (n,)


@kernel
def build_searches(n):
    """Return searches without a start."""
    seen, now, later = np.zeros((3, n), dtype=np.uint64)
    reached, fresh = np.empty((2, n), dtype=np.int32)
    return Searches(seen, now, later, reached, fresh)


@kernel
def start_searches(sources, work):
    """Let each search begin at its source; return the number of reached vertices."""
    work.seen[:] = 0
    for s in range(len(sources)):
        # Assigned, not added: an old word may stand here. So two equal sources would clash.
        work.now[sources[s]] = work.seen[sources[s]] = np.uint64(1) << np.uint64(s)
        work.reached[s] = sources[s]
    return len(sources)


@kernel
def advance_searches(number, ends, exists, work):  # exists bool (pairs,)
    """Take a hop from the reached vertices in all searches; return how many are reached anew."""
    found = 0
    for at in range(number):
        x = work.reached[at]
        for e in range(ends.start[x], ends.start[x + 1]):
            y = ends.other[e]
            fresh = work.now[x] & ~work.seen[y]
            if fresh and exists[ends.pair[e]]:
                # Listed once, by the first search that reaches it in this step.
                if not work.later[y]:
                    work.fresh[found] = y
                    found += 1
                work.later[y] |= fresh
    # A pass of its own: a vertex that is reached in this hop must not pass the search on in it.
    for at in range(found):
        y = work.fresh[at]
        work.seen[y] |= work.later[y]
        work.now[y], work.later[y], work.reached[at] = work.later[y], 0, y
    return found


@parallel_kernel(lambda hops: -(-len(hops) // 64))
def hops_from(begin, end, hops, sources, ends, exists, most):
    # hops int8 (sources, n), -1, filled; sources int64 (sources,), each once
    """Fill in the hops from each source, at most `most`."""
    work = build_searches(hops.shape[1])
    for batch in range(begin, end):
        first = 64 * batch
        some = sources[first : first + 64]
        number, taken = start_searches(some, work), 0
        while number:
            for at in range(number):
                y = work.reached[at]
                for s in range(len(some)):
                    if work.now[y] >> np.uint64(s) & np.uint64(1):
                        hops[first + s, y] = min(taken, most)
            number = advance_searches(number, ends, exists, work)
            taken += 1


@parallel_kernel(lambda lengths: lengths.shape[1])
def sum_lengths(begin, end, lengths, reached, pairs, ends, sources, seed):
    # lengths, reached int64 (graphs, worlds), zeros; sources int64 (sources,), each once
    """Sum the hops from the sources to what they reach in each world; count what they reach."""
    numbers = np.empty(len(pairs.u), dtype=np.int32)
    exists = np.empty(len(pairs.u), dtype=np.bool_)
    work = build_searches(pairs.vertices)
    for world in range(begin, end):
        draw_pair_numbers(numbers, pairs, seed, world)
        for g in range(len(lengths)):
            for e in range(len(exists)):
                exists[e] = numbers[e] < pairs.p[g, e]
            for first in range(0, len(sources), 64):
                number, taken = start_searches(sources[first : first + 64], work), 0
                while number:
                    number = advance_searches(number, ends, exists, work)
                    taken += 1
                    for at in range(number):
                        # Each bit is a search that has just come here, `taken` hops from its
                        # source.
                        found = count_set_bits(work.now[work.reached[at]])
                        lengths[g, world] += taken * found
                        reached[g, world] += found
