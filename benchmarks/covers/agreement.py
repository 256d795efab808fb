"""A cover by pairs of records that agree in a result; `one_run` hashes it with what is hidden."""

import numpy as np

from anon_core.anonymizers import Adaptive
from anon_core.anonymizers.adaptive.agreement import first_agreeing
from anon_core.anonymizers.adaptive.grouping import Grouping
from anon_core.covers.b_edge_cover import b_edge_cover, nearest_closure
from anon_core.covers.edges import Edges
from anon_core.search.nearest import Neighbours


def agreement_cover(table, graph, tree, hidden, b):
    """Return a b-edge cover of the agreement graph, given b(v) agreeing vertices for every v.

    hidden : uint64 (n, words), b : int32 (n,). Weights of its edges are 0.
    """
    indptr, listed, _ = first_agreeing(table, graph, tree, hidden, b.astype(np.int64), twins=True)
    return b_edge_cover(nearest_closure(Neighbours(indptr, listed, np.zeros_like(listed))), b)


def end_cover(masked, order):
    """Return the agreement cover of a result, between records of its table.

    order : int64 (n,), the order of ties that the result was made with.
    """
    work = Grouping(masked.table.at(order), Adaptive())
    cover = agreement_cover(work.table, work.graph, work.tree, masked.hidden[order], work.b)
    u, v = order.astype(np.int32)[np.stack([cover.u, cover.v])]
    return Edges(np.minimum(u, v), np.maximum(u, v), cover.weight)
