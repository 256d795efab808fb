"""An attacker who knows some items of a person and picks one of the rows that have all of them.

The chance that it is the person's row is at most one over the number of such rows, and 0 if there
are none. Whoever knows more may pick better, up to one over the size of the person's class. The
chance follows from the source and the released rows, never from who sits in which row.
"""

import hashlib
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_core.measures.matrix.classes import RowClasses

RECORDS_TRIED = 2000  # records that are tried for each number of known items above 1
_SEED = 18  # of the sample; anybody may know it


@dataclass(frozen=True)
class ItemLinkage:
    """What the attacker reaches with t known items.

    Attributes
    ----------
    record : int64 (tried,)
        The records that were tried; each has at least t items.
    chance : float64 (tried,)
        Upper bound of the chance to name the record's row.
    of : int
        How many records have at least t items.
    """

    record: NDArray[np.int64] = field(repr=False)
    chance: NDArray[np.float64] = field(repr=False)
    of: int


def measure_linkage(
    classes: RowClasses, indptr: NDArray[np.int64], item: NDArray[np.int64], items: int, known: int
) -> ItemLinkage:
    """Try the attacker who knows `known` items.

    Parameters
    ----------
    classes : RowClasses
    indptr : int64 (n + 1,)
    item : int64 (entries,)
        Record v holds item[indptr[v] : indptr[v + 1]], ascending; -1 for an item in no released
        row.
    items : int
        Number of released items.
    known : int
        t. With 1, every item of every record is tried, and a record's chance is the mean over its
        items. Above 1, up to `RECORDS_TRIED` records are tried, each with one drawn set of t items.

    Notes
    -----
    The sample is drawn by a public seed from the records in the order of a hash of their items, so
    that the order of the source decides nothing.
    """
    lengths = np.diff(indptr)
    able = np.flatnonzero(lengths >= known)
    if known == 1:
        return _link_by_one_item(classes, indptr, item, items, able)
    tried = _sample_records(indptr, item, able)
    draws = np.random.Generator(np.random.PCG64([_SEED, known]))
    inverted = _Inverted.of(classes, items)
    chance = np.zeros(len(tried))
    for place, record in enumerate(tried.tolist()):
        at = draws.choice(lengths[record], size=known, replace=False)
        rows = inverted.rows_with(item[indptr[record] + at])
        chance[place] = 1 / rows if rows else 0.0
    return ItemLinkage(tried, chance, len(able))


def _link_by_one_item(
    classes: RowClasses,
    indptr: NDArray[np.int64],
    item: NDArray[np.int64],
    items: int,
    able: NDArray[np.int64],
) -> ItemLinkage:
    sizes = classes.sizes[classes.of_pair]
    rows = np.bincount(classes.items, weights=sizes, minlength=items + 1)
    chance = np.divide(1, rows, out=np.zeros(len(rows)), where=rows > 0)
    chance[-1] = 0.0  # of item -1
    lengths = np.diff(indptr)
    record = np.repeat(np.arange(len(lengths)), lengths)
    total = np.bincount(record, weights=chance[item], minlength=len(lengths))
    return ItemLinkage(able, total[able] / lengths[able], len(able))


def _sample_records(
    indptr: NDArray[np.int64], item: NDArray[np.int64], able: NDArray[np.int64]
) -> NDArray[np.int64]:
    content, size = item.tobytes(), item.itemsize
    ends = (indptr * size).tolist()
    digests = [
        hashlib.blake2b(content[ends[record] : ends[record + 1]], digest_size=8).digest()
        for record in able.tolist()
    ]
    ordered = able[np.argsort(np.array(digests, dtype="S8"), kind="stable")]
    if len(able) <= RECORDS_TRIED:
        return ordered
    chosen = np.random.Generator(np.random.PCG64(_SEED)).choice(
        len(able), RECORDS_TRIED, replace=False
    )
    return ordered[np.sort(chosen)]


@dataclass(frozen=True)
class _Inverted:
    """The classes that have each item."""

    sizes: NDArray[np.int64]
    start: NDArray[np.int64]
    classes: NDArray[np.int64]

    @classmethod
    def of(cls, classes: RowClasses, items: int) -> "_Inverted":
        order = np.argsort(classes.items, kind="stable")
        start = np.searchsorted(classes.items[order], np.arange(items + 1))
        return cls(classes.sizes, start, classes.of_pair[order])

    def rows_with(self, known: NDArray[np.int64]) -> int:
        """Number of rows with all of these items."""
        if (known < 0).any():
            return 0
        lists = [self.classes[self.start[i] : self.start[i + 1]] for i in known.tolist()]
        # Shortest first: no intersection is longer than it.
        found, *others = sorted(lists, key=len)
        for other in others:
            found = np.intersect1d(found, other, assume_unique=True)
        return int(self.sizes[found].sum())
