"""Hop distances: fewest edges on a path, where edges may exist and in sampled worlds."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_core.measures.graph.coupling import Coupled, couple_graphs
from anon_core.measures.graph.degrees import UncertainEdges
from anon_core.measures.graph.hops_kernels import Ends, hops_from, sum_lengths

_SEED = 192  # of worlds and of sources; anybody may know it


def count_hops(
    edges: UncertainEdges, sources: NDArray[np.int64], most: int = 127
) -> NDArray[np.int8]:
    """Return the hops from each source over all edges that may exist, -1 where no path leads.

    Parameters
    ----------
    edges : UncertainEdges
    sources : int64 (sources,)
        Each once.
    most : int
        What stands for this many hops or more, at most 127.

    Returns
    -------
    int8 (sources, n)
    """
    pairs = couple_graphs(edges)
    found = np.full((len(sources), edges.vertices), -1, dtype=np.int8)
    hops_from(found, sources, _list_ends(pairs), np.ones(len(pairs.u), dtype=np.bool_), most)
    return found


def _list_ends(pairs: Coupled) -> Ends:
    """List the pairs at each vertex."""
    end = np.concatenate([pairs.u, pairs.v])
    order = np.argsort(end, kind="stable")
    start = np.searchsorted(end[order], np.arange(pairs.vertices + 1))
    other = np.concatenate([pairs.v, pairs.u])[order]
    return Ends(start, other, order % max(len(pairs.u), 1))


def some_vertices(vertices: int, most: int, seed: int) -> NDArray[np.int64]:
    """Return up to `most` vertices, drawn by a public seed, ascending."""
    if vertices <= most:
        return np.arange(vertices)
    draws = np.random.Generator(np.random.PCG64(seed))
    return np.sort(draws.choice(vertices, most, replace=False))


@dataclass(frozen=True)
class PathLengths:
    """Hops from sampled vertices to what they reach, in each world.

    Attributes
    ----------
    lengths : int64 (2, worlds)
        Sum of the hops, in the source and in the release.
    reached : int64 (2, worlds)
        Vertices reached, by all sampled vertices together.
    """

    lengths: NDArray[np.int64] = field(repr=False)
    reached: NDArray[np.int64] = field(repr=False)

    @property
    def mean(self) -> tuple[float, float]:
        """Mean hops of connected pairs, before and after; 0 where none is connected."""
        before, after = self.lengths.sum(axis=1) / np.maximum(self.reached.sum(axis=1), 1)
        return float(before), float(after)


def path_lengths(
    source: UncertainEdges,
    released: UncertainEdges,
    worlds: int = 20,
    sources: int = 50,
    seed: int = _SEED,
) -> PathLengths:
    """Measure path lengths in the same sampled worlds of both graphs.

    Parameters
    ----------
    source, released : UncertainEdges
        Vertex i of the source is vertex i of the release.
    worlds, sources : int
        Sampled worlds, and vertices from which paths start in each.
    seed : int
    """
    pairs = couple_graphs(source, released)
    starts = some_vertices(source.vertices, sources, seed)
    lengths, reached = np.zeros((2, 2, worlds), dtype=np.int64)
    sum_lengths(lengths, reached, pairs, _list_ends(pairs), starts, seed)
    return PathLengths(lengths, reached)
