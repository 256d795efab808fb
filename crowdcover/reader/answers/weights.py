"""How likely each level is behind a cell. docs/analysts.md says why the default is what it is."""

from dataclasses import dataclass, field, replace
from typing import Literal, get_args

import numpy as np

from crowdcover.errors import ReleaseError
from crowdcover.reader.coded.cells import Floats, Places
from crowdcover.reader.coded.columns import Column

Estimator = Literal["crowd", "uniform", "em"]
ROUNDS, SETTLED = 500, 1e-7  # of EM: steps at most, and the change of shares that ends them
# Measured on Adult, NIST ACS and Google Play, held against other tables: docs/reader.md.
_HELD = 1.5  # of k people behind a row so many hold each value that the cell must have
EVENED = 0.75  # the power of the shares by which the others are spread


@dataclass(frozen=True, eq=False)
class Weights:
    """The chance of each level behind each different cell of a column.

    A cell c gives `anchored[c]` of its weight evenly to its anchors, and the rest to the levels
    that it allows, in proportion to `level`.

    Attributes
    ----------
    column : Column
    level : float64 (levels,)
        Above 0.
    anchored : float64 (cells,)
        0..1.
    other : Weights, optional
        See `beside`.
    """

    column: Column
    level: Floats = field(repr=False)
    anchored: Floats = field(repr=False)
    other: "Weights | None" = field(default=None, repr=False)

    @property
    def beside(self) -> "Weights":
        """Weights that are as plausible; how far their answers are apart is part of the error."""
        return self if self.other is None else self.other

    def mean(self, of_levels: Floats) -> Floats:
        """The expected number behind each cell.

        Parameters
        ----------
        of_levels : float64 (levels,) or (levels, m)

        Returns
        -------
        float64 (cells,) or (cells, m)
        """
        cells, shape = self.column.cells, (-1, *[1] * (of_levels.ndim - 1))
        # Only the proportion of `level` counts, so it need not sum to 1.
        by_level = cells.total(of_levels * self.level.reshape(shape))
        by_level = by_level / cells.total(self.level).reshape(shape)
        cell, anchor = cells.anchors()
        starts = np.searchsorted(cell, np.arange(len(self.anchored)))
        counts = np.diff(np.r_[starts, len(cell)]).reshape(shape)
        at_ends = np.add.reduceat(of_levels[anchor], starts, axis=0) / counts
        part = self.anchored.reshape(shape)
        return np.asarray(part * at_ends + (1 - part) * by_level)

    def totals(self, of_cells: Floats) -> Floats:
        """The expected sum of the numbers of the cells by level, float64 (levels,)."""
        cell, anchor, part = self._anchors()
        at_ends = np.bincount(anchor, weights=(of_cells[cell] * part), minlength=len(self.level))
        return np.asarray(at_ends + self.level * self.column.cells.back(of_cells * self._free()))

    def squares(self, of_cells: Floats) -> Floats:
        """The same with the square of each chance in place of the chance."""
        cell, anchor, part = self._anchors()
        free = self._free()
        # (part + free level)^2 without its last square, which the line below adds for every level.
        both = of_cells[cell] * part * (part + 2 * free[cell] * self.level[anchor])
        at_ends = np.bincount(anchor, weights=both, minlength=len(self.level))
        return np.asarray(at_ends + self.level**2 * self.column.cells.back(of_cells * free**2))

    def _anchors(self) -> tuple[Places, Places, Floats]:
        """Cell, level and chance of each anchor."""
        cell, anchor = self.column.cells.anchors()
        counts = np.bincount(cell, minlength=len(self.anchored))
        return cell, anchor, (self.anchored / np.maximum(counts, 1))[cell]

    def _free(self) -> Floats:
        """The chance of a level of each cell that is no anchor, for each unit of `level`."""
        return np.asarray((1 - self.anchored) / self.column.cells.total(self.level))

    def dense(self) -> Floats:
        """The chance of each level behind each cell, float64 (cells, levels)."""
        dense = np.zeros((len(self.anchored), len(self.level)))
        cell, level = self.column.cells.pairs()
        dense[cell, level] = self._free()[cell] * self.level[level]
        cell, anchor, part = self._anchors()
        dense[cell, anchor] += part
        return dense

    def draw(self, generator: np.random.Generator) -> Places:
        """A level for each row, each row by itself, int64 (rows,)."""
        column = self.column
        rows = len(column.which)
        # `at` serves both choices below, since only one of them is kept.
        at, kind = generator.random(rows), generator.random(rows)
        drawn = column.cells.pick(column.which, self.level, at)
        cell, anchor = column.cells.anchors()
        starts = np.searchsorted(cell, np.arange(len(self.anchored) + 1))
        counts = np.diff(starts)[column.which]
        at_end = anchor[starts[column.which] + (at * counts).astype(np.int64)]
        return np.where(kind < self.anchored[column.which], at_end, drawn)


def weights_of(column: Column, estimator: Estimator, k: float) -> Weights:
    """The weights of a column by one of the estimators.

    Parameters
    ----------
    column : Column
    estimator : {"crowd", "uniform", "em"}
    k : float
        How many people a row fits at least.
    """
    levels, cells = len(column.levels), len(column.cells.sizes)
    if estimator not in get_args(Estimator):
        raise ReleaseError(f"estimator must be one of {', '.join(get_args(Estimator))}")
    even = Weights(column, np.full(levels, 1 / max(1, levels)), np.zeros(cells))
    if column.role != "quasi":
        return even
    if estimator == "em":
        return replace(even, level=run_em_steps(even, ROUNDS), other=even)
    cell, _ = column.cells.anchors()
    if column.levels.tree and not column.levels.sets:
        # A node holds values that nobody behind the row has: none of them is an anchor.
        cell = cell[:0]
    # Of k people, each anchor takes _HELD: many anchors take all the weight, and never more.
    anchored = np.minimum(1.0, _HELD * np.bincount(cell, minlength=cells) / max(1.0, k))
    # One step only: many would let rare values vanish, since they are masked more often.
    level = run_em_steps(replace(even, anchored=anchored), 1) ** EVENED
    crowd = Weights(column, level, anchored, even)
    return crowd if estimator == "crowd" else replace(even, other=crowd)


def run_em_steps(start: Weights, rounds: int) -> Floats:
    """The shares of the levels after steps of expectation maximization.

    Each step adds up the weights, and spreads the free part of every cell in proportion to these
    sums. Without anchors and with many steps this is the estimate of greatest likelihood if cells
    were coarsened at random.
    """
    weights, times = start, start.column.times
    for _ in range(rounds):
        # Above 0, or a cell whose levels all vanished would divide by zero.
        new = np.maximum(weights.totals(times) / max(1.0, times.sum()), 1e-12)
        moved = float(np.abs(new - weights.level).sum())
        weights = replace(weights, level=np.asarray(new, dtype=np.float64))
        if moved < SETTLED:
            break
    return weights.level
