"""How much information a release keeps."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import fsum, inf, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.measures.table.classes import ReleasedCells
from anon_core.measures.table.codebook.levels import ColumnLevels

Shares = dict[str, float | dict[str, float]]


@dataclass(frozen=True)
class Utility:
    """Information kept, over all cells of the quasi-identifiers.

    Attributes
    ----------
    suppression : float
        1 - hidden bits / (n f): Definition III.2 of Khan et al. Nodes of trees are no bits here.
    exact : float64 (attributes,)
        Share of cells that show one level, by column: a value, or a whole group.
    ncp : float64 (attributes,)
        Mean over rows of (levels allowed - 1) / (levels - 1), by column.
    """

    suppression: float
    exact: NDArray[np.float64]
    ncp: NDArray[np.float64]

    @property
    def cells_exact(self) -> float:
        """Share of all cells that show one level."""
        return float(self.exact.mean())

    @property
    def gcp(self) -> float:
        """Mean NCP of all cells."""
        return float(self.ncp.mean())


def utility(ordinal: NDArray[np.bool_], released: ReleasedCells) -> Utility:
    """Measure released cells; a cell that cannot be read counts as fully masked.

    Parameters
    ----------
    ordinal : bool (attributes,)
        Whether masked cells are intervals instead of value sets.
    released : ReleasedCells

    References
    ----------
    Liang and Samavi, Optimization-based k-Anonymity Algorithms (NCP, GCP); Khan et al.,
    Definition III.2.
    """
    levels = released.level_counts
    hidden, exact, masked = np.zeros((3, len(levels)), dtype=np.int64)
    # Sums of whole numbers over distinct cells: the order of the rows changes no digit.
    for a, (cell, allowed) in enumerate(zip(released.cell, released.levels, strict=True)):
        rows, sizes = np.bincount(cell, minlength=len(allowed)), allowed.sum(axis=1)
        sizes = np.where(sizes == 0, levels[a], sizes)
        # A value set of s levels hides s bits; an interval of s levels s - 1 thermometer bits.
        hidden[a] = rows @ np.where(sizes == 1, 0, sizes - ordinal[a])
        exact[a], masked[a] = rows @ (sizes == 1), rows @ (sizes - 1)
    features = int((levels - ordinal).sum())
    return Utility(
        suppression=1 - float(hidden.sum()) / (released.rows * features),
        exact=exact / released.rows,
        ncp=masked / released.rows / np.maximum(1, levels - 1),
    )


def widths_lost(columns: Sequence[ColumnLevels], released: ReleasedCells) -> NDArray[np.float64]:
    """Sum over rows of what cells lose by width, by column, float64 (attributes,).

    An interval or a node of numbers, dates or ordered categories loses its width as part of the
    column's range, or of its width where no range is stated; all if it allows missing and given
    values. A set of s values loses (s - 1) / levels. A group counts as its middle, an outer group
    without a range as its edge; ordered categories count as their numbers. Cells that cannot be
    read lose all. The sum over columns is the GCP of all records.

    References
    ----------
    Liang and Samavi, Optimization-based k-Anonymity Algorithms, equation 2, definitions 8 and 9.
    """
    sums = []
    for column, cell, allowed in zip(columns, released.cell, released.levels, strict=True):
        lost = np.array([_compute_cell_loss(column, np.flatnonzero(levels)) for levels in allowed])
        rows = np.bincount(cell, minlength=len(lost))
        sums.append(fsum((lost * rows).tolist()))  # exact, so the order of cells changes no digit
    return np.array(sums, dtype=np.float64)


def _compute_cell_loss(column: ColumnLevels, allowed: NDArray[np.int64]) -> float:
    """What one cell loses."""
    if len(allowed) == 0:
        return 1.0
    if len(allowed) == 1:
        return 0.0
    if not column.ordinal and (column.nodes is None or column.kind not in ("numeric", "date")):
        return (len(allowed) - 1) / len(column.labels)
    if column.has_missing and allowed[0] == 0:
        return 1.0
    points = _list_level_points(column)
    low, high = column.range or (points[0], points[-1])
    first, last = allowed[[0, -1]] - column.has_missing
    return (points[last] - points[first]) / (high - low) if high > low else 0.0


def _list_level_points(column: ColumnLevels) -> list[float]:
    """The number that stands for each level but the missing one."""
    if column.kind not in ("numeric", "date"):
        return [float(level) for level in range(len(column.labels) - column.has_missing)]
    least, most = column.range or (-inf, inf)
    points = []
    for number in column.numbers or pairwise([-inf, *column.edges, inf]):
        low, high = number if isinstance(number, tuple) else (number, number)
        ends = [end for end in (max(low, least), min(high, most)) if isfinite(end)]
        # The middle of both ends, the one end of an open group, or 0 where a single group has none.
        points.append(sum(ends) / max(1, len(ends)))
    return points


def shares_by_level(column: ColumnLevels, cell: NDArray[Any], allowed: NDArray[Any]) -> Shares:
    """Share of the cells of a column with a tree that show a value, a node of each level, or more.

    Parameters
    ----------
    column : ColumnLevels
    cell : int (rows,)
    allowed : bool (distinct, levels)

    Returns
    -------
    dict of str to float or dict
        "values", "levels" from the topmost on unless cells show no nodes, "sets" where they may
        show them, and "all", in which a cell counts that cannot be read. Where the plan says what
        nodes lose also "lost": the mean over all cells.
    """
    assert column.tree is not None
    nodes = () if column.nodes is None else column.tree
    # Of nodes that hold the same levels the inner one, which comes last, is shown.
    level_of = {(low, high): level for _, level, low, high in nodes}
    shown: dict[str, int] = dict.fromkeys((level for _, level, _, _ in nodes), 0)
    values = whole = sets = 0
    lost: list[float] = []
    for levels, rows in zip(allowed, np.bincount(cell, minlength=len(allowed)), strict=True):
        held = np.flatnonzero(levels).tolist()
        if len(held) == 1:
            values += int(rows)
        elif len(held) in (0, len(levels)):
            whole += int(rows)
        elif (level := level_of.get((held[0], held[-1]))) and held[-1] - held[0] < len(held):
            shown[level] += int(rows)
            lost.append(int(rows) * (column.losses or {}).get((held[0], held[-1]), 0.0))
        else:
            sets += int(rows)
    number = len(cell)
    return {
        "values": values / number,
        "levels": {level: rows / number for level, rows in shown.items()},
        **({"sets": sets / number} if column.sets or column.nodes is None else {}),
        "all": whole / number,
        # An exact sum: the order of cells changes no digit.
        **({} if column.losses is None else {"lost": fsum([*lost, whole]) / number}),
    }


def of_one_value(levels: Sequence[ColumnLevels], released: ReleasedCells) -> NDArray[np.float64]:
    """Share of cells that show one value, by column, float64 (attributes,).

    A cell that shows one level does so, unless the level is a group, or numbers or categories that
    share it. That a value is missing counts as one.
    """
    shares = []
    for column, cell, allowed in zip(levels, released.cell, released.levels, strict=True):
        alone = np.array([column.is_value(level) for level in range(len(column.labels))])
        single = (allowed.sum(axis=1) == 1) & (allowed & alone).any(axis=1)
        shares.append(int(np.bincount(cell, minlength=len(single)) @ single) / released.rows)
    return np.array(shares, dtype=np.float64)
