"""Reliability discrepancy: how far the release moves the chance that two vertices are connected.

Definitions 2 to 4 of Xiao, Towards Graph Analytic and Privacy Protection: the chance R that a path
of existing edges joins two vertices, |R - R~| of a pair, and its mean over all pairs. The exact R
is #P-complete, so worlds are sampled.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import InputError
from anon_core.measures.graph.coupling import couple_graphs
from anon_core.measures.graph.coupling_kernels import count_joined
from anon_core.measures.graph.degrees import UncertainEdges
from anon_core.measures.graph.hops import count_hops, some_vertices

_SEED = 19  # of worlds, pairs and vertices; anybody may know it
_SHARES = 32  # of the worlds: threads take whole shares
NORMAL = 1.96  # of 95 % of a normal distribution
STRATA = ("1", "2", "3", "4 or more", "no path")
"""Hops of a pair over all edges that may exist in the source."""


@dataclass(frozen=True)
class Discrepancy:
    """Connected pairs in the same sampled worlds of source and release.

    Some vertices are drawn, and for each of them some others of each stratum. A pair stands for
    all those of its vertex and stratum: it has their number, by its own, as its weight.

    Attributes
    ----------
    times : int64 (pairs, 4)
        Worlds in which the pair is connected in neither, the source only, the release only, both.
    stratum : int64 (pairs,)
        Index of `STRATA`.
    vertex : int64 (pairs,)
        Number of the drawn vertex, from 0.
    weight : float64 (pairs,)
    connected : int64 (2, worlds)
        Connected pairs of all vertices in each world of the source, and of the release.
    vertices : int
        n.

    Notes
    -----
    A difference of two estimates is not 0 where the chances are equal. The mean of |R - R~| is
    therefore too high on average, by at most `noise`.
    """

    times: NDArray[np.int64] = field(repr=False)
    stratum: NDArray[np.int64] = field(repr=False)
    vertex: NDArray[np.int64] = field(repr=False)
    weight: NDArray[np.float64] = field(repr=False)
    connected: NDArray[np.int64] = field(repr=False)
    vertices: int

    @property
    def worlds(self) -> int:
        """Number of sampled worlds."""
        return int(self.connected.shape[1])

    @property
    def of_pair(self) -> NDArray[np.float64]:
        """Estimate of |R - R~|, float64 (pairs,)."""
        return abs(self.times[:, 1] - self.times[:, 2]) / self.worlds

    @property
    def mean(self) -> float:
        """Estimate of the mean of |R - R~| over all pairs; 0 without pairs."""
        return self._mean(self.of_pair)

    @property
    def noise(self) -> float:
        """Mean standard error of R - R~, from the sampling of worlds."""
        return self._mean(self._errors())

    @property
    def interval(self) -> tuple[float, float]:
        """Ends of an interval for the mean: right in 95 % of samples, or more.

        It adds the errors of sampled vertices and of sampled worlds, as if the worlds erred in
        favour of all pairs alike.
        """
        half = NORMAL * (self.noise + self._spread())
        return max(0.0, self.mean - half), min(1.0, self.mean + half)

    def by_hops(self) -> dict[str, tuple[float, float, int]]:
        """Return mean, noise and number of pairs of each stratum that has any."""
        found = {}
        for index, name in enumerate(STRATA):
            there = self.stratum == index
            if there.any():
                mean, noise = self._mean(self.of_pair, there), self._mean(self._errors(), there)
                found[name] = (mean, noise, int(np.count_nonzero(there)))
        return found

    def _mean(self, values: NDArray[np.float64], there: NDArray[np.bool_] | None = None) -> float:
        weight = self.weight if there is None else self.weight * there
        # A weight is 1 or more, so only an empty sum is below 1.
        return float((values * weight).sum() / max(weight.sum(), 1.0))

    def _errors(self) -> NDArray[np.float64]:
        # In a world the two graphs differ by -1, 0 or 1 at a pair: the variance is that of such a
        # number, P(apart) - (R - R~)^2.
        apart = (self.times[:, 1] + self.times[:, 2]) / self.worlds
        return np.sqrt(np.maximum(apart - self.of_pair**2, 0) / self.worlds)

    def _spread(self) -> float:
        """Standard error from the sampling of vertices; 0 if all pairs were taken.

        Infinite where one vertex was drawn.
        """
        # A census of pairs has no error of sampling.
        if self.weight.sum() == len(self.weight) == self.vertices * (self.vertices - 1):
            return 0.0
        # Vertices are the units of the sample: pairs of one vertex depend on each other.
        means = np.bincount(self.vertex, self.of_pair * self.weight) / (self.vertices - 1)
        # One vertex tells nothing of how vertices differ: the interval is that of all shares.
        if len(means) < 2:
            return np.inf
        return float(means.std(ddof=1) / np.sqrt(len(means)))


def estimate_discrepancy(
    source: UncertainEdges,
    released: UncertainEdges,
    worlds: int = 1000,
    sample: tuple[int, int] = (200, 10),
    seed: int = _SEED,
) -> Discrepancy:
    """Estimate the reliability discrepancy of a release.

    Parameters
    ----------
    source, released : UncertainEdges
        Vertex i of the source is vertex i of the release.
    worlds : int
        Sampled worlds, the same for both graphs and all pairs.
    sample : (int, int)
        Drawn vertices, and for each of them others of each stratum.
    seed : int
        Public. Threads and the order of the edges decide no number.
    """
    if source.vertices != released.vertices:
        raise InputError("source and release must have the same vertices")
    vertex, asked, stratum, weight = _draw_pairs(source, *sample, seed)
    connected = np.empty((2, worlds), dtype=np.int64)
    times = np.zeros((min(_SHARES, worlds), len(stratum), 4), dtype=np.int32)
    count_joined(times, connected, couple_graphs(source, released), asked, seed)
    return Discrepancy(
        times.sum(axis=0, dtype=np.int64), stratum, vertex, weight, connected, source.vertices
    )


def _draw_pairs(
    source: UncertainEdges, vertices: int, others: int, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], NDArray[np.float64]]:
    starts = some_vertices(source.vertices, vertices, seed)
    # Another stream than that of `some_vertices`, which draws by the bare seed.
    draws = np.random.Generator(np.random.PCG64([seed, 1]))
    number, target, stratum, weight = [], [], [], []
    for at, (start, row) in enumerate(
        zip(starts.tolist(), count_hops(source, starts, 4), strict=True)
    ):
        kind = np.where(row < 0, len(STRATA) - 1, row - 1)
        # The vertex itself has 0 hops, and -1 is no stratum.
        kind[start] = -1
        for index in range(len(STRATA)):
            there = np.flatnonzero(kind == index)
            some = there
            if len(there) > others:
                some = np.sort(draws.choice(there, others, replace=False))
            number.append(np.full(len(some), at))
            target.append(some)
            stratum.append(np.full(len(some), index))
            # Each drawn vertex stands for as many of its stratum (Horvitz and Thompson).
            weight.append(np.full(len(some), len(there) / max(len(some), 1)))
    vertex = np.concatenate([np.zeros(0, dtype=np.int64), *number])
    ends = np.concatenate([np.zeros(0, dtype=np.int64), *target])
    asked = np.stack([starts[vertex], ends]).astype(np.int32)
    return (
        vertex,
        asked,
        np.concatenate([np.zeros(0, dtype=np.int64), *stratum]),
        np.concatenate([np.zeros(0), *weight]),
    )
