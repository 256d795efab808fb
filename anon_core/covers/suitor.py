"""The b-edge cover of edges that lie on many ranks: each keeps those at its own vertices, and nobody sees all."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from anon_core.covers.suitor_kernels import (
    Suitors,
    answer,
    count_lacking,
    enter,
    kept_edges,
    last_keys,
    sort_tails,
    tell_lacking,
    tell_listed,
)
from anon_core.search.nearest import Neighbours
from anon_core.spread import Messages, Ranks
from anon_core.tables.records import Edges

AT_ONCE = 2**20  # messages, about, that are under way; a single rank may receive all of them


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


def adjacency(ranks: Ranks, lists: Neighbours, size: NDArray[np.int64] | None = None) -> Adjacency:
    """The union of all ranks' lists as seen from the own vertices: their own lists, then those who list them and are lacking.

    `size` int64 (n,): how many entries of each list there are, all of them if None.
    """
    size = np.diff(lists.indptr) if size is None else size
    given = (lists.indptr, size, lists.vertex, lists.cost)
    last, lacking = (
        np.full(ranks.vertices, -1, dtype=np.int64),
        np.zeros(ranks.vertices, dtype=np.int64),
    )
    last_keys(*given, last)
    ranks.greatest_of_each(last)
    count_lacking(*given, last, lacking)
    start = np.concatenate([[0], np.cumsum(ranks.total_of_own(size + lacking))])
    fill, key = start[:-1].copy(), np.empty(start[-1], dtype=np.int64)
    for first, stop, messages in _chunks(ranks, size):
        enter(
            ranks.deliver(messages[: tell_listed(first, stop, *given, messages)]),
            ranks.low,
            fill,
            key,
        )
    middle = fill.copy()
    for first, stop, messages in _chunks(ranks, size):
        enter(
            ranks.deliver(messages[: tell_lacking(first, stop, *given, last, messages)]),
            ranks.low,
            fill,
            key,
        )
    sort_tails(middle, start, key)
    return Adjacency(start, key)


def _chunks(ranks: Ranks, size: NDArray[np.int64]) -> Iterator[tuple[int, int, Messages]]:
    """Ranges of vertices whose lists make a share of a batch, as many on every rank, and room for a message about each entry.

    Ranks begin at different ranges: a range belongs to few ranks, and those would have to hear all others at once.
    """
    ends = np.cumsum(size)
    chunks = 1 + ranks.greatest(int(ends[-1])) * ranks.size // AT_ONCE
    borders = np.searchsorted(ends, np.linspace(0, ends[-1], chunks + 1)[1:-1], side="right")
    ranges = list(pairwise([0, *borders.tolist(), ranks.vertices]))
    begin = ranks.rank * chunks // ranks.size
    for first, stop in ranges[begin:] + ranges[:begin]:
        yield first, stop, np.empty((int(size[first:stop].sum()), 3), dtype=np.int32)


def spread_cover(ranks: Ranks, edges: Adjacency, b: NDArray[np.int32]) -> Edges:
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
    """
    room = (np.diff(edges.start) - b[ranks.low : ranks.high]).astype(np.int64)
    suitors = Suitors(
        edges.start, edges.key, room, np.zeros_like(room), edges.start[:-1].copy(), edges.start[1:] - 1,
        room.copy(), np.zeros(len(edges.key), dtype=np.bool_),
    )  # fmt: skip
    inbox, share = np.empty((0, 3), dtype=np.int32), 1 + AT_ONCE // ranks.size
    while True:
        outbox = np.empty((len(inbox) + share, 3), dtype=np.int32)
        sent, more = answer(inbox, ranks.low, suitors, outbox)
        if not ranks.total(np.array([sent + more])).any():
            break
        inbox = ranks.deliver(outbox[:sent])
    u, v, weight = (np.empty(len(edges.key), dtype=np.int32) for _ in range(3))
    count = kept_edges(ranks.low, suitors, u, v, weight)
    return Edges(u[:count].copy(), v[:count].copy(), weight[:count].copy())
