"""Means and quantiles of columns of numbers, of all rows or of groups of them."""

import datetime as dt
from dataclasses import dataclass
from math import floor, hypot, sqrt
from typing import NamedTuple

import numpy as np
import polars as pl

from crowdcover.errors import ReleaseError
from crowdcover.reader.answers.conditions import at_most
from crowdcover.reader.answers.estimates import Asked, Group, count_of, group_of, take_everyone
from crowdcover.reader.answers.weights import Weights
from crowdcover.reader.coded.cells import Floats
from crowdcover.reader.coded.columns import Bounds, Column, bounds_of
from crowdcover.reader.coded.named import label_name

_ANSWERS = ("expected", "error", "lo", "hi")


@dataclass(frozen=True)
class Mean:
    """A mean, in the unit of its column; a date in days since 1970-01-01.

    Attributes
    ----------
    expected, error, drawn : float
        The estimate, its standard error about the mean of these rows, and the standard deviation
        of completed tables, as of `Count`.
    lo, hi : float
        The mean of these rows is between the two; infinite where a group is open.
    """

    expected: float
    error: float
    drawn: float
    lo: float
    hi: float


@dataclass(frozen=True)
class Quantile:
    """A quantile, in the unit of its column; a date in days since 1970-01-01.

    Attributes
    ----------
    expected, error : float
        The estimate, and its standard error about the quantile of these rows: half the distance
        between the quantiles one standard error of the count of rows below.
    lo, hi : float
        The quantile of these rows is between the two; infinite where a group is open.
    """

    expected: float
    error: float
    lo: float
    hi: float


class CellEnds(NamedTuple):
    """Rows with the same ends, float64 (n,) each: the ends, and how many rows have them.

    `sure` rows have a value and are asked for, `free` ones may be.
    """

    lo: Floats
    hi: Floats
    sure: Floats
    free: Floats


def mean_of(column: Column, weights: Weights, people: Floats) -> Mean:
    """The mean over the rows that have a value; `people` float64 (rows,): how much each counts."""
    everyone = take_everyone(len(people))
    return _mean_within(column, weights, bounds_of(column), everyone, people)


def means_by(column: Column, weights: Weights, by: Asked, people: Floats) -> pl.DataFrame:
    """The mean within each group of another column."""
    label = label_name(by.column.name, _ANSWERS)
    names, groups = zip(*by.list_groups(), strict=True)
    bounds = bounds_of(column)
    means = [_mean_within(column, weights, bounds, group, people) for group in groups]
    numbers = {each: [float(getattr(mean, each)) for mean in means] for each in _ANSWERS}
    return pl.DataFrame({label: list(names), **numbers})


def _mean_within(
    column: Column, weights: Weights, bounds: Bounds, group: Group, people: Floats
) -> Mean:
    expected, drawn = _compute_mean(column, weights, group.chance, people)
    beside, _ = _compute_mean(column, weights.beside, group.beside, people)
    ends = _count_cell_ends(column, bounds, group, people)
    lo = _find_least_mean(ends.lo, ends.sure, ends.free)
    hi = -_find_least_mean(-ends.hi, ends.sure, ends.free)
    return Mean(expected, hypot(drawn, expected - beside), drawn, lo, hi)


def _compute_mean(
    column: Column, weights: Weights, of_rows: Floats, people: Floats
) -> tuple[float, float]:
    """The expected mean, and its standard deviation over completed tables.

    `of_rows` float64 (rows,): the chance of each row to count.
    """
    levels, cells = column.levels, len(column.cells.sizes)
    given = (~levels.missing).astype(np.float64)
    middle = np.where(levels.missing, 0.0, np.nan_to_num(levels.middles()))
    lo, hi = levels.spans()
    # The variance of a number that is spread evenly from lo to hi.
    inside = np.where(np.isnan(levels.shown), (hi - lo) ** 2 / 12, 0.0)
    square = np.where(levels.missing, 0.0, np.nan_to_num(middle**2 + inside))
    chance, first, second = (weights.mean(each) for each in (given, middle, square))
    times, once, twice = (
        np.bincount(column.which, weights=each, minlength=cells)
        for each in (people * of_rows, people**2 * of_rows, (people * of_rows) ** 2)
    )
    count = float((times * chance).sum())
    unknown = np.isnan(levels.middles())[~levels.missing].all()  # one group of all numbers
    if not count or unknown:
        return float("nan"), float("nan")
    mean = float((times * first).sum()) / count
    # Of the ratio of two sums: the variance of (number - mean) over rows with a value that count.
    off = first - mean * chance
    spread = once * (second - 2 * mean * first + mean**2 * chance) - twice * off**2
    spread = np.where(spread > 1e-12 * once * second, spread, 0.0)  # exact cells, but for rounding
    return mean, sqrt(float(spread.sum())) / count


