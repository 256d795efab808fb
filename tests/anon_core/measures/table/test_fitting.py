"""Lists of fitting rows against the cells themselves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.errors import LimitError
from anon_core.measures.table import fitting
from anon_core.measures.table.classes import ReleasedCells


@st.composite
def releases(draw):
    """(codes, released, fit) of up to 150 records and rows, cells of any sets of levels."""
    n, rows, levels = draw(st.integers(0, 150)), draw(st.integers(0, 150)), draw(st.integers(1, 4))
    seed = draw(st.integers(0, 2**32))
    rng = np.random.default_rng(seed)
    sets = tuple(rng.random((3, levels)) < draw(st.sampled_from([0.2, 0.8])) for _ in range(2))
    codes = rng.integers(0, levels, (2, n)).astype(np.int32)
    released = ReleasedCells(rng.integers(0, 3, (2, rows)).astype(np.int32), sets)
    fit = np.ones((n, rows), dtype=bool)
    for code, cell, allows in zip(codes, released.cell, sets, strict=True):
        fit &= allows[cell][:, code].T
    return codes, released, fit


@given(releases(), st.sampled_from([64, 128, 2**16]))
def test_every_fitting_row_is_listed_once_in_order(release, block):
    codes, released, fit = release
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "BITMAP_ROWS", block)
        start, row = fitting.find_fitting_rows(codes, released)
    assert start.dtype == np.int64
    assert row.dtype == np.int32
    assert start.tolist() == [0, *np.cumsum(fit.sum(axis=1)).tolist()]
    assert row.tolist() == np.nonzero(fit)[1].tolist()


def test_more_pairs_than_can_be_listed_are_refused(monkeypatch):
    monkeypatch.setattr(fitting, "MOST_FITTING_PAIRS", 8)
    everything = ReleasedCells(np.zeros((1, 3), dtype=np.int32), (np.ones((1, 1), dtype=bool),))
    with pytest.raises(LimitError, match="9 pairs"):
        fitting.find_fitting_rows(np.zeros((1, 3), dtype=np.int32), everything)
