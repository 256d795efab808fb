"""Which records to leave out of a release: those whose absence saves most."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.local_search.local_search import LocalSearch
from anon_core.errors import LimitError
from anon_core.seating.shares import MOST_SHARES, shares_of
from anon_core.tables.loss import loss_table
from anon_core.tables.records import BinaryTable

_AT_ONCE = 2**20  # holders that are looked at together


def choose_left_out(data: BinaryTable, share: float) -> NDArray[np.bool_]:
    """Choose at most this share of the records, those whose absence saves most.

    A quick release tells what a record costs: what its own row loses, and by how much each row that
    it holds is wider than its other holders need. The release is a function of quasi-identifiers
    and k, so the choice is, too.

    Parameters
    ----------
    data : BinaryTable
        (n records)
    share : float
        At most 1. Never so many are chosen that somebody's k, times the records that the person
        owns, exceeds what is left.

    Returns
    -------
    bool (n,)
        The records that are left out. Where people own several, all records of a person go, and
        people are compared by what they save per record. Who saves nothing stays.
    """
    leveled = replace(data, k=_round_levels(data.k))
    quick = LocalSearch(effort=0, seats="even").anonymize(leveled)
    assert quick.holders is not None
    saved = compute_savings(leveled, quick.holders)
    owner = np.arange(data.records) if data.person is None else data.person
    owned = np.bincount(owner)
    needed = int((owned[owner] * data.k.astype(np.int64)).max())  # a person has 1/k of all at most
    most = min(int(share * data.records), data.records - needed)
    of_owner = np.bincount(owner, weights=saved) / np.maximum(1, owned)
    ranked = np.argsort(-of_owner, kind="stable")
    goes = ranked[(np.cumsum(owned[ranked]) <= most) & (of_owner[ranked] > 0)]
    left_out = np.zeros(len(owned), dtype=np.bool_)
    left_out[goes] = True
    return left_out[owner]


def _round_levels(k: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return levels of which even seats exist: where they are many, powers of two below them."""
    try:
        shares_of(k)
    except LimitError:
        k = np.minimum(2 ** np.floor(np.log2(k)), MOST_SHARES).astype(k.dtype)
    return k


def compute_savings(data: BinaryTable, holders: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return what each record costs, float64 (n,): see `choose_left_out`.

    `holders` int32 (n, D) as of `EvenRows`: one of several equal records stands for all of them,
    and each has its part.
    """
    loss = loss_table(data.codebook, "rank")
    own, of_class = np.zeros(data.records), np.zeros(data.records)
    step = max(1, _AT_ONCE // holders.shape[1])
    for begin in range(0, data.records, step):
        held = holders[begin : begin + step]
        first_level = 0
        for place, attribute in enumerate(data.codebook.attributes):
            runs = _Runs.of(data.codes[place][held], held)
            if attribute.ordinal:
                position = loss.position[first_level : first_level + attribute.levels]
                lost, less = _count_intervals(runs, position, int(loss.whole[place]))
            else:
                lost, less = _count_sets(runs, int(loss.step[place]))
            first_level += attribute.levels
            own[begin : begin + step] += lost
            of_class += np.bincount(runs.least, less * runs.alone, minlength=data.records)
    _, of, members = np.unique(
        np.column_stack([*data.codes, data.k]), axis=0, return_inverse=True, return_counts=True
    )
    of = of.ravel()
    saved: NDArray[np.float64] = own + (np.bincount(of, weights=of_class) / members)[of]
    return saved


@dataclass(frozen=True)
class _Runs:
    """The shares of rows by level: a run is what the holders of one level have of one row.

    Attributes
    ----------
    level : int32 (runs,)
        In ascending order within each row.
    least : int32 (runs,)
        The holder of the smallest number.
    alone : bool (runs,)
        Whether it is the only one.
    first : int64 (rows,)
        The first run of each row.
    last : int64 (rows,)
        The last one.
    """

    level: NDArray[np.int32]
    least: NDArray[np.int32]
    alone: NDArray[np.bool_]
    first: NDArray[np.int64]
    last: NDArray[np.int64]

    @classmethod
    def of(cls, codes: NDArray[np.int32], held: NDArray[np.int32]) -> "_Runs":
        """From the level and the holder of each share, (rows, D)."""
        order = np.argsort(codes, axis=1, kind="stable")
        level = np.take_along_axis(codes, order, axis=1)
        holder = np.take_along_axis(held, order, axis=1).ravel()
        begins = np.ones(level.shape, dtype=np.bool_)
        begins[:, 1:] = level[:, 1:] != level[:, :-1]
        at = np.flatnonzero(begins)
        least = np.minimum.reduceat(holder, at)
        last = begins.sum(axis=1).cumsum() - 1
        first = np.concatenate([[0], last[:-1] + 1])
        alone = least == np.maximum.reduceat(holder, at)
        return cls(level.ravel()[at], least, alone, first, last)


def _count_intervals(
    runs: _Runs, position: NDArray[np.int64], whole: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """What each row loses by an interval, and how much less it loses without each run."""

    def lose(low: NDArray[np.int64], high: NDArray[np.int64]) -> NDArray[np.int64]:
        width: NDArray[np.int64] = position[runs.level[high]] - position[runs.level[low]]
        return np.minimum(width, whole)

    first, last = runs.first, runs.last
    lost, less = lose(first, last), np.zeros(len(runs.level), dtype=np.int64)
    less[first] = lost - lose(np.minimum(first + 1, last), last)
    less[last] = np.maximum(less[last], lost - lose(first, np.maximum(last - 1, first)))
    return lost, less


def _count_sets(runs: _Runs, step: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The same where a cell is a set of levels."""
    number = runs.last - runs.first + 1
    return (number - 1) * step, np.repeat(np.where(number > 1, step, 0), number)
