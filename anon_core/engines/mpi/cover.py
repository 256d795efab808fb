"""The b-edge cover of edges that lie on many ranks: each keeps those at its own vertices, and nobody sees all."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from anon_core.engines.mpi.ranks import Messages, Ranks
from anon_core.graphs.agreement import Partners
from anon_core.graphs.nearest_closure import Neighbours
from anon_core.kernels.suitor import OTHER, Suitors, answer, both_ends, close_up, count_ends, enter, kept_edges, sort_keys
from anon_core.records import Edges

BATCH = 2**20  # messages, more or less, that a rank sends before it hears others


@dataclass(frozen=True)
class Adjacency:
    """The edges at the own vertices, by vertex, each vertex's lightest first.

    Attributes
    ----------
    start : int64 (own vertices + 1,)
    key : int64 (slots,)
        (E << 32) + other end.
    """

    start: NDArray[np.int64]
    key: NDArray[np.int64]

    def partners(self, ranks: Ranks) -> Partners:
        """The same among the lists of all vertices, those of others empty."""
        start, size = np.zeros(ranks.vertices + 1, dtype=np.int64), np.zeros(ranks.vertices, dtype=np.int64)
        start[ranks.low : ranks.high + 1] = self.start
        start[ranks.high + 1 :] = self.start[-1]
        size[ranks.low : ranks.high] = np.diff(self.start)
        return Partners(start, (self.key & OTHER).astype(np.int32), size)


def adjacency(ranks: Ranks, lists: Neighbours, size: NDArray[np.int64] | None = None) -> Adjacency:
    """Tell both ends of every listed pair; the union of all ranks' lists as seen from the own vertices.

    `size` int64 (n,): how many entries of each list there are, all of them if None.
    """
    size = np.diff(lists.indptr) if size is None else size
    count = np.zeros(ranks.vertices, dtype=np.int64)
    count_ends(lists.indptr, size, lists.vertex, count)
    slots = ranks.total_of_own(count)
    ends = np.cumsum(size)
    chunks = 1 + ranks.greatest(2 * int(size.sum()) // BATCH)
    borders = np.searchsorted(ends, np.linspace(0, ends[-1], chunks + 1)[1:-1], side="right")

    def messages() -> Iterator[Messages]:
        for first, last in pairwise([0, *borders.tolist(), ranks.vertices]):
            chunk = np.empty((2 * int(size[first:last].sum()), 3), dtype=np.int32)
            both_ends(first, last, lists.indptr, size, lists.vertex, lists.cost, chunk)
            yield ranks.deliver(chunk)

    return _entered(ranks, slots, messages())


def edges_at_own(ranks: Ranks, edges: Edges) -> Adjacency:
    """Edges with an end among the own vertices, as seen from there."""
    ends = [np.stack(columns, axis=1) for columns in ((edges.u, edges.v, edges.weight), (edges.v, edges.u, edges.weight))]
    own = np.concatenate([each[(ranks.low <= each[:, 0]) & (each[:, 0] < ranks.high)] for each in ends])
    return _entered(ranks, np.bincount(own[:, 0] - ranks.low, minlength=ranks.high - ranks.low), [own])


def _entered(ranks: Ranks, slots: NDArray[np.int64], messages: Iterable[Messages]) -> Adjacency:
    """What messages say about the own vertices, so many about each, every edge once."""
    start = np.concatenate([[0], np.cumsum(slots)])
    fill, key = start[:-1].copy(), np.empty(start[-1], dtype=np.int64)
    for chunk in messages:
        enter(chunk, ranks.low, fill, key)
    sort_keys(start, key, fill)
    return Adjacency(start, key[: close_up(start, key, fill)])


def spread_cover(ranks: Ranks, edges: Adjacency, b: NDArray[np.int32], *, redundant: bool = False) -> Edges:
    """Algorithm MCE by the b-Suitor: the edges at the own vertices that are left, in no order.

    What is deleted is the greedy b'-matching of the heaviest edges, b'(v) = degree - b(v): every vertex proposes to delete its
    heaviest edges first, the other end takes the heaviest b' offers and refuses lighter ones, even late; who is refused
    proposes to delete its next. Under the strict total order (E, min, max) the outcome is one, whatever comes first (Khan et
    al., Designing scalable b-matching algorithms; here in rounds, for E ascending), and it is that of `b_edge_cover`.

    Parameters
    ----------
    ranks : Ranks
    edges : Adjacency
    b : int32 (n,)
    redundant : bool
        Whether nothing is deleted.
    """
    room = (np.diff(edges.start) - b[ranks.low : ranks.high]).astype(np.int64)
    if redundant:
        room[:] = 0
    suitors = Suitors(
        edges.start, edges.key, room, np.zeros_like(room), edges.start[:-1].copy(), edges.start[1:] - 1,
        room.copy(), np.zeros(len(edges.key), dtype=np.bool_),
    )  # fmt: skip
    inbox = np.empty((0, 3), dtype=np.int32)
    while True:
        outbox = np.empty((len(inbox) + BATCH, 3), dtype=np.int32)
        sent, more = answer(inbox, ranks.low, suitors, outbox)
        if not ranks.total(np.array([sent + more])).any():
            break
        inbox = ranks.deliver(outbox[:sent])
    u, v, weight = (np.empty(len(edges.key), dtype=np.int32) for _ in range(3))
    count = kept_edges(ranks.low, suitors, u, v, weight)
    return Edges(u[:count].copy(), v[:count].copy(), weight[:count].copy())
