"""Histories that withdrawn rows leave to records, against all choices of rows."""

import itertools
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from anon_core.series.histories import count_matchable_rows, find_pasts
from anon_core.series.histories_kernels import number_strong_components
from anon_core.tables.pasts import MOST_WAYS
from tests import naive
from tests.anon_core.series.cells import fits_of, fitting


@st.composite
def cells(draw):
    """Up to three cells of chains 0..5: fit, chain of each record, value of each row."""
    found = []
    for _ in range(draw(st.integers(0, 3))):
        fit = draw(fitting(most_records=6))
        chain = np.array(draw(st.permutations(range(6)))[: len(fit)], dtype=np.int64)
        found.append((fit, chain, draw(hnp.arrays(np.int64, len(fit), elements=st.integers(0, 2)))))
    return found


@given(cells(), st.data())
def test_pasts_by_all_choices_of_rows(drawn, data):
    chain = np.array(data.draw(st.lists(st.integers(0, 7), unique=True)), dtype=np.int64)
    value = data.draw(hnp.arrays(np.int64, len(chain), elements=st.integers(0, 3)))
    counted = [count_matchable_rows(own, carried, fits_of(fit)) for fit, own, carried in drawn]
    pasts = find_pasts(counted, chain, value)
    for place, number in enumerate(chain.tolist()):
        rows = [
            [int(carried[row]) for row in naive.possible_rows(fit)[record]]
            for fit, own, carried in drawn
            for record in np.flatnonzero(own == number)
        ]
        alike = Counter(each[0] for each in itertools.product(*rows) if len(set(each)) == 1)
        if rows and not alike:
            alike = {int(value[place]): 0}  # no history at all: not as if it never had a row
        pairs = slice(*pasts.start[place : place + 2].tolist())
        found = dict(zip(pasts.values[pairs].tolist(), pasts.ways[pairs].tolist(), strict=True))
        assert found == dict(alike)


def test_great_numbers_stop():
    whole = fits_of(np.ones((64, 64), dtype=bool))
    own = np.arange(64)
    cell = count_matchable_rows(own, np.zeros(64, dtype=np.int64), whole)
    for cells in (5, 6, 400):
        pasts = find_pasts([cell] * cells, own, np.zeros(64, dtype=np.int64))
        assert set(pasts.ways.tolist()) == {min(MOST_WAYS, 64**cells)}


@given(hnp.arrays(bool, st.integers(1, 12).map(lambda n: (n, n))))
def test_components_have_the_numbers_of_scipy(edges):
    """Numbers decide ties, so they are compared, not only who is in one component."""
    start = np.concatenate([[0], np.cumsum(edges.sum(axis=1))])
    row = np.nonzero(edges)[1].astype(np.int32)
    expected = connected_components(csr_array(edges), directed=True, connection="strong")[1]
    assert number_strong_components(start, row).tolist() == expected.tolist()
