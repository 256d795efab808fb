"""Completed tables: each cell replaced by one value that it allows, drawn."""

from collections.abc import Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdcover.cells import Places
from crowdcover.columns import Column, numbers
from crowdcover.weights import Weights


def completed(
    rows: pl.DataFrame,
    columns: Mapping[str, Column],
    weights: Mapping[str, Weights],
    seed: int,
    number: int,
) -> pl.DataFrame:
    """Draw a completed table.

    Parameters
    ----------
    rows : polars.DataFrame
        The released rows.
    columns : mapping of str to Column
    weights : mapping of str to Weights
        Of the masked columns.
    seed, number : int
        The draw depends on these two only.
    """
    drawn = []
    for place, (name, each) in enumerate(weights.items()):
        generator = np.random.default_rng([seed, number, place])
        drawn.append(valued(columns[name], each.draw(generator), generator))
    return rows.with_columns(drawn)


def valued(column: Column, level: Places, generator: np.random.Generator) -> pl.Series:
    """A value of each drawn level; within a group of numbers each is equally likely."""
    levels = column.levels
    lo, hi = levels.spans()
    if not levels.counted or not ((hi > lo) & np.isnan(levels.shown)).any():
        return column.values.gather(level).alias(column.name)
    at = generator.random(len(level))
    return numbers(levels, _within(levels.shown[level], lo[level], hi[level], at, levels.whole))


def _within(
    shown: NDArray[np.float64],
    lo: NDArray[np.float64],
    hi: NDArray[np.float64],
    at: NDArray[np.float64],
    whole: bool,
) -> NDArray[np.float64]:
    inside = np.minimum(hi, lo + np.floor(at * (hi - lo + 1))) if whole else hi - at * (hi - lo)
    return np.where(np.isnan(shown), inside, shown)
