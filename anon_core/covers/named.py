"""The b-edge covers by name, behind one signature; `covers.names` has the names alone."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anon_core.covers.b_edge_cover import b_edge_cover, nearest_closure
from anon_core.covers.edges import Edges
from anon_core.covers.lse import WIDER, subdominant_edges
from anon_core.errors import LimitError
from anon_core.search.dissimilarity import Dissimilarity
from anon_core.search.nearest import Neighbours, search_memory

_Finder = Callable[[Dissimilarity, NDArray[np.uint16], NDArray[np.int32], Neighbours], Edges]


@dataclass(frozen=True, kw_only=True)
class Cover:
    """A way to give every vertex v at least b(v) edges.

    Attributes
    ----------
    find : callable
        find(graph, counts, b, near) gives the edges in ascending order of (weight, u, v); `near`
        holds the b(v) nearest vertices of every vertex v under these counts.
    memory : callable
        memory(b) gives the bytes that `find` and its result hold at most, neighbour lists included.
    most_vertices : int, optional
    """

    find: _Finder
    memory: Callable[[NDArray[np.int32]], int]
    most_vertices: int | None = None

    def check(self, vertices: int) -> None:
        """Raise LimitError where there are too many vertices for this cover."""
        if self.most_vertices is not None and vertices > self.most_vertices:
            raise LimitError(
                f"this cover takes at most {self.most_vertices} records, there are {vertices}; "
                "choose another one"
            )


def _find_mce_cover(
    _graph: Dissimilarity, _counts: NDArray[np.uint16], b: NDArray[np.int32], near: Neighbours
) -> Edges:
    """Algorithm MCE: the b-nearest closure without its redundant edges, heaviest first."""
    return b_edge_cover(nearest_closure(near), b)


def closure_memory(b: NDArray[np.int32]) -> int:
    """Return the bytes of lists, their closure and a cover of it."""
    # An entry takes: lists and their predecessors 8 bytes each, closure 12, what sorts it 8 and a
    # part of it 8, two covers 12 each.
    return 68 * int(b.sum(dtype=np.int64)) + search_memory(len(b), int(b.max(initial=0)))


def _lists_memory(b: NDArray[np.int32]) -> int:
    # As above. Partners take 4, chosen edges 12 twice; lists of vertices in need are four times as
    # long and are held four times.
    wider = search_memory(len(b), WIDER * int(b.max(initial=0)))
    return (68 + 28 + 4 * 48) * int(b.sum(dtype=np.int64)) + 100 * len(b) + wider


COVERS = {
    "mce": Cover(find=_find_mce_cover, memory=closure_memory),
    "lse": Cover(find=subdominant_edges, memory=_lists_memory),
}
