"""Distributions of degrees against each other: eq. 2.1 for all pairs, one row at a time."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.jit.kernel import parallel_kernel


class DegreeColumns(NamedTuple):
    """Chances by degree: mass[start[i] : start[i + 1]] are those of degree i, by distribution.

    A degree that distribution g can have is one that all before it can have.
    """

    start: NDArray[np.int64]
    group: NDArray[np.int64]
    mass: NDArray[np.float64]


class PosteriorSums(NamedTuple):
    """As in `Posteriors`, in the order of the source's distributions."""

    bits: NDArray[np.float64]
    own: NDArray[np.float64]
    greatest: NDArray[np.float64]
    likeliest: NDArray[np.int64]


@parallel_kernel(lambda bounds: len(bounds) - 1)
def match_distributions(
    begin, end, bounds, start, mass, columns, vertices, released_of, near, found
):
    # the vertices bounds[g] .. bounds[g + 1] - 1 have distribution g, mass[start[g] : ...], in the
    # source, and distribution released_of[vertex] of `columns` in the release
    """Weigh all released distributions for each distribution of the source."""
    weight = np.empty(len(vertices))
    degrees = len(columns.start) - 1
    for g in range(begin, end):
        for h in range(len(weight)):
            weight[h] = 0.0
        for i in range(min(degrees, start[g + 1] - start[g])):
            chance = mass[start[g] + i]
            if chance > 0:
                first = columns.start[i]
                # Distributions of a degree are 0, 1, ...: the place of one is its number.
                for h in range(columns.start[i + 1] - first):
                    weight[h] += chance * columns.mass[first + h]
        total, greatest = 0.0, 0.0
        for h in range(len(weight)):
            total += vertices[h] * weight[h]
            greatest = max(greatest, weight[h])
        if total == 0:
            continue
        bits, likeliest = 0.0, 0
        for h in range(len(weight)):
            y = weight[h] / total
            if y > 0:
                bits -= vertices[h] * y * math.log2(y)
            if weight[h] >= near * greatest:
                likeliest += vertices[h]
        for v in range(bounds[g], bounds[g + 1]):
            found.bits[v] = bits
            found.own[v] = weight[released_of[v]] / total
            found.greatest[v] = greatest / total
            found.likeliest[v] = likeliest
