"""Rows that fit the records of a batch, and of some of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from anon_core.errors import InputError
from anon_core.series.fits import Fits
from tests.anon_core.series.cells import fits_of, fitting


@given(fitting(), st.data())
def test_the_fits_of_some_records(fit, data):
    members = data.draw(hnp.arrays(np.bool_, len(fit)))
    some = fits_of(fit).among(members)
    expected = fits_of(fit[np.ix_(members, members)])
    assert some.start.tolist() == expected.start.tolist()
    assert some.row.tolist() == expected.row.tolist()
    assert some.n == members.sum()


@pytest.mark.parametrize(
    ("start", "row", "message"),
    [
        ([0, 1], np.array([0], dtype=np.int64), "int32"),
        ([0, 2], [0], "number of pairs"),
        ([0, 1, 2], [0, 2], "from 0 to 1"),
        ([0, 2, 4], [0, 1, 1, 0], "rise"),
        ([0, 2, 3], [0, 0, 1], "rise"),
        ([0, 1, 2], [1, 0], "2 of 2 records do not fit"),
    ],
)
def test_other_arrays_are_refused(start, row, message):
    row = row if isinstance(row, np.ndarray) else np.array(row, dtype=np.int32)
    with pytest.raises(InputError, match=message):
        Fits(np.array(start, dtype=np.int64), row)


def test_members_are_flags():
    with pytest.raises(InputError, match="bool"):
        fits_of(np.eye(2, dtype=bool)).among(np.array([0, 1]))
