"""Equal records and identical rows, merged into classes before anything is counted."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.measures.table.bitmaps import Bitmap

_LARGEST = 2**62  # keys stay below it
_WIDE = 2**31  # a greater range of numbers is ranked first


@dataclass(frozen=True)
class ReleasedCells:
    """Released quasi-identifiers as sets of levels.

    Attributes
    ----------
    cell : int32 (attributes, rows)
        Which distinct cell of its attribute a row holds.
    levels : tuple of bool (distinct cells, levels of the attribute)
        The levels that each distinct cell allows.
    """

    cell: NDArray[np.int32]
    levels: tuple[NDArray[np.bool_], ...]

    @classmethod
    def of(cls, read: Sequence[tuple[NDArray[np.int32], NDArray[np.bool_]]]) -> "ReleasedCells":
        """Stack what `read_cells` returned for each attribute."""
        return cls(np.stack([cell for cell, _ in read]), tuple(levels for _, levels in read))

    @property
    def rows(self) -> int:
        """Number of released rows."""
        return int(self.cell.shape[1])

    @property
    def level_counts(self) -> NDArray[np.int64]:
        """Number of levels of each attribute, int64 (attributes,)."""
        return np.array([levels.shape[1] for levels in self.levels], dtype=np.int64)

    @property
    def level_offsets(self) -> NDArray[np.int64]:
        """int64 (attributes,): number of an attribute's level 0 among the levels of all."""
        counts = self.level_counts
        return np.cumsum(counts) - counts

    def of_attributes(self, known: Sequence[int]) -> "ReleasedCells":
        """Return the cells of some attributes."""
        return ReleasedCells(self.cell[known], tuple(self.levels[a] for a in known))

    def sizes(self) -> NDArray[np.signedinteger[Any]]:
        """Levels that each cell allows, int (attributes, rows); 0 where it cannot be read.

        Of the least number of bytes, since a table has many cells.
        """
        most = max((levels.shape[1] for levels in self.levels), default=0)
        sizes = np.empty_like(self.cell, dtype=np.min_scalar_type(-most - 1))
        for of, cell, levels in zip(sizes, self.cell, self.levels, strict=True):
            of[:] = levels.sum(axis=1)[cell]
        return sizes


@dataclass(frozen=True)
class Classes:
    """Distinct records, distinct rows, and which row allows which level.

    Attributes
    ----------
    record_class : int32 (n,)
        Class of each record: records with equal levels share one.
    row_class : int32 (rows,)
        Class of each row: rows with the same text in every quasi-identifier share one. These are
        the equivalence classes of k-anonymity in the strict sense.
    level : int32 (attributes, record classes)
        Levels of each class of records.
    cell : int32 (attributes, row classes)
        Cells of each class of rows.
    search : int64 (attributes,)
        The attributes in the order in which near classes were numbered side by side: those of few
        levels first.
    level_index : int64 (record classes, attributes)
        The same levels, numbered over all attributes, in the order of `search`.
    bitmap : Bitmap
        Row classes that allow a level.
    """

    record_class: NDArray[np.int32]
    row_class: NDArray[np.int32]
    level: NDArray[np.int32]
    cell: NDArray[np.int32]
    search: NDArray[np.int64]
    level_index: NDArray[np.int64]
    bitmap: Bitmap

    @classmethod
    def of(cls, codes: NDArray[np.int32], released: ReleasedCells) -> "Classes":
        """Merge records, int32 (attributes, n), and released rows."""
        search = np.argsort(released.level_counts, kind="stable")
        near = (_rank_cells(released.levels[a])[released.cell[a]] for a in search)
        record_class, first_record = index_distinct_columns(codes[a] for a in search)
        row_class, first_row = index_distinct_columns(near)
        level, cell = codes[:, first_record], released.cell[:, first_row]
        bitmap = Bitmap.of_cells(cell, released.levels)
        index = np.ascontiguousarray((level + released.level_offsets[:, None])[search].T)
        return cls(record_class, row_class, level, cell, search, index, bitmap)

    @property
    def records_in(self) -> NDArray[np.int64]:
        """Number of records in each class of records."""
        return np.bincount(self.record_class, minlength=self.level.shape[1])

    @property
    def rows_in(self) -> NDArray[np.int64]:
        """Number of rows in each class of rows."""
        return np.bincount(self.row_class, minlength=self.cell.shape[1])


def _rank_cells(levels: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Rank the distinct cells of an attribute so that near ones are side by side."""
    order = np.lexsort((levels.sum(axis=1), levels.argmax(axis=1)))
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order))
    return rank


def index_distinct_columns(
    rows: Iterable[NDArray[Any]],
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Number the distinct columns of an integer matrix, given by its rows (n,), one at least.

    Returns
    -------
    kind : int32 (n,)
        Number of each column. Numbers rise with the first row, then with the next one, ...
    first : int64 (kinds,)
        The first column of each kind.

    Notes
    -----
    Rows are taken one by one, and the keys of columns are made in place. Some 24 bytes a column are
    held at a time; `np.unique` takes twice as much.
    """
    key, keys = None, 1
    for row in rows:
        key = np.zeros(len(row), dtype=np.int64) if key is None else key
        least, most = (int(row.min()), int(row.max())) if len(row) else (0, 0)
        if most - least >= _WIDE:
            row = np.unique(row, return_inverse=True)[1]  # noqa: PLW2901
            least, most = 0, int(row.max())
        width = most - least + 1
        if keys > _LARGEST // width:
            # Renumbered, keys are no more than columns; times at most 2^31 they fit 63 bits.
            key = np.unique(key, return_inverse=True)[1]
            keys = int(key.max()) + 1
        # The new key keeps the order of the old one, and within it that of the row.
        key *= width
        key += row.astype(np.int64, copy=False)
        key -= least
        keys *= width
    assert key is not None
    order = np.argsort(key, kind="stable")
    key = key[order]
    new = np.append(np.ones(min(1, len(key)), dtype=np.bool_), key[1:] != key[:-1])
    del key
    kind = np.empty(len(order), dtype=np.int32)
    kind[order] = np.cumsum(new, dtype=np.int32) - np.int32(1)
    return kind, order[new]


def list_distinct_items(
    owner: NDArray[np.integer[Any]], item: NDArray[np.integer[Any]], owners: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """List the distinct items of each owner, rising, and how often the owner has each.

    Parameters
    ----------
    owner, item : int (n,)
        Numbers from 0 on, side by side.
    owners : int
        Number of owners; some may have no item.

    Returns
    -------
    start : int64 (owners + 1,)
        Where the items of each owner begin.
    items, times : int64 (pairs,)
    """
    # As one number each, which sorts like the pair.
    span = int(item.max(initial=0)) + 1
    pairs = owner.astype(np.int64)
    pairs *= span
    pairs += item
    pairs, times = np.unique(pairs, return_counts=True)
    of, items = np.divmod(pairs, span)
    return np.searchsorted(of, np.arange(owners + 1)), items, times
