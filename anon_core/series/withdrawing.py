"""Who must be withdrawn together with those who go, so that both parts of a cell hide themselves.

A cell is a set of records whose rows were published together from one version to another. Rows and
records of one cell hide only among each other.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from anon_core.errors import InputError
from anon_core.series.fits import Fits
from anon_core.series.withdrawing_kernels import (
    Cell,
    Sides,
    count_parties,
    give_back,
    grow,
    join,
    move,
    restrict,
)

RETURNS = 4  # rounds in which pulled records are given back one by one; more change little
GROUP = 4  # groups of so many times k are withdrawn whole


def pulled(
    fits: Fits,
    k: NDArray[np.int32],
    going: NDArray[np.bool_],
    person: NDArray[np.int32] | None = None,
    *,
    least: int = 0,
) -> NDArray[np.bool_]:
    """Widen those who go until they hide among each other, and those who stay, too.

    Parameters
    ----------
    fits : Fits
        Of the records of one cell, which is a crowd: see Notes.
    k : int32 (n,)
    going : bool (n,)
        Whose rows are withdrawn in any case.
    person : int32 (n,), optional
        Number of each record's person where people own several records. All records of a person go
        together, and `k` counts people.
    least : int
        Records beyond those of `going` that must go at least; everybody if there are fewer.

    Returns
    -------
    bool (n,)
        Who goes: nobody if nobody has to, at most everybody.

    Raises
    ------
    InputError
        The arrays do not fit together, or the cell is no crowd.

    Notes
    -----
    A part is a crowd if each record has k(v) matchable rows in it, or rows of k(v) people: rows
    that fit it, in its strongly connected component of the graph that leads from each record to the
    owners of rows that fit it (docs/theory.md, 10). The whole cell is always an answer. The
    smallest is not sought: companions are chosen greedily, local changes only, and parts that need
    not go are given back. Ties are decided by the order of records, or by the number of the person:
    pass both in an order that is secret and does not depend on the source's.
    """
    cell = _Parts.of(fits, k, going, person)
    if not going.any() and least <= 0:
        return going.copy()
    short = int((np.diff(cell.cell.start) < k).sum())
    if short:
        raise InputError(
            f"{short} of {fits.n} records do not hide in the cell that they are in; only a cell "
            "that is a crowd can be divided"
        )
    goes = going if person is None else np.isin(person, person[going])
    cell.withdraw(np.flatnonzero(goes))
    cell.complete()
    cell.give_back(goes)
    wanted = min(least, fits.n - int(goes.sum()))
    while (missing := wanted - int((cell.goes & ~goes).sum())) > 0:
        cell.withdraw(cell.next_group(missing))
        cell.complete()
    return cell.goes


@dataclass(frozen=True)
class _Parts:
    """Both parts of a cell, and who hides among whom in each.

    Attributes
    ----------
    cell : Cell
        What the kernels read.
    fits : Fits
        Matchable pairs of the whole cell only: no other pair is matchable in a part.
    reverse : tuple of int64 (n + 1,), int32 (pairs,)
        Records that fit each row.
    sides : Sides
    """

    cell: Cell
    fits: Fits
    reverse: tuple[NDArray[np.int64], NDArray[np.int32]]
    sides: Sides

    @classmethod
    def of(
        cls,
        fits: Fits,
        k: NDArray[np.int32],
        going: NDArray[np.bool_],
        person: NDArray[np.int32] | None,
    ) -> "_Parts":
        n = fits.n
        if k.shape != (n,) or going.shape != (n,) or going.dtype != np.bool_:
            raise InputError(f"k must be int32 ({n},) and going bool ({n},)")
        if person is not None and person.shape != (n,):
            raise InputError(f"person must be int32 ({n},)")
        part = strong_components(fits.start, fits.row)
        record = fits.record
        keep = part[record] == part[fits.row]
        record, row = record[keep], fits.row[keep].astype(np.int64)
        matchable = Fits.of_pairs(record, row, n)
        of = np.arange(n) if person is None else np.unique(person, return_inverse=True)[1]
        parties = int(of.max(initial=-1)) + 1
        pairs = record * max(parties, 1) + of[row]
        if person is not None:  # each party once a record
            pairs = np.sort(pairs)
            pairs = pairs[np.diff(pairs, prepend=-1) > 0]
        hider, party = np.divmod(pairs, max(parties, 1))
        cell = Cell(
            np.searchsorted(hider, np.arange(n + 1)),
            party.astype(np.int32),
            *_lists(party, hider, parties),
            *_lists(of, np.arange(n), parties),
            of.astype(np.int32),
            k.astype(np.int32),
        )
        staying = np.diff(cell.start).astype(np.int32)
        sides = Sides(np.zeros(parties, dtype=np.bool_), np.zeros(n, dtype=np.int32), staying)
        return cls(cell, matchable, _lists(row, record, n), sides)

    @property
    def goes(self) -> NDArray[np.bool_]:
        """Records that go, bool (n,)."""
        return self.sides.goes[self.cell.of]

    def components(self, members: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Number the strongly connected components among these records, int64 (n,); others -1."""
        inside = np.flatnonzero(members)
        place = np.where(members, np.cumsum(members) - 1, -1).astype(np.int32)
        start, row = self.fits.start, self.fits.row
        own_start = np.empty(len(inside) + 1, dtype=np.int64)
        own_row = np.empty(int(np.diff(start)[inside].sum()), dtype=np.int32)
        restrict(start, row, inside, place, own_start, own_row)
        part = np.full(self.fits.n, -1, dtype=np.int64)
        part[inside] = strong_components(own_start, own_row[: own_start[-1]])
        return part

    def counted(self, part: NDArray[np.int64]) -> NDArray[np.int64]:
        """Parties of the own component that hide each record, int64 (n,); 0 outside of any."""
        counted = np.zeros(self.fits.n, dtype=np.int64)
        members = np.flatnonzero(part >= 0)
        count_parties(self.fits.start, self.fits.row, part, self.cell.of, members, counted)
        return counted

    def withdraw(self, records: NDArray[np.int64]) -> None:
        """Let these go, and companions by numbers: components are not looked at."""
        stack = np.empty(len(self.sides.goes), dtype=np.int32)
        waiting = 0
        for party in np.unique(self.cell.of[records]):
            if not self.sides.goes[party]:
                waiting = move(self.cell, self.sides, party, stack, waiting)
        grow(self.cell, self.sides, stack, waiting)

    def complete(self) -> None:
        """Widen those who go until both parts are crowds. Each round adds somebody."""
        while True:
            self._join()
            stays = ~self.goes
            fall_short = stays & (self.counted(self.components(stays)) < self.cell.k)
            if not fall_short.any():
                return
            self.withdraw(np.flatnonzero(fall_short))

    def _join(self) -> None:
        """Widen those who go until they are a crowd."""
        found = np.empty(self.fits.n, dtype=np.int64)
        fits, goes = (self.fits.start, self.fits.row), self.sides.goes
        while True:
            part = self.components(self.goes)
            wanting = np.flatnonzero(self.goes & (self.counted(part) < self.cell.k))
            if not len(wanting):
                return
            count = join(self.cell, fits, self.reverse, goes, part, wanting, found)
            # Nobody is found only if someone has no other row that fits: then nobody may stay.
            self.withdraw(found[:count] if count else np.arange(self.fits.n))

    def give_back(self, needed: NDArray[np.bool_]) -> None:
        """Let stay again what need not go."""
        asked = np.zeros(len(self.sides.goes), dtype=np.bool_)
        asked[self.cell.of[needed]] = True
        for _ in range(RETURNS):
            block = self._blocks()
            kept = np.zeros(len(asked), dtype=np.bool_)
            kept[block[asked]] = True
            self._set(self.sides.goes & kept[block])
            before = self.sides.goes.copy()
            part = self._parts()
            fits = self.fits.start, self.fits.row
            counted = self.counted(part)
            give_back(self.cell, fits, self.reverse, self.sides, part, counted, asked)
            self._set(self.sides.goes.copy())
            self.complete()
            if self.sides.goes.sum() >= before.sum():
                self._set(before)
                return

    def _parts(self) -> NDArray[np.int64]:
        """Number the components of both sides."""
        goes, stays = self.components(self.goes), self.components(~self.goes)
        return np.where(stays < 0, goes + int(stays.max(initial=-1)) + 1, stays)

    def _blocks(self) -> NDArray[np.int64]:
        """Number, by party, the groups of parties of one side that share components."""
        part = self._parts()
        records, parties = len(part), len(self.sides.goes)
        ends = self.cell.of.astype(np.int64), parties + part
        nodes = parties + records
        graph = csr_array((np.ones(records, dtype=np.int8), ends), shape=(nodes, nodes))
        return connected_components(graph, directed=False)[1][:parties].astype(np.int64)

    def _set(self, goes: NDArray[np.bool_]) -> None:
        """Let these parties go and no others."""
        cell, sides = self.cell, self.sides
        sides.goes[:] = goes
        among = np.concatenate([[0], np.cumsum(goes[cell.party])])[cell.start]
        sides.among_going[:] = np.diff(among)
        sides.among_staying[:] = np.diff(cell.start) - np.diff(among)

    def next_group(self, missing: int) -> NDArray[np.int64]:
        """Records to withdraw if so many more must go.

        The smallest groups that hide themselves, as far as they do not pass what is missing; where
        there is none, records of the most spare rows.
        """
        stays = ~self.goes
        block = self._blocks()[self.cell.of]
        number, first, size = np.unique(block[stays], return_index=True, return_counts=True)
        ranked = np.lexsort([first, size])
        number, size = number[ranked], size[ranked]
        fit = number[np.cumsum(size) <= missing]
        if len(fit):
            return np.flatnonzero(stays & np.isin(block, fit))
        if size[0] <= GROUP * int(self.cell.k.max()):
            return np.flatnonzero(stays & (block == number[0]))
        spare = np.where(stays, self.sides.among_staying - self.cell.k, -1)
        seeds = max(1, missing // (GROUP * int(self.cell.k.max())))
        return np.argsort(-spare, kind="stable")[:seeds]


def strong_components(start: NDArray[np.int64], row: NDArray[np.int32]) -> NDArray[np.int64]:
    """Number the components of the graph that leads to owners of rows that fit, int64 (n,)."""
    n = len(start) - 1
    graph = csr_array((np.ones(len(row), dtype=np.int8), row, start), shape=(n, n))
    _, part = connected_components(graph, directed=True, connection="strong")
    return part.astype(np.int64)


def _lists(
    owner: NDArray[np.int64], item: NDArray[np.int64], owners: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Items of each owner: (start (owners + 1,), items)."""
    order = np.argsort(owner, kind="stable")
    start = np.searchsorted(owner[order], np.arange(owners + 1))
    return start, item[order].astype(np.int32)
