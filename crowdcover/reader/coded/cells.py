"""The different cells of a column: which levels each of them allows.

Both forms answer the same questions. `total` adds up numbers of levels for each cell, `back` adds
up numbers of cells for each level. Neither depends on threads.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


class Cells(Protocol):
    """Different cells, numbered from 0."""

    @property
    def sizes(self) -> Places:
        """How many levels each cell allows, int64 (cells,)."""
        ...

    def total(self, of_levels: Floats) -> Floats:
        """For each cell the sum over the levels that it allows, float64 (cells,) or (cells, m)."""
        ...

    def back(self, of_cells: Floats) -> Floats:
        """For each level the sum over the cells that allow it, float64 (levels,)."""
        ...

    def anchors(self) -> tuple[Places, Places]:
        """Cell and level of each level that somebody behind a cell must have, in their order.

        Every member of a set; both ends of an interval.
        """
        ...

    def pairs(self) -> tuple[Places, Places]:
        """Cell and level of each level that a cell allows, in their order."""
        ...

    def pick(self, cell: Places, weight: Floats, at: Floats) -> Places:
        """The level at each share of the weight of each cell.

        Parameters
        ----------
        cell : int64 (n,)
        weight : float64 (levels,)
            At least 0; with a sum above 0 in every cell.
        at : float64 (n,)
            0 <= at < 1.
        """
        ...

    def allowed(self, cell: int) -> Places:
        """The levels that one cell allows, in increasing order."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class Sets:
    """Cells that are sets: cell c allows level[start[c] : start[c + 1]], in increasing order."""

    start: Places
    level: Places
    levels: int

    @classmethod
    def of(cls, masks: NDArray[np.bool_]) -> "Sets":
        """The same as bool (cells, levels)."""
        cell, level = np.nonzero(masks)
        start = np.searchsorted(cell, np.arange(len(masks) + 1))
        return cls(start.astype(np.int64), level.astype(np.int64), masks.shape[1])

    @property
    def sizes(self) -> Places:
        """How many levels each cell allows."""
        return np.diff(self.start)

    def total(self, of_levels: Floats) -> Floats:
        """For each cell the sum over the levels that it allows."""
        if not len(self.sizes):
            return np.zeros((0, *of_levels.shape[1:]))
        # reduceat needs sets that are not empty: reading refuses a cell that allows no level.
        return np.add.reduceat(of_levels[self.level], self.start[:-1], axis=0)

    def back(self, of_cells: Floats) -> Floats:
        """For each level the sum over the cells that allow it."""
        spread = np.repeat(of_cells, self.sizes)
        return np.bincount(self.level, weights=spread, minlength=self.levels).astype(np.float64)

    def anchors(self) -> tuple[Places, Places]:
        """Every member of a set is some person's value."""
        return self.pairs()

    def pairs(self) -> tuple[Places, Places]:
        """Cell and level of each level that a cell allows."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes), self.level

    def pick(self, cell: Places, weight: Floats, at: Floats) -> Places:
        """The level at each share of the weight of each cell."""
        shares = weight[self.level] / np.repeat(self.total(weight), self.sizes)
        # Shares of each cell sum to 1, so one cumulative sum over all cells answers all draws.
        # Rounding may lead one place too far, hence the clip.
        ends = np.cumsum(shares)
        before = ends[self.start[:-1]] - shares[self.start[:-1]]
        place = np.searchsorted(ends, before[cell] + at, side="right")
        return self.level[np.clip(place, self.start[cell], self.start[cell + 1] - 1)]

    def allowed(self, cell: int) -> Places:
        """The levels that one cell allows."""
        return self.level[self.start[cell] : self.start[cell + 1]]


@dataclass(frozen=True, eq=False, repr=False)
class Intervals:
    """Cells that are intervals: cell c allows the levels first[c] .. last[c]."""

    first: Places
    last: Places
    levels: int

    @classmethod
    def exact(cls, levels: int) -> "Intervals":
        """A cell for each level."""
        return cls(np.arange(levels), np.arange(levels), levels)

    @classmethod
    def of(cls, masks: NDArray[np.bool_]) -> "Intervals":
        """The same as bool (cells, levels), without gaps."""
        first = masks.argmax(axis=1) if masks.size else np.zeros(len(masks), dtype=np.int64)
        return cls(first, first + masks.sum(axis=1) - 1, masks.shape[1])

    @property
    def sizes(self) -> Places:
        """How many levels each cell allows."""
        return self.last - self.first + 1

    def total(self, of_levels: Floats) -> Floats:
        """For each cell the sum over the levels that it allows."""
        sums = np.concatenate([np.zeros((1, *of_levels.shape[1:])), np.cumsum(of_levels, axis=0)])
        return np.asarray(sums[self.last + 1] - sums[self.first])

    def back(self, of_cells: Floats) -> Floats:
        """For each level the sum over the cells that allow it."""
        begin = np.bincount(self.first, weights=of_cells, minlength=self.levels + 1)
        end = np.bincount(self.last + 1, weights=of_cells, minlength=self.levels + 1)
        # Differences that cancel may leave rounding slightly below 0.
        return np.cumsum(begin - end)[:-1].clip(min=0.0)

    def anchors(self) -> tuple[Places, Places]:
        """Both ends of an interval are some person's values."""
        cells = np.arange(len(self.first))
        # An exact cell has one anchor, not two: both its ends are one level.
        wide = self.first < self.last
        order = np.argsort(np.r_[cells, cells[wide]], kind="stable")
        return np.r_[cells, cells[wide]][order], np.r_[self.first, self.last[wide]][order]

    def pairs(self) -> tuple[Places, Places]:
        """Cell and level of each level that a cell allows."""
        sizes = self.sizes
        cell = np.repeat(np.arange(len(sizes)), sizes)
        before = np.repeat(np.cumsum(sizes) - sizes, sizes)
        return cell, self.first[cell] + np.arange(len(cell)) - before

    def pick(self, cell: Places, weight: Floats, at: Floats) -> Places:
        """The level at each share of the weight of each cell."""
        ends = np.cumsum(weight)
        first, last = self.first[cell], self.last[cell]
        # A share of the cell's weight becomes a place on the sum over all levels.
        before = ends[first] - weight[first]
        place = np.searchsorted(ends, before + at * (ends[last] - before), side="right")
        return np.clip(place, first, last)

    def allowed(self, cell: int) -> Places:
        """The levels that one cell allows."""
        return np.arange(self.first[cell], self.last[cell] + 1)
