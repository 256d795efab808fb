"""Estimates from completed tables, put right and with errors by what rehearsals show."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from math import isfinite, sqrt
from typing import NamedTuple, Protocol, Self

import numpy as np
import polars as pl

from crowdcover.errors import ReleaseError
from crowdcover.reader.coded.cells import Floats
from crowdcover.reader.coded.columns import list_numbers, take_series
from crowdcover.reader.completed.rubin import pooled

_TABLES_OF_REHEARSAL = 2  # that are completed of each release of a completed table
INTERVAL_LEVEL = 0.95  # of the intervals

Figures = Mapping[str, float | tuple[float, float]]  # by name: a number, or with its error
FIGURE_COLUMNS = {
    "figure": pl.String,
    **dict.fromkeys(
        ("estimate", "error", "low", "high", "degrees", "masking", "moved"), pl.Float64
    ),
}


class Completable(Protocol):
    """What tables are completed of."""

    def completions(
        self, m: int, seed: int, rules: pl.Expr | None, relations: bool
    ) -> Iterable[pl.DataFrame]:
        """Completed tables."""
        ...

    def rehearse(self, table: pl.DataFrame, seed: int) -> Self:
        """Release a completed table again."""
        ...


class Study(NamedTuple):
    """Completed tables that keep relations, and what rehearsals of the first ones give.

    Attributes
    ----------
    tables : list of polars.DataFrame
    rehearsed : list of list of polars.DataFrame
        For each of the first tables, completed tables of a release of it.
    """

    tables: list[pl.DataFrame]
    rehearsed: list[list[pl.DataFrame]]


def draw_study(
    release: Completable, m: int, seed: int, rules: pl.Expr | None, rehearsals: int
) -> Study:
    """Draw the tables that estimates are made from; see `Completions.estimate`."""
    if m < 2 or not 0 <= rehearsals <= m:
        raise ReleaseError(
            f"m = {m} and rehearsals = {rehearsals}: estimates need two completed tables or more, "
            "and at most as many rehearsals"
        )
    tables = list(release.completions(m, seed, rules, relations=True))
    rehearsed = []
    for number, table in enumerate(tables[:rehearsals]):
        again = release.rehearse(table, seed + number)
        drawn = again.completions(_TABLES_OF_REHEARSAL, seed + number, rules, relations=True)
        rehearsed.append(list(drawn))
    return Study(tables, rehearsed)


def estimate_figures(
    study: Study,
    of: Callable[[pl.DataFrame], Figures],
    count_degrees: Callable[[], float] | None = None,
) -> pl.DataFrame:
    """Estimate figures from the tables of a study; see `Completions.estimate`.

    `count_degrees` tells, once all figures were asked, the degrees of freedom of their errors in a
    plain table.
    """
    found = [_read_figures(of(table)) for table in study.tables]
    moved = [[_read_figures(of(table)) for table in tables] for tables in study.rehearsed]
    everywhere = set.intersection(*(set(each) for each in [*found, *chain(*moved)]))
    return pl.DataFrame(
        [
            _combine_figure(
                name,
                [each[name] for each in found],
                [[each[name][0] for each in tables] for tables in moved],
                count_degrees() if count_degrees else None,
            )
            for name in found[0]
            if name in everywhere
        ],
        schema=FIGURE_COLUMNS,
        orient="row",
    )


def _read_figures(stated: Figures) -> dict[str, tuple[float, float]]:
    """Each figure with its standard error, 0 where none is stated."""
    try:
        pairs = {
            name: each if isinstance(each, tuple) else (each, 0.0) for name, each in stated.items()
        }
        found = {str(name): (float(value), float(error)) for name, (value, error) in pairs.items()}
    except (AttributeError, TypeError, ValueError):
        raise ReleaseError(
            "figures must be a mapping from names to numbers, or to pairs of a number and its "
            "error, of each table; a mean of no rows is none"
        ) from None
    if not all(isfinite(number) for pair in found.values() for number in pair):
        raise ReleaseError("a figure is no finite number in some completed table")
    return found


def _combine_figure(
    name: str,
    found: Sequence[tuple[float, float]],
    moved: Sequence[Sequence[float]],
    rows_degrees: float | None,
) -> tuple[str | float, ...]:
    """A row of the answer.

    A figure of a rehearsal is off from the one of its table by chance, too: of a variance as
    between completed tables. Only what goes beyond is taken for a shift (the positive-part rule of
    James and Stein).
    """
    from scipy.stats import t

    values, errors = zip(*found, strict=True)
    plain = pooled(values, errors, rows_degrees)
    shift = chance = right = 0.0
    if moved:
        shift = sum(
            sum(values) / len(values) - true
            for values, (true, _) in zip(moved, found, strict=False)
        ) / len(moved)
        chance = (1 + 1 / _TABLES_OF_REHEARSAL) * plain.between / len(moved)
        right = -shift * max(0.0, 1 - chance / shift**2) if shift else 0.0
    estimate = plain.estimate + right
    error = sqrt(plain.error**2 + max(shift**2, chance))
    reach = float(t.ppf((1 + INTERVAL_LEVEL) / 2, plain.degrees)) * error
    masking = 1 - plain.within / error**2 if error else 0.0
    ends = estimate - reach, estimate + reach
    return (name, estimate, error, *ends, plain.degrees, masking, right)


def correlate_columns(table: pl.DataFrame, a: str, b: str, *, ranks: bool, weight: str) -> Figures:
    """The correlation of two columns, with its error in a plain table of these rows."""
    x, y = (list_numbers(take_series(table, name)) for name in (a, b))
    people = list_numbers(take_series(table, weight)) if weight else np.ones(table.height)
    rows = ~np.isnan(x) & ~np.isnan(y) & (people > 0)
    x, y, people = x[rows], y[rows], people[rows]
    if ranks:
        x, y = (_rank_numbers(each, people) for each in (x, y))
    if len({*x.tolist()}) < 2 or len({*y.tolist()}) < 2:
        raise ReleaseError(
            f"columns {a!r} and {b!r} have no correlation: one of them has one value in all rows"
        )
    covariance = np.cov(x, y, aweights=people)
    found = float(covariance[0, 1] / sqrt(covariance[0, 0] * covariance[1, 1]))
    # Kish: so many rows that count alike would tell as much.
    alike = float(people.sum() ** 2 / (people**2).sum())
    return {f"{a}, {b}": (found, (1 - found**2) / sqrt(max(1.0, alike - 1)))}


def _rank_numbers(numbers: Floats, people: Floats) -> Floats:
    """How many people are below each number, half of those who have it included."""
    _, place = np.unique(numbers, return_inverse=True)
    held = np.bincount(place, weights=people)
    return np.asarray((np.cumsum(held) - held / 2)[place])
