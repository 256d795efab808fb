"""Columns that cannot be encoded are refused before data is read."""

from math import inf, nan

import pytest

from anon_core.errors import InputError
from anon_core.specs.columns import ColumnSpec


@pytest.mark.parametrize("bins", [(), (2.0, 1.0), (1.0, 1.0), (nan,), (1.0, nan), (inf,), (-inf,)])
def test_edges_are_finite_numbers_in_increasing_order(bins):
    with pytest.raises(InputError, match="edges must be given in increasing order, at least one"):
        ColumnSpec(name="age", kind="numeric", bins=bins)
    assert ColumnSpec(name="age", kind="numeric", bins=(1.0, 2.5)).bins == (1.0, 2.5)
