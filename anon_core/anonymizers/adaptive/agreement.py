"""The agreement graph joins vertices that differ only in features hidden at both."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.adaptive.agreement_kernels import join_lists, list_agreeing
from anon_core.anonymizers.adaptive.showing_kernels import price_features, show_offered
from anon_core.covers.cover_kernels import count_hidden, hide_differences
from anon_core.jit.lanes import CHUNK_WORDS
from anon_core.search.dissimilarity import Dissimilarity
from anon_core.search.tiles_kernels import Tree
from anon_core.tables.levels_kernels import map_allowed
from anon_core.tables.records import BinaryTable, Codebook

# Partners listed for each one that a vertex needs. Longer lists took more time and gave no more.
LISTED_PER_NEED = 3
_MOST_OFFERED = 16  # features of a vertex that are tried in a pass: bits of a mark
_LIMITS = (4, 64)  # partners paid for a feature of mean weight, pass by pass


@dataclass(frozen=True)
class Partners:
    """Vertices that agree, seen from both ends.

    Attributes
    ----------
    start : int64 (n + 1,)
    other : int32 (start[n],)
        Those of v are other[start[v] : start[v] + size[v]], in no order.
    size : int64 (n,)
    """

    start: NDArray[np.int64]
    other: NDArray[np.int32]
    size: NDArray[np.int64]


class Together:
    """All vertices in one place; a subclass spreads them."""

    def clear_others(self, wanted: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the same (n,), zero at the vertices that another process works on."""
        return wanted

    def mutual(
        self, indptr: NDArray[np.int64], listed: NDArray[np.int32], size: NDArray[np.int64]
    ) -> Partners:
        """Return both ends of every listed pair."""
        degree = np.empty_like(size)
        join_lists(indptr, listed, size, indptr, listed[:0], degree)
        start = np.concatenate([[0], np.cumsum(degree)])
        other = np.empty(start[-1], dtype=np.int32)
        join_lists(indptr, listed, size, start, other, degree)
        return Partners(start, other, degree)

    def share(self, rows: NDArray[Any]) -> None:
        """Fill in (n, ...) the rows that other processes have worked on."""

    def in_turn(self, work: Callable[[], None], *_changing: NDArray[Any]) -> None:
        """Do work that allows one process at a time; share the changed rows of these (n, ...)."""
        work()


def reclaim_features(
    table: BinaryTable,
    graph: Dissimilarity,
    tree: Tree,
    weights: NDArray[np.int32],
    cell_weights: NDArray[np.int32],
    b: NDArray[np.int32],
    hidden: NDArray[np.uint64],
    where: Together,
) -> Partners:
    """Show again the features that no vertex needs hidden.

    After a cover has hidden features, many more pairs than its own agree. Each vertex shows the
    features that cost it the fewest such partners per weight, cheapest first, as long as it and all
    partners it loses keep b(v) partners each. All threads price, one shows, so the result does not
    depend on their number. Memory: 12 * LISTED_PER_NEED * sum b bytes, and two bits a vertex and
    level.

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
        In: features in which a neighbour differs under a cover, and blank cells. Out: a subset
        with which b(v) vertices still agree with each v.
    where : Together

    Returns
    -------
    Partners
        Those that are left, and some that no longer agree.
    """
    partners, spare = _list_partners(table, graph, tree, b, hidden, where)
    where.share(spare)
    cheapest = np.zeros(table.records)
    offered = np.empty((table.records, _MOST_OFFERED), dtype=np.int32)
    settled, marks = np.zeros_like(hidden), np.empty(len(partners.other), dtype=np.uint16)
    book, edges = table.codebook, (partners.start, partners.other, partners.size)
    for limit in _LIMITS:
        price_features(
            table.bits, hidden, settled, table.codes, table.blank, weights, cell_weights,
            book.bit_offsets, book.ordinal, limit / float(weights.mean()), *edges, spare, cheapest,
            offered, marks,
        )  # fmt: skip
        where.share(hidden)
        where.in_turn(
            lambda: show_offered(table.bits, hidden, settled, *edges, spare, offered, marks),
            hidden,
            spare,
        )
    return partners


