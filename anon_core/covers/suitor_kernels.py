"""The b-Suitor on the vertices of one rank: adjacency, proposals, annulments, resulting cover.

A rank owns the vertices low .. low + m - 1. Messages are int32 (count, 3): a vertex of the
receiver, another vertex, and E of their edge. E = _ANNUL means that one proposal of the first
vertex was refused or annulled.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.jit.kernel import kernel, parallel_kernel

_ANNUL = -1
_OTHER = 0xFFFFFFFF  # mask of the lower half of a key: the other end


class Suitors(NamedTuple):
    """The edges of each vertex, lightest first, and the state of their deletion."""

    start: NDArray[np.int64]  # (m + 1,)
    key: NDArray[np.int64]  # (slots,): (E << 32) + other end
    room: NDArray[np.int64]  # (m,): number of edges that may be deleted at the vertex
    held: NDArray[np.int64]  # (m,): number of suitors of the vertex
    lightest: NDArray[np.int64]  # (m,): once room is full, no slot before this has a suitor
    following: NDArray[np.int64]  # (m,): slot of its next proposal; it moves down
    wanting: NDArray[np.int64]  # (m,): number of proposals still to make
    suitor: NDArray[np.bool_]  # (slots,)


@kernel
def last_keys(indptr, size, vertex, cost, last):
    """Set last[v] to the greatest key in v's list; leave it unchanged if the list is empty.

    Shapes: indptr (n + 1,), size (n,), vertex and cost (room,), last (n,).
    """
    for v in range(len(size)):
        if size[v] > 0:
            slot = indptr[v] + size[v] - 1
            last[v] = (np.int64(cost[slot]) << 32) | np.int64(vertex[slot])


@kernel
def is_missing_neighbour(last, u, v, cost):
    """Test whether v is missing in u's list. A list holds all keys up to its last one."""
    return last[u] < ((np.int64(cost) << 32) | np.int64(v))


@kernel
def count_lacking(indptr, size, vertex, cost, last, count):  # count (n,) zeroed
    """Count, for each vertex, the vertices that list it but are missing in its own list."""
    for v in range(len(size)):
        for slot in range(indptr[v], indptr[v] + size[v]):
            count[vertex[slot]] += np.int64(is_missing_neighbour(last, vertex[slot], v, cost[slot]))


@kernel
def tell_listed(first, stop, indptr, size, vertex, cost, messages):
    """Write a message to each vertex first .. stop - 1 per entry of its list; return the count."""
    m = 0
    for v in range(first, stop):
        for slot in range(indptr[v], indptr[v] + size[v]):
            messages[m, 0], messages[m, 1], messages[m, 2] = v, vertex[slot], cost[slot]
            m += 1
    return m


@kernel
def tell_lacking(first, stop, indptr, size, vertex, cost, last, messages):
    """Write messages for the one-sided entries in the lists of vertices first .. stop - 1.

    The receiver is a listed vertex whose own list lacks the vertex that lists it. Returns the
    number of messages.
    """
    m = 0
    for v in range(first, stop):
        for slot in range(indptr[v], indptr[v] + size[v]):
            u = vertex[slot]
            if is_missing_neighbour(last, u, v, cost[slot]):
                messages[m, 0], messages[m, 1], messages[m, 2] = u, v, cost[slot]
                m += 1
    return m


@kernel
def enter_messages(messages, low, fill, key):  # fill (m,): the next slot of each vertex
    """Store each message as a key in the next slot of its vertex."""
    for index in range(len(messages)):
        i = messages[index, 0] - low
        key[fill[i]] = (np.int64(messages[index, 2]) << 32) | np.int64(messages[index, 1])
        fill[i] += 1


@parallel_kernel(lambda middle: len(middle))
def sort_tails(begin, end, middle, start, key):  # middle (m,)
    """Sort key[middle[i] : start[i + 1]], the keys after a vertex's own list."""
    for i in range(begin, end):
        key[middle[i] : start[i + 1]].sort()


@kernel
def count_at(u, v, low, count):  # u, v (edges,), count (m,) zeroed
    """Count the edges of each vertex low .. low + m - 1."""
    for e in range(len(u)):
        if low <= u[e] < low + len(count):
            count[u[e] - low] += 1
        if low <= v[e] < low + len(count):
            count[v[e] - low] += 1


@kernel
def list_at(u, v, low, fill, other):  # fill (m,): the next slot of each vertex
    """Store the other end of each edge in the slots of the vertices low .. low + m - 1."""
    for e in range(len(u)):
        if low <= u[e] < low + len(fill):
            other[fill[u[e] - low]] = v[e]
            fill[u[e] - low] += 1
        if low <= v[e] < low + len(fill):
            other[fill[v[e] - low]] = u[e]
            fill[v[e] - low] += 1


