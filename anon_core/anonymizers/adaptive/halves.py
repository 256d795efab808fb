"""Half of the vertices, in crowds half as large: what they come to tells the whole where to start."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.adaptive.halves_kernels import inherit_counts
from anon_core.search.dissimilarity import Dissimilarity
from anon_core.search.tiles_kernels import Tree
from anon_core.tables.records import BinaryTable

MOST_INHERITED = 255  # what a weight has lost by then is nearly all of it, and ranks count in bytes


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
        """Of twins take the one that demands more, or less: a half of a half is fair if its makers take turns."""
        row = np.repeat(np.arange(len(tree.distinct)), np.diff(tree.first))
        ranked = graph.layout[np.lexsort((whole.k[graph.layout], row))]
        taken = ranked[
            np.minimum(np.arange(int(more), whole.records + int(more), 2), whole.records - 1)
        ]
        vertices = np.sort(taken)
        table = whole.at(vertices)
        return cls(replace(table, k=halved(table.k)), ranked, np.searchsorted(vertices, taken))

    def leave(
        self,
        held: NDArray[np.uint16],
        graph: Dissimilarity,
        whole: BinaryTable,
        whole_graph: Dissimilarity,
        counts: NDArray[np.uint16],
    ) -> None:
        """Fill in counts (f, n) of the whole from those of the half, held (f, m); both by place in their graphs.

        Whoever joins a crowd differs in a feature from those who have it, or from those who do not. A vertex counts how many it
        would differ from in the crowds of its pair and of the pairs near by, on average: so those who are alike begin to hide
        the same. Crowds of the whole are twice as large.
        """
        mine = self.table
        inherit_counts(
            held, graph.place[self.chosen], mine.k[self.chosen], mine.bits[self.chosen],
            whole_graph.place[self.ranked], whole.bits[self.ranked], np.int32(MOST_INHERITED), counts,
        )  # fmt: skip


def halved(k: NDArray[np.int32]) -> NDArray[np.int32]:
    """Half the demands, rounded up; who demands a crowd at all still does."""
    return np.where(k > 1, np.maximum(2, (k + 1) // 2), k).astype(np.int32)


def stand_in(table: BinaryTable) -> BinaryTable:
    """A table as large as a half of this one, and with demands no smaller, made without looking for it."""
    m = (table.records + 1) // 2
    return BinaryTable(
        table.codebook,
        table.codes[:, :m],
        table.bits[:m],
        np.sort(halved(table.k))[-m:],
        table.blank[:, :m],
    )
