"""Bits of items by level, packed from cells and from levels, beside flags by item."""

import numpy as np
import pytest

from anon_core.measures.table.bitmaps import Bitmap


@pytest.mark.parametrize("items", [1, 63, 64, 65, 4_200])
def test_cells_and_levels_are_packed_as_flags_are(items):
    rng = np.random.default_rng(items)
    levels = (rng.random((5, 3)) < 0.4, rng.random((4, 7)) < 0.4, np.ones((2, 1), dtype=np.bool_))
    cells = np.stack([rng.integers(0, len(allowed), items) for allowed in levels]).astype(np.int32)
    whole = Bitmap.of(allowed[cell].T for cell, allowed in zip(cells, levels, strict=True))
    for one, other in zip(Bitmap.of_cells(cells, levels), whole, strict=True):
        assert np.array_equal(one, other)
    counts = np.array([5, 4, 2], dtype=np.int64)
    single = Bitmap.of(
        np.arange(count)[:, None] == cell for cell, count in zip(cells, counts, strict=True)
    )
    for one, other in zip(Bitmap.of_levels(cells, counts), single, strict=True):
        assert np.array_equal(one, other)
