"""What a release itself says about which values were masked."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crowdcover.reader.answers.weights import Weights
from crowdcover.reader.coded.cells import Places, Sets
from crowdcover.reader.coded.columns import Column

_ROWS, _RECORDS = 2000, 5000  # looked at, at most
HALF_EVEN = 0.25  # far above what releases of rare values have, 0.02 at most; see docs/reader.md


def has_masked_common_values(columns: Sequence[Column]) -> bool:
    """Whether values were masked that are not rare.

    A value is mostly masked since too few rows are like its own. Then no exact row shows it beside
    what else the masked row allows. Where demands differ from person to person, common values are
    masked, too: each member of a set stands in an exact row that fits. This looks at how many
    cells are so.
    """
    return compute_fitting_share(columns) > HALF_EVEN


def compute_fitting_share(columns: Sequence[Column]) -> float:
    """Share of masked sets whose every member stands in an exact row that fits the masked row.

    Parameters
    ----------
    columns : sequence of Column
        The masked columns of a release. Rows stand in the order of random keys, so every n-th of
        them is a random sample; at most `_ROWS` are looked at, and `_RECORDS` different exact rows.

    Returns
    -------
    float
        0 if there is no masked set.
    """
    if not columns:
        return 0.0
    open_ = np.stack([(each.cells.sizes > 1)[each.which] for each in columns])
    whole, masked = np.flatnonzero(~open_.any(axis=0)), np.flatnonzero(open_.any(axis=0))
    masked = masked[:: max(1, len(masked) // _ROWS)][:_ROWS]
    records = np.stack([_find_exact_levels(each, whole) for each in columns])
    records = np.unique(records, axis=1)
    step = -(-records.shape[1] // _RECORDS)  # the first ones would all be low in the first column
    records = records[:, :: max(1, step)]
    # At most 2,000 x 5,000 bytes, however large the release is.
    fits = np.ones((len(masked), records.shape[1]), dtype=np.bool_)
    for each, levels in zip(columns, records, strict=True):
        fits &= _build_level_masks(each, masked)[:, levels]
    every, cells = 0, 0
    for each, levels, here in zip(columns, records, open_, strict=True):
        rows = np.flatnonzero(here[masked])
        if isinstance(each.cells, Sets) and len(rows):
            shown = np.zeros((len(rows), len(each.levels)), dtype=np.bool_)
            for level in np.unique(levels).tolist():
                shown[:, level] = fits[np.ix_(rows, levels == level)].any(axis=1)
            # A level counts against a set only if the set allows it and no exact row shows it.
            every += int((shown | ~_build_level_masks(each, masked[rows])).all(axis=1).sum())
            cells += len(rows)
    return every / cells if cells else 0.0


def _find_exact_levels(column: Column, rows: Places) -> Places:
    """The level of rows whose cell is exact."""
    cells = np.unique(column.which[rows])
    level = np.zeros(len(column.cells.sizes), dtype=np.int64)
    level[cells] = [column.cells.allowed(cell)[0] for cell in cells.tolist()]
    return level[column.which[rows]]


def _build_level_masks(column: Column, rows: Places) -> NDArray[np.bool_]:
    """The levels that the cells of these rows allow, bool (rows, levels)."""
    cells, place = np.unique(column.which[rows], return_inverse=True)
    masks = np.zeros((len(cells), len(column.levels)), dtype=np.bool_)
    for row, cell in enumerate(cells.tolist()):
        masks[row, column.cells.allowed(cell)] = True
    return masks[place]


def compute_told_share(weights: Weights) -> float:
    """What the cells of a column tell of what exact cells would tell, 0..1.

    The share of the variance of its numbers that is between rows, not within cells; of categories
    the share of the Gini index.
    """
    column, times = weights.column, weights.column.times
    rows = max(1.0, float(times.sum()))
    if column.levels.is_counted:
        numbers = np.where(column.levels.missing, 0.0, np.nan_to_num(column.levels.middles()))
        first, second = weights.mean(numbers), weights.mean(numbers**2)
        mean = float((times * first).sum()) / rows
        whole = float((times * second).sum()) / rows - mean**2
        within = float((times * (second - first**2)).sum()) / rows
    else:
        shares = weights.totals(times) / rows
        whole = 1 - float((shares**2).sum())
        within = 1 - float(weights.squares(times).sum()) / rows
    return 1.0 if whole <= 0 else float(np.clip(1 - within / whole, 0, 1))
