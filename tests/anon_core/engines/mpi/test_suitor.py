"""The b-Suitor on any number of ranks, here loops of one process, against reverse delete."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from anon_core.covers.b_edge_cover import b_edge_cover, nearest_closure
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
from anon_core.engines.mpi.ranks_kernels import sort_by_owner
from anon_core.search.nearest import Neighbours


@st.composite
def nearest_lists(draw):
    """The b nearest of each vertex under weights with many ties, and b."""
    n = draw(st.integers(2, 24))
    b = draw(hnp.arrays(np.int32, n, elements=st.integers(0, n - 1)))
    weights = draw(
        hnp.arrays(np.int32, (n, n), elements=st.integers(0, draw(st.sampled_from([0, 3, 999]))))
    )
    weights = np.minimum(weights, weights.T)
    vertex, cost = [], []
    for v in range(n):
        nearest = [u for u in np.lexsort((np.arange(n), weights[v])) if u != v][: b[v]]
        vertex += nearest
        cost += weights[v, nearest].tolist()
    indptr = np.concatenate([[0], np.cumsum(b, dtype=np.int64)])
    return Neighbours(indptr, np.array(vertex, dtype=np.int32), np.array(cost, dtype=np.int32)), b


def suitors(listed, lacking, low, high, b):
    """The state of the rank that owns low .. high - 1, from what its vertices were told."""
    count = [
        np.bincount(messages[:, 0] - low, minlength=high - low) for messages in (listed, lacking)
    ]
    start = np.concatenate([[0], np.cumsum(count[0] + count[1])])
    fill, key = start[:-1].copy(), np.empty(start[-1], dtype=np.int64)
    enter_messages(listed, low, fill, key)
    middle = fill.copy()
    enter_messages(lacking, low, fill, key)
    sort_tails(middle, start, key)
    room = np.diff(start) - b[low:high]
    zeros, flags = np.zeros_like(room), np.zeros(len(key), dtype=np.bool_)
    return Suitors(start, key, room, zeros, start[:-1].copy(), start[1:] - 1, room.copy(), flags)


def split(messages, per, ranks):
    """Messages by the rank that owns their first vertex."""
    sizes, ordered = np.zeros(ranks, dtype=np.int64), np.empty_like(messages)
    sort_by_owner(messages, per, sizes, ordered)
    return np.split(ordered, np.cumsum(sizes)[:-1])


def spread(lists, b, ranks, fitting):
    """The cover by `ranks` ranks that each send at most `fitting` messages of their own at once."""
    n, per = len(b), -(-len(b) // ranks)
    given = (lists.indptr, np.diff(lists.indptr), lists.vertex, lists.cost)
    last, told = np.full(n, -1, dtype=np.int64), np.empty((len(lists.vertex), 3), dtype=np.int32)
    last_keys(*given, last)
    listed = split(told[: tell_listed(0, n, *given, told)].copy(), per, ranks)
    lacking = split(told[: tell_lacking(0, n, *given, last, told)].copy(), per, ranks)
    count = np.zeros(n, dtype=np.int64)
    count_lacking(*given, last, count)
    assert np.bincount(np.concatenate(lacking)[:, 0], minlength=n).tolist() == count.tolist()
    lows = [min(n, rank * per) for rank in range(ranks)]
    parts = zip(listed, lacking, lows, strict=True)
    states = [suitors(own, other, low, min(n, low + per), b) for own, other, low in parts]
    inboxes, busy = split(told[:0], per, ranks), True
    while busy:
        outboxes, busy = [], False
        for state, low, inbox in zip(states, lows, inboxes, strict=True):
            outbox = np.empty((len(inbox) + fitting, 3), dtype=np.int32)
            sent, more = answer_messages(inbox, low, state, outbox)
            busy |= bool(sent) or more
            outboxes.append(outbox[:sent])
        inboxes = split(np.concatenate(outboxes), per, ranks)
    edges = set()
    for state, low in zip(states, lows, strict=True):
        columns = [np.empty(len(state.key), dtype=np.int32) for _ in range(3)]
        count = collect_cover_edges(low, state, *columns)
        edges |= set(zip(*(column[:count].tolist() for column in columns), strict=True))
    return edges


@given(nearest_lists(), st.integers(1, 5), st.sampled_from([1, 3, 100]))
def test_what_no_rank_deletes_is_what_reverse_delete_keeps(drawn, ranks, fitting):
    lists, b = drawn
    cover = b_edge_cover(nearest_closure(lists), b)
    kept = set(zip(cover.u.tolist(), cover.v.tolist(), cover.weight.tolist(), strict=True))
    assert spread(lists, b, ranks, fitting) == kept
