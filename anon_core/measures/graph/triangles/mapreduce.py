"""All triangles of a graph by a shuffle: MR-Baseline, Bermuda-EC, Bermuda-VC.

Which engine runs the shuffle, the caller says: measures know none.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from anon_core.measures.graph.triangles.jobs import Baseline, EdgeCentric, Piece
from anon_core.measures.graph.triangles.mapping_kernels import list_lower_neighbours, sort_lists
from anon_core.measures.graph.triangles.ordering import sort_triangle_rows
from anon_core.measures.graph.triangles.oriented import Oriented
from anon_core.measures.graph.triangles.vertex_centric import Tracking, VertexCentric, bucket_bounds
from anon_core.spread import Job, Shuffle, Traffic

MapReduceMethod = Literal["baseline", "ec", "ec-disk", "vc-usage", "vc-bucket", "vc-bucket-usage"]
MAPPERS = 16
_TRACKING: dict[str, Tracking] = {
    "vc-usage": "usage",
    "vc-bucket": "bucket",
    "vc-bucket-usage": "bucket-usage",
}


def list_triangles_by_shuffle(
    graph: Oriented, shuffle: Shuffle, method: MapReduceMethod, mappers: int = MAPPERS
) -> tuple[NDArray[np.int32], Traffic]:
    """Return all triangles, as `counting.list_triangles` does, and what the shuffle moved.

    Parameters
    ----------
    graph : Oriented
    shuffle : Shuffle
    method : {"baseline", "ec", "ec-disk", "vc-usage", "vc-bucket", "vc-bucket-usage"}
    mappers : int
        Pieces of the graph, with about as many edges each.

    Raises
    ------
    LimitError
        Messages that a reducer must hold do not fit into its memory.
    ClusterError
        The workers of the shuffle cannot do the work.
    """
    higher = graph.higher.copy()
    sort_lists(graph.start, higher)
    both = method.startswith("vc")
    job = job_called(method, graph.start, higher, shuffle)
    blocks: list[NDArray[np.int32]] = []
    traffic = shuffle.run(
        job, cut_graph_pieces(graph.start, higher, mappers, both=both), blocks.append
    )
    by_rank = np.empty_like(graph.rank)
    by_rank[graph.rank] = np.arange(graph.vertices, dtype=np.int32)
    chunks = [np.sort(by_rank[blocks.pop(0).reshape(-1, 3)], axis=1) for _ in range(len(blocks))]
    return sort_triangle_rows(chunks, graph.vertices), traffic


def job_called(
    method: MapReduceMethod, start: NDArray[np.int64], higher: NDArray[np.int32], shuffle: Shuffle
) -> Job:
    """Return the job of a method on a graph of sorted lists."""
    longest = int(np.diff(start).max(initial=0))
    if method == "baseline":
        return Baseline(longest)
    if method in ("ec", "ec-disk"):
        return EdgeCentric(longest, method == "ec-disk")
    tracking = _TRACKING[method]
    memory = shuffle.memory // 2
    lists, vertices = [(start, higher)], len(start) - 1
    bounds = bucket_bounds(lambda: lists, vertices, shuffle.reducers, memory, tracking)
    return VertexCentric(longest, tracking, bounds)


def cut_graph_pieces(
    start: NDArray[np.int64], higher: NDArray[np.int32], mappers: int, *, both: bool
) -> Iterator[Piece]:
    """Yield the vertices in ranges with about as many edges each.

    both: with the lists of lower neighbours, too.
    """
    n = len(start) - 1
    lower_start = np.zeros(n + 1, dtype=np.int64)
    lower = np.empty(len(higher) if both else 0, dtype=np.int32)
    if both:
        list_lower_neighbours(start, higher, lower_start, lower)
    inner = np.searchsorted(start, np.arange(1, mappers) * len(higher) // mappers)
    bounds = [0, *np.unique(inner[(inner > 0) & (inner < n)]).tolist(), n]
    for first, end in pairwise(bounds):
        yield Piece(
            first,
            start[first : end + 1] - start[first],
            higher[start[first] : start[end]],
            lower_start[first : end + 1] - lower_start[first],
            lower[lower_start[first] : lower_start[end]],
        )
