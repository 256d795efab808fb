"""How likely each degree of a vertex is: a product of one factor for each of its edges.

All terms are sums of products of positive numbers, so that even a small chance is right to some 15
digits; below 1e-290 it is 0. An FFT would be right to 1e-16 of the greatest chance only, but a
column is judged by ratios of its chances, however small they are.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.jit.kernel import kernel, parallel_kernel

NEGLIGIBLE_COUNT = 1e-200  # expected vertices: fewer count as none, long before numbers lose digits
_NOTHING = 1e-290  # numbers near the least that a float64 holds are slow, and have few digits


class Incident(NamedTuple):
    """Uncertain edges by vertex: 0 < chance < 1.

    Attributes
    ----------
    start : int64 (n + 1,)
        Edges of u: start[u] .. start[u + 1] - 1.
    chance : float64 (2 edges,)
    """

    start: NDArray[np.int64]
    chance: NDArray[np.float64]


class DegreeChances(NamedTuple):
    """Distribution of the degree of each vertex.

    Attributes
    ----------
    low : int64 (n,)
        Least possible degree: the number of certain edges.
    start : int64 (n + 1,)
    chance : float64 (start[n],)
        chance[start[u] + i] = P(degree of u = low[u] + i).
    """

    low: NDArray[np.int64]
    start: NDArray[np.int64]
    chance: NDArray[np.float64]


def _count_vertices(incident: Incident) -> int:
    return len(incident.start) - 1


@parallel_kernel(_count_vertices)
def convolve_degrees(begin, end, incident, degrees):
    """Fill in the chances of the degrees of vertices begin .. end - 1 (Poisson-binomial)."""
    for u in range(begin, end):
        base = degrees.start[u]
        degrees.chance[base] = 1.0
        first = incident.start[u]
        for e in range(first, incident.start[u + 1]):
            p, top = incident.chance[e], base + e - first
            degrees.chance[top + 1] = degrees.chance[top] * p
            # In place, downwards: chance[i - 1] is still that without this edge.
            for i in range(top, base, -1):
                x = degrees.chance[i] * (1 - p) + degrees.chance[i - 1] * p
                degrees.chance[i] = x if x > _NOTHING else 0.0
            degrees.chance[base] *= 1 - p
            if degrees.chance[base] <= _NOTHING:
                degrees.chance[base] = 0.0


@kernel
def add_columns(degrees, total, weighted):
    """Add each chance x of degree w to total[w], and x log2 x to weighted[w], in one order."""
    for u in range(len(degrees.low)):
        w = degrees.low[u]
        for x in degrees.chance[degrees.start[u] : degrees.start[u + 1]]:
            if x > 0:
                total[w] += x
                weighted[w] += x * np.log2(x)
            w += 1


def _count_known(known: DegreeChances) -> int:
    return len(known.low)


@parallel_kernel(_count_known)
def fill_match_entropies(begin, end, known, degrees, bits):
    """Fill in the entropy over vertices u of P(d_u = d_v), u of `degrees`, for each v of `known`.

    bits : float64 (len(known.low),)
    """
    for v in range(begin, end):
        total, weighted = 0.0, 0.0
        for u in range(len(degrees.low)):
            x = compute_match_chance(known, v, degrees, u)
            if x > 0:
                total += x
                weighted += x * np.log2(x)
        bits[v] = np.log2(total) - weighted / total if total > NEGLIGIBLE_COUNT else 0.0


@kernel
def compute_match_chance(known, v, degrees, u):
    """Return the chance that the degrees of v in `known` and of u in `degrees` are equal."""
    first = max(known.low[v], degrees.low[u])
    of_v = known.start[v] + first - known.low[v]
    of_u = degrees.start[u] + first - degrees.low[u]
    chance = 0.0
    for i in range(min(known.start[v + 1] - of_v, degrees.start[u + 1] - of_u)):
        chance += known.chance[of_v + i] * degrees.chance[of_u + i]
    return chance
