"""The crowd of each record, counted from source levels and released cells alone."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import get_num_threads
from numpy.typing import NDArray

from anon_core.measures.table.bitmaps import Bitmap
from anon_core.measures.table.classes import Classes, ReleasedCells, list_distinct_items
from anon_core.measures.table.crowds_kernels import (
    count_fitting_rows,
    count_matchable_rows,
    count_records,
    find_components,
    finish_order,
)
from anon_core.measures.table.people_kernels import count_people


@dataclass(frozen=True)
class Crowds:
    """Demanded and achieved crowds, one entry per record.

    Attributes
    ----------
    demanded : int32 (n,)
        k(v).
    compatible : int64 (n,)
        Rows that the record fits (Definition III.1 of Khan et al.).
    matchable : int64 (n,)
        Rows that some perfect matching of records to rows gives to the record.
    people : int64 (n, 2), optional
        Where people own several records: people who sit in the compatible and in the matchable
        rows, counted up to k(v) at least.
    """

    demanded: NDArray[np.int32]
    compatible: NDArray[np.int64]
    matchable: NDArray[np.int64]
    people: NDArray[np.int64] | None = None

    @property
    def below_k(self) -> int:
        """Records that fit fewer than k rows, or rows of fewer than k people."""
        counted = self.compatible if self.people is None else self.people[:, 0]
        return int((counted < self.demanded).sum())

    @property
    def matchable_below_k(self) -> int:
        """Records with fewer than k matchable rows, or with rows of fewer than k people."""
        counted = self.matchable if self.people is None else self.people[:, 1]
        return int((counted < self.demanded).sum())

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
    """Strongly connected components: a record is matchable with the rows it fits in its own.

    Attributes
    ----------
    record : int64 (record classes,)
        Component of each class of records; -1: none.
    row : int64 (row classes,)
        Component of each class of rows; -2: none.
    """

    record: NDArray[np.int64]
    row: NDArray[np.int64]


def fits_own_row(
    codes: NDArray[np.int32], released: ReleasedCells, seat: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Test whether the row of each record allows the record's levels.

    Parameters
    ----------
    codes : int32 (attributes, n)
    released : ReleasedCells
    seat : int64 (n,)
        Row of each record.

    Returns
    -------
    bool (n,)
    """
    fits = np.ones(codes.shape[1], dtype=np.bool_)
    for code, cell, levels in zip(codes, released.cell, released.levels, strict=True):
        fits &= levels[cell[seat], code]
    return fits


