"""Convolution of edges into degree distributions."""

from anon_core.jit.kernel import kernel, parallel_kernel
from anon_core.specs.graphs import ONE

_NOTHING = 1e-290  # smaller chances are 0: arithmetic below 1e-308 is slow


@kernel
def convolve_edges(p, mass):
    """mass = degree distribution of a vertex with edges of probabilities p; mass is all 0."""
    # chances outside low .. high are 0
    mass[0] = 1.0
    low, high = 0, 0
    for e in range(len(p)):
        # The difference is taken in integers: 1 - there would lose digits where it is close to 0.
        there, absent = p[e] / ONE, (ONE - p[e]) / ONE
        high += 1
        # In place, downwards: mass[i - 1] is still that of the edges before e.
        for i in range(high, low, -1):
            mass[i] = mass[i] * absent + mass[i - 1] * there
        mass[low] *= absent
        while mass[low] < _NOTHING:
            mass[low] = 0.0
            low += 1
        while mass[high] < _NOTHING:
            mass[high] = 0.0
            high -= 1


@parallel_kernel(lambda groups: len(groups))
def convolve_each(begin, end, groups, at, p, start, mass):
    # p[at[g] : at[g + 1]] are the probabilities of group g, mass[start[g] : start[g + 1]] is 0
    """Fill in the distribution of each of the groups."""
    for index in range(begin, end):
        g = groups[index]
        convolve_edges(p[at[g] : at[g + 1]], mass[start[g] : start[g + 1]])
