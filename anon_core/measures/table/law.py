"""The law that seats were drawn from: how likely each record sits in each row."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.measures.table.attacks import Tightest
from anon_core.measures.table.classes import Classes, ReleasedCells, distinct_columns
from anon_core.measures.table.crowds import fits_own_row


@dataclass(frozen=True)
class Law:
    """Chances of records to sit in rows, as whole shares of each row.

    Attributes
    ----------
    likeliest : float64 (n,)
        The chance of each record to sit in its likeliest row.
    tightest : float64 (n,)
        The chance that a guess among its tightest rows is right.
    above : int
        Records with a chance above 1/k(v).
    unfit : int
        Pairs of records and rows with a chance, where the record does not fit the row.
    uneven : int
        Records whose chances do not sum to 1.
    unseated : int
        Records whose own row has no chance to be theirs.
    """

    likeliest: NDArray[np.float64]
    tightest: NDArray[np.float64]
    above: int
    unfit: int
    uneven: int
    unseated: int

    @property
    def kept(self) -> bool:
        """Whether it is a law under which nobody sits in any row with more than 1/k(v)."""
        return self.above + self.unfit + self.uneven + self.unseated == 0


def law(
    codes: NDArray[np.int32],
    k: NDArray[np.int32],
    released: ReleasedCells,
    classes: Classes,
    tightest: Tightest,
    holders: NDArray[np.integer[Any]],
    seat: NDArray[np.int64],
) -> Law:
    """Judge shares of rows.

    Parameters
    ----------
    codes : int32 (attributes, n)
        Levels of the records.
    k : int32 (n,)
    released : ReleasedCells
        Of n rows.
    classes : Classes
        Of these records and rows.
    tightest : Tightest
    holders : int (n, D)
        By row and share the record that holds it. Records of equal levels and k have their shares
        in common, each the same part.
    seat : int64 (n,)
        Row of each record.

    Notes
    -----
    Everything is compared in whole numbers. Time and memory O(n D).
    """
    rows, shares = holders.shape
    kind, first = distinct_columns(np.vstack([codes, k[None]]))
    size = np.bincount(kind)
    pair, held = np.unique(kind[holders] * rows + np.arange(rows)[:, None], return_counts=True)
    of, row = np.divmod(pair, rows)
    total, most = np.zeros((2, len(size)), dtype=np.int64)
    np.add.at(total, of, held)
    np.maximum.at(most, of, held)
    here = classes.record_class[first]
    tight = tightest.rank[classes.row_class[row]] == tightest.least[here[of]]
    guesses = np.maximum(1, tightest.alike[here])  # 0: a record that fits no row
    guessed = np.bincount(of, np.where(tight, held, 0), len(size)) / guesses
    taken = np.searchsorted(pair, kind * rows + seat).clip(max=len(pair) - 1)
    return Law(
        likeliest=(most / (size * shares))[kind],
        tightest=(guessed / (size * shares))[kind],
        above=int(size[most * k[first] > size * shares].sum()),
        unfit=int((~fits_own_row(codes[:, first[of]], released, row)).sum()),
        uneven=int(size[total != size * shares].sum()),
        unseated=int((pair[taken] != kind * rows + seat).sum()),
    )
