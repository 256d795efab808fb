"""The smooth majority: a released item is true for at least half of its class.

Definition 3.5 of "Smooth Anonymity for Sparse Graphs", where an item may be in the rows of a class
of s users if 2 c >= s, with c of them holding it in the source. Definition 3.6 has the Jaccard
similarity.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_core.measures.matrix.classes import RowClasses


@dataclass(frozen=True)
class Smoothness:
    """How true the rows of each class are for the records that sit in them.

    Attributes
    ----------
    holders : int64 (pairs,)
        c of each released pair of a class and an item.
    members : int64 (pairs,)
        s of its class.
    entries : int
        Entries of the source.
    """

    holders: NDArray[np.int64] = field(repr=False)
    members: NDArray[np.int64] = field(repr=False)
    entries: int

    @property
    def broken(self) -> int:
        """Pairs whose item most of the class lack."""
        return int(np.count_nonzero(2 * self.holders < self.members))

    @property
    def true_entries(self) -> int:
        """Released entries that are true."""
        return int(self.holders.sum())

    @property
    def false_entries(self) -> int:
        """Released entries that are false."""
        return int(self.members.sum()) - self.true_entries

    @property
    def suppression_count(self) -> int:
        """Entries of the source that are not released."""
        return self.entries - self.true_entries

    @property
    def jaccard(self) -> float:
        """Entries in both over entries in either; 1 where neither has any."""
        either = self.entries + self.false_entries
        return self.true_entries / either if either else 1.0

    @property
    def unanimous(self) -> NDArray[np.bool_]:
        """Pairs that are true for the whole class, bool (pairs,)."""
        return np.asarray(self.holders == self.members, dtype=np.bool_)


def measure_smoothness(
    classes: RowClasses,
    class_of: NDArray[np.int64],
    record: NDArray[np.integer],
    item: NDArray[np.int64],
    items: int,
) -> Smoothness:
    """Count the holders of each released item among the records of its class.

    Parameters
    ----------
    classes : RowClasses
    class_of : int64 (n,)
        Class of each record's row, -1 where a record has none.
    record : integer (entries,)
    item : int64 (entries,)
        The entries of the source, each once; item -1 where it is in no released row.
    items : int
        Number of released items.
    """
    there = (item >= 0) & (class_of[record] >= 0)
    # Class and item as one number: the entries of a released pair are one run of the sorted ones.
    held = np.sort(class_of[record[there]] * items + item[there])
    pair = classes.of_pair * items + classes.items
    holders = np.searchsorted(held, pair, "right") - np.searchsorted(held, pair, "left")
    return Smoothness(holders, classes.sizes[classes.of_pair], len(record))
