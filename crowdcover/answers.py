"""Counts, frequencies, means and crosstabs from weights."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdcover.cells import Floats
from crowdcover.columns import Column
from crowdcover.conditions import Condition, Met, met
from crowdcover.weights import Weights


@dataclass(frozen=True)
class Count:
    """How many people meet a condition, in rows.

    `certain, possible, expected = count` works, too.

    Attributes
    ----------
    certain, possible : int
        The true count is between the two.
    expected : float
    error : float
        Standard error of `expected` about the true count of these rows: what completed tables
        vary. Rows are taken to be independent.
    """

    certain: int
    possible: int
    expected: float
    error: float

    def __iter__(self) -> Iterator[float]:
        yield from (self.certain, self.possible, self.expected)

    @classmethod
    def of(cls, met: Sequence[Met], rows: int) -> "Count":
        """The count of rows that meet all of these, each float64 (rows,)."""
        if not met:
            return cls(rows, rows, float(rows), 0.0)
        certain, possible, share = (np.prod(each, axis=0) for each in zip(*met, strict=True))
        error = sqrt(float((share * (1 - share)).sum()))
        return cls(int(certain.sum()), int(possible.sum()), float(share.sum()), error)


@dataclass(frozen=True)
class Mean:
    """A mean, in the unit of its column; a date in days since 1970-01-01.

    Attributes
    ----------
    expected, error : float
        The estimate, and its standard error about the mean of these rows.
    lo, hi : float
        The mean of these rows is between the two.
    """

    expected: float
    error: float
    lo: float
    hi: float


def met_of(column: Column, weights: Weights, condition: Condition) -> Met:
    """How far each row meets a condition: certainly, possibly, and with which chance."""
    levels = met(column.levels, column.values.to_list(), condition)
    sizes = column.cells.sizes
    certain = column.cells.total(levels.certain) > sizes - 0.5
    possible = column.cells.total(levels.possible) > 0.5
    share = np.clip(weights.mean(levels.share), 0.0, 1.0)
    share = np.where(certain, 1.0, np.where(possible, share, 0.0))
    return Met(*(each[column.which].astype(np.float64) for each in (certain, possible, share)))


class Group(NamedTuple):
    """How far each row belongs to a group: certainly, possibly, and with which chance."""

    certain: Floats
    possible: Floats
    chance: Floats


def frequencies_of(
    column: Column, weights: Weights, by: tuple[Column, Weights] | None
) -> pl.DataFrame:
    """How often each level occurs, within each level of another column."""
    if by is None:
        everyone = np.ones(len(column.which))
        return _within(column, weights, Group(everyone, everyone, everyone))
    groups, of_groups = by
    parts = []
    for level, label in enumerate(groups.levels.labels):
        here = np.zeros(len(groups.levels))
        here[level] = 1.0
        allows = groups.cells.total(here)
        cells = (allows == groups.cells.sizes, allows > 0, of_groups.mean(here))
        group = Group(*(each[groups.which].astype(np.float64) for each in cells))
        part = _within(column, weights, group)
        parts.append(
            part.insert_column(
                0, pl.repeat(label, part.height, eager=True, dtype=pl.String).alias(groups.name)
            )
        )
    return pl.concat(parts)


def _within(column: Column, weights: Weights, group: Group) -> pl.DataFrame:
    """Frequencies of the levels of a column within a group of rows."""
    sizes = column.cells.sizes
    certain, possible, times, squares = (
        np.bincount(column.which, weights=each, minlength=len(sizes)).astype(np.float64)
        for each in (group.certain, group.possible, group.chance, group.chance**2)
    )
    dense = weights.dense()
    expected = (dense * times[:, None]).sum(axis=0)
    variance = expected - (dense**2 * squares[:, None]).sum(axis=0)
    total = expected.sum()
    return pl.DataFrame(
        {
            column.name: list(column.levels.labels),
            "certain": _rows(column.cells.back(np.where(sizes == 1, certain, 0.0))),
            "possible": _rows(column.cells.back(possible)),
            "expected": expected,
            "error": np.sqrt(variance.clip(min=0)),
            "share": expected / total if total else expected,
        }
    )


def _rows(counts: Floats) -> NDArray[np.int64]:
    """Whole counts, of sums that may be off by rounding."""
    return np.rint(counts).astype(np.int64)


def mean_of(column: Column, weights: Weights) -> Mean:
    """The mean over the rows that have a value."""
    levels = column.levels
    given = (~levels.missing).astype(np.float64)
    middle = np.where(levels.missing, 0.0, np.nan_to_num(levels.middles()))
    lo, hi = levels.spans()
    inside = np.where(np.isnan(levels.shown), (hi - lo) ** 2 / 12, 0.0)
    square = np.where(levels.missing, 0.0, np.nan_to_num(middle**2 + inside))
    times = column.times
    chance, first, second = (weights.mean(each) for each in (given, middle, square))
    n = float((times * chance).sum())
    value = float((times * first).sum()) / n if n else float("nan")
    # Of the ratio of two sums: the variance of (number - mean) over rows with a value.
    spread = second - 2 * value * first + value**2 * chance - (first - value * chance) ** 2
    error = sqrt(max(0.0, float((times * spread).sum()))) / n if n else float("nan")
    least, most = _extremes(column)
    return Mean(value, error, least, most)


def _extremes(column: Column) -> tuple[float, float]:
    """The least and the greatest mean of all tables that these rows allow."""
    lows, highs, sure = [], [], []
    for cell in range(len(column.cells.sizes)):
        allowed = column.cells.allowed(cell)
        given = allowed[~column.levels.missing[allowed]]
        lows.append(column.levels.lo[given].min() if len(given) else np.nan)
        highs.append(column.levels.hi[given].max() if len(given) else np.nan)
        sure.append(len(given) == len(allowed))
    return (
        _least(np.array(lows), np.array(sure), column.times),
        -_least(-np.array(highs), np.array(sure), column.times),
    )


def _least(ends: Floats, sure: NDArray[np.bool_], times: Floats) -> float:
    """The least mean: rows that may lack a value have one only where this lowers the mean."""
    number, total = float(times[sure].sum()), float((times * ends)[sure].sum())
    free = np.flatnonzero(~sure & ~np.isnan(ends) & (times > 0))
    for cell in free[np.argsort(ends[free], kind="stable")].tolist():
        if number and ends[cell] >= total / number:
            break
        number, total = number + times[cell], total + times[cell] * ends[cell]
    return total / number if number else float("nan")


def crosstab_of(a: Weights, b: Weights) -> pl.DataFrame:
    """Expected counts of pairs of levels, a row for each level of a."""
    pairs, times = np.unique(np.stack([a.column.which, b.column.which]), axis=1, return_counts=True)
    of_a, of_b = a.dense(), b.dense()
    beside = np.zeros((len(of_a), of_b.shape[1]))
    np.add.at(beside, pairs[0], times[:, None] * of_b[pairs[1]])
    counts = of_a.T @ beside
    names = [a.column.name, *b.column.levels.labels]
    columns = [list(a.column.levels.labels), *counts.T]
    return pl.DataFrame(dict(zip(names, columns, strict=True)))
