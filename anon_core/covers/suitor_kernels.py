"""The b-Suitor on the vertices of one rank: adjacency, proposals, annulments, what is left as cover.

A rank owns the vertices low .. low + m - 1. Messages are int32 (count, 3): a vertex of the receiver, another vertex, E of their
edge; E = ANNUL tells the former that one of its proposals fell.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.jit.kernel import kernel, parallel_kernel

ANNUL = -1
OTHER = 0xFFFFFFFF  # the half of a key that names the other end


class Suitors(NamedTuple):
    """Edges of each vertex, lightest first, and how far their deletion has come."""

    start: NDArray[np.int64]  # (m + 1,)
    key: NDArray[np.int64]  # (slots,): (E << 32) + other end
    room: NDArray[np.int64]  # (m,): edges that may be deleted at it
    held: NDArray[np.int64]  # (m,): suitors that it has
    lightest: NDArray[np.int64]  # (m,): no suitor in a slot before this one once there is no room
    following: NDArray[np.int64]  # (m,): the slot that it proposes to next, then those before
    wanting: NDArray[np.int64]  # (m,): proposals that it has still to make
    suitor: NDArray[np.bool_]  # (slots,)


@kernel
def last_keys(
    indptr, size, vertex, cost, last
):  # indptr (n + 1,), size (n,), vertex, cost (room,), last (n,): changed
    """last[v] = the greatest key in v's list, where there is one."""
    for v in range(len(size)):
        if size[v] > 0:
            slot = indptr[v] + size[v] - 1
            last[v] = (np.int64(cost[slot]) << 32) | np.int64(vertex[slot])


@kernel
def lacks(last, u, v, cost):
    """Whether u's list does not hold v. Lists hold what comes first: all keys up to their last one."""
    return last[u] < ((np.int64(cost) << 32) | np.int64(v))


@kernel
def count_lacking(indptr, size, vertex, cost, last, count):  # count (n,) zeroed
    """How often each vertex is listed by one whom its own list lacks."""
    for v in range(len(size)):
        for slot in range(indptr[v], indptr[v] + size[v]):
            count[vertex[slot]] += np.int64(lacks(last, vertex[slot], v, cost[slot]))


@kernel
def tell_listed(first, stop, indptr, size, vertex, cost, messages):
    """Tell the vertices first .. stop - 1 what their lists hold; returns how many messages there are."""
    m = 0
    for v in range(first, stop):
        for slot in range(indptr[v], indptr[v] + size[v]):
            messages[m, 0], messages[m, 1], messages[m, 2] = v, vertex[slot], cost[slot]
            m += 1
    return m


@kernel
def tell_lacking(first, stop, indptr, size, vertex, cost, last, messages):
    """Tell those whom the vertices first .. stop - 1 list, but who lack them; returns how many messages there are."""
    m = 0
    for v in range(first, stop):
        for slot in range(indptr[v], indptr[v] + size[v]):
            u = vertex[slot]
            if lacks(last, u, v, cost[slot]):
                messages[m, 0], messages[m, 1], messages[m, 2] = u, v, cost[slot]
                m += 1
    return m


@kernel
def enter(messages, low, fill, key):  # fill (m,): the next slot of each vertex
    """Put what the messages say into the slots of their vertices, as keys."""
    for index in range(len(messages)):
        i = messages[index, 0] - low
        key[fill[i]] = (np.int64(messages[index, 2]) << 32) | np.int64(messages[index, 1])
        fill[i] += 1


@parallel_kernel(lambda middle: len(middle))
def sort_tails(begin, end, middle, start, key):  # middle (m,)
    """Sort key[middle[i] : start[i + 1]], what comes after a vertex's own list."""
    for i in range(begin, end):
        key[middle[i] : start[i + 1]].sort()


@kernel
def count_at(u, v, low, count):  # u, v (edges,), count (m,) zeroed
    """How many edges each of the vertices low .. low + m - 1 has."""
    for e in range(len(u)):
        if low <= u[e] < low + len(count):
            count[u[e] - low] += 1
        if low <= v[e] < low + len(count):
            count[v[e] - low] += 1


