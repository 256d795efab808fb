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
from anon_core.series.histories import number_components
from anon_core.series.withdrawing_kernels import (
    HidingCell,
    MatchableGraph,
    Sides,
    add_companions,
    count_parties,
    find_return_paths,
    give_back,
    move_party,
    restrict_to_members,
)

# Prices of a companion, see `HidingCell`. Each is tried; a component keeps what pulls fewest.
_PRICES = ((2, 1, 2), (1, 1, 0), (1, 3, 1), (3, 0, 1))
_RETURNS = 4  # rounds in which pulled records are given back one by one; more change little
_GROUP = 4  # groups of so many times k are withdrawn whole


def widen_withdrawal(
    fits: Fits,
    k: NDArray[np.int32],
    going: NDArray[np.bool_],
    person: NDArray[np.int32] | None = None,
    *,
    ways: NDArray[np.int64] | None = None,
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
    ways : int64 (pairs,), optional
        By pair of `fits`: how many histories the record has if the row is its own. Then each record
        keeps k(v) histories in its part, or as many as the whole cell leaves it. None: one each.
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
    A part is a crowd if each record has k(v) matchable rows in it, or rows of k(v) people, and k(v)
    histories with these rows: rows that fit it, in its strongly connected component of the graph
    that leads from each record to the owners of rows that fit it (docs/theory.md, 10). The whole
    cell is always an answer. Companions are chosen greedily, at several prices, and parts that need
    not go are given back; each component keeps what pulls fewest. On Adult that is 1 % above what a
    solver proves to be needed (docs/decisions/028-series.md). Ties are decided by the order of
    records, or by the number of the person: pass both in an order that is secret and does not
    depend on the source's.
    """
    cell = _Parts.of(fits, k, going, person, ways)
    if not going.any() and least <= 0:
        return going.copy()
    _require_crowd(np.diff(cell.cell.start), k)
    goes = going if person is None else np.isin(person, person[going])
    cell.withdraw_fewest(goes)
    wanted = min(least, fits.n - int(goes.sum()))
    while (missing := wanted - int((cell.goes & ~goes).sum())) > 0:
        cell.withdraw(cell.next_group(missing))
        cell.complete()
    return cell.goes


def _require_crowd(rows: NDArray[np.int64], k: NDArray[np.int32]) -> None:
    """Refuse a cell in which some record fits fewer than k(v) rows."""
    if short := int((rows < k).sum()):
        raise InputError(
            f"{short} of {len(k)} records do not hide in the cell that they are in; only a cell "
            "that is a crowd can be divided"
        )


@dataclass(frozen=True)
class _Parts:
    """Both parts of a cell, and who hides among whom in each.

    Attributes
    ----------
    cell : HidingCell
        What the kernels read.
    graph : MatchableGraph
        Matchable pairs of the whole cell: no other pair is matchable in a part.
    sides : Sides
    """

    cell: HidingCell
    graph: MatchableGraph
    sides: Sides

    @classmethod
    def of(
        cls,
        fits: Fits,
        k: NDArray[np.int32],
        going: NDArray[np.bool_],
        person: NDArray[np.int32] | None,
        ways: NDArray[np.int64] | None,
    ) -> "_Parts":
        n, pairs = fits.n, len(fits.row)
        if k.shape != (n,) or going.shape != (n,) or going.dtype != np.bool_:
            raise InputError(f"k must be int32 ({n},) and going bool ({n},)")
        if person is not None and person.shape != (n,):
            raise InputError(f"person must be int32 ({n},)")
        if ways is not None and ways.shape != (pairs,):
            raise InputError(f"ways must be int64 ({pairs},)")
        ways = np.ones(pairs, dtype=np.int64) if ways is None else ways
        part = number_components(fits.start, fits.row)
        record = fits.record
        keep = part[record] == part[fits.row]
        record, row, ways = record[keep], fits.row[keep].astype(np.int64), ways[keep]
        ways = np.minimum(ways, k[record])  # more are not needed, and sums stay small
        start = np.searchsorted(record, np.arange(n + 1))
        graph = MatchableGraph(start, row.astype(np.int32), ways, *_list_items(row, record, n)[:2])
        of = np.arange(n) if person is None else np.unique(person, return_inverse=True)[1]
        parties = int(of.max(initial=-1)) + 1
        pair, place = np.unique(record * max(parties, 1) + of[row], return_inverse=True)
        hider, party = np.divmod(pair, max(parties, 1))
        with_party = _sum_by_group(ways, place, len(pair))
        back_start, back, order = _list_items(party, hider, parties)
        whole = _sum_by_group(ways, record, n)
        cell = HidingCell(
            np.searchsorted(hider, np.arange(n + 1)),
            party.astype(np.int32),
            with_party,
            back_start,
            back,
            with_party[order],
            *_list_items(of, np.arange(n), parties)[:2],
            of.astype(np.int32),
            k.astype(np.int32),
            np.minimum(k, whole),
            np.array(_PRICES[0], dtype=np.int64),
        )
        staying = np.diff(cell.start).astype(np.int32)
        nobody = np.zeros(parties, dtype=np.bool_)
        none = np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.int64)
        return cls(cell, graph, Sides(nobody, none[0], staying, none[1], whole))

    @property
    def goes(self) -> NDArray[np.bool_]:
        """Records that go, bool (n,)."""
        return self.sides.goes[self.cell.of]

    def components(self, members: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Number the strongly connected components among these records, int64 (n,); others -1."""
        inside = np.flatnonzero(members)
        place = np.where(members, np.cumsum(members) - 1, -1).astype(np.int32)
        start, row = self.graph.start, self.graph.row
        own_start = np.empty(len(inside) + 1, dtype=np.int64)
        own_row = np.empty(int(np.diff(start)[inside].sum()), dtype=np.int32)
        restrict_to_members(start, row, inside, place, own_start, own_row)
        part = np.full(len(members), -1, dtype=np.int64)
        part[inside] = number_components(own_start, own_row[: own_start[-1]])
        return part

    def count_in(self, part: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Parties of the own component that hide each record, and histories with their rows.

        Both int64 (n,); 0 outside of any component.
        """
        counted, ways = np.zeros(len(part), dtype=np.int64), np.zeros(len(part), dtype=np.int64)
        members = np.flatnonzero(part >= 0)
        count_parties(self.graph, part, self.cell.of, members, counted, ways)
        return counted, ways

    def find_short(self, part: NDArray[np.int64]) -> NDArray[np.int64]:
        """Records that do not hide in their component, or keep too few histories there."""
        counted, ways = self.count_in(part)
        short = (counted < self.cell.k) | (ways < self.cell.least)
        return np.flatnonzero((part >= 0) & short)

    def withdraw_fewest(self, going: NDArray[np.bool_]) -> None:
        """Withdraw these records, and few others, component by component."""
        block = self._blocks()
        number = int(block.max(initial=-1)) + 1
        best, fewest = self.sides.goes.copy(), np.full(number, len(block) + 1)
        nobody = self.sides.goes.copy()
        for price in _PRICES:
            self.cell.price[:] = price
            self._set(nobody)
            self.withdraw(np.flatnonzero(going))
            self.complete()
            self.give_back(going)
            size = np.bincount(block[self.sides.goes], minlength=number)
            # Companions never cross a block, so blocks of different prices can be put together.
            better = size < fewest
            fewest = np.where(better, size, fewest)
            best = np.where(better[block], self.sides.goes, best)
        self._set(best)

    def withdraw(self, records: NDArray[np.int64]) -> None:
        """Let these go, and companions by numbers: components are not looked at."""
        stack = np.empty(len(self.sides.goes), dtype=np.int32)
        waiting = 0
        for party in np.unique(self.cell.of[records]):
            if not self.sides.goes[party]:
                waiting = move_party(self.cell, self.sides, party, stack, waiting)
        add_companions(self.cell, self.sides, stack, waiting)

    def complete(self) -> None:
        """Widen those who go until both parts are crowds. Each round adds somebody."""
        while True:
            self._join()
            short = self.find_short(self.components(~self.goes))
            if not len(short):
                return
            self.withdraw(short)

    def _join(self) -> None:
        """Widen those who go until they are a crowd."""
        found = np.empty(len(self.cell.of), dtype=np.int64)
        while True:
            part = self.components(self.goes)
            wanting = self.find_short(part)
            if not len(wanting):
                return
            count = find_return_paths(self.cell, self.graph, self.sides.goes, part, wanting, found)
            # Nobody is found only if someone has no other row that fits: then nobody may stay.
            self.withdraw(found[:count] if count else np.arange(len(self.cell.of)))

    def give_back(self, needed: NDArray[np.bool_]) -> None:
        """Let stay again what need not go."""
        asked = np.zeros(len(self.sides.goes), dtype=np.bool_)
        asked[self.cell.of[needed]] = True
        for _ in range(_RETURNS):
            block = self._blocks()
            kept = np.zeros(len(asked), dtype=np.bool_)
            kept[block[asked]] = True
            self._set(self.sides.goes & kept[block])
            before = self.sides.goes.copy()
            part = self._parts()
            give_back(self.cell, self.graph, self.sides, part, *self.count_in(part), asked)
            self._set(self.sides.goes.copy())
            self.complete()
            # `complete` may have pulled others instead of those given back.
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
        if records == parties:  # each party is one record
            block = np.empty(parties, dtype=np.int64)
            block[self.cell.of] = part
            return block
        ends = self.cell.of.astype(np.int64), parties + part
        nodes = parties + records
        graph = csr_array((np.ones(records, dtype=np.int8), ends), shape=(nodes, nodes))
        return connected_components(graph, directed=False)[1][:parties].astype(np.int64)

    def _set(self, goes: NDArray[np.bool_]) -> None:
        """Let these parties go and no others."""
        cell, sides = self.cell, self.sides
        sides.goes[:] = goes
        go = goes[cell.party]
        among = np.diff(np.concatenate([[0], np.cumsum(go)])[cell.start])
        with_them = np.diff(np.concatenate([[0], np.cumsum(go * cell.ways)])[cell.start])
        # The sum of both sides does not depend on who goes.
        whole = sides.ways_going + sides.ways_staying
        sides.among_going[:] = among
        sides.among_staying[:] = np.diff(cell.start) - among
        sides.ways_going[:] = with_them
        sides.ways_staying[:] = whole - with_them

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
        if size[0] <= _GROUP * int(self.cell.k.max()):
            return np.flatnonzero(stays & (block == number[0]))
        spare = np.where(stays, self.sides.among_staying - self.cell.k, -1)
        seeds = max(1, missing // (_GROUP * int(self.cell.k.max())))
        return np.argsort(-spare, kind="stable")[:seeds]


def _sum_by_group(
    number: NDArray[np.int64], group: NDArray[np.int64], groups: int
) -> NDArray[np.int64]:
    """Sums of numbers by group, int64 (groups,)."""
    total = np.zeros(groups, dtype=np.int64)
    np.add.at(total, group, number)
    return total


def _list_items(
    owner: NDArray[np.int64], item: NDArray[np.int64], owners: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Items of each owner: (start (owners + 1,), items, the place of each among those given)."""
    order = np.argsort(owner, kind="stable")
    start = np.searchsorted(owner[order], np.arange(owners + 1))
    return start, item[order].astype(np.int32), order
