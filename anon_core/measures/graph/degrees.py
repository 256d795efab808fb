"""Exact degree distributions of an uncertain graph.

The degree of a vertex is a sum of independent edges, each there with its probability: it has the
Poisson binomial distribution.
"""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.measures.graph.degrees_kernels import convolve_each, convolve_edges

FAST_FROM = 2**16  # probabilities; up to here convolution, exact in every digit that counts
PIECE = 2**12  # probabilities that are convolved one by one before FFTs join the pieces


class UncertainEdges(NamedTuple):
    """Edges of an uncertain graph; each pair of vertices at most once.

    Attributes
    ----------
    u, v : int32 (m,)
        Ends of each edge, u != v.
    p : int32 (m,)
        Probability that the edge exists, in billionths.
    vertices : int
        n.
    """

    u: NDArray[np.int32]
    v: NDArray[np.int32]
    p: NDArray[np.int32]
    vertices: int


@dataclass(frozen=True)
class Degrees:
    """Degree distributions, one for all vertices whose edges have the same probabilities.

    Attributes
    ----------
    of_vertex : int64 (n,)
        Distribution of each vertex.
    vertices : int64 (distributions,)
        Vertices of each distribution.
    expected : int64 (distributions,)
        Expected degree, in billionths.
    start : int64 (distributions + 1,)
    mass : float64 (all distributions,)
        mass[start[g] + i] is the chance that a vertex with distribution g has degree i, for i from
        0 to the number of its possible edges. Distributions with more degrees come first.

    Notes
    -----
    Memory is linear in vertices and edges. Nothing depends on the order of vertices or edges: the
    probabilities of a vertex are convolved in ascending order, and the distributions are in the
    order of their probabilities.

    Up to `FAST_FROM` possible edges, each of d edges multiplies the relative error by at most
    1 + 2^-51; chances below 1e-290 are 0. Above, FFTs join pieces of `PIECE` edges, and the error
    of each chance is at most `fast_error(d)`.
    """

    of_vertex: NDArray[np.int64] = field(repr=False)
    vertices: NDArray[np.int64] = field(repr=False)
    expected: NDArray[np.int64] = field(repr=False)
    start: NDArray[np.int64] = field(repr=False)
    mass: NDArray[np.float64] = field(repr=False)

    @classmethod
    def of(cls, edges: UncertainEdges) -> "Degrees":
        """Return the distributions of all vertices."""
        of_vertex, vertices, contents = _group_vertices(edges)
        p = np.frombuffer(b"".join(contents), dtype=np.int32)
        at = np.cumsum([0, *(len(content) // p.itemsize for content in contents)])
        start = at + np.arange(len(at))
        mass = np.zeros(start[-1])
        # Whole billionths: a float sum could exceed an expected degree of 2, and its ceiling be 3.
        expected = np.diff(np.concatenate([[0], np.cumsum(p, dtype=np.int64)])[at])
        slow = np.flatnonzero(np.diff(at) <= FAST_FROM)
        convolve_each(slow, at, p, start, mass)
        for group in np.flatnonzero(np.diff(at) > FAST_FROM).tolist():
            mass[start[group] : start[group + 1]] = _convolve_fast(p[at[group] : at[group + 1]])
        return cls(of_vertex, vertices, expected, start, mass)

    @property
    def highest(self) -> int:
        """Greatest number of possible edges of a vertex."""
        return int(np.diff(self.start).max(initial=1)) - 1

    def degree(self) -> NDArray[np.int64]:
        """Return the degree of each chance in `mass`, int64."""
        return np.arange(len(self.mass)) - np.repeat(self.start[:-1], np.diff(self.start))


def fast_error(degree: int) -> float:
    """Return the greatest error of a chance where FFTs join the pieces of a distribution.

    A product of two distributions by FFTs of N points errs by at most 7 log2(N) 2^-52 at each
    degree, since neither has a norm above 1. Errors of two parts add up, because each sums to 1.
    What may be nothing but such errors becomes 0, which doubles them.

    References
    ----------
    Percival, Rapid Multiplication Modulo the Sum and Difference of Highly Composite Numbers,
    Mathematics of Computation 72, 2003, theorem 5.1.
    """
    joins = 2 * -(-degree // PIECE)
    return 2 * joins * 7 * (math.log2(degree + 1) + 1) * 2.0**-52


def list_probabilities(edges: UncertainEdges) -> list[bytes]:
    """Return the probabilities of each vertex's possible edges, int32 ascending, as bytes."""
    # An edge of probability 0 changes no distribution, but would part vertices with equal ones.
    possible = edges.p > 0
    end = np.concatenate([edges.u[possible], edges.v[possible]])
    p = np.concatenate([edges.p[possible], edges.p[possible]]).astype(np.int32, copy=False)
    order = np.lexsort((p, end))
    bounds = np.searchsorted(end[order], np.arange(edges.vertices + 1)) * p.itemsize
    whole, ends = p[order].tobytes(), bounds.tolist()
    return [whole[ends[v] : ends[v + 1]] for v in range(edges.vertices)]


def _group_vertices(
    edges: UncertainEdges,
) -> tuple[NDArray[np.int64], NDArray[np.int64], list[bytes]]:
    """Group vertices by the probabilities of their edges, int32 ascending; 0 is no edge."""
    contents = list_probabilities(edges)
    # Longest first: a degree is then possible for the distributions 0, 1, ... up to some number.
    distinct = sorted(set(contents), key=lambda content: (-len(content), content))
    number = {content: group for group, content in enumerate(distinct)}
    of_vertex = np.array([number[content] for content in contents], dtype=np.int64)
    return of_vertex, np.bincount(of_vertex, minlength=len(distinct)), distinct


def _convolve_fast(p: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return a distribution from pieces; what may be an error alone is 0."""
    mass = _join_halves(p)
    # Rounding also leaves chances slightly below 0.
    mass[mass < fast_error(len(p)) / 2] = 0
    return mass


def _join_halves(p: NDArray[np.int32]) -> NDArray[np.float64]:
    """Join halves by FFTs."""
    if len(p) <= PIECE:
        mass = np.zeros(len(p) + 1)
        convolve_edges(p, mass)
        return mass
    left, right = _join_halves(p[: len(p) // 2]), _join_halves(p[len(p) // 2 :])
    # More points than len(p): an FFT of fewer would add the highest degrees to the lowest.
    size = 1 << len(p).bit_length()
    product = np.fft.irfft(np.fft.rfft(left, size) * np.fft.rfft(right, size), size)
    return product[: len(p) + 1]