@kernel
def list_at(u, v, low, fill, other):  # fill (m,): the next slot of each vertex
    """Put the other ends of their edges into the slots of the vertices low .. low + m - 1."""
    for e in range(len(u)):
        if low <= u[e] < low + len(fill):
            other[fill[u[e] - low]] = v[e]
            fill[u[e] - low] += 1
        if low <= v[e] < low + len(fill):
            other[fill[v[e] - low]] = u[e]
            fill[v[e] - low] += 1


@kernel
def hear(i, offer, start, key, room, held, lightest, suitor):
    """Vertex i hears a proposal; `offer` is the key of its edge as i sees it. Returns who is refused, -1 for nobody."""
    if room[i] <= 0:
        return np.int64(offer & OTHER)
    slot = start[i] + np.searchsorted(key[start[i] : start[i + 1]], offer)
    if held[i] < room[i]:
        suitor[slot] = True
        held[i] += 1
        return np.int64(-1)
    while not suitor[lightest[i]]:
        lightest[i] += 1
    if slot < lightest[i]:
        return np.int64(offer & OTHER)
    suitor[lightest[i]], suitor[slot] = False, True
    return np.int64(key[lightest[i]] & OTHER)


@kernel
def answer(inbox, low, suitors, outbox):  # inbox, outbox: messages
    """Hear what other ranks sent, then propose until nobody here wants to or as many messages went as `outbox` is longer.

    Who is refused proposes to its next lighter edge. Returns how many messages go out, and whether someone is left who would
    propose.
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
        if inbox[index, 2] == ANNUL:
            wanting[i] += 1
            continue
        offer = (np.int64(inbox[index, 2]) << 32) | np.int64(inbox[index, 1])
        refused = hear(i, offer, start, key, room, held, lightest, suitor)
        if low <= refused < low + m:
            wanting[refused - low] += 1
        elif refused >= 0:
            outbox[sent, 0], outbox[sent, 1], outbox[sent, 2] = refused, low + i, ANNUL
            sent += 1
    for i in range(m):
        if wanting[i] > 0:
            pile[height], piled[i] = i, True
            height += 1
    most = (
        sent + len(outbox) - len(inbox)
    )  # room that annulments leave is no room for more: messages under way would add up
    while height > 0 and sent < most:
        i = pile[height - 1]
        if wanting[i] <= 0 or following[i] < start[i]:
            piled[i] = False
            height -= 1
            continue
        edge = key[following[i]]
        following[i] -= 1
        wanting[i] -= 1
        u = edge & OTHER
        if not low <= u < low + m:
            outbox[sent, 0], outbox[sent, 1], outbox[sent, 2] = u, low + i, edge >> 32
            sent += 1
            continue
        refused = hear(u - low, edge - u + low + i, start, key, room, held, lightest, suitor)
        if low <= refused < low + m:
            wanting[refused - low] += 1
            if not piled[refused - low]:
                pile[height], piled[refused - low] = refused - low, True
                height += 1
        elif refused >= 0:
            outbox[sent, 0], outbox[sent, 1], outbox[sent, 2] = refused, u, ANNUL
            sent += 1
    return sent, height > 0


@kernel
def kept_edges(low, suitors, u, v, weight):  # u, v, weight (slots,)
    """The edges with an end here that nobody deleted, each once; returns how many."""
    start, key, suitor = suitors.start, suitors.key, suitors.suitor
    m, count = len(suitors.room), 0
    for i in range(m):
        for slot in range(start[i], start[i + 1]):
            other = key[slot] & OTHER
            if not suitor[slot] and (other > low + i or other < low):
                u[count], v[count] = min(other, low + i), max(other, low + i)
                weight[count] = key[slot] >> 32
                count += 1
    return count


@parallel_kernel(lambda batch: len(batch))
def scatter_counts(
    begin, end, batch, places, counts
):  # batch (f, m), places (m,), counts (f, n) by place
    """Enter the counts of some vertices."""
    for bit in range(begin, end):
        for index in range(len(places)):
            counts[bit, places[index]] = batch[bit, index]
