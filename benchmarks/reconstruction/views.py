"""What an attacker has of a release: a plain table, and for each cell how likely its values are."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl

import crowdcover
from benchmarks.reconstruction.adult import COLUMNS, HIDDEN, KNOWN, NUMBERS
from crowdcover.reader.coded.columns import find_levels

OTHER = "(other)"  # the level of pooled categories
WIDE = 500  # levels from which on a column is guessed by rows, not by levels


@dataclass(frozen=True, eq=False)
class Part:
    """A column: `chances` of each level behind each different cell, and the cell of each row."""

    labels: np.ndarray  # str (levels,)
    chances: np.ndarray = field(repr=False)  # float32 (cells, levels)
    which: np.ndarray = field(repr=False)  # int (rows,)

    @cached_property
    def members(self):
        """The chance of each level in each row, float32 (rows, levels)."""
        return self.chances[self.which]

    @cached_property
    def shares(self):
        """The share of each level in the release, float64 (levels,)."""
        return self.members.sum(axis=0, dtype=np.float64) / len(self.which)


@dataclass(frozen=True, eq=False)
class View:
    """A plain table of text, completed where cells are masked, and the parts of its columns."""

    table: pl.DataFrame
    parts: dict[str, Part]

    @property
    def by_level(self):
        """The hidden columns that are guessed by their levels."""
        return [name for name in HIDDEN if name in self.parts]

    def codes(self, name):
        """The level of each row of the plain table, -1 for none."""
        return coded(self.table[name], self.parts[name].labels)


def of_table(table):
    """A table of text whose every cell is exact."""
    parts = {}
    for name in COLUMNS:
        labels = table[name].unique().sort().to_numpy().astype(str)
        if len(labels) < WIDE:
            which = coded(table[name], labels)
            parts[name] = Part(labels, np.eye(len(labels), dtype=np.float32), which)
    return View(table.select(COLUMNS), parts)


def of_release(folder, estimator="crowd", seed=1, *, related=0):
    """A release of crowdcover as its reader shows it.

    `related`: of how many tables that keep relations the chances are shares, in place of weights.
    """
    release = crowdcover.read(folder, estimator)
    tables = release.complete(related or 1, seed, relations=related > 0)
    parts = {}
    for name in COLUMNS:
        column = release.column(name)
        if len(column.levels) < WIDE:
            labels = labelled(column)
            chances, which = release.weights(name).dense(), column.which
            if related and column.role == "quasi":
                drawn = [find_levels(column, table[name]) for table in tables]
                chances = sum(np.eye(len(labels))[levels] for levels in drawn) / related
                which = np.arange(len(which))
            parts[name] = Part(labels, chances.astype(np.float32), which)
    return View(tables[0].select(plain(tables[0][name]) for name in COLUMNS), parts)


def labelled(column):
    """What is guessed where a level is: its value; of a group its upper end, which belongs to it.

    Of the last group, which is open, it is the number that the reader takes for it.
    """
    values = column.values
    if column.levels.is_counted:
        ends = np.where(np.isfinite(column.levels.hi), column.levels.hi, column.levels.middles())
        values = pl.Series(column.name, ends)
    return plain(values).to_numpy().astype(str)


def plain(series):
    """Values as they stand in the source; what is drawn from a group becomes whole."""
    if series.name in NUMBERS:
        series = series.cast(pl.Float64).ceil().cast(pl.Int64)
    return series.cast(pl.String).fill_null("?")


def coded(series, labels):
    """The label of each value; of a number the nearest one.

    A category that is no label has that of pooled categories, -1 if there is none.
    """
    if series.name in NUMBERS:
        order = np.argsort(labels.astype(np.float64), kind="stable")
        levels = labels.astype(np.float64)[order]
        values = series.cast(pl.Float64).to_numpy()
        return order[np.searchsorted((levels[1:] + levels[:-1]) / 2, values)]
    order = np.argsort(labels)
    values = series.to_numpy().astype(str)
    place = order[np.minimum(np.searchsorted(labels, values, sorter=order), len(labels) - 1)]
    pooled = np.flatnonzero(labels == OTHER)
    return np.where(labels[place] == values, place, pooled[0] if len(pooled) else -1)


def known_codes(view, targets):
    """The level of each known value of the targets in the release, int (targets, known)."""
    return np.stack([coded(targets[name], view.parts[name].labels) for name in KNOWN], axis=1)
