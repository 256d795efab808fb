"""Which released rows fit each record, listed."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import LimitError
from anon_core.measures.table.bitmaps import Bitmap
from anon_core.measures.table.classes import ReleasedCells, index_distinct_columns
from anon_core.measures.table.fitting_kernels import list_fitting

BITMAP_ROWS = 2**16  # rows whose bitmaps are held at a time: 8 KiB a level
MOST_FITTING_PAIRS = 2**31


def find_fitting_rows(
    codes: NDArray[np.int32], released: ReleasedCells
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """List the rows that fit each record: they allow its level in every attribute.

    Parameters
    ----------
    codes : int32 (attributes, n)
        Levels of the source records.
    released : ReleasedCells

    Returns
    -------
    start : int64 (n + 1,)
    row : int32 (pairs,)
        Rows of record v are row[start[v] : start[v + 1]], ascending.

    Raises
    ------
    LimitError
        More than `MOST_FITTING_PAIRS` pairs.

    Notes
    -----
    Equal records are looked at once. Memory beyond the result: at most as much again, 8 KiB a
    level, and 40 bytes a record. Time O(records * attributes * rows / 64).
    """
    kind, first = index_distinct_columns(codes)
    level = np.ascontiguousarray((codes[:, first] + released.level_offsets[:, None]).T)
    count = np.zeros(len(first), dtype=np.int64)
    nowhere = np.empty(0, dtype=np.int32)
    for offset, allows in _list_blocks(released):
        # Two passes: the first only counts, so lists are laid out without room to spare.
        list_fitting(level, allows, offset, count, nowhere)
    start = _compute_starts(count[kind])
    if start[-1] > MOST_FITTING_PAIRS:
        raise LimitError(
            f"records and rows fit in {start[-1]} pairs; at most {MOST_FITTING_PAIRS} can be "
            "listed: release smaller parts"
        )
    own = _compute_starts(count)
    cursor, listed = own[:-1].copy(), np.empty(int(own[-1]), dtype=np.int32)
    for offset, allows in _list_blocks(released) if len(listed) else ():
        list_fitting(level, allows, offset, cursor, listed)
    row = np.empty(int(start[-1]), dtype=np.int32)
    for record, of in enumerate(kind.tolist()):
        row[start[record] : start[record + 1]] = listed[own[of] : own[of + 1]]
    return start, row


def _list_blocks(released: ReleasedCells) -> Iterator[tuple[int, Bitmap]]:
    """First row of each block, and who allows which level."""
    for offset in range(0, released.rows, BITMAP_ROWS):
        cell = released.cell[:, offset : offset + BITMAP_ROWS]
        yield offset, Bitmap.of_cells(cell, released.levels)


def _compute_starts(count: NDArray[np.int64]) -> NDArray[np.int64]:
    """0 and the running sums, int64 (m + 1,)."""
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(count)])
