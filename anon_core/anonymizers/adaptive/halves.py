"""Half of the vertices, in crowds half as large; the whole starts from what they reach."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.adaptive.halves_kernels import inherit_counts
from anon_core.search.dissimilarity import Dissimilarity
from anon_core.search.tiles_kernels import Tree
from anon_core.tables.records import BinaryTable

MOST_INHERITED = 255  # by then a weight is nearly 0, and ranks count in bytes


@dataclass(frozen=True, eq=False)
class Half:
    """One of each pair of vertices that lie side by side in the order of levels and demands.

    Attributes
    ----------
    table : BinaryTable
        Those vertices, ascending, with halved demands.
    ranked : int64 (n,)
        All vertices in that order.
    chosen : int64 (m,)
        Which vertex of the half was taken from each pair.
    """

    table: BinaryTable
    ranked: NDArray[np.int64]
    chosen: NDArray[np.int64]

    @classmethod
    def of(cls, whole: BinaryTable, graph: Dissimilarity, tree: Tree, *, more: bool) -> "Half":
        """From each adjacent pair keep the vertex that demands more, or less.

        `more` alternates by level, so repeated halving does not bias k.
        """
        row = np.repeat(np.arange(len(tree.distinct)), np.diff(tree.first))
        ranked = graph.layout[np.lexsort((whole.k[graph.layout], row))]
        # The last of an odd number of vertices has no pair, and is taken itself.
        taken = ranked[
            np.minimum(np.arange(int(more), whole.records + int(more), 2), whole.records - 1)
        ]
        vertices = np.sort(taken)
        table = whole.at(vertices)
        return cls(
            replace(table, k=halve_demands(table.k)), ranked, np.searchsorted(vertices, taken)
        )

    def leave(
        self,
        held: NDArray[np.uint16],
        graph: Dissimilarity,
        whole: BinaryTable,
        whole_graph: Dissimilarity,
        counts: NDArray[np.uint16],
    ) -> None:
        """Fill in counts (f, n) of the whole from those of the half, held (f, m).

        Both are by place in their graphs. A vertex that joins a crowd differs in a feature from the
        members that have it, or from those that do not. Its count is the mean of that number over
        the crowds of its pair and of the pairs near by, times 2 because crowds of the whole are
        twice as large. Similar vertices so begin with similar counts.
        """
        mine = self.table
        inherit_counts(
            held, graph.place[self.chosen], mine.k[self.chosen], mine.bits[self.chosen],
            whole_graph.place[self.ranked], whole.bits[self.ranked], np.int32(MOST_INHERITED),
            counts,
        )  # fmt: skip


def halve_demands(k: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return half the demands, rounded up; a demand above 1 stays above 1."""
    return np.where(k > 1, np.maximum(2, (k + 1) // 2), k).astype(np.int32)


def stand_in(table: BinaryTable) -> BinaryTable:
    """Return a table of the size of a half, with demands no smaller, without choosing records."""
    m = (table.records + 1) // 2
    return BinaryTable(
        table.codebook,
        table.codes[:, :m],
        np.sort(halve_demands(table.k))[-m:],
        table.blank[:, :m],
    )
