"""How far two tables differ at least and at most, as far as their masked cells tell.

A masked cell allows several values, one of which is the true one. So the share of rows that hold a
value lies between two bounds, and so does the difference of two shares.
"""

from collections.abc import Hashable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

ShownInterval = tuple[float, float]


class Spans(NamedTuple):
    """The numbers that the cell of each row allows.

    Attributes
    ----------
    low, high : float64 (rows,)
        Ends of the interval; -inf and inf where it is open. Missing values are -inf to -inf.
    excludes_low : bool (rows,)
        Whether the low end itself is not allowed.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    excludes_low: NDArray[np.bool_]


def find_share_bounds(
    cell: NDArray[np.int32], levels: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Least and greatest share of the rows that hold each level.

    Parameters
    ----------
    cell : int32 (rows,)
        Index of each row's cell among the distinct ones.
    levels : bool (distinct, levels)
        Levels that each distinct cell allows.

    Returns
    -------
    least, greatest : float64 (levels,)
    """
    rows = np.bincount(cell, minlength=len(levels))
    only = levels & (levels.sum(axis=1) == 1)[:, np.newaxis]
    least, greatest = rows @ only, rows @ levels
    return least / len(cell), greatest / len(cell)


def shift_of_categories(
    earlier: Mapping[Hashable, ShownInterval], later: Mapping[Hashable, ShownInterval]
) -> ShownInterval:
    """Bounds of the greatest change of the share of one category.

    A category that a table lacks has the share 0.
    """
    least = greatest = 0.0
    for name in earlier.keys() | later.keys():
        was, now = earlier.get(name, (0.0, 0.0)), later.get(name, (0.0, 0.0))
        least = max(least, now[0] - was[1], was[0] - now[1])
        greatest = max(greatest, now[1] - was[0], was[1] - now[0])
    return least, greatest


def shift_of_numbers(earlier: Spans, later: Spans) -> ShownInterval:
    """Bounds of the greatest change of the share of rows up to a number (Kolmogorov-Smirnov).

    Notes
    -----
    The share up to t is at least that of rows whose interval ends by t, at most that of rows whose
    interval begins by t. Both change at ends of intervals only. An end that is excluded begins
    right after it, where the upper bound is taken.
    """
    at = np.unique(np.concatenate([earlier.low, earlier.high, later.low, later.high]))
    was, now = _up_to(earlier, at), _up_to(later, at)
    least = max(0.0, float(np.max(now[0] - was[1])), float(np.max(was[0] - now[1])))
    greatest = max(0.0, float(np.max(now[2] - was[0])), float(np.max(was[2] - now[0])))
    return least, greatest


def _up_to(
    table: Spans, at: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Least share up to each number, greatest share up to it, and right after it."""
    rows = len(table.low)
    ended = np.searchsorted(np.sort(table.high), at, side="right")
    after = np.searchsorted(np.sort(table.low), at, side="right")
    later = np.sort(table.low[table.excludes_low])
    same = np.searchsorted(later, at, side="right") - np.searchsorted(later, at, side="left")
    return ended / rows, (after - same) / rows, after / rows
