"""Completed tables: each cell replaced by one value that it allows, drawn."""

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdcover.errors import ReleaseError, RulesWarning
from crowdcover.reader.answers.weights import Weights
from crowdcover.reader.coded.cells import Places
from crowdcover.reader.coded.columns import Column, build_number_series

DRAWS = 100  # of a row, until it breaks no rule


class RowDraws(Protocol):
    """How the rows of one completed table are drawn."""

    def __call__(self, rows: Places, again: int = 0) -> pl.DataFrame:
        """Return some rows with a value in each cell.

        Parameters
        ----------
        rows : int64 (n,)
        again : int
            How many times they have been drawn before.
        """
        ...


class IndependentDraws:
    """The draws of one completed table, each cell by itself.

    Parameters
    ----------
    rows : polars.DataFrame
        The released rows.
    weights : mapping of str to Weights
        Of the masked columns.
    seed, number : int
        Every draw follows from these two.
    """

    def __init__(
        self, rows: pl.DataFrame, weights: Mapping[str, Weights], seed: int, number: int
    ) -> None:
        self.rows, self.weights, self.seeds = rows, weights, (seed, number)

    def __call__(self, rows: Places, again: int = 0) -> pl.DataFrame:
        """Return some rows, drawn."""
        drawn = []
        for place, each in enumerate(self.weights.values()):
            # A stream for each column: another column's draws do not shift these.
            generator = np.random.default_rng([*self.seeds, place, *([again] if again else [])])
            part = _of_rows(each, rows)
            drawn.append(draw_level_values(part.column, part.draw(generator), generator))
        return self.rows[rows].with_columns(drawn)


def draw_completed_table(
    draw: RowDraws, rows: int, number: int, rules: pl.Expr | None = None
) -> pl.DataFrame:
    """Draw a completed table.

    Parameters
    ----------
    draw : RowDraws
    rows : int
        How many the release has.
    number : int
        Of the table, from 0; for the warning.
    rules : polars.Expr, optional
        Which rows are impossible: these are drawn anew, all masked cells.

    Raises
    ------
    ReleaseError
        The rules cannot be evaluated.

    Warns
    -----
    RulesWarning
        Rows that break the rules in each of `DRAWS` draws keep the last of them.
    """
    table = draw(np.arange(rows))
    if rules is None:
        return table
    broken = np.flatnonzero(_find_impossible_rows(table, rules))
    drawn, place, last = [table], np.arange(rows), table[broken]
    for again in range(1, DRAWS):
        if not len(broken):
            break
        last = draw(broken, again)
        still = _find_impossible_rows(last, rules)
        # `place` numbers the rows of all kept draws, end to end; the new ones follow.
        place[broken[~still]] = sum(map(len, drawn)) + np.arange(len(last) - still.sum())
        drawn.append(last.filter(~still))
        broken, last = broken[still], last.filter(still)
    place[broken] = sum(map(len, drawn)) + np.arange(len(broken))
    # A few rows may hold whole numbers by chance and get another type than the whole table.
    table = pl.concat([*drawn, last], how="vertical_relaxed")[place]
    if len(broken):
        warnings.warn(
            f"table {number + 1}: {len(broken)} of {table.height} rows break the rules in each of "
            f"{DRAWS} draws and keep the last one; their cells hardly allow anything else, so "
            "look at the rules, or leave these rows out",
            RulesWarning,
            # The frames above this one are `completions`, `complete` and the caller's.
            stacklevel=4,
        )
    return table


def _of_rows(weights: Weights, rows: Places) -> Weights:
    """The same weights, of some rows."""
    return replace(weights, column=replace(weights.column, which=weights.column.which[rows]))


def _find_impossible_rows(table: pl.DataFrame, rules: pl.Expr) -> NDArray[np.bool_]:
    """Which rows break the rules, bool (rows,); null is no answer, and breaks none."""
    what = "true for each row that is impossible, such as (pl.col('age') < 15) & pl.col('married')"
    if not isinstance(rules, pl.Expr):
        raise ReleaseError(f"rules must be one polars expression, {what}")
    try:
        answer = table.select(rules)
    except (pl.exceptions.PolarsError, TypeError) as error:
        raise ReleaseError(
            f"rules cannot be evaluated on a completed table ({type(error).__name__}); it has the "
            f"columns {', '.join(map(repr, table.columns))}; complete(1) shows their types"
        ) from None
    if answer.shape != (table.height, 1) or answer.dtypes != [pl.Boolean]:
        raise ReleaseError(f"rules must give one truth value for each row, {what}")
    return answer.to_series().fill_null(value=False).to_numpy()


def draw_level_values(column: Column, level: Places, generator: np.random.Generator) -> pl.Series:
    """A value of each drawn level; within a group of numbers each is equally likely."""
    levels = column.levels
    lo, hi = levels.spans()
    if not levels.is_counted or not ((hi > lo) & np.isnan(levels.shown)).any():
        return column.values.alias("").gather(level).alias(column.name)
    at = generator.random(len(level))
    return build_number_series(
        levels, _interpolate_levels(levels.shown[level], lo[level], hi[level], at, levels.whole)
    )


def _interpolate_levels(
    shown: NDArray[np.float64],
    lo: NDArray[np.float64],
    hi: NDArray[np.float64],
    at: NDArray[np.float64],
    whole: bool,
) -> NDArray[np.float64]:
    # `at` reaches 0 but not 1: counted down from hi, a group holds its upper end, not its lower.
    inside = np.minimum(hi, lo + np.floor(at * (hi - lo + 1))) if whole else hi - at * (hi - lo)
    return np.where(np.isnan(shown), inside, shown)
