"""Triangles, each found once, at its vertex with the fewest edges."""

import numpy as np

from anon_core.jit.kernel import kernel, parallel_kernel


@kernel
def later(x, y, start):
    """Tell whether y comes after x in the order of their edges' number, then of their names."""
    of_x, of_y = start[x + 1] - start[x], start[y + 1] - start[y]
    return of_y > of_x or (of_y == of_x and y > x)


@parallel_kernel(lambda found: len(found))
def sum_triangles(begin, end, found, ends, p):
    # found float64 (n,), zeros; p float64 (pairs,)
    """Sum the chances of the triangles whose first vertex is x, for each x."""
    chance = np.zeros(len(found))  # of the edge from x, 0 for none and for earlier vertices
    for x in range(begin, end):
        for e in range(ends.start[x], ends.start[x + 1]):
            if later(x, ends.other[e], ends.start):
                chance[ends.other[e]] = p[ends.pair[e]]
        for e in range(ends.start[x], ends.start[x + 1]):
            y = ends.other[e]
            if chance[y] > 0:
                closed = 0.0
                for f in range(ends.start[y], ends.start[y + 1]):
                    z = ends.other[f]
                    if chance[z] > 0 and later(y, z, ends.start):
                        closed += chance[z] * p[ends.pair[f]]
                found[x] += chance[y] * closed
        for e in range(ends.start[x], ends.start[x + 1]):
            chance[ends.other[e]] = 0.0
