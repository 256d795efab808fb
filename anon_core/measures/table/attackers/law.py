"""The law that seats were drawn from: how likely each record sits in each row."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.measures.table.attackers.attacks import Tightest
from anon_core.measures.table.attackers.refinement import Refinement, refine_by_shares
from anon_core.measures.table.classes import Classes, ReleasedCells, index_distinct_columns
from anon_core.measures.table.crowds import fits_own_row

_OTHERS = 2  # people whose rows an attacker knows at most
_AT_ONCE = 2**17  # rows whose shares are sorted at a time


@dataclass(frozen=True)
class Law:
    """Chances of records to sit in rows, as whole shares of each row.

    Attributes
    ----------
    kind : int32 (n,)
        Which kind each record is of: those of a kind have equal levels, k and person. All chances
        below are by kind, `chances[kind]` by record.
    likeliest : float64 (kinds,)
        The chance of a record to sit in its likeliest row.
    ruled_out : float64 (kinds, _OTHERS)
        The same if the rows of 1, 2, .. others are known and ruled out: those others whose rows
        are the next likeliest ones.
    tightest : float64 (kinds,)
        The chance that a guess among its tightest rows is right.
    of_person : float64 (kinds,)
        The chance that the likeliest row of a record's person is a row of that person; where each
        record is a person, `likeliest`.
    above : int
        Records with a chance above 1/k(v), or of people whose chance in some row is above 1/k(v).
    unfit : int
        Pairs of records and rows with a chance, where the record does not fit the row.
    uneven : int
        Records whose chances do not sum to 1.
    unseated : int
        Records whose own row has no chance to be theirs.
    refinement : Refinement
        What these chances tell of masked cells.
    """

    kind: NDArray[np.int32]
    likeliest: NDArray[np.float64]
    ruled_out: NDArray[np.float64]
    tightest: NDArray[np.float64]
    of_person: NDArray[np.float64]
    above: int
    unfit: int
    uneven: int
    unseated: int
    refinement: Refinement

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
    """Judge shares of rows, in whole numbers; time O(n D), memory O(n) beside the holders.

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
    shares = holders.shape[1]
    alike = [*codes, k, *(() if person is None else (person,))]
    kind, first = index_distinct_columns(alike)
    size = np.bincount(kind)
    here = classes.record_class[first]
    total, guessed = np.zeros((2, len(size)), dtype=np.int64)
    greatest, unfit = np.zeros((len(size), 1 + _OTHERS), dtype=np.int64), 0
    for of, row, held in _list_pairs(holders, kind):
        np.add.at(total, of, held)
        tight = tightest.rank[classes.row_class[row]] == tightest.least[here[of]]
        np.add.at(guessed, of, np.where(tight, held, 0))
        _raise_greatest(greatest, of, held)
        unfit += int((~fits_own_row(codes[:, first[of]], released, row)).sum())
    most, rest = greatest[:, 0], (size * shares)[:, None] - np.cumsum(greatest[:, 1:], axis=1)
    guesses = np.maximum(1, tightest.alike[here])  # 0: a record that fits no row
    likeliest = most / (size * shares)
    of_person, above = likeliest, most * k[first] > size * shares  # exactly 1/k is not
    if person is not None:
        together = _list_greatest_of_people(holders, person)[person[first]]
        of_person, above = together / shares, above | (together * k[first] > shares)
    return Law(
        kind=kind,
        likeliest=likeliest,
        ruled_out=most[:, None] / np.maximum(most[:, None], rest),
        tightest=guessed / guesses / (size * shares),
        of_person=of_person,
        above=int(size[above].sum()),
        unfit=unfit,
        uneven=int(size[total != size * shares].sum()),
        unseated=_count_unseated(holders, seat, kind),
        refinement=refine_by_shares(codes, released, classes, holders),
    )


def _list_greatest_of_people(
    holders: NDArray[np.integer[Any]], person: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the most shares of one row that records of each person hold, int64 (people,)."""
    greatest = np.zeros(int(person.max()) + 1, dtype=np.int64)
    # Shares of several records of a person in one row add up.
    for who, _, held in _list_pairs(holders, person):
        np.maximum.at(greatest, who, held)
    return greatest


def _list_pairs(
    holders: NDArray[np.integer[Any]], owner: NDArray[np.integer[Any]]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]:
    """Owners of shares, the row of the shares, and how many there are, for some rows at a time.

    `owner` is that of each record. Pairs rise by owner, then by row.
    """
    for at in range(0, len(holders), _AT_ONCE):
        some = owner[holders[at : at + _AT_ONCE]].astype(np.int64, copy=False)
        pair, held = np.unique(some * len(some) + np.arange(len(some))[:, None], return_counts=True)
        of, row = np.divmod(pair, len(some))
        yield of, row + at, held


def _count_unseated(
    holders: NDArray[np.integer[Any]], seat: NDArray[np.int64], kind: NDArray[np.int32]
) -> int:
    """Count the records of whose own row no record of their kind holds a share."""
    return sum(
        int((kind[holders[seat[part]]] != kind[part, None]).all(axis=1).sum())
        for part in (slice(at, at + _AT_ONCE) for at in range(0, len(seat), _AT_ONCE))
    )


def _raise_greatest(
    greatest: NDArray[np.int64], of: NDArray[np.int64], held: NDArray[np.int64]
) -> None:
    """Put these numbers of some classes, `of` rising, among the greatest of each class."""
    there, place = np.unique(of, return_inverse=True)
    both = np.hstack([greatest[there], _list_greatest(place, held, len(there))])
    greatest[there] = np.sort(both, axis=1)[:, : -greatest.shape[1] - 1 : -1]


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
