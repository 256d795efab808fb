"""The b-edge cover of a graph that is distributed over ranks.

Each rank keeps the edges at its own vertices. No rank holds all edges.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from anon_core.covers.edges import Edges
from anon_core.covers.suitor_kernels import (
    Suitors,
    answer_messages,
    collect_cover_edges,
    count_lacking,
    enter_messages,
    last_keys,
    sort_tails,
    tell_lacking,
    tell_listed,
)
from anon_core.search.nearest import Neighbours
from anon_core.spread import Messages, Ranks

# About how many messages are in transit at a time. One rank may receive all of them.
MESSAGES_AT_ONCE = 2**20


@dataclass(frozen=True)
class Adjacency:
    """The edges at this rank's own vertices, grouped by vertex, lightest first.

    Attributes
    ----------
    start : int64 (own vertices + 1,)
    key : int64 (slots,)
        (E << 32) + the vertex at the other end.
    """

    start: NDArray[np.int64]
    key: NDArray[np.int64]


def build_adjacency(
    ranks: Ranks, lists: Neighbours, size: NDArray[np.int64] | None = None
) -> Adjacency:
    """Build the union of all ranks' lists, restricted to edges at this rank's own vertices.

    The slots of a vertex hold its own list first. Vertices that list it, but that its own list
    lacks, follow.

    `size` int64 (n,): the number of entries of each list to use; None means all of them.
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
    for first, stop, messages in _cut_vertex_ranges(ranks, size):
        enter_messages(
            ranks.deliver(messages[: tell_listed(first, stop, *given, messages)]),
            ranks.low,
            fill,
            key,
        )
    # Own lists ascend already. What other vertices add from here on is sorted at the end.
    middle = fill.copy()
    for first, stop, messages in _cut_vertex_ranges(ranks, size):
        enter_messages(
            ranks.deliver(messages[: tell_lacking(first, stop, *given, last, messages)]),
            ranks.low,
            fill,
            key,
        )
    sort_tails(middle, start, key)
    return Adjacency(start, key)


def _cut_vertex_ranges(
    ranks: Ranks, size: NDArray[np.int64]
) -> Iterator[tuple[int, int, Messages]]:
    """Yield ranges of vertices, each with an array that has room for a message per list entry.

    Every rank makes the same number of ranges, each with a share of a batch of messages. The
    ranks begin at different ranges. A range belongs to few ranks, so a common order would send
    the messages of all ranks to those few at once.
    """
    ends = np.cumsum(size)
    chunks = 1 + ranks.greatest(int(ends[-1])) * ranks.size // MESSAGES_AT_ONCE
    borders = np.searchsorted(ends, np.linspace(0, ends[-1], chunks + 1)[1:-1], side="right")
    ranges = list(pairwise([0, *borders.tolist(), ranks.vertices]))
    begin = ranks.rank * chunks // ranks.size
    for first, stop in ranges[begin:] + ranges[:begin]:
        yield first, stop, np.empty((int(size[first:stop].sum()), 3), dtype=np.int32)


def spread_cover(ranks: Ranks, edges: Adjacency, b: NDArray[np.int32]) -> Edges:
    """Run algorithm MCE by the b-Suitor and return the cover's edges at this rank's vertices.

    The edges have no order. MCE deletes the greedy b'-matching of the heaviest edges, with
    b'(v) = degree - b(v). Each vertex proposes to delete its heaviest edges first. The other end
    keeps the b' heaviest proposals and refuses or annuls lighter ones. A vertex whose proposal
    fell proposes its next edge.

    The strict total order (E, min, max) makes the result unique, whatever the order of messages.
    It equals the result of `b_edge_cover`. Source: Khan et al., Designing scalable b-matching
    algorithms; this version works in rounds, with E ascending.

    Parameters
    ----------
    ranks : Ranks
    edges : Adjacency
    b : int32 (n,)
    """
    # An edge may go while both ends keep b(v): at most degree - b(v) edges of a vertex are deleted.
    room = (np.diff(edges.start) - b[ranks.low : ranks.high]).astype(np.int64)
    suitors = Suitors(
        start=edges.start,
        key=edges.key,
        room=room,
        held=np.zeros_like(room),
        lightest=edges.start[:-1].copy(),
        following=edges.start[1:] - 1,
        wanting=room.copy(),
        suitor=np.zeros(len(edges.key), dtype=np.bool_),
    )
    inbox, share = np.empty((0, 3), dtype=np.int32), 1 + MESSAGES_AT_ONCE // ranks.size
    while True:
        outbox = np.empty((len(inbox) + share, 3), dtype=np.int32)
        sent, more = answer_messages(inbox, ranks.low, suitors, outbox)
        # The sum is the same on all ranks, so all stop in the same round.
        if not ranks.total(np.array([sent + more])).any():
            break
        inbox = ranks.deliver(outbox[:sent])
    u, v, weight = (np.empty(len(edges.key), dtype=np.int32) for _ in range(3))
    count = collect_cover_edges(ranks.low, suitors, u, v, weight)
    return Edges(u[:count].copy(), v[:count].copy(), weight[:count].copy())
