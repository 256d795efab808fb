"""Classes of equal records."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from anon_core.search.dissimilarity import Dissimilarity
from anon_core.search.nearest import level_tree, nearest_neighbours
from anon_core.tables.encoding import distinct_columns
from anon_core.tables.records import BinaryTable


@dataclass(frozen=True)
class RecordClasses:
    """Records of equal levels and equal k, numbered by their first members.

    Attributes
    ----------
    of : int64 (n,)
        Class of each record.
    first : int64 (classes,)
        The first member of each class, ascending.
    members : int64 (n,)
        All records by class; those of c are members[start[c] : start[c + 1]], ascending.
    start : int64 (classes + 1,)
    k : int64 (classes,)
    bits : uint64 (classes, words)
    """

    of: NDArray[np.int64]
    first: NDArray[np.int64]
    members: NDArray[np.int64]
    start: NDArray[np.int64]
    k: NDArray[np.int64]
    bits: NDArray[np.uint64]

    @classmethod
    def of_table(cls, table: BinaryTable) -> Self:
        """Find the classes of a table."""
        kind, first = distinct_columns(np.vstack([table.codes, table.k[None]]))
        rank = np.argsort(np.argsort(first))
        of, first = rank[kind], np.sort(first)
        start = np.concatenate([[0], np.cumsum(np.bincount(of))])
        members = np.argsort(of, kind="stable")
        return cls(of, first, members, start, table.k[first].astype(np.int64), table.bits[first])

    def nearest(
        self, table: BinaryTable, weights: tuple[NDArray[np.int32], NDArray[np.int32]], most: int
    ) -> NDArray[np.int32]:
        """Find the nearest other classes of each by weighted differences, int32 (classes, most).

        Fewer than `most` if there are fewer.
        """
        part, number = table.at(self.first), len(self)
        graph = Dissimilarity.of(part, weights[0], 1.0, weights[1])
        none = np.zeros((table.codebook.features, number), dtype=np.uint16)
        wanted = np.full(number, min(most, number - 1), dtype=np.int32)
        return nearest_neighbours(graph, level_tree(graph), none, wanted).vertex.reshape(
            number, wanted[0]
        )

    @property
    def size(self) -> NDArray[np.int64]:
        """int64 (classes,): members of each."""
        return np.diff(self.start)

    def __len__(self) -> int:
        return len(self.first)
