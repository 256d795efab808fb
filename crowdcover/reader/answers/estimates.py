"""Counts, frequencies, means and crosstabs from weights."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import hypot, sqrt
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdcover.errors import ReleaseError
from crowdcover.reader.answers.conditions import Condition, Met, match_levels
from crowdcover.reader.answers.weights import Weights
from crowdcover.reader.coded.cells import Floats
from crowdcover.reader.coded.columns import Column
from crowdcover.reader.coded.named import label_name
from crowdcover.reader.coded.nodes import Groups

LARGEST = 10**7  # cells of a crosstab
_ANSWERS = ("certain", "possible", "expected", "error", "share")  # columns of frequencies


@dataclass(frozen=True)
class Count:
    """How many people meet a condition, in rows, or in people after `Release.weigh`.

    `certain, possible, expected = count` works, too.

    Attributes
    ----------
    certain, possible : int, or float by weights that are not whole
        The true count is between the two.
    expected : float
        The estimate.
    error : float
        Its standard error about the true count of these rows: the root of the sum of the squares
        of `drawn` and of the distance between the counts under crowd weights and even ones.
    drawn : float
        The standard deviation of completed tables. Rows are taken to be independent.
    """

    certain: float
    possible: float
    expected: float
    error: float
    drawn: float

    def __iter__(self) -> Iterator[float]:
        yield from (self.certain, self.possible, self.expected)


class Group(NamedTuple):
    """How far each row meets a condition, float64 (rows,) each.

    Attributes
    ----------
    certain, possible : 0 or 1
    chance, beside : 0..1
        The chance by the weights, and by the others that are as plausible.
    """

    certain: Floats
    possible: Floats
    chance: Floats
    beside: Floats


def group_of(column: Column, weights: Weights, condition: Condition) -> Group:
    """How far each row meets a condition on one column."""
    return _meet(column, weights, match_levels(column.levels, column.values.to_list(), condition))


def _meet(column: Column, weights: Weights, levels: Met) -> Group:
    """How far each row meets what levels of a column meet."""
    certain = column.cells.total(levels.certain) > column.cells.sizes - 0.5
    possible = column.cells.total(levels.possible) > 0.5

    def chance(by: Weights) -> Floats:
        share = np.clip(by.mean(levels.share), 0.0, 1.0)
        return np.where(certain, 1.0, np.where(possible, share, 0.0))

    cells = (certain, possible, chance(weights), chance(weights.beside))
    return Group(*(each[column.which].astype(np.float64) for each in cells))


def take_everyone(rows: int) -> Group:
    """The group that each row is in."""
    return Group(*[np.ones(rows)] * 4)


def count_of(groups: Sequence[Group], people: Floats) -> Count:
    """How many people meet all conditions; columns are taken to be independent within a row.

    `people` float64 (rows,): for how many each row counts.
    """
    # Without a condition every row counts: a product of nothing would have no rows.
    certain, possible, chance, beside = (
        np.prod(each, axis=0) for each in zip(take_everyone(len(people)), *groups, strict=True)
    )
    expected = float((people * chance).sum())
    drawn = sqrt(float((people**2 * chance * (1 - chance)).sum()))
    error = hypot(drawn, expected - float((people * beside).sum()))
    sure, most = (_shorten_count(float((people * each).sum())) for each in (certain, possible))
    return Count(sure, most, expected, error, drawn)


def _shorten_count(total: float) -> float:
    """A whole number as one, such as a count of rows that all count once."""
    return int(total) if total.is_integer() else total


class Asked(NamedTuple):
    """A column with its weights, and the groups of its levels that are asked for."""

    column: Column
    weights: Weights
    groups: Groups

    def list_groups(self) -> list[tuple[str, Group]]:
        """Name of each group, and how far each row is in it."""
        found = []
        for name, levels in self.groups:
            here = np.zeros(len(self.column.levels))
            here[levels] = 1.0
            found.append((name, _meet(self.column, self.weights, Met(here, here, here))))
        return found


def frequencies_of_groups(of: Asked, by: Asked | None, people: Floats) -> pl.DataFrame:
    """How often each group of levels occurs, within each group of another column."""
    label = label_name(of.column.name, _ANSWERS)
    asked, parts = of.list_groups(), []
    for name, within in [("", None)] if by is None else by.list_groups():
        outer = [] if within is None else [within]
        counts = [count_of([*outer, group], people) for _, group in asked]
        expected = np.array([count.expected for count in counts])
        total = expected.sum()
        part = pl.DataFrame(
            {
                label: [text for text, _ in asked],
                "certain": [count.certain for count in counts],
                "possible": [count.possible for count in counts],
                "expected": expected,
                "error": [count.error for count in counts],
                "share": expected / total if total else expected,
            }
        )
        if by is not None:
            texts = pl.Series([name] * part.height, dtype=pl.String)
            part.insert_column(0, texts.alias(label_name(by.column.name, (label, *_ANSWERS))))
        parts.append(part)
    return pl.concat(parts)


def frequencies_of(
    column: Column, weights: Weights, by: Asked | None, people: Floats
) -> pl.DataFrame:
    """How often each level occurs, within each group of another column."""
    if by is None:
        return _tabulate_frequencies(column, weights, take_everyone(len(people)), people)
    parts = []
    # Numbers and labels of `column` keep their names, so the labels of `by` must give way.
    name = label_name(by.column.name, (label_name(column.name, _ANSWERS), *_ANSWERS))
    for label, group in by.list_groups():
        part = _tabulate_frequencies(column, weights, group, people)
        texts = pl.Series(name, [label] * part.height, dtype=pl.String)
        parts.append(part.insert_column(0, texts))
    return pl.concat(parts)


def _tabulate_frequencies(
    column: Column, weights: Weights, group: Group, people: Floats
) -> pl.DataFrame:
    """Frequencies of the levels of a column within a group of rows."""
    sizes = column.cells.sizes

    def times(of_rows: Floats) -> Floats:
        counts = np.bincount(column.which, weights=of_rows, minlength=len(sizes))
        return counts.astype(np.float64)

    certain, possible = times(people * group.certain), times(people * group.possible)
    expected = weights.totals(times(people * group.chance))
    # Sum of c - c^2 over independent rows, c the chance to be in the group and at the level.
    squared = people**2 * group.chance
    drawn = weights.totals(times(squared)) - weights.squares(times(squared * group.chance))
    apart = expected - weights.beside.totals(times(people * group.beside))
    is_whole = bool((people % 1 == 0).all())
    total = expected.sum()
    return pl.DataFrame(
        {
            label_name(column.name, _ANSWERS): column.levels.texts,
            "certain": _list_counts(np.where(sizes == 1, certain, 0.0), column, is_whole=is_whole),
            "possible": _list_counts(possible, column, is_whole=is_whole),
            "expected": expected,
            "error": np.sqrt(drawn.clip(min=0) + apart**2),
            "share": expected / total if total else expected,
        }
    )


def _list_counts(of_cells: Floats, column: Column, *, is_whole: bool) -> NDArray[Any]:
    """Counts of levels; whole ones without what rounding added to the sums."""
    counts = column.cells.back(of_cells)
    return np.rint(counts).astype(np.int64) if is_whole else counts


def crosstab_of(a: Weights, b: Weights, people: Floats) -> pl.DataFrame:
    """Expected counts of pairs of levels, a row for each level of a."""
    shapes = [(len(each.anchored), len(each.level)) for each in (a, b)]
    # The answer and both dense matrices of weights are held at once.
    largest = max(shapes[0][1] * shapes[1][1], *(cells * levels for cells, levels in shapes))
    if largest > LARGEST:
        raise ReleaseError(
            f"columns {a.column.name!r} and {b.column.name!r} have {shapes[0][1]} and "
            f"{shapes[1][1]} levels, too many for a crosstab; ask for counts instead"
        )
    cells = len(b.anchored)
    # Rows with the same two cells count as one pair: cost follows different pairs, not rows.
    pairs, place = np.unique(a.column.which * cells + b.column.which, return_inverse=True)
    times = np.bincount(place, weights=people)
    of_a, of_b = a.dense(), b.dense()
    beside = [
        np.bincount(pairs // cells, weights=times * column[pairs % cells], minlength=len(of_a))
        for column in of_b.T
    ]
    counts = of_a.T @ np.stack(beside, axis=1)
    levels = b.column.levels.texts
    names = [label_name(a.column.name, levels), *levels]
    columns = [a.column.levels.texts, *counts.T]
    return pl.DataFrame(dict(zip(names, columns, strict=True)))
