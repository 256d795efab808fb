"""The law that seats were drawn from: how likely each record sits in each row."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.measures.table.attackers.attacks import Tightest
from anon_core.measures.table.classes import Classes, ReleasedCells, index_distinct_columns
from anon_core.measures.table.crowds import fits_own_row

_OTHERS = 2  # people whose rows an attacker knows at most


@dataclass(frozen=True)
class Law:
    """Chances of records to sit in rows, as whole shares of each row.

    Attributes
    ----------
    likeliest : float64 (n,)
        The chance of each record to sit in its likeliest row.
    ruled_out : float64 (n, _OTHERS)
        The same if the rows of 1, 2, .. others are known and ruled out: those others whose rows
        are the next likeliest ones.
    tightest : float64 (n,)
        The chance that a guess among its tightest rows is right.
    of_person : float64 (n,)
        The chance that the likeliest row of each record's person is a row of that person; where
        each record is a person, `likeliest`.
    above : int
        Records with a chance above 1/k(v), or of people whose chance in some row is above 1/k(v).
    unfit : int
        Pairs of records and rows with a chance, where the record does not fit the row.
    uneven : int
        Records whose chances do not sum to 1.
    unseated : int
        Records whose own row has no chance to be theirs.
    """

    likeliest: NDArray[np.float64]
    ruled_out: NDArray[np.float64]
    tightest: NDArray[np.float64]
    of_person: NDArray[np.float64]
    above: int
    unfit: int
    uneven: int
    unseated: int

    @property
    def holds(self) -> bool:
        """Whether it is a law under which nobody sits in any row with more than 1/k(v)."""
        return self.above + self.unfit + self.uneven + self.unseated == 0


def judge_law(
    codes: NDArray[np.int32],
    k: NDArray[np.int32],
    released: ReleasedCells,
    classes: Classes,
    tightest: Tightest,
    holders: NDArray[np.integer[Any]],
    seat: NDArray[np.int64],
    person: NDArray[np.int64] | None = None,
) -> Law:
    """Judge shares of rows, in whole numbers; time and memory O(n D).

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
    person : int64 (n,), optional
        Number of each record's person where people own several records; these have one k.
    """
    rows, shares = holders.shape
    alike: list[NDArray[Any]] = [codes, k[None], *(() if person is None else (person[None],))]
    kind, first = index_distinct_columns(np.vstack(alike))
    size = np.bincount(kind)
    pair, held = np.unique(kind[holders] * rows + np.arange(rows)[:, None], return_counts=True)
    of, row = np.divmod(pair, rows)
    total = np.zeros(len(size), dtype=np.int64)
    np.add.at(total, of, held)
    greatest = _list_greatest(of, held, len(size))
    most, rest = greatest[:, 0], (size * shares)[:, None] - np.cumsum(greatest[:, 1:], axis=1)
    here = classes.record_class[first]
    tight = tightest.rank[classes.row_class[row]] == tightest.least[here[of]]
    guesses = np.maximum(1, tightest.alike[here])  # 0: a record that fits no row
    guessed = np.bincount(of, np.where(tight, held, 0), len(size)) / guesses
    taken = np.searchsorted(pair, kind * rows + seat).clip(max=len(pair) - 1)
    likeliest = (most / (size * shares))[kind]
    of_person, above = likeliest, most[kind] * k > size[kind] * shares  # exactly 1/k is not
    if person is not None:
        together = _list_greatest_of_people(holders, person)
        of_person, above = together[person] / shares, above | (together[person] * k > shares)
    return Law(
        likeliest=likeliest,
        ruled_out=(most[:, None] / np.maximum(most[:, None], rest))[kind],
        tightest=(guessed / (size * shares))[kind],
        of_person=of_person,
        above=int(above.sum()),
        unfit=int((~fits_own_row(codes[:, first[of]], released, row)).sum()),
        uneven=int(size[total != size * shares].sum()),
        unseated=int((pair[taken] != kind * rows + seat).sum()),
    )


def _list_greatest_of_people(
    holders: NDArray[np.integer[Any]], person: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the most shares of one row that records of each person hold, int64 (people,)."""
    rows = len(holders)
    greatest = np.zeros(int(person.max()) + 1, dtype=np.int64)
    # Person and row as one number: shares of several records of a person add up.
    theirs = person[holders] * rows + np.arange(rows)[:, None]
    theirs, times = np.unique(theirs, return_counts=True)
    np.maximum.at(greatest, theirs // rows, times)
    return greatest


def _list_greatest(
    of: NDArray[np.int64], held: NDArray[np.int64], number: int
) -> NDArray[np.int64]:
    """The greatest 1 + `_OTHERS` numbers of each class, falling, 0 where there are fewer."""
    order = np.lexsort((-held, of))
    start = np.searchsorted(of[order], np.arange(number + 1))
    # int64 (classes, 1 + _OTHERS); places behind the end of a class become 0 below.
    place = start[:-1, None] + np.arange(1 + _OTHERS)
    found = held[order][place.clip(max=len(held) - 1)]
    return np.where(place < start[1:, None], found, 0)
