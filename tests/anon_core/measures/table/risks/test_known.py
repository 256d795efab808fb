"""Crowds of people of whom few attributes are known, by their definition."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.errors import InputError
from anon_core.measures.table.classes import Classes
from anon_core.measures.table.risks.known import find_fewest_rows
from anon_core.tables import encoding
from tests.strategies import tables
from tests.support.auditing import random_release, released_of


@given(st.data())
def test_every_set_of_so_many_attributes_by_its_definition(data):
    table = data.draw(tables(most_records=9))
    released, fit = random_release(data, table)
    classes, attributes = Classes.of(table.codes, released), len(table.codes)
    # bool (records, rows) of each attribute: whether the row allows the record's level.
    allows = [
        levels[cell][:, code].T
        for cell, levels, code in zip(released.cell, released.levels, table.codes, strict=True)
    ]
    before = None
    for known in range(1, attributes + 1):
        crowd = {
            of: int(np.all([allows[a] for a in of], axis=0).sum(axis=1).min())
            for of in combinations(range(attributes), known)
        }
        found = find_fewest_rows(released, classes, known)
        assert found.rows == min(crowd.values())
        assert crowd[found.known] == found.rows
        assert before is None or found.rows <= before  # who knows more finds no more rows
        before = found.rows
    assert found.rows == fit.sum(axis=1).min()


@pytest.mark.parametrize("known", [0, -1, 99])
def test_how_many_can_be_known(known):
    table = encoding.from_bits(np.eye(3, dtype=int), np.full(3, 2))
    released = released_of(table, np.zeros_like(table.bits))
    with pytest.raises(InputError, match="from 1 to the number of attributes, 3"):
        find_fewest_rows(released, Classes.of(table.codes, released), known)
