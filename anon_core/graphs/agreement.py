"""The agreement graph: vertices joined where they differ only in features that are hidden at both."""

import numpy as np
from numpy.typing import NDArray

from anon_core.graphs.b_edge_cover import b_edge_cover
from anon_core.graphs.dissimilarity import Dissimilarity
from anon_core.graphs.nearest_closure import Neighbours, nearest_closure
from anon_core.kernels.agreement import join_lists, list_agreeing, map_allowed
from anon_core.kernels.cover import count_hidden, hide_differences
from anon_core.kernels.showing import count_partners, price_features, show_offered
from anon_core.kernels.tiles import Tree
from anon_core.records import BinaryTable, Edges

ROOM = 3  # partners listed for each that a vertex needs; longer lists cost time and gave no more (docs/performance.md)
MOST_OFFERED = 16  # features of a vertex that are tried in a pass: bits of a mark
LIMITS = (1, 2, 4, 8, 16, 64)  # partners paid for a feature of mean weight, pass by pass


def reclaim(
    table: BinaryTable,
    graph: Dissimilarity,
    tree: Tree,
    weights: NDArray[np.int32],
    cell_weights: NDArray[np.int32],
    b: NDArray[np.int32],
    hidden: NDArray[np.uint64],
    counts: NDArray[np.uint16],
) -> None:
    """Show again what is hidden for no vertex's need.

    A cover hides features; many more pairs than the cover's then agree. Each vertex shows the features that cost it the
    fewest such partners per weight, cheapest first, as long as it and all partners it loses keep b(v) of them.

    Parameters
    ----------
    table : BinaryTable
        Vertices as records.
    graph : Dissimilarity
    tree : Tree
        Of the same vertices.
    weights : int32 (f,)
        What a hidden feature costs.
    cell_weights : int32 (attributes,)
        What the first hidden feature of an attribute costs in addition.
    b : int32 (n,)
        How many vertices must agree with each.
    hidden : uint64 (n, words)
        In: features in which a neighbour differs under a cover, and blank cells. Out: a subset; b(v) vertices still agree
        with each v.
    counts : uint16 (f, n)
        By place, filled: differing partners in the agreement graph that is left. Where positive, the feature is hidden.

    Notes
    -----
    Only `ROOM` times as many partners as v needs beside its twins are listed for v, the first ones, so that vertices share
    them; any subgraph with enough edges will do. Threads price, one shows: the same for any number of threads.
    Memory 12 * ROOM * sum b bytes and n bits a level.
    """
    twins = np.empty(table.records, dtype=np.int64)
    runs = np.diff(tree.first)
    twins[graph.layout] = np.repeat(runs, runs) - 1
    room = np.minimum(ROOM * np.maximum(0, b - twins), table.records - 1)
    indptr, listed, size = _first_agreeing(table, graph, tree, hidden, room, twins=False)
    start, partner, degree = _mutual(indptr, listed, size)
    spare = degree + twins - b
    cheapest, offered = np.zeros(table.records), np.empty((table.records, MOST_OFFERED), dtype=np.int32)
    marks = listed.view(np.uint16)  # the lists have served; an entry makes two partners at most
    book = table.codebook
    for limit in LIMITS:
        price_features(
            table.bits, hidden, table.codes, table.blank, weights, cell_weights, book.bit_offsets, book.ordinal,
            limit / float(weights.mean()), start, partner, degree, spare, cheapest, offered, marks,
        )  # fmt: skip
        show_offered(table.bits, hidden, start, partner, degree, spare, offered, marks)
    count_partners(table.bits, hidden, graph.layout, start, partner, degree, counts)


def agreement_cover(
    table: BinaryTable, graph: Dissimilarity, tree: Tree, hidden: NDArray[np.uint64], b: NDArray[np.int32]
) -> Edges:
    """A b-edge cover of the agreement graph, given b(v) agreeing vertices for every v; weights are 0.

    Parameters
    ----------
    table : BinaryTable
    graph : Dissimilarity
    tree : Tree
    hidden : uint64 (n, words)
    b : int32 (n,)
    """
    indptr, listed, _ = _first_agreeing(table, graph, tree, hidden, b.astype(np.int64), twins=True)
    return b_edge_cover(nearest_closure(Neighbours(indptr, listed, np.zeros_like(listed))), b)


def hidden_by(graph: Dissimilarity, counts: NDArray[np.uint16]) -> NDArray[np.uint64]:
    """What counts by place hide, uint64 (n, words) by vertex: features in which a neighbour differs, and blank cells."""
    hidden = np.zeros((graph.vertices, (len(counts) + 63) // 64), dtype=np.uint64)
    hide_differences(counts, graph.blank, graph.bit_offsets, hidden)
    return np.take(hidden, graph.place, axis=0)


def hidden_totals(graph: Dissimilarity, counts: NDArray[np.uint16]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many vertices hide each feature, int64 (f,), and anything of each attribute, int64 (attributes,)."""
    per_bit, per_cell = np.zeros(len(counts), dtype=np.int64), np.zeros(len(graph.codes), dtype=np.int64)
    count_hidden(counts, graph.blank, graph.bit_offsets, per_bit, per_cell)
    return per_bit, per_cell


def _first_agreeing(
    table: BinaryTable,
    graph: Dissimilarity,
    tree: Tree,
    hidden: NDArray[np.uint64],
    room: NDArray[np.int64],
    *,
    twins: bool,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """For each vertex the first that agree with it, ascending, up to `room`: (indptr, listed, size)."""
    book = table.codebook
    allowed = np.zeros((int(book.level_offsets[-1]), -(-table.records // 64)), dtype=np.uint64)
    map_allowed(table.codes, hidden, book.level_offsets, book.bit_offsets, book.ordinal, allowed)
    indptr = np.concatenate([[0], np.cumsum(room)])
    listed = np.empty(indptr[-1], dtype=np.int32)
    size = np.zeros(table.records, dtype=np.int64)
    list_agreeing(table.bits, hidden, tree.distinct, tree.first, graph.layout, allowed, twins, indptr, listed, size)
    return indptr, listed, size


def _mutual(
    indptr: NDArray[np.int64], listed: NDArray[np.int32], size: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Both ends of every listed pair: (start, partner, degree)."""
    degree = np.empty_like(size)
    join_lists(indptr, listed, size, indptr, listed[:0], degree)
    start = np.concatenate([[0], np.cumsum(degree)])
    partner = np.empty(start[-1], dtype=np.int32)
    join_lists(indptr, listed, size, start, partner, degree)
    return start, partner, degree
