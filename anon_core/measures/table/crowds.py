"""How large a crowd each record really hides in, from source levels and released cells alone."""

from dataclasses import dataclass

import numpy as np
from numba import get_num_threads
from numpy.typing import NDArray

from anon_core.measures.table.classes import Classes, ReleasedCells, bitmap
from anon_core.measures.table.crowds_kernels import (
    components,
    count_records,
    count_rows,
    finish_order,
)
from anon_core.tables.records import Codebook


@dataclass(frozen=True)
class Crowds:
    """Demanded and achieved crowds, one entry a record.

    Attributes
    ----------
    demanded : int32 (n,)
        k(v).
    compatible : int64 (n,)
        Rows that the record fits (Definition III.1 of Khan et al.).
    matchable : int64 (n,)
        Rows that some perfect matching of records to rows gives to the record.
    """

    demanded: NDArray[np.int32]
    compatible: NDArray[np.int64]
    matchable: NDArray[np.int64]

    @property
    def below_k(self) -> int:
        """Records that fit fewer rows than they demand."""
        return int((self.compatible < self.demanded).sum())

    @property
    def matchable_below_k(self) -> int:
        """Records with fewer matchable rows than they demand."""
        return int((self.matchable < self.demanded).sum())

    @property
    def surplus(self) -> NDArray[np.int64]:
        """Over-protection, int64 (n,): matchable rows beyond those demanded."""
        return self.matchable - self.demanded.astype(np.int64)

    @property
    def margin(self) -> int:
        """Smallest difference of compatible rows and demand."""
        return int((self.compatible - self.demanded).min())


@dataclass(frozen=True)
class Components:
    """Who and what perfect matchings can mix: a record is matchable with the rows that it fits in its own component.

    Attributes
    ----------
    record : int64 (record classes,)
        Number of the component of each class of records; -1: none.
    row : int64 (row classes,)
        The same for rows; -2: none.
    """

    record: NDArray[np.int64]
    row: NDArray[np.int64]


def fits_own_row(
    codes: NDArray[np.int32], released: ReleasedCells, seat: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Whether each record's levels are allowed by the row it sits in.

    Parameters
    ----------
    codes : int32 (attributes, n)
    released : ReleasedCells
    seat : int64 (n,)
        Row of each record.
    """
    fits = np.ones(codes.shape[1], dtype=np.bool_)
    for code, cell, levels in zip(codes, released.cell, released.levels, strict=True):
        fits &= levels[cell[seat], code]
    return fits


def crowds(
    codebook: Codebook,
    codes: NDArray[np.int32],
    k: NDArray[np.int32],
    released: ReleasedCells,
    seat: NDArray[np.int64] | None,
    classes: Classes | None = None,
    components: Components | None = None,
) -> Crowds:
    """Count compatible and matchable rows of every record, exactly.

    Parameters
    ----------
    codebook : Codebook
    codes : int32 (attributes, n)
        Levels of the source records.
    k : int32 (n,)
    released : ReleasedCells
    seat : int64 (n,) or None
        Row of each record: a perfect matching in which every record fits its row. None where there is none; then no row
        is matchable.
    classes : Classes, optional
        Those of these records and rows, where they were merged already.
    components : Components, optional
        Theirs, where they were found already; `seat` is not looked at.

    Returns
    -------
    Crowds
        In the order of the records.

    Notes
    -----
    Arcs are never stored: a bitmap over rows for each level answers "which rows does v fit" by one intersection, so memory
    is O(levels * rows / 8) and time O(records * attributes * rows / 64).
    """
    merged = Classes.of(codebook, codes, released) if classes is None else classes
    found = components_of(codebook, released, merged, seat) if components is None else components
    compatible, matchable = np.empty((2, merged.level.shape[1]), dtype=np.int64)
    count_rows(
        merged.level_index,
        merged.bitmap,
        merged.rows_in,
        found.row,
        found.record,
        compatible,
        matchable,
    )
    return Crowds(k, compatible[merged.record_class], matchable[merged.record_class])


def components_of(
    codebook: Codebook, released: ReleasedCells, classes: Classes, seat: NDArray[np.int64] | None
) -> Components:
    """Number the strongly connected components of: record -> rows it fits, row -> record that sits in it.

    Parameters
    ----------
    codebook : Codebook
    released : ReleasedCells
    classes : Classes
        Of records and rows.
    seat : int64 (n,) or None
        As for `crowds`; without one no component holds both a record and a row.

    Notes
    -----
    A pair (v, row) lies in some perfect matching iff both lie in one component (docs/theory.md, 5). Equal records and
    equal rows are merged.
    """
    level, cell = classes.level, classes.cell
    record = np.full(level.shape[1], -1, dtype=np.int64)
    row = np.full(cell.shape[1], -2, dtype=np.int64)
    if seat is not None:
        row[:] = -1
        taken = classes.row_class[seat]
        seats_start, seats = _lists(classes.record_class, taken, level.shape[1])
        seated_start, seated = _lists(taken, classes.record_class, cell.shape[1])
        order = np.empty(level.shape[1], dtype=np.int64)
        finish_order(classes.level_index, classes.bitmap, seated_start, seated, order)
        holds = [
            np.arange(a.levels)[:, None] == code
            for a, code in zip(codebook.attributes, level, strict=True)
        ]
        cell_index, allowed_start, allowed = _allowed(codebook, released, cell)
        components(
            order,
            bitmap(holds),
            cell_index,
            allowed_start,
            allowed,
            seats_start,
            seats,
            record,
            row,
        )
    return Components(record, row)


def records_per_row(classes: Classes) -> NDArray[np.int64]:
    """How many records fit each released row, int64 (rows,): the crowd as its row sees it."""
    found = np.zeros((get_num_threads(), classes.cell.shape[1]), dtype=np.int64)
    count_records(classes.level_index, classes.bitmap, classes.records_in, found)
    total: NDArray[np.int64] = found.sum(axis=0)
    return total[classes.row_class]


def _lists(
    owner: NDArray[np.int64], item: NDArray[np.int64], owners: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Distinct items of each owner as (start (owners + 1,), items)."""
    pairs = np.unique(np.stack([owner, item]), axis=1)
    return np.searchsorted(pairs[0], np.arange(owners + 1)), np.ascontiguousarray(pairs[1])


def _allowed(
    codebook: Codebook, released: ReleasedCells, cell: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Cells numbered over all attributes, and the levels each allows; an empty list stands for all levels."""
    shift = np.cumsum([0] + [len(levels) for levels in released.levels])
    lists = [
        np.flatnonzero(row) + offset if not row.all() else np.empty(0, dtype=np.int64)
        for levels, offset in zip(released.levels, codebook.level_offsets[:-1], strict=True)
        for row in levels
    ]
    start = np.concatenate([[0], np.cumsum([len(entry) for entry in lists], dtype=np.int64)])
    return cell.astype(np.int64) + shift[:-1, None], start, np.concatenate(lists).astype(np.int64)
