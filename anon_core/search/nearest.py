"""Exact search: the b(v) nearest vertices of every vertex v."""

from collections.abc import Callable
from dataclasses import dataclass

import numba
import numpy as np
from numpy.typing import NDArray

from anon_core.jit.lanes import LANES, zero_lanes
from anon_core.search.costs_kernels import Costs
from anon_core.search.dissimilarity import Dissimilarity
from anon_core.search.nearest_kernels import (
    SPARE_KEYS,
    gather_classes,
    least_of_nodes,
    least_of_rows,
    number_nodes,
    search_nearest,
)
from anon_core.search.tiles_kernels import LevelClasses, Tree

SLICE = 512  # blocks that are searched between two reports
BLOCKS_IN_GROUP = 16  # blocks that share what they read of a large table
# Blocks from which on the costs outgrow a cache, and there are groups enough for all threads.
WORTH_GROUPING = 1024


@dataclass(frozen=True)
class Neighbours:
    """The b(v) nearest vertices of each vertex v, ascending by (E, vertex).

    Attributes
    ----------
    indptr : int64 (n + 1,)
    vertex, cost : int32 (sum b,)
    """

    indptr: NDArray[np.int64]
    vertex: NDArray[np.int32]
    cost: NDArray[np.int32]


def level_tree(graph: Dissimilarity) -> Tree:
    """Build the tree of shared leading levels of sorted vertices; O(n attributes) time, memory."""
    rows = graph.rows()
    starts = np.flatnonzero(np.concatenate([[True], (rows[1:] != rows[:-1]).any(axis=1)]))
    distinct = rows[starts]
    change, skip = np.empty(len(distinct), dtype=np.int32), np.empty(distinct.shape, dtype=np.int32)
    number_nodes(distinct, change, skip)
    return Tree(distinct, np.append(starts, graph.vertices), change, skip)


def nearest_neighbours(
    graph: Dissimilarity,
    tree: Tree,
    counts: NDArray[np.uint16],
    b: NDArray[np.int32],
    before: Neighbours | None = None,
    report: Callable[[int], None] = lambda _: None,
) -> Neighbours:
    """Find the b(v) nearest vertices of every vertex exactly.

    Parameters
    ----------
    graph : Dissimilarity
    tree : Tree
        Of this graph, see `level_tree`.
    counts : uint16 (f, n)
        The state of the weights, by place.
    b : int32 (n,)
        0 <= b(v) <= n - 1.
    before : Neighbours, optional
        The answer under other weights. Its lists bound the new distances from above, which saves
        time and changes no result.
    report : callable, optional
        Called now and then with the number of vertices that have their lists.

    Returns
    -------
    Neighbours
        In the strict total order (E_uv, min(u, v), max(u, v)), which for one vertex is
        (E, other vertex).

    Notes
    -----
    Vertices of equal levels that differ from none of their neighbours have equal weights: they are
    one class, searched once and compared once. The search is branch and bound. Blocks of 64 similar
    classes walk the tree of levels. A block leaves a subtree if the cost of the subtree's levels,
    plus the least cost of the block's levels to any class in it, passes the b-th best known to
    each. If much of a small subtree remains, all pairs of two blocks are summed at once. On real
    tables few nodes are visited (docs/decisions/007); the worst case is O(n^2). Memory is
    O(n levels + sum b). The result does not depend on the threads.
    """
    return NearestSearch.of(graph, tree, counts).neighbours(b, before, report)