def identical_rows(classes: Classes, seat: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the rows that are identical to the row of each record, itself included, int64 (n,).

    Parameters
    ----------
    classes : Classes
    seat : int64 (n,)
        Row of each record; -1: none, which counts as 0 rows.
    """
    return np.where(seat >= 0, classes.rows_in[classes.row_class[seat]], 0)


def crowds(
    codes: NDArray[np.int32],
    k: NDArray[np.int32],
    released: ReleasedCells,
    seat: NDArray[np.int64] | None,
    classes: Classes | None = None,
    components: Components | None = None,
    person: NDArray[np.int64] | None = None,
) -> Crowds:
    """Count the compatible and the matchable rows of every record, exactly.

    Parameters
    ----------
    codes : int32 (attributes, n)
        Levels of the source records.
    k : int32 (n,)
    released : ReleasedCells
    seat : int64 (n,) or None
        Row of each record: a perfect matching in which every record fits its row. None if there is
        no such matching; then no row is matchable.
    classes : Classes, optional
        Classes of these records and rows, if they are known already.
    components : Components, optional
        Components of these classes, if they are known already.
    person : int64 (n,), optional
        Number of each record's person where people own several records. Without seats nobody sits
        anywhere.

    Returns
    -------
    Crowds
        In the order of the records.

    Notes
    -----
    Arcs are never stored: a bitmap over rows for each level finds the rows that v fits by one
    intersection, which leaves out words without any. Memory O(levels * rows / 8). Time O(records *
    attributes * rows / 4096), and that of the words that are looked at: few, since near rows share
    one.
    """
    # Equal records fit the same rows, and identical rows take the same records: classes are
    # counted.
    merged = Classes.of(codes, released) if classes is None else classes
    parts = components_of(released, merged, seat) if components is None else components
    compatible = count_rows(merged, merged.rows_in)
    matchable = count_matchable(merged, parts, merged.rows_in)
    rows = compatible[merged.record_class], matchable[merged.record_class]
    if person is None:
        return Crowds(k, *rows)
    people = _count_people(merged, parts, k, seat, person)
    return Crowds(k, *rows, people[merged.record_class])


def count_rows(classes: Classes, rows_in: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the rows that each record class fits, int64 (record classes,).

    `rows_in`: int64 (row classes,), how many rows each is taken for.
    """
    words = -(-len(rows_in) // 64)
    # Padded with its last number, a word that is not full is alike iff its classes are.
    by_word = np.pad(rows_in, (0, 64 * words - len(rows_in)), "edge").reshape(words, 64)
    alike = np.where((by_word == by_word[:, :1]).all(axis=1), by_word[:, 0], 0)
    fitting = np.empty(classes.level.shape[1], dtype=np.int64)
    count_fitting_rows(classes.level_index, classes.bitmap, rows_in, alike, fitting)
    return fitting


def count_rows_by_known(
    released: ReleasedCells, classes: Classes, known: Sequence[int]
) -> NDArray[np.int64]:
    """Count the rows that each record class fits in the attributes that are `known`, as above."""
    rows = ReleasedCells(classes.cell, released.levels).of_attributes([*known])
    # Records that are alike in what is known fit the same rows.
    alike = Classes.of(classes.level[[*known]], rows)
    rows_in = np.zeros(alike.cell.shape[1], dtype=np.int64)
    np.add.at(rows_in, alike.row_class, classes.rows_in)
    return count_rows(alike, rows_in)[alike.record_class]


def count_matchable(
    classes: Classes, components: Components, rows_in: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Count the rows that each record class fits in its own component, as `count_rows` does."""
    matchable = np.empty(classes.level.shape[1], dtype=np.int64)
    count_matchable_rows(
        classes.level_index, classes.bitmap, rows_in, components.row, components.record, matchable
    )
    return matchable


def _count_people(
    classes: Classes,
    components: Components,
    k: NDArray[np.int32],
    seat: NDArray[np.int64] | None,
    person: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return whose rows are compatible and matchable, in people, int64 (record classes, 2)."""
    people = np.zeros((classes.level.shape[1], 2), dtype=np.int64)
    if seat is not None:
        start, seated, _ = list_distinct_items(
            classes.row_class[seat], person, classes.cell.shape[1]
        )
        most = np.zeros(len(people), dtype=np.int64)
        # Equal records may demand differently: counting goes on up to the greatest k of the class.
        np.maximum.at(most, classes.record_class, k)
        count_people(
            classes.level_index, classes.bitmap, start, seated, int(person.max()) + 1,
            components.row, components.record, most, people,
        )  # fmt: skip
    return people


def components_of(
    released: ReleasedCells, classes: Classes, seat: NDArray[np.int64] | None
) -> Components:
    """Number the strongly connected components.

    Arcs lead from a record to each row it fits, and from a row to each record that sits in it.

    Parameters
    ----------
    released : ReleasedCells
    classes : Classes
        Classes of records and rows.
    seat : int64 (n,) or None
        As for `crowds`. Without it, no component holds both a record and a row.

    Notes
    -----
    A pair (v, row) lies in some perfect matching iff both lie in one component (docs/theory.md, 5).
    Equal records and identical rows are merged.
    """
    level, cell = classes.level, classes.cell
    record = np.full(level.shape[1], -1, dtype=np.int64)
    row = np.full(cell.shape[1], -2, dtype=np.int64)
    if seat is None:
        return Components(record, row)
    row[:] = -1
    # Seats are a perfect matching. Arcs back along seats turn each alternating cycle into a
    # directed one, and exchanging seats along it gives another perfect matching.
    taken = classes.row_class[seat]
    seats_start, seats, _ = list_distinct_items(classes.record_class, taken, level.shape[1])
    sitting = np.repeat(np.arange(level.shape[1]), np.diff(seats_start))
    seated_start, seated, _ = list_distinct_items(seats, sitting, cell.shape[1])
    order = np.empty(level.shape[1], dtype=np.int64)
    finish_order(classes.level_index, classes.bitmap, cell.shape[1], seated_start, seated, order)
    cell_index, allowed_start, allowed = _list_cell_levels(released, cell)
    find_components(
        order,
        Bitmap.of_levels(level, released.level_counts),
        np.ascontiguousarray(cell_index[classes.search].T),
        allowed_start,
        allowed,
        seats_start,
        seats,
        record,
        row,
    )
    return Components(record, row)


def records_per_row(classes: Classes) -> NDArray[np.int64]:
    """Count the records that fit each released row, int64 (rows,)."""
    # A row of counts a thread, so that no two threads add to one number.
    counts = np.zeros((get_num_threads(), classes.cell.shape[1]), dtype=np.int64)
    count_records(classes.level_index, classes.bitmap, classes.records_in, counts)
    total: NDArray[np.int64] = counts.sum(axis=0)
    return total[classes.row_class]


def _list_cell_levels(
    released: ReleasedCells, cell: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Number the cells over all attributes and list the levels of each; an empty list means all."""
    shift = np.cumsum([0] + [len(levels) for levels in released.levels])
    # A cell that cannot be read has an empty list, too. None is misread: seats are rows that fit.
    lists = [
        np.flatnonzero(row) + offset if not row.all() else np.empty(0, dtype=np.int64)
        for levels, offset in zip(released.levels, released.level_offsets, strict=True)
        for row in levels
    ]
    start = np.concatenate([[0], np.cumsum([len(entry) for entry in lists], dtype=np.int64)])
    return cell.astype(np.int64) + shift[:-1, None], start, np.concatenate(lists).astype(np.int64)
