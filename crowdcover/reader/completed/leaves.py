"""What the cells of alike rows say: how frequent each level of a column is among them.

A few steps of expectation maximization start from the column as a whole. They look at the cells of
the rows, never at what was drawn before in the column, so what was drawn by chance does not grow.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from crowdcover.reader.answers.weights import Weights
from crowdcover.reader.coded.cells import Floats, Places
from crowdcover.reader.coded.columns import Column

# Steps within a leaf, as measured: one leaves a coefficient 20 % too weak (Texas, k = 10), three
# make another one 12 % too strong (nation, k = 50). The likelihood of cells outside the sample asks
# for more steps on both: the cells of a crowd are not independent of each other.
LEAF_STEPS = 2
COLUMN_SHARE = 0.1  # of the levels of a leaf come from the whole column
HOLDING_ROUNDS = 3  # that bring the frequencies of a column to what the reader expects
NUMBERS_AT_ONCE = 1 << 21  # numbers of rows times levels at a time
MOST_NUMBERS = 1 << 25  # different cells times levels, from which on a column is drawn by itself


@dataclass(eq=False)
class DrawnColumn:
    """A column while it is drawn.

    Attributes
    ----------
    column : Column
    level : int64 (rows,)
        The level of each row at present.
    share : float64 (levels,)
        The expected share of each level of all rows, above 0.
    chance : float64 (cells, levels)
        The chance of a cell given each of its levels, but for a factor of the cell. Empty if no
        cell is drawn by a model.
    """

    column: Column
    level: Places = field(repr=False)
    share: Floats = field(repr=False)
    chance: Floats = field(repr=False)

    @property
    def levels(self) -> int:
        """How many levels it has."""
        return len(self.column.levels)

    @property
    def is_ordered(self) -> bool:
        """Whether the places of its levels have a meaning."""
        return self.column.levels.is_counted or self.column.levels.ordinal

    @property
    def is_open(self) -> NDArray[np.bool_]:
        """The rows whose cell allows several levels, bool (rows,)."""
        return np.asarray((self.column.cells.sizes > 1)[self.column.which])

    def weigh(self, rows: Places, of_levels: Floats) -> Floats:
        """The chance of each level in these rows.

        Parameters
        ----------
        rows : int64 (n,)
        of_levels : float64 (levels,) or (n, levels)
            How frequent each level is among rows like these, above 0.

        Returns
        -------
        float64 (n, levels)
            Each row sums to 1, 0 for what its cell does not allow.
        """
        chance = self.chance[self.column.which[rows]] * of_levels
        return np.asarray(chance / chance.sum(axis=1, keepdims=True))


def start_drawn_column(
    column: Column, weights: Weights | None, generator: np.random.Generator
) -> DrawnColumn:
    """A column with levels drawn by the reader's weights, each row by itself."""
    none = np.zeros(0)
    if weights is None:
        return DrawnColumn(column, column.which, none, none)
    level = weights.draw(generator)
    cells, levels = len(column.cells.sizes), len(column.levels)
    if (column.cells.sizes < 2).all() or cells * levels > MOST_NUMBERS:
        return DrawnColumn(column, level, none, none)
    share = np.maximum(weights.totals(column.times) / max(1, len(level)), 1e-12)
    # The reader's weights are chances of levels given the cell alone. By Bayes' rule the chance of
    # the cell given a level is this, divided by the share of the level.
    return DrawnColumn(column, level, share, weights.dense() / share)


def estimate_chances(variable: DrawnColumn, leaf: Places, times: Places) -> Floats:
    """How frequent each level is in each leaf, float64 (leaves, levels).

    Parameters
    ----------
    variable : DrawnColumn
    leaf : int64 (rows,)
    times : int64 (rows,)
        How many times the sample has each row.
    """
    rows = np.flatnonzero(times)
    rows = rows[np.argsort(leaf[rows], kind="stable")]
    starts = np.flatnonzero(np.diff(leaf[rows], prepend=-1))
    ends = np.r_[starts[1:], len(rows)]
    chances = np.tile(variable.share, (len(starts), 1))
    # Leaves of one block have together about NUMBERS_AT_ONCE numbers; one leaf may have more.
    block = np.cumsum(ends - starts) * variable.levels // NUMBERS_AT_ONCE
    for number in np.unique(block):
        inside = np.flatnonzero(block == number)
        first, last = starts[inside[0]], ends[inside[-1]]
        part, own = rows[first:last], leaf[rows[first:last]] - inside[0]
        # The first step is about the cells alone, as the reader's own weights are.
        for _ in range(LEAF_STEPS):
            given = variable.weigh(part, chances[inside][own]) * times[part][:, None]
            sums = np.add.reduceat(given, starts[inside] - first, axis=0)
            sums /= sums.sum(axis=1, keepdims=True)
            chances[inside] = (1 - COLUMN_SHARE) * sums + COLUMN_SHARE * variable.share
    return chances


def compute_likelihood(
    variable: DrawnColumn, leaf: Places, chances: Floats, times: Places
) -> float:
    """The sum of the logarithms of the chances of the cells outside the sample."""
    rows = np.flatnonzero((times == 0) & variable.is_open)
    total = 0.0
    for part in list_blocks(len(rows), variable.levels):
        each = variable.chance[variable.column.which[rows[part]]] * chances[leaf[rows[part]]]
        total += float(np.log(each.sum(axis=1)).sum())
    return total


def hold_frequencies(variable: DrawnColumn, leaf: Places, chances: Floats) -> Floats:
    """What to multiply each level by so that its expected frequency is the reader's."""
    is_open = variable.is_open
    rows, levels = np.flatnonzero(is_open), variable.levels
    exact = np.bincount(variable.level[~is_open], minlength=levels)
    wanted = np.maximum(variable.share * len(is_open) - exact, 1e-9)
    held = np.ones(levels)
    for _ in range(HOLDING_ROUNDS):
        sums = np.zeros(levels)
        for part in list_blocks(len(rows), levels):
            sums += variable.weigh(rows[part], chances[leaf[rows[part]]] * held).sum(axis=0)
        held *= wanted / np.maximum(sums, 1e-9)
    return held


def list_blocks(rows: int, levels: int) -> Iterator[slice]:
    """Ranges of rows of which each has about NUMBERS_AT_ONCE numbers at most."""
    step = max(1, NUMBERS_AT_ONCE // max(1, levels))
    return (slice(start, start + step) for start in range(0, rows, step))


def pick_levels(chance: Floats, at: Floats) -> Places:
    """The level at each share, 0 <= at < 1, of each row; its chance is above 0."""
    ends = np.cumsum(chance, axis=1)
    # Rounding must not reach the end of the row, behind which no level is allowed.
    place = np.minimum(at * ends[:, -1], np.nextafter(ends[:, -1], 0))
    return np.asarray((ends <= place[:, None]).sum(axis=1))