@dataclass(frozen=True, eq=False)
class NearestSearch:
    """What all searches share while the weights stay as they are.

    Attributes
    ----------
    tree : Tree
    classes : LevelClasses
        Vertices that lie side by side in the tree and no cost tells apart.
    costs : Costs
        Of the classes.
    least : uint16 (distinct rows, attributes)
        See `least_of_nodes`.
    """

    tree: Tree
    classes: LevelClasses
    costs: Costs
    least: NDArray[np.uint16]

    @classmethod
    def of(cls, graph: Dissimilarity, tree: Tree, counts: NDArray[np.uint16]) -> "NearestSearch":
        """Prepare the search for the weights of the counts uint16 (f, n)."""
        classes, kept = _build_classes(
            graph, tree, np.logical_or(graph.blank.any(axis=0), counts.any(axis=0))
        )
        costs = graph.costs(counts, kept)
        least = np.empty(tree.distinct.shape, dtype=np.uint16)
        starts, stops = (
            graph.level_offsets[:-1][graph.sorted_by],
            graph.level_offsets[1:][graph.sorted_by],
        )
        least_of_rows(costs.coarse, tree, classes, starts, stops, least)
        least_of_nodes(tree.change, least)
        return cls(tree, classes, costs, least)

    def neighbours(
        self,
        b: NDArray[np.int32],
        before: Neighbours | None = None,
        report: Callable[[int], None] = lambda _: None,
    ) -> Neighbours:
        """Search as `nearest_neighbours` does."""
        indptr = np.concatenate([[0], np.cumsum(b, dtype=np.int64)])
        vertex, cost = np.empty(indptr[-1], dtype=np.int32), np.empty(indptr[-1], dtype=np.int32)
        listed = np.empty(0, dtype=np.int32) if before is None else before.vertex
        classes, blocks = self.classes, len(self.costs.coarse)
        group = _count_group_blocks(len(classes.rows))
        for begin in range(0, blocks, SLICE):
            end = min(blocks, begin + SLICE)
            space = self.tree, classes, self.costs, self.least
            search_nearest(*space, b, indptr, listed, begin, end, group, vertex, cost)
            report(int(classes.begin[min(len(classes.rows), end * LANES)]))
        return Neighbours(indptr, vertex, cost)


def _build_classes(
    graph: Dissimilarity, tree: Tree, alone: NDArray[np.bool_]
) -> tuple[LevelClasses, NDArray[np.int64]]:
    """Put the vertices of each row into one class, but those that are `alone`, bool (n,) by place.

    Returns also the place of one vertex of each class, int64 (classes,).
    """
    n, rows = graph.vertices, len(tree.distinct)
    kept, begin, first = (
        np.empty(n, dtype=np.int64),
        np.empty(n + 1, dtype=np.int64),
        np.empty(rows + 1, dtype=np.int64),
    )
    member, home = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    size = gather_classes(tree.first, graph.layout, alone, kept, first, begin, member, home)
    kept = kept[:size]
    levels = graph.rows(kept)
    padded = np.zeros((-(-size // LANES) * LANES, levels.shape[1]), dtype=np.uint16)
    padded[:size] = levels  # modulo 2^16
    own = zero_lanes(len(padded) // LANES, levels.shape[1], LANES)
    own[:] = padded.reshape(-1, LANES, levels.shape[1]).transpose(0, 2, 1)
    return LevelClasses(levels, own, first, begin[: size + 1], member, home), kept


def deal_search_shares(graph: Dissimilarity, tree: Tree, parts: int) -> NDArray[np.int64]:
    """Deal runs of distinct rows out to `parts` shares of the search; int64 (n,), by vertex."""
    row = np.repeat(np.arange(len(tree.distinct)), np.diff(tree.first))
    return np.take(row, graph.place) // (LANES * _count_group_blocks(len(tree.distinct))) % parts


def search_memory(vertices: int, most: int, threads: int | None = None) -> int:
    """Bytes of the lists at work if a vertex asks for `most` neighbours.

    Each thread holds a group of blocks. `threads`: those of this process if None.
    """
    group = _count_group_blocks(vertices)
    at_work = min(threads or numba.get_num_threads(), -(-vertices // (LANES * group)))
    return at_work * group * LANES * 8 * (2 * most + SPARE_KEYS)


def _count_group_blocks(classes: int) -> int:
    """Number of blocks that pass over the table together."""
    return BLOCKS_IN_GROUP if classes > (WORTH_GROUPING - 1) * LANES else 1
