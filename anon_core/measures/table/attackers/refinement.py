"""Masked cells of which somebody concludes who can be behind them: downcoding and refinement."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import get_num_threads
from numpy.typing import NDArray

from anon_core.measures.table.classes import Classes, ReleasedCells
from anon_core.measures.table.crowds import Components
from anon_core.measures.table.crowds_kernels import count_records
from anon_core.measures.table.fitting import find_fitting_rows

MOST_HELD_LEVELS = 2**28  # of rows times attributes
MOST_CLASS_PRODUCTS = 2**31  # classes of records times classes of rows
MOST_CLASS_PAIRS = 2**26  # of classes that fit
_AT_ONCE = 2**17  # rows whose shares are looked at at a time


@dataclass(frozen=True)
class Refinement:
    """How much of the masked cells is left, to somebody who concludes who may be behind a row.

    Attributes
    ----------
    masked : float
        Share of the cells that allow several levels.
    one_value : float or None
        Of the masked cells, the share of those whose owner can have one level only. None: more
        pairs than are looked at.
    narrowed : float or None
        The share of those that allow a level which no possible owner has.
    """

    masked: float
    one_value: float | None = None
    narrowed: float | None = None


def refine_by_shares(
    codes: NDArray[np.int32],
    released: ReleasedCells,
    classes: Classes,
    holders: NDArray[np.integer[Any]],
) -> Refinement:
    """Refine cells by the chances that seats were drawn from.

    A level is possible if a holder of a row with this text has it: identical rows are not told
    apart. This is what somebody concludes who knows all quasi-identifiers, the plan, the program
    and the chances. Somebody who knows less excludes no more.

    Parameters
    ----------
    codes : int32 (attributes, n)
        Levels of the records.
    released : ReleasedCells
        Of n rows.
    classes : Classes
        Of these records and rows.
    holders : int (n, D)
        By row and share the record that holds it.

    Notes
    -----
    Under even seats without columns whose missing values hide, `one_value` is 0 by proof: see
    docs/theory.md, section 12. Time O(n D attributes).

    References
    ----------
    Cohen, Attacks on Deidentification's Defenses (downcoding). Chhillar et al., arXiv 2509.03350
    (combinatorial refinement).
    """
    if holders.size * len(codes) > MOST_HELD_LEVELS:
        return Refinement(_compute_masked_share(released))

    parts = [slice(at, at + _AT_ONCE) for at in range(0, len(holders), _AT_ONCE)]
    possible = (
        ((classes.row_class[part, None], code[holders[part]]) for part in parts) for code in codes
    )
    return _count_refined(released, classes, possible)


def refine_by_matchings(
    released: ReleasedCells, classes: Classes, components: Components
) -> Refinement:
    """Refine cells by what is possible at all: each person gets a row that fits.

    A level is possible if a record that is matchable with the row has it. This is what follows for
    somebody who knows all quasi-identifiers. Who knows the chances of the seats, too, may exclude
    more.

    Parameters
    ----------
    released : ReleasedCells
    classes : Classes
        Of the records and these rows.
    components : Components
        Of these classes, from a perfect matching.
    """
    record_classes, row_classes = classes.level.shape[1], classes.cell.shape[1]
    if (
        record_classes * row_classes > MOST_CLASS_PRODUCTS
        or _count_pairs(classes) > MOST_CLASS_PAIRS
    ):
        return Refinement(_compute_masked_share(released))
    start, row = find_fitting_rows(classes.level, ReleasedCells(classes.cell, released.levels))
    record = np.repeat(np.arange(record_classes), np.diff(start))
    matchable = components.record[record] == components.row[row]
    record, row = record[matchable], row[matchable]

    possible = ([(row, level[record])] for level in classes.level)
    return _count_refined(released, classes, possible)


def _count_refined(
    released: ReleasedCells,
    classes: Classes,
    possible: Iterable[Iterable[tuple[NDArray[Any], NDArray[Any]]]],
) -> Refinement:
    """Count refined cells by attribute; `possible`: of each, row classes beside their levels."""
    one_value = narrowed = masked = 0
    rows = classes.rows_in
    for cell, levels, pairs in zip(classes.cell, released.levels, possible, strict=True):
        seen = np.zeros((len(rows), levels.shape[1]), dtype=np.bool_)
        for row, level in pairs:
            seen[row, level] = True
        allowed = levels.sum(axis=1)[cell]
        left = seen.sum(axis=1)
        masked += int(rows[allowed > 1].sum())
        one_value += int(rows[(allowed > 1) & (left == 1)].sum())
        narrowed += int(rows[(allowed > 1) & (left < allowed)].sum())
    cells = max(1, masked)
    return Refinement(masked / released.cell.size, one_value / cells, narrowed / cells)


def _compute_masked_share(released: ReleasedCells) -> float:
    return float((released.sizes() > 1).mean())


def _count_pairs(classes: Classes) -> int:
    """Pairs of a class of records and a class of rows that it fits."""
    found = np.zeros((get_num_threads(), classes.cell.shape[1]), dtype=np.int64)
    once = np.ones(classes.level.shape[1], dtype=np.int64)
    count_records(classes.level_index, classes.bitmap, once, found)
    return int(found.sum())