def _count_cell_ends(column: Column, bounds: Bounds, group: Group, people: Floats) -> CellEnds:
    """The ends of the cells that rows of the group have, and how many people these are."""
    lo, hi, given = bounds
    cells = len(column.cells.sizes)
    certain, possible = (
        np.bincount(column.which, weights=people * each, minlength=cells)
        for each in (group.certain, group.possible)
    )
    some = ~np.isnan(lo) & (possible > 0)
    sure = np.where(given, certain, 0.0).astype(np.float64)
    return CellEnds(lo[some], hi[some], sure[some], (possible - sure)[some].astype(np.float64))


def _find_least_mean(ends: Floats, sure: Floats, free: Floats) -> float:
    """The least mean: rows that may not count do so only where this lowers the mean."""
    held = sure > 0
    number, total = float(sure.sum()), float((sure * np.where(held, ends, 0.0)).sum())
    open_ = np.flatnonzero(free > 0)
    for cell in open_[np.argsort(ends[open_], kind="stable")].tolist():
        # Ends ascend: after the first that does not lower the mean, none does.
        if number and ends[cell] >= total / number:
            break
        number, total = number + free[cell], total + free[cell] * ends[cell]
    return total / number if number else float("nan")


def quantile_of(column: Column, weights: Weights, q: float, people: Floats) -> Quantile:
    """The least number that a share q of the rows with a value reach or stay below.

    The error turns that of the share of rows below around.

    R. S. Woodruff, Confidence Intervals for Medians and Other Position Measures, Journal of the
    American Statistical Association 47, 1952.
    """
    if not isinstance(q, int | float) or not 0 < q < 1:
        raise ReleaseError("a quantile is a number between 0 and 1, such as 0.5")
    times = np.bincount(column.which, weights=people, minlength=len(column.cells.sizes))
    counts = weights.totals(times.astype(np.float64))[~column.levels.missing]
    total = float(counts.sum())
    lo, hi = (each[~column.levels.missing] for each in column.levels.spans())
    shown = column.levels.shown[~column.levels.missing]
    lo, hi = np.where(np.isnan(shown), lo, shown), np.where(np.isnan(shown), hi, shown)
    if not total or np.isnan(lo).all():
        return Quantile(*[float("nan")] * 4)
    ends = np.cumsum(counts) / total

    def invert(share: float) -> float:
        """The number below which this share of the rows lies."""
        level = min(int(np.searchsorted(ends, share - 1e-12)), len(ends) - 1)
        before = ends[level] - counts[level] / total
        inside = (share - before) / max(ends[level] - before, 1e-12)
        return float(lo[level] + min(1.0, max(0.0, inside)) * (hi[level] - lo[level]))

    expected = invert(q)
    end: float | dt.date = expected
    if column.levels.kind == "date":
        end = dt.date(1970, 1, 1) + dt.timedelta(days=floor(expected))
    below = count_of([group_of(column, weights, at_most(end))], people)
    off = below.error / total
    error = (invert(min(1.0, q + off)) - invert(max(0.0, q - off))) / 2
    held = _count_cell_ends(column, bounds_of(column), take_everyone(len(people)), people)
    least = _find_least_quantile(held.lo, held.sure, held.free, q)
    return Quantile(expected, error, least, _find_greatest_quantile(held, q))


def _find_least_quantile(ends: Floats, sure: Floats, free: Floats, q: float) -> float:
    """The least quantile: rows that may lack a value have one only at or below it."""
    order = np.argsort(ends, kind="stable")
    reached = np.cumsum(sure[order] + free[order])
    beyond = sure.sum() - np.cumsum(sure[order])
    enough = np.flatnonzero(reached >= q * (reached + beyond) - 1e-9)
    return float(ends[order][enough[0]])


def _find_greatest_quantile(ends: CellEnds, q: float) -> float:
    """The greatest quantile: rows that may lack a value have one only above it."""
    order = np.argsort(ends.hi, kind="stable")
    sure, free = ends.sure[order], ends.free[order]
    reached = np.cumsum(sure)
    beyond = sure.sum() - reached + free.sum() - np.cumsum(free)
    enough = np.flatnonzero((reached > 0) & (reached >= q * (reached + beyond) - 1e-9))
    return float(ends.hi[order][enough[0] if len(enough) else -1])
