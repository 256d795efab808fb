"""All triangles of a graph that no memory holds, by Bermuda-EC from disk.

The edges are passed over twice: numbered ones are written down and counted at each vertex, then
sorted into pieces by their end of lower degree. A piece is what a mapper reads. In memory: 30
bytes a vertex, and one piece at a time.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from anon_core.measures.graph.triangles.jobs import EdgeCentric, Piece
from anon_core.measures.graph.triangles.oriented_kernels import rank_by_degree
from anon_core.spread import Shuffle

_EDGE = 8  # bytes of the numbers of two ends
_SORTING = 4  # times the bytes of a piece, to sort it
LEAST_PIECES, MOST_PIECES = 16, 4096
EDGES_AT_ONCE = 2**20

Ends = NDArray[np.int32]


@dataclass(frozen=True)
class Listed:
    """What was passed over, and how many triangles were found."""

    rows: int
    loops: int
    edges: int
    triangles: int


def list_triangles_from_disk(
    batches: Iterable[tuple[Ends, Ends]],
    vertices: int,
    folder: Path,
    shuffle: Shuffle,
    take: Callable[[NDArray[np.int32]], None],
) -> Listed:
    """Hand over each triangle once, as rows u < v < w of int32 (_, 3), in an order of no meaning.

    Parameters
    ----------
    batches : iterable of (int32 (_,), int32 (_,))
        Ends of edges in any order; an edge may come several times and in both directions. Each
        batch is taken once.
    vertices : int
        All ends are less.
    folder : Path
        An empty one, for 16 bytes an edge. Keep it private.
    shuffle : Shuffle
        A piece is as large as a reducer's memory allows.
    take : callable

    Raises
    ------
    LimitError
        A reducer needs more memory.
    ClusterError
        The workers of the shuffle cannot do the work.

    References
    ----------
    Xiao, Towards Graph Analytic and Privacy Protection, section 3.2 (Bermuda-EC).
    """
    degree = np.zeros(vertices, dtype=np.int32)
    rows, loops = _write_edges(batches, folder / "edges", degree)
    rank = rank_by_degree(degree) if vertices else degree
    by_rank = np.empty_like(rank)
    by_rank[rank] = np.arange(vertices, dtype=np.int32)
    wanted = math.ceil(2 * _SORTING * _EDGE * rows / shuffle.memory)
    # An edge lies at its end of greater rank: no piece gets more edges than these degrees sum to.
    upto = np.cumsum(degree[by_rank], dtype=np.int64)
    number = min(MOST_PIECES, max(LEAST_PIECES, wanted))
    bounds = np.unique(np.searchsorted(upto, np.arange(1, number) * (2 * rows // number)))
    bounds = np.array([0, *bounds[(bounds > 0) & (bounds < vertices)], vertices])
    del degree, upto
    _divide_edges(folder, rank, bounds)
    edges, longest = 0, 0
    for place in range(len(bounds) - 1):
        sizes = _sort_piece(folder / f"part-{place}", int(bounds[place]), int(bounds[place + 1]))
        edges, longest = edges + int(sizes.sum()), max(longest, int(sizes.max(initial=0)))
    found = 0

    def take_ranked(block: NDArray[np.int32]) -> None:
        nonlocal found
        triangles = np.sort(by_rank[block.reshape(-1, 3)], axis=1)
        found += len(triangles)
        take(triangles)

    shuffle.run(EdgeCentric(longest, disk=True), _read_pieces(folder, bounds), take_ranked)
    return Listed(rows, loops, edges, found)


def _write_edges(
    batches: Iterable[tuple[Ends, Ends]], path: Path, degree: NDArray[np.int32]
) -> tuple[int, int]:
    """Write the edges, and count them at each vertex; return their number, and that of loops.

    Repeated edges count each time: degrees decide the order of vertices only.
    """
    rows = loops = 0
    with path.open("wb") as file:
        for u, v in batches:
            apart = u != v
            rows, loops = rows + len(u), loops + len(u) - int(apart.sum())
            ends = np.stack([u[apart], v[apart]], axis=1)
            degree += np.bincount(ends.reshape(-1), minlength=len(degree)).astype(np.int32)
            file.write(ends.astype(np.int32).tobytes())
    return rows, loops


def _divide_edges(folder: Path, rank: NDArray[np.int32], bounds: NDArray[np.int64]) -> None:
    """Move each edge, as ranks (greater, less), to the file of the piece of the greater one."""
    with (folder / "edges").open("rb") as file:
        while len(ends := np.fromfile(file, dtype=np.int32, count=2 * EDGES_AT_ONCE)):
            ranked = np.sort(rank[ends.reshape(-1, 2)], axis=1)[:, ::-1]
            ranked = ranked[np.argsort(ranked[:, 0], kind="stable")]
            cuts = np.searchsorted(ranked[:, 0], bounds)
            for place in np.flatnonzero(np.diff(cuts)).tolist():
                # Opened anew for each batch: MOST_PIECES files at once are more than systems
                # usually let a process open.
                with (folder / f"part-{place}").open("ab") as part:
                    part.write(ranked[cuts[place] : cuts[place + 1]].tobytes())
    (folder / "edges").unlink()


def _sort_piece(path: Path, first: int, last: int) -> NDArray[np.int64]:
    """Sort a file of edges, each once; return how many each vertex first .. last - 1 has."""
    ends = np.fromfile(path, dtype=np.int32) if path.exists() else np.empty(0, dtype=np.int32)
    high, low = ends.reshape(-1, 2).T.astype(np.int64)
    # One number an edge, so that one sort orders by both ends and drops repeated edges.
    key = np.unique((high << 32) | low)
    np.stack([key >> 32, key & 0xFFFFFFFF], axis=1).astype(np.int32).tofile(path)
    sizes: NDArray[np.int64] = np.bincount((key >> 32) - first, minlength=last - first)
    return sizes


def _read_pieces(folder: Path, bounds: NDArray[np.int64]) -> Iterator[Piece]:
    nothing = np.empty(0, dtype=np.int32)
    for place in range(len(bounds) - 1):
        first, last = int(bounds[place]), int(bounds[place + 1])
        high, low = np.fromfile(folder / f"part-{place}", dtype=np.int32).reshape(-1, 2).T
        start = np.searchsorted(high, np.arange(first, last + 1)).astype(np.int64)
        (folder / f"part-{place}").unlink()
        # Bermuda-EC asks for no lower neighbours.
        yield Piece(first, start, low.copy(), np.zeros_like(start), nothing)
