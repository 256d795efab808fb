"""The b-edge covers by name, behind one signature."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.k_member import disjoint_cliques
from anon_core.covers.b_edge_cover import b_edge_cover, in_order, nearest_closure
from anon_core.covers.lse import WIDER, subdominant_edges
from anon_core.errors import LimitError
from anon_core.search.dissimilarity import Dissimilarity
from anon_core.search.nearest import Neighbours, search_memory
from anon_core.tables.records import Edges

MOST_VERTICES = 4096  # of covers that hold matrices of all pairs

Finder = Callable[[Dissimilarity, NDArray[np.uint16], NDArray[np.int32], Neighbours], Edges]


@dataclass(frozen=True, kw_only=True)
class Cover:
    """A way to give every vertex v at least b(v) edges.

    Attributes
    ----------
    find : callable
        find(graph, counts, b, near) gives the edges in ascending order of (weight, u, v); `near` holds the b(v) nearest
        vertices of every vertex v under these counts.
    memory : callable
        memory(b) gives the bytes that `find` and its result hold at most, neighbour lists included.
    most_vertices : int, optional
    settled : bool
        Whether the edges are the same whatever the counts: a second iteration changes nothing, and nothing is reclaimed.
    spread : bool
        Whether ranks that each see a part of the lists can find it, too.
    """

    find: Finder
    memory: Callable[[NDArray[np.int32]], int]
    most_vertices: int | None = None
    settled: bool = False
    spread: bool = False

    def check(self, vertices: int) -> None:
        """Raise LimitError where there are too many vertices for this cover."""
        if self.most_vertices is not None and vertices > self.most_vertices:
            raise LimitError(
                f"this cover takes at most {self.most_vertices} records, there are {vertices}; choose another one"
            )


def _mce(
    _graph: Dissimilarity, _counts: NDArray[np.uint16], b: NDArray[np.int32], near: Neighbours
) -> Edges:
    """Algorithm MCE. S-LSE, too, chooses by static weights (lightest edge first, while an end is in need).

    On the complete graph that choice is the b-nearest closure; without its redundant edges, heaviest first, it is this cover
    (Khan, Pothen and Ferdous, Parallel algorithms through approximation: both are the same).
    """
    return b_edge_cover(nearest_closure(near), b)


def _nearest(
    _graph: Dissimilarity, _counts: NDArray[np.uint16], _b: NDArray[np.int32], near: Neighbours
) -> Edges:
    """The b-nearest closure itself, redundant edges and all: at most twice the optimum, too."""
    return in_order(nearest_closure(near))


def _exact(
    graph: Dissimilarity, counts: NDArray[np.uint16], b: NDArray[np.int32], near: Neighbours
) -> Edges:
    from anon_core.covers.optimal_cover import exact_cover  # scipy takes long to import

    return exact_cover(graph, counts, b, near)


def _b_matching(
    graph: Dissimilarity, counts: NDArray[np.uint16], b: NDArray[np.int32], near: Neighbours
) -> Edges:
    from anon_core.covers.optimal_cover import perfect_b_matching

    return perfect_b_matching(graph, counts, b, near)


def _lists(b: NDArray[np.int32]) -> int:
    return int(b.sum(dtype=np.int64))


def _memory_of_closure(b: NDArray[np.int32]) -> int:
    # lists and their predecessors 8 bytes an entry each, closure 12, what sorts it 8 and a part of it 8, two covers 12 each
    return 68 * _lists(b) + search_memory(len(b), int(b.max(initial=0)))


def _memory_of_lists(b: NDArray[np.int32]) -> int:
    # as above; partners 4, chosen edges twice 12; lists of vertices in need, four times as long, four times over
    wider = search_memory(len(b), WIDER * int(b.max(initial=0)))
    return (68 + 28 + 4 * 48) * _lists(b) + 100 * len(b) + wider


def _memory_of_matrices(b: NDArray[np.int32]) -> int:
    # costs as int32 and float64, reduced costs, sums, priced copy, flags, places of the smallest, upper triangle with places,
    # and what the solver takes
    return 80 * len(b) ** 2 + 2**28 + _memory_of_closure(b)


def _memory_of_cliques(b: NDArray[np.int32]) -> int:
    # a group has fewer than twice k members: pairs 8 + 8 places, 4 cost, twice 12 sorted, 16 order, beside two covers
    n, k = len(b), int(b.max(initial=0)) + 1
    return _memory_of_closure(b) + 90 * (n * (k - 1) // 2 + k * k) + 80 * n


COVERS = {
    "mce": Cover(find=_mce, memory=_memory_of_closure, spread=True),
    "s-lse": Cover(find=_mce, memory=_memory_of_closure, spread=True),
    "nearest": Cover(find=_nearest, memory=_memory_of_closure, spread=True),
    "lse": Cover(find=subdominant_edges, memory=_memory_of_lists),
    "exact": Cover(find=_exact, memory=_memory_of_matrices, most_vertices=MOST_VERTICES),
    "b-matching": Cover(find=_b_matching, memory=_memory_of_matrices, most_vertices=MOST_VERTICES),
    "classes": Cover(find=disjoint_cliques, memory=_memory_of_cliques, settled=True),
}


def refuse_unspread(name: str) -> None:
    """Raise LimitError for a cover that ranks cannot find together."""
    if not COVERS[name].spread:
        choice = ", ".join(other for other, cover in COVERS.items() if cover.spread)
        raise LimitError(
            f"cover {name!r} runs on one machine; choose one of {choice}, or engine = 'local'"
        )
