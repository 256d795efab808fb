"""What an adversary who knows a degree concludes: how likely each released vertex is the target.

Section 2.2 of Xiao, Towards Graph Analytic and Privacy Protection. Known degree w: the chance of
vertex u is Y_u = X_u(w) / S(w), where X_u is its released degree distribution and S the sum over
all vertices. Known distribution of the degree d_v: Y_u is proportional to P(d_u = d_v), eq. 2.1.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import InputError
from anon_core.measures.graph.degrees import Degrees
from anon_core.measures.graph.posteriors_kernels import (
    DegreeColumns,
    PosteriorSums,
    match_distributions,
)
from anon_core.specs.graphs import ONE, Knowledge

TIE = 1e-12  # chances that differ by less, as a part of the greater, are equal


@dataclass(frozen=True)
class Posteriors:
    """The adversary's distribution Y over released vertices, for each target.

    Attributes
    ----------
    bits : float64 (n,)
        Entropy H(Y). 0 where no released vertex can have the known degree.
    own : float64 (n,)
        Y at the target's own vertex.
    greatest : float64 (n,)
        Greatest chance of a vertex.
    likeliest : int64 (n,)
        Vertices with that chance. `greatest`, `own` and this are 0 where no vertex can be it.
    """

    bits: NDArray[np.float64] = field(repr=False)
    own: NDArray[np.float64] = field(repr=False)
    greatest: NDArray[np.float64] = field(repr=False)
    likeliest: NDArray[np.int64] = field(repr=False)


def compute_posteriors(source: Degrees, released: Degrees, knowledge: Knowledge) -> Posteriors:
    """Return what the adversary concludes about each vertex.

    Parameters
    ----------
    source, released : Degrees
        Vertex i of the source is vertex i of the release.
    knowledge : {"ceiling", "mode", "distribution"}

    Notes
    -----
    A known degree takes time linear in vertices and edges. A known distribution is weighed against
    each released one: time grows with the square of the vertices, memory by one float64 for each
    thread and released distribution, besides a copy of the chances.

    Raises
    ------
    InputError
        The numbers of vertices differ.
    """
    if len(source.of_vertex) != len(released.of_vertex):
        raise InputError("source and release must have the same vertices")
    if knowledge == "distribution" or not len(source.of_vertex):
        return _of_distributions(source, released)
    return _of_degrees(compute_known_degrees(source, knowledge)[source.of_vertex], released)


def compute_known_degrees(source: Degrees, knowledge: Knowledge) -> NDArray[np.int64]:
    """Return the degree that the adversary knows, for each distribution of the source.

    "ceiling": the expected degree, rounded up. "mode": the likeliest degree, the smallest of ties.
    """
    if knowledge == "ceiling":
        return -(-source.expected // ONE)
    if not len(source.vertices):
        return np.zeros(0, dtype=np.int64)
    greatest = np.maximum.reduceat(source.mass, source.start[:-1])
    near = source.mass >= np.repeat(greatest * (1 - TIE), np.diff(source.start))
    likeliest = np.flatnonzero(near)
    # Each distribution has a likeliest degree, so the next one from its start on is its own.
    first = likeliest[np.searchsorted(likeliest, source.start[:-1])]
    return first - source.start[:-1]


def _of_degrees(known: NDArray[np.int64], released: Degrees) -> Posteriors:
    """Weigh each degree once; known int64 (n,) says whose is which."""
    columns, highest = _build_columns(released), released.highest
    count = released.vertices[columns.group]
    degree = np.repeat(np.arange(highest + 1), np.diff(columns.start))
    # S(w) of the module's text: what all vertices together give to the degree.
    total = np.bincount(degree, count * columns.mass, minlength=highest + 1)
    with np.errstate(invalid="ignore"):
        y = np.where(total[degree] > 0, columns.mass / total[degree], 0.0)
    # H = - sum of Y log Y, where 0 log 0 is 0.
    logs = np.log2(y, out=np.zeros_like(y), where=y > 0)
    bits = -np.bincount(degree, count * y * logs, minlength=highest + 1)
    # No segment is empty, as reduceat needs: the longest distribution has every degree.
    greatest = np.maximum.reduceat(y, columns.start[:-1])
    ties = (y > 0) & (y >= greatest[degree] * (1 - TIE))
    likeliest = np.bincount(degree, count * ties, minlength=highest + 1).astype(np.int64)
    # No released vertex can have a degree above the highest: the adversary finds nobody.
    there = known <= highest
    at = np.where(there, known, 0)
    first = released.start[released.of_vertex]
    reached = at < released.start[released.of_vertex + 1] - first
    own = np.where(reached, released.mass[first + np.where(reached, at, 0)], 0.0)
    with np.errstate(invalid="ignore"):
        own = np.where(total[at] > 0, own / total[at], 0.0)
    # Rounding may leave an entropy slightly below 0.
    return Posteriors(
        np.maximum(np.where(there, bits[at], 0.0), 0.0),
        np.where(there, own, 0.0),
        np.where(there, greatest[at], 0.0),
        np.where(there, likeliest[at], 0),
    )


def _of_distributions(source: Degrees, released: Degrees) -> Posteriors:
    order = np.argsort(source.of_vertex, kind="stable")
    bounds = np.concatenate([[0], np.cumsum(source.vertices)])
    n = len(source.of_vertex)
    found = PosteriorSums(np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n, dtype=np.int64))
    match_distributions(
        bounds,
        source.start,
        source.mass,
        _build_columns(released),
        released.vertices,
        released.of_vertex[order],
        1 - TIE,
        found,
    )
    back = np.empty(n, dtype=np.int64)
    back[order] = np.arange(n)
    return Posteriors(
        found.bits[back], found.own[back], found.greatest[back], found.likeliest[back]
    )


def _build_columns(degrees: Degrees) -> DegreeColumns:
    """Sort the chances by degree. Those of a degree belong to the first distributions."""
    degree = degrees.degree()
    order = np.argsort(degree, kind="stable")
    start = np.searchsorted(degree[order], np.arange(degrees.highest + 2))
    group = np.repeat(np.arange(len(degrees.vertices)), np.diff(degrees.start))
    return DegreeColumns(start, group[order], degrees.mass[order])