def _list_partners(
    table: BinaryTable,
    graph: Dissimilarity,
    tree: Tree,
    b: NDArray[np.int32],
    hidden: NDArray[np.uint64],
    where: Together,
) -> tuple[Partners, NDArray[np.int64]]:
    """Return partners of each vertex, and how many it has beyond those that it needs, int64 (n,).

    For v, `LISTED_PER_NEED` times as many partners are listed as it needs beside its twins. They
    are the first ones, so that vertices share them; any subgraph with enough edges will do.
    """
    # Twins agree whatever is hidden: they are counted, and take no room in the lists.
    twins = np.empty(table.records, dtype=np.int64)
    runs = np.diff(tree.first)
    twins[graph.layout] = np.repeat(runs, runs) - 1
    room = np.minimum(LISTED_PER_NEED * np.maximum(0, b - twins), table.records - 1)
    indptr, listed, size = first_agreeing(
        table, graph, tree, hidden, where.clear_others(room), twins=False
    )
    partners = where.mutual(indptr, listed, size)
    return partners, partners.size + twins - b


def maps_memory(vertices: int, book: Codebook) -> int:
    """Return the bytes of the two maps of agreeing vertices, a bit a vertex and level."""
    levels, words = _map_shape(vertices, book)
    return 2 * 8 * levels * words


def _map_shape(vertices: int, book: Codebook) -> tuple[int, int]:
    return int(book.level_offsets[-1]), CHUNK_WORDS * -(-vertices // (64 * CHUNK_WORDS))


def find_hidden_features(graph: Dissimilarity, counts: NDArray[np.uint16]) -> NDArray[np.uint64]:
    """Return what counts by place hide, uint64 (n, words) by vertex.

    These are the features in which a neighbour differs, and blank cells.
    """
    hidden = np.zeros((graph.vertices, (len(counts) + 63) // 64), dtype=np.uint64)
    hide_differences(counts, graph.blank, graph.bit_offsets, hidden)
    return np.take(hidden, graph.place, axis=0)


def count_hiding_vertices(
    graph: Dissimilarity, counts: NDArray[np.uint16]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many vertices hide each feature, and how many hide any of each attribute.

    int64 (f,) and int64 (attributes,).
    """
    per_bit, per_cell = (
        np.zeros(len(counts), dtype=np.int64),
        np.zeros(len(graph.codes), dtype=np.int64),
    )
    count_hidden(counts, graph.blank, graph.bit_offsets, per_bit, per_cell)
    return per_bit, per_cell


def first_agreeing(
    table: BinaryTable,
    graph: Dissimilarity,
    tree: Tree,
    hidden: NDArray[np.uint64],
    room: NDArray[np.int64],
    *,
    twins: bool,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Return the first vertices that agree with each vertex, ascending, up to `room` (n,).

    twins : bool, whether vertices of the same levels are listed, too.

    Returns
    -------
    indptr : int64 (n + 1,)
    listed : int32 (sum of the room,)
        Those of v are listed[indptr[v] : indptr[v] + size[v]].
    size : int64 (n,)
    """
    book = table.codebook
    having, allowed = np.zeros((2, *_map_shape(table.records, book)), dtype=np.uint64)
    for levels, hides in ((having, np.zeros_like(hidden)), (allowed, hidden)):
        map_allowed(table.codes, hides, book.level_offsets, book.bit_offsets, book.ordinal, levels)
    indptr = np.concatenate([[0], np.cumsum(room)])
    listed = np.empty(indptr[-1], dtype=np.int32)
    size = np.zeros(table.records, dtype=np.int64)
    list_agreeing(
        table.bits, hidden, tree.distinct, tree.first, graph.layout, book.own_bits, having, allowed,
        twins, indptr, listed, size,
    )  # fmt: skip
    return indptr, listed, size
