"""Records of large tables that hide among equal ones: their rows need no masks, and no search.

A promise about crowds holds for a table if it holds for two parts of it: each part keeps its rows
to itself, and a crowd only grows by rows of the other part. Where many records are equal and demand
the same k, all but the first of them are a part of their own, whose rows are shown as they are. The
first ones stay with the rest of the table, so that rare records can hide among them.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import InfeasibleError
from anon_core.tables.orders import distinct_columns
from anon_core.tables.records import BinaryTable, MaskedTable

SPLIT_RECORDS = 2**18  # records of a table that is split


@dataclass(frozen=True)
class Unsettled:
    """The part of a table that an anonymizer must work on.

    Attributes
    ----------
    whole, data : BinaryTable
        The table, and that part of it.
    places : int64 (m,)
        The records of the part, ascending.
    tie_order : int64 (m,)
        The order that decides ties among them.
    settled : int64 (n - m,)
        All others, those of a group side by side.
    group : int64 (n - m,)
        Number of the group of each, from 0, ascending.
    """

    whole: BinaryTable
    data: BinaryTable
    places: NDArray[np.int64]
    tie_order: NDArray[np.int64]
    settled: NDArray[np.int64]
    group: NDArray[np.int64]

    @classmethod
    def of(
        cls, whole: BinaryTable, tie_order: NDArray[np.int64], *, large: int = SPLIT_RECORDS
    ) -> "Unsettled":
        """Split a table of `large` records or more; of a smaller one nothing is settled.

        Parameters
        ----------
        whole : BinaryTable
        tie_order : int64 (n,)
            The order of the records that decides ties: the first of a group are not settled.
        large : int, optional

        Notes
        -----
        A group is the records of equal levels and equal k, one of each person. As many of it as
        anybody demands stay unsettled; the others are settled if they are k or more. Records with
        cells that must be hidden stay. Nothing is settled where records had rows before, where
        classes must be diverse, or where people own so many of the records that are left that no
        crowd could be large enough.
        """
        none = np.empty(0, dtype=np.int64)
        nothing = cls(whole, whole, np.arange(whole.records), tie_order, none, none)
        if whole.records < large or whole.pasts is not None or whole.diverse is not None:
            return nothing
        settled, group = _find_settled_records(whole, tie_order)
        rest = np.ones(whole.records, dtype=np.bool_)
        rest[settled] = False
        places = np.flatnonzero(rest)
        part = whole.at(places)
        try:
            part.refuse_impossible_demands()
        except InfeasibleError:
            return nothing
        place = np.cumsum(rest) - 1
        # The whole's order without the settled records, in numbers of the part.
        return cls(whole, part, places, place[tie_order[rest[tie_order]]], settled, group)

    def restore_whole(self, result: MaskedTable) -> MaskedTable:
        """The whole table with the masks of the part; settled rows show everything.

        Where seats have chances, each settled row is held by its record and those next to it.
        """
        if not len(self.settled):
            return result
        hidden = np.zeros((self.whole.records, self.whole.codebook.words), dtype=np.uint64)
        hidden[self.places] = result.hidden
        holders = None
        if result.holders is not None:
            holders = np.empty((self.whole.records, result.holders.shape[1]), dtype=np.int32)
            holders[self.places] = self.places.astype(np.int32)[result.holders]
            size = np.bincount(self.group)[self.group]
            first = np.searchsorted(self.group, self.group)
            own = np.arange(len(first)) - first
            for share in range(holders.shape[1]):
                # A ring of the group: each record holds D shares in all, ceil(D / size) of a row at
                # most. That is at most D / k, since size >= k and k divides D.
                holders[self.settled, share] = self.settled[first + (own + share) % size]
        return MaskedTable(self.whole, hidden, result.steps, result.result_step, holders)


def _find_settled_records(
    whole: BinaryTable, tie_order: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The records that hide among equal ones, those of a group side by side, and their groups."""
    kind, _ = distinct_columns(np.vstack([whole.codes, whole.k[None]]))
    alone = np.logical_not(whole.blank.any(axis=0))
    if whole.person is not None:  # one record of each person: the first
        # In a crowd of people, rows of one person count once: one record of each is enough.
        pair = kind * (int(whole.person.max()) + 1) + whole.person
        first = np.unique(pair[tie_order], return_index=True)[1]
        once = np.zeros(whole.records, dtype=np.bool_)
        once[tie_order[first]] = True
        alone &= once
    chosen = tie_order[alone[tie_order]]
    # Stable: within a group the secret order stays, so it says who is settled.
    chosen = chosen[np.argsort(kind[chosen], kind="stable")]
    of = kind[chosen]
    place = np.arange(len(of)) - np.searchsorted(of, of)
    size = np.bincount(of)[of] if len(of) else of
    # The greatest k of all, not the group's: a rare record of that k may hide among this group.
    stay = int(whole.k.max())
    settles = (size - stay >= whole.k[chosen]) & (place >= stay)
    return chosen[settles], np.unique(of[settles], return_inverse=True)[1].astype(np.int64)
