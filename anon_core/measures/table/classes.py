"""Records that are equal and rows that are written alike, merged: what the judges count with."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anon_core.tables.encoding import distinct_columns
from anon_core.tables.records import Codebook


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
        return np.stack(
            [levels.sum(axis=1)[cell] for cell, levels in zip(self.cell, self.levels, strict=True)]
        )


@dataclass(frozen=True)
class Classes:
    """Distinct records, distinct rows, and which row allows which level.

    Attributes
    ----------
    record_class : int64 (n,)
        Number of each record's class: its quasi-identifiers as coded.
    row_class : int64 (rows,)
        Number of each row's class: its quasi-identifiers as written.
    level : int32 (attributes, record classes)
        Levels of each class of records.
    cell : int32 (attributes, row classes)
        Cells of each class of rows.
    level_index : int64 (attributes, record classes)
        The same levels, numbered over all attributes.
    bitmap : uint64 (all levels, words)
        Row classes that allow a level: class r at bit r % 64 of word r // 64.
    """

    record_class: NDArray[np.int64]
    row_class: NDArray[np.int64]
    level: NDArray[np.int32]
    cell: NDArray[np.int32]
    level_index: NDArray[np.int64]
    bitmap: NDArray[np.uint64]

    @classmethod
    def of(cls, codebook: Codebook, codes: NDArray[np.int32], released: ReleasedCells) -> "Classes":
        """Merge records (attributes, n) and released rows."""
        record_class, first_record = distinct_columns(codes)
        row_class, first_row = distinct_columns(released.cell)
        level, cell = codes[:, first_record], released.cell[:, first_row]
        allows = [levels[c].T for c, levels in zip(cell, released.levels, strict=True)]
        index = level.astype(np.int64) + codebook.level_offsets[:-1, None]
        return cls(record_class, row_class, level, cell, index, bitmap(allows))

    @property
    def records_in(self) -> NDArray[np.int64]:
        """How many records each class of them holds."""
        return np.bincount(self.record_class, minlength=self.level.shape[1])

    @property
    def rows_in(self) -> NDArray[np.int64]:
        """How many rows each class of them holds: the equivalence classes of k-anonymity in the strict sense."""
        return np.bincount(self.row_class, minlength=self.cell.shape[1])


def bitmap(flags: Sequence[NDArray[np.bool_]]) -> NDArray[np.uint64]:
    """Stack boolean (levels, items) blocks into uint64 (all levels, words), item i at bit i % 64 of word i // 64."""
    items = flags[0].shape[1]
    packed = np.zeros((sum(len(block) for block in flags), 8 * (-(-items // 64))), dtype=np.uint8)
    packed[:, : -(-items // 8)] = np.concatenate(
        [np.packbits(block, axis=1, bitorder="little") for block in flags]
    )
    return packed.view("<u8")
