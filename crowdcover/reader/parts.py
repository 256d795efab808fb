"""What a release consists of: its documents, its rows, its columns as they were read."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import polars as pl

from crowdcover.errors import ReleaseError
from crowdcover.reader.answers.conditions import Quantity, read_quantity
from crowdcover.reader.answers.evidence import has_masked_common_values
from crowdcover.reader.answers.weights import Estimator, Weights, weights_of
from crowdcover.reader.coded.cells import Floats
from crowdcover.reader.coded.columns import Column, find_column, list_level_values


@dataclass(frozen=True, eq=False, repr=False)
class ReleaseParts:
    """A release, read: what `Release` is made of, and says the attributes of."""

    manifest: dict[str, Any]
    codebook: dict[str, Any]
    rows: pl.DataFrame
    columns: dict[str, Column]
    estimator: Estimator = "crowd"
    assumed: dict[str, tuple[Quantity | None, Quantity | None]] = field(default_factory=dict)
    weight: str = ""

    def column(self, col: str) -> Column:
        """A column, read.

        Raises
        ------
        ReleaseError
            The release has no column of that name.
        """
        return find_column(self.columns, col)

    def weights(self, col: str) -> Weights:
        """How likely each level is behind each cell of a column."""
        if col not in self._weights:
            estimator: Estimator = "uniform" if self._even else self.estimator
            self._weights[col] = weights_of(self.column(col), estimator, self.demand)
        return self._weights[col]

    def list_masked_columns(self) -> list[Column]:
        """The columns that are masked: the quasi-identifiers."""
        return [each for each in self.columns.values() if each.role == "quasi"]

    @property
    def demand(self) -> float:
        """The k of each row: rows do not tell their own, so it is the middle of the demands."""
        privacy = self.manifest.get("privacy", {})
        return float(privacy.get("k_min", 1) + privacy.get("k_max", 1)) / 2

    @cached_property
    def people(self) -> Floats:
        """For how many people each row counts, float64 (rows,): 1, or its weight."""
        if not self.weight:
            return np.ones(self.rows.height)
        column = self.columns[self.weight]
        return column.levels.shown[column.which]

    def weigh(self, col: str) -> Self:
        """Let each row count for as many people as a column says: the weight of a survey.

        Counts, frequencies, cross tables, means, quantiles and correlations of the release that is
        returned are in people of the population; `fit` weighs rows by it, with errors that are
        robust (HC1). `error` knows what masking hides, not how the survey was drawn.

        Parameters
        ----------
        col : str
            A column of numbers that is not masked, none of them below 0 or missing.

        Raises
        ------
        ReleaseError
            It is none.
        """
        column = self.column(col)
        is_shown = column.role != "quasi" and column.levels.is_counted
        if not (is_shown and (column.levels.shown[column.which] >= 0).all()):
            raise ReleaseError(
                f"column {col!r} is no weight: a weight is a number of 0 or more in each row, and "
                "not masked"
            )
        return replace(self, weight=col)

    def assume(self, col: str, lo: Quantity | None = None, hi: Quantity | None = None) -> Self:
        """Assume where the open groups of a column of numbers or dates end.

        Answers of the release that is returned rest on it: means have finite bounds, completed
        tables draw from the groups up to these ends. Without it an open group is taken to be as
        wide as its neighbour, and bounds are infinite.

        Parameters
        ----------
        col : str
        lo, hi : number, datetime.date or its ISO text, optional
            The least and the greatest value that anyone has.

        Raises
        ------
        ReleaseError
            The column has no group that is open on this side, or one that reaches further.
        """
        column = self.column(col)
        if not column.levels.is_counted or (lo is None and hi is None):
            raise ReleaseError("assume is about a column of numbers or dates, and lo or hi of it")
        levels = column.levels
        low, high = (None if end is None else read_quantity(levels, end) for end in (lo, hi))
        least = _close_side(levels.lo, levels.hi, 1, low)
        most = _close_side(levels.hi, levels.lo, -1, high)
        if least is None or most is None:
            raise ReleaseError(
                f"column {col!r} has no group that is open on this side, or values beyond this "
                f"end; release.levels({col!r}) lists its groups"
            )
        levels = replace(levels, lo=least, hi=most)
        values = list_level_values(levels) if column.role == "quasi" else column.values
        told = replace(column, levels=levels, values=values)
        return replace(
            self, columns=self.columns | {col: told}, assumed=self.assumed | {col: (lo, hi)}
        )

    # cached_property writes to __dict__, which a frozen dataclass allows.
    @cached_property
    def _weights(self) -> dict[str, Weights]:
        return {}

    @cached_property
    def _even(self) -> bool:
        return self.estimator == "crowd" and has_masked_common_values(self.list_masked_columns())


def _close_side(ends: Floats, others: Floats, sign: int, number: float | None) -> Floats | None:
    """These ends of levels, the open one at a number; None if none is open or some lie beyond.

    `sign` is 1 for lower ends, -1 for upper ones.
    """
    if number is None:
        return ends
    is_open = ends == -sign * np.inf
    known = np.concatenate([others[is_open], ends[~is_open]])
    if not is_open.any() or (sign * known[np.isfinite(known)] < sign * number).any():
        return None
    return np.where(is_open, number, ends)
