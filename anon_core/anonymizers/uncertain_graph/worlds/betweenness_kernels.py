"""How many shortest paths take each edge."""

from typing import NamedTuple

import numpy as np

from anon_core.jit.kernel import kernel, parallel_kernel
from anon_core.jit.mixing import mix_bits


class _Search(NamedTuple):
    """A breadth-first search from one source."""

    away: np.ndarray  # int32 (n,): edges to the source, -1: not reached
    paths: np.ndarray  # float64 (n,): shortest paths to the source
    passing: np.ndarray  # float64 (n,): paths that pass on through the vertex, in parts
    order: np.ndarray  # int32 (n,): the vertices reached, nearest first


@kernel
def hash_numbers(numbers):  # int64 (size,)
    """Return a hash of each number, uint64 (size,): their order looks drawn."""
    out = np.empty(len(numbers), dtype=np.uint64)
    for at in range(len(numbers)):
        out[at] = mix_bits(np.uint64(numbers[at]))
    return out


@kernel
def count_shortest_paths(source, links, found):
    """Count the shortest paths from a source to each vertex; return how many are reached."""
    found.away[:] = -1
    found.away[source], found.paths[source], found.order[0] = 0, 1.0, source
    reached = 1
    at = 0
    while at < reached:
        x = found.order[at]
        found.passing[x] = 0.0
        at += 1
        for y in links.other[links.start[x] : links.start[x + 1]]:
            if found.away[y] < 0:
                found.away[y], found.paths[y] = found.away[x] + 1, 0.0
                found.order[reached] = y
                reached += 1
            if found.away[y] == found.away[x] + 1:
                found.paths[y] += found.paths[x]
    return reached


@parallel_kernel(lambda sums: len(sums))
def sum_passing(begin, end, sums, sources, links):  # sums float64 (shares, m)
    """Sum for each edge the parts of shortest paths from each source that take it (Brandes)."""
    n = len(links.start) - 1
    away, order = np.empty((2, n), dtype=np.int32)
    paths, passing = np.empty((2, n), dtype=np.float64)
    found = _Search(away, paths, passing, order)
    for share in range(begin, end):
        for source in sources[share :: len(sums)]:
            reached = count_shortest_paths(source, links, found)
            for at in range(reached - 1, 0, -1):
                x = found.order[at]
                part = (1.0 + found.passing[x]) / found.paths[x]
                for place in range(links.start[x], links.start[x + 1]):
                    y = links.other[place]
                    if found.away[y] == found.away[x] - 1:
                        sums[share, links.edge[place]] += found.paths[y] * part
                        found.passing[y] += found.paths[y] * part
