"""How large a crowd each record really hides in, from source levels and released cells alone."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anon_core.encoding import distinct_columns
from anon_core.kernels.judge import components, count_rows, finish_order
from anon_core.records import Codebook


@dataclass(frozen=True)
class ReleasedCells:
    """Released quasi-identifiers as sets of levels.

    Attributes
    ----------
    cell : int32 (attributes, rows)
        Which distinct cell of its attribute a row holds.
    levels : tuple of bool (distinct cells, levels of the attribute)
        What each distinct cell allows.
    """

    cell: NDArray[np.int32]
    levels: tuple[NDArray[np.bool_], ...]

    @classmethod
    def of(cls, read: Sequence[tuple[NDArray[np.int32], NDArray[np.bool_]]]) -> "ReleasedCells":
        """From the answers of `encoding.read_cells`, one an attribute."""
        return cls(np.stack([cell for cell, _ in read]), tuple(levels for _, levels in read))

    @property
    def rows(self) -> int:
        """Number of released rows."""
        return int(self.cell.shape[1])

    def sizes(self) -> NDArray[np.int64]:
        """How many levels each cell allows, int64 (attributes, rows); 0 where it cannot be read."""
        return np.stack([levels.sum(axis=1)[cell] for cell, levels in zip(self.cell, self.levels, strict=True)])


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
    def margin(self) -> int:
        """Smallest difference of compatible rows and demand."""
        return int((self.compatible - self.demanded).min())


def fits_own_row(codes: NDArray[np.int32], released: ReleasedCells, seat: NDArray[np.int64]) -> NDArray[np.bool_]:
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

    Returns
    -------
    Crowds
        In the order of the records.

    Notes
    -----
    A pair (v, row) lies in some perfect matching iff both lie in one strongly connected component of: record -> rows it
    fits, row -> record that sits in it (docs/theory.md, 5). Equal records and equal rows are merged, and arcs are never
    stored: a bitmap over rows for each level answers "which rows does v fit" by one intersection, so memory is
    O(levels * rows / 8) and time O(records * attributes * rows / 64).
    """
    record_class, first_record = distinct_columns(codes)
    row_class, first_row = distinct_columns(released.cell)
    level, cell = codes[:, first_record], released.cell[:, first_row]
    offsets = codebook.level_offsets[:-1]
    allows = [levels[c].T for c, levels in zip(cell, released.levels, strict=True)]
    bitmap = _bitmap(allows)
    level_index = level.astype(np.int64) + offsets[:, None]
    rows_in = np.bincount(row_class, minlength=cell.shape[1])
    record_component = np.full(level.shape[1], -1, dtype=np.int64)
    component = np.full(cell.shape[1], -2, dtype=np.int64)
    if seat is not None:
        component[:] = -1
        seats_start, seats = _lists(record_class, row_class[seat], level.shape[1])
        seated_start, seated = _lists(row_class[seat], record_class, cell.shape[1])
        order = np.empty(level.shape[1], dtype=np.int64)
        finish_order(level_index, bitmap, seated_start, seated, order)
        holds = [np.arange(a.levels)[:, None] == code for a, code in zip(codebook.attributes, level, strict=True)]
        cell_index, allowed_start, allowed = _allowed(codebook, released, cell)
        components(order, _bitmap(holds), cell_index, allowed_start, allowed, seats_start, seats, record_component, component)
    compatible, matchable = np.empty((2, level.shape[1]), dtype=np.int64)
    count_rows(level_index, bitmap, rows_in, component, record_component, compatible, matchable)
    return Crowds(k, compatible[record_class], matchable[record_class])


def _bitmap(flags: Sequence[NDArray[np.bool_]]) -> NDArray[np.uint64]:
    """Stack boolean (levels, items) blocks into uint64 (all levels, words), item i at bit i % 64 of word i // 64."""
    items = flags[0].shape[1]
    packed = np.zeros((sum(len(block) for block in flags), 8 * (-(-items // 64))), dtype=np.uint8)
    packed[:, : -(-items // 8)] = np.concatenate([np.packbits(block, axis=1, bitorder="little") for block in flags])
    return packed.view("<u8")


def _lists(owner: NDArray[np.int64], item: NDArray[np.int64], owners: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
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
