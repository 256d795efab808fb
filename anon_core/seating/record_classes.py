"""Classes of equal records."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from anon_core.search.dissimilarity import Dissimilarity
from anon_core.search.nearest import level_tree, nearest_neighbours
from anon_core.seating.strangers_kernels import list_strangers
from anon_core.tables.orders import distinct_columns
from anon_core.tables.records import BinaryTable

FURTHER = 2  # times as many levels are searched where people own several records
_OF_ONE = 2  # classes of one person in a list of nearest classes


@dataclass(frozen=True)
class RecordClasses:
    """Records of equal levels, equal k and the same person, numbered by their first members.

    Where each record is a person, people do not divide classes.

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
    party : int64 (classes,)
        Classes of one party hold at most D/k of a row together: those of a person, or the class
        alone where each record is a person. Numbered 0, 1, ... in the order of the people.
    people : bool
        Whether people own several records.
    """

    of: NDArray[np.int64]
    first: NDArray[np.int64]
    members: NDArray[np.int64]
    start: NDArray[np.int64]
    k: NDArray[np.int64]
    bits: NDArray[np.uint64]
    party: NDArray[np.int64]
    people: bool

    @classmethod
    def of_table(cls, table: BinaryTable) -> Self:
        """Find the classes of a table."""
        (of, first), person = number_classes(table), table.person
        start = np.concatenate([[0], np.cumsum(np.bincount(of))])
        members = np.argsort(of, kind="stable")
        k, bits = table.k[first].astype(np.int64), table.bits[first]
        # A part of a table has few of its people, whose numbers pass its classes: kernels count by
        # them.
        party = np.arange(len(first))
        if person is not None:
            party = np.unique(person[first], return_inverse=True)[1]
        return cls(of, first, members, start, k, bits, party, person is not None)

    def nearest(
        self, table: BinaryTable, weights: tuple[NDArray[np.int32], NDArray[np.int32]], most: int
    ) -> NDArray[np.int32]:
        """Find the nearest other classes of each by weighted differences, int32 (classes, most).

        Fewer than `most` if there are fewer. Where people own several records, only classes of
        other people are listed, at most `_OF_ONE` of each, as far as the `FURTHER * most` nearest
        levels have them; a class number of -1 fills the rest.
        """
        if not self.people:
            return _find_nearest_records(table.at(self.first), weights, most)
        part = table.at(self.first)
        kind, first = number_columns(np.vstack([part.codes, part.k[None]]))
        near = _find_nearest_records(part.at(first), weights, FURTHER * most)
        start = np.concatenate([[0], np.cumsum(np.bincount(kind))])
        alike = np.argsort(kind, kind="stable")
        found = np.full((len(self), most), -1, dtype=np.int32)
        list_strangers(kind, near, start, alike, self.party, _OF_ONE, found)
        return found

    @property
    def size(self) -> NDArray[np.int64]:
        """int64 (classes,): members of each."""
        return np.diff(self.start)

    def rows_held(self, holders: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Rows by the class that holds a share of them, where holders (n, D) are classes.

        Those of class c are rows[start[c] : start[c + 1]]: start int64 (classes + 1,), rows int32
        (n D,).
        """
        shares = holders.shape[1]
        start = np.concatenate([[0], np.cumsum(self.size * shares)])
        rows = np.argsort(holders.ravel(), kind="stable") // shares
        return start, rows.astype(np.int32)

    def of_a_row(self, shares: int) -> NDArray[np.int64]:
        """int64 (classes,): shares of one row that the party of each class may hold."""
        # D/k for all records of a person together; else D/k for each member of the class.
        return shares // self.k * (1 if self.people else self.size)

    def __len__(self) -> int:
        return len(self.first)


def number_classes(table: BinaryTable) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the classes of a table: that of each record, and the first member of each."""
    same = [table.codes, table.k[None]]
    if table.person is not None:
        same.append(table.person[None])
    return number_columns(np.vstack(same))


def number_columns(columns: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number distinct columns by their first places: number of each, and its first place."""
    kind, first = distinct_columns(columns)
    # By first places, not by levels: classes then follow the order that decides ties.
    rank = np.argsort(np.argsort(first))
    return rank[kind], np.sort(first)


def list_filled_places(indptr: NDArray[np.int64], found: NDArray[np.int64]) -> NDArray[np.int64]:
    """Places that were filled where list c has room from indptr[c] on and holds found[c]."""
    total = np.cumsum(found)
    return np.arange(int(total[-1])) + np.repeat(indptr[:-1] - total + found, found)


def _find_nearest_records(
    table: BinaryTable, weights: tuple[NDArray[np.int32], NDArray[np.int32]], most: int
) -> NDArray[np.int32]:
    """The nearest records of each, int32 (n, most)."""
    number = table.records
    graph = Dissimilarity.of(table, weights[0], 1.0, weights[1])
    none = np.zeros((table.codebook.features, number), dtype=np.uint16)
    wanted = np.full(number, min(most, number - 1), dtype=np.int32)
    return nearest_neighbours(graph, level_tree(graph), none, wanted).vertex.reshape(
        number, wanted[0]
    )