@kernel
def receive_proposal(i, offer, start, key, room, held, lightest, suitor):
    """Process a proposal to vertex i; `offer` is the key of the edge as vertex i stores it.

    Returns the vertex whose proposal is refused or annulled, or -1 if there is none.
    """
    if room[i] <= 0:
        return np.int64(offer & _OTHER)
    slot = start[i] + np.searchsorted(key[start[i] : start[i + 1]], offer)
    if held[i] < room[i]:
        suitor[slot] = True
        held[i] += 1
        return np.int64(-1)
    # Later suitors are heavier than the one they replace, so the lightest only moves up.
    while not suitor[lightest[i]]:
        lightest[i] += 1
    if slot < lightest[i]:
        return np.int64(offer & _OTHER)
    suitor[lightest[i]], suitor[slot] = False, True
    return np.int64(key[lightest[i]] & _OTHER)


@kernel
def answer_messages(inbox, low, suitors, outbox):  # inbox, outbox: messages
    """Process the messages of other ranks, then make proposals.

    A vertex whose proposal falls proposes its next lighter edge. Proposals stop when no vertex
    here has one to make, or when they have written len(outbox) - len(inbox) messages. Returns
    the number of messages to send, and whether proposals are still pending.
    """
    start, key, room, held, lightest = (
        suitors.start,
        suitors.key,
        suitors.room,
        suitors.held,
        suitors.lightest,
    )
    following, wanting, suitor = suitors.following, suitors.wanting, suitors.suitor
    m, sent = len(room), 0
    pile, piled, height = np.empty(m, dtype=np.int64), np.zeros(m, dtype=np.bool_), 0
    for index in range(len(inbox)):
        i = inbox[index, 0] - low
        if inbox[index, 2] == _ANNUL:
            # The proposal fell: the vertex proposes its next lighter edge.
            wanting[i] += 1
            continue
        offer = (np.int64(inbox[index, 2]) << 32) | np.int64(inbox[index, 1])
        # Proposals are made from the heaviest edge down. The total order of keys makes the matching
        # that all orders of messages end in the same.
        refused = receive_proposal(i, offer, start, key, room, held, lightest, suitor)
        if low <= refused < low + m:
            wanting[refused - low] += 1
        elif refused >= 0:
            outbox[sent, 0], outbox[sent, 1], outbox[sent, 2] = refused, low + i, _ANNUL
            sent += 1
    for i in range(m):
        if wanting[i] > 0:
            pile[height], piled[i] = i, True
            height += 1
    # Proposals do not use the room that annulments left free: messages in transit would add up.
    most = sent + len(outbox) - len(inbox)
    while height > 0 and sent < most:
        i = pile[height - 1]
        if wanting[i] <= 0 or following[i] < start[i]:
            piled[i] = False
            height -= 1
            continue
        edge = key[following[i]]
        following[i] -= 1
        wanting[i] -= 1
        u = edge & _OTHER
        if not low <= u < low + m:
            outbox[sent, 0], outbox[sent, 1], outbox[sent, 2] = u, low + i, edge >> 32
            sent += 1
            continue
        refused = receive_proposal(
            u - low, edge - u + low + i, start, key, room, held, lightest, suitor
        )
        if low <= refused < low + m:
            wanting[refused - low] += 1
            if not piled[refused - low]:
                pile[height], piled[refused - low] = refused - low, True
                height += 1
        elif refused >= 0:
            outbox[sent, 0], outbox[sent, 1], outbox[sent, 2] = refused, u, _ANNUL
            sent += 1
    return sent, height > 0


@kernel
def collect_cover_edges(low, suitors, u, v, weight):  # u, v, weight (slots,)
    """Collect the edges at this rank that were not deleted, each once; return their number."""
    start, key, suitor = suitors.start, suitors.key, suitors.suitor
    m, count = len(suitors.room), 0
    for i in range(m):
        for slot in range(start[i], start[i + 1]):
            other = key[slot] & _OTHER
            if not suitor[slot] and (other > low + i or other < low):
                u[count], v[count] = min(other, low + i), max(other, low + i)
                weight[count] = key[slot] >> 32
                count += 1
    return count


@parallel_kernel(lambda batch: len(batch))
def scatter_counts(begin, end, batch, places, counts):
    """Copy the counts of some vertices into `counts`.

    Shapes: batch (f, m), places (m,), counts (f, n). places[i] is the column of batch column i.
    """
    for bit in range(begin, end):
        for index in range(len(places)):
            counts[bit, places[index]] = batch[bit, index]
