"""What crowds tell of the demands: an attacker who guesses k(v) from the rows that fit v."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class _DemandGuesses:
    """How well the number of rows that fit a record predicts the demand of the record.

    Attributes
    ----------
    levels : int
        Number of distinct demands.
    right : int
        Records for which the best rule guesses the demand. A rule gives a demand to each number of
        fitting rows, and a greater number gets no smaller demand.
    commonest : int
        Records with the demand that most records have: one guess for everybody.
    ruled_out : int
        Records that fit fewer rows than the greatest demand. If the release keeps its promise, this
        demand is surely not theirs.
    """

    levels: int
    right: int
    commonest: int
    ruled_out: int


def guess_demands(compatible: NDArray[np.int64], demanded: NDArray[np.int32]) -> _DemandGuesses:
    """Let an attacker who knows a record count its rows and guess its demand.

    Parameters
    ----------
    compatible : int64 (n,)
        Rows that each record fits.
    demanded : int32 (n,)
        k(v).

    Returns
    -------
    _DemandGuesses

    Notes
    -----
    The best rule is chosen with the demands known, so no rule of this kind does better. Rules of
    another kind may, such as one that looks at the masks themselves. Dynamic program over the
    distinct numbers of rows, upwards: `best[d]` is the most guesses right so far under rules that
    have given at most the d-th demand. Time O(distinct numbers * levels), memory O(levels) beside
    the counts.
    """
    demands, level = np.unique(demanded, return_inverse=True)
    _, place = np.unique(compatible, return_inverse=True)
    levels = len(demands)
    order = np.lexsort((level, place))
    pairs, times = np.unique(
        place[order].astype(np.int64) * levels + level[order], return_counts=True
    )
    of_place = pairs // levels
    best = np.zeros(levels, dtype=np.int64)
    for first, last in _find_runs(of_place):
        # No level repeats within a run, so += loses nothing. The running maximum lets a rule stay
        # at a lower demand.
        best[pairs[first:last] % levels] += times[first:last]
        np.maximum.accumulate(best, out=best)
    return _DemandGuesses(
        levels=levels,
        right=int(best[-1]),
        commonest=int(np.bincount(level).max()),
        ruled_out=int((compatible < demands[-1]).sum()),
    )


def _find_runs(numbers: NDArray[np.int64]) -> list[tuple[int, int]]:
    """First place of each run of equal numbers, and the place behind it."""
    starts = np.flatnonzero(np.diff(numbers, prepend=-1)).tolist()
    return list(zip(starts, [*starts[1:], len(numbers)], strict=True))
