"""All triangles of a graph that no memory holds, by Bermuda-EC or Bermuda-VC from disk.

The edges are passed over twice: numbered ones are written down and counted at each vertex, then
sorted into pieces by their end of lower degree; for Bermuda-VC by the other end, too. A piece is
what a mapper reads. In memory: 30 bytes a vertex, and one piece at a time.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from anon_core.measures.graph.triangles.jobs import EdgeCentric, Piece
from anon_core.measures.graph.triangles.oriented_kernels import rank_by_degree
from anon_core.measures.graph.triangles.vertex_centric import Lists, VertexCentric, bucket_bounds
from anon_core.spread import Job, Shuffle

_EDGE = 8  # bytes of the numbers of two ends
_SORTING = 4  # times the bytes of a piece, to sort it
LEAST_PIECES, MOST_PIECES = 16, 4096
EDGES_AT_ONCE = 2**20

_PART, _BELOW = "part", "below"  # files of pieces: by the end of lower degree, by the other

DiskMethod = Literal["ec", "vc"]
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
    method: DiskMethod = "ec",
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
        An empty one, for 16 bytes an edge, for "vc" 24. Keep it private.
    shuffle : Shuffle
        A piece is as large as a reducer's memory allows.
    take : callable
    method : {"ec", "vc"}
        Bermuda-EC sends less. Its reducers read all messages again for each part of their edges
        that fits into memory; those of Bermuda-VC keep messages until their last use.

    Raises
    ------
    LimitError
        A reducer needs more memory.
    ClusterError
        The workers of the shuffle cannot do the work.

    References
    ----------
    Xiao, Towards Graph Analytic and Privacy Protection, sections 3.2 and 3.3.
    """
    degree = np.zeros(vertices, dtype=np.int32)
    rows, loops = _write_edges(batches, folder / "edges", degree)
    rank = rank_by_degree(degree) if vertices else degree
    by_rank = np.empty_like(rank)
    by_rank[rank] = np.arange(vertices, dtype=np.int32)
    bounds = _bound_pieces(degree[by_rank], rows, shuffle.memory)
    del degree
    _divide_edges(folder, rank, bounds)
    pieces, edges, longest = _Pieces(folder, bounds, both=method == "vc"), 0, 0
    for place in range(len(bounds) - 1):
        start, _ = pieces.sort_edges(place)
        edges, longest = edges + int(start[-1]), max(longest, int(np.diff(start).max(initial=0)))
    found = 0

    def take_ranked(block: NDArray[np.int32]) -> None:
        nonlocal found
        triangles = np.sort(by_rank[block.reshape(-1, 3)], axis=1)
        found += len(triangles)
        take(triangles)

    shuffle.run(_choose_job(pieces, vertices, longest, shuffle), pieces.hand_over(), take_ranked)
    return Listed(rows, loops, edges, found)


def _bound_pieces(degree: NDArray[np.int32], rows: int, memory: int) -> NDArray[np.int64]:
    """Return the first ranks of pieces, and the end; `degree` is that of each rank."""
    wanted = math.ceil(2 * _SORTING * _EDGE * rows / memory)
    # An edge lies at its end of greater rank: no piece gets more edges than these degrees sum to.
    upto = np.cumsum(degree, dtype=np.int64)
    number = min(MOST_PIECES, max(LEAST_PIECES, wanted))
    bounds = np.unique(np.searchsorted(upto, np.arange(1, number) * (2 * rows // number)))
    return np.array([0, *bounds[(bounds > 0) & (bounds < len(degree))], len(degree)])


def _choose_job(pieces: "_Pieces", vertices: int, longest: int, shuffle: Shuffle) -> Job:
    if not pieces.both:
        return EdgeCentric(longest, disk=True)
    size = shuffle.reducers, shuffle.memory // 2
    buckets = bucket_bounds(pieces.read_lists, vertices, *size, "bucket-usage")
    return VertexCentric(longest, "bucket-usage", buckets)


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
            _append_edges(
                folder, _PART, np.sort(rank[ends.reshape(-1, 2)], axis=1)[:, ::-1], bounds
            )
    (folder / "edges").unlink()


def _append_edges(
    folder: Path, name: str, ends: NDArray[np.int32], bounds: NDArray[np.int64]
) -> None:
    """Append edges (_, 2) to the files of the pieces of their first end."""
    ends = ends[np.argsort(ends[:, 0], kind="stable")]
    cuts = np.searchsorted(ends[:, 0], bounds)
    for place in np.flatnonzero(np.diff(cuts)).tolist():
        # Opened anew for each batch: MOST_PIECES files at once are more than systems usually let
        # a process open.
        with (folder / f"{name}-{place}").open("ab") as part:
            part.write(ends[cuts[place] : cuts[place + 1]].tobytes())


@dataclass(frozen=True)
class _Pieces:
    """Files of edges: those of a piece by their end of lower degree; by the other end if `both`."""

    folder: Path
    bounds: NDArray[np.int64]
    both: bool

    def sort_edges(self, place: int) -> Lists:
        """Sort a piece, each edge once, and return its lists."""
        start, low = self._sort(_PART, place)
        if self.both:
            first, last = self.bounds[place : place + 2].tolist()
            high = np.repeat(np.arange(first, last, dtype=np.int32), np.diff(start))
            _append_edges(self.folder, _BELOW, np.stack([low, high], axis=1), self.bounds)
        return start, low

    def _sort(self, name: str, place: int) -> Lists:
        path = self.folder / f"{name}-{place}"
        ends = np.fromfile(path, dtype=np.int32) if path.exists() else np.empty(0, dtype=np.int32)
        first, second = ends.reshape(-1, 2).T.astype(np.int64)
        # One number an edge, so that one sort orders by both ends and drops repeated edges.
        key = np.unique((first << 32) | second)
        np.stack([key >> 32, key & 0xFFFFFFFF], axis=1).astype(np.int32).tofile(path)
        return self._read(name, place)

    def _read(self, name: str, place: int) -> Lists:
        first, second = np.fromfile(self.folder / f"{name}-{place}", np.int32).reshape(-1, 2).T
        vertices = np.arange(self.bounds[place], self.bounds[place + 1] + 1)
        return np.searchsorted(first, vertices).astype(np.int64), second.copy()

    def read_lists(self) -> Iterator[Lists]:
        """Yield the effective neighbours of each piece."""
        for place in range(len(self.bounds) - 1):
            yield self._read(_PART, place)

    def hand_over(self) -> Iterator[Piece]:
        """Yield the pieces; the file of each is removed."""
        for place in range(len(self.bounds) - 1):
            start, higher = self._read(_PART, place)
            lower = np.zeros_like(start), np.empty(0, dtype=np.int32)
            if self.both:
                lower = self._sort(_BELOW, place)
                (self.folder / f"{_BELOW}-{place}").unlink()
            (self.folder / f"{_PART}-{place}").unlink()
            yield Piece(int(self.bounds[place]), start, higher, *lower)
