"""Crowds and utility against the definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from anon_core.anonymizers import Adaptive
from anon_core.measures.table.cells import read_cells
from anon_core.measures.table.classes import Classes, ReleasedCells
from anon_core.measures.table.crowds import (
    Crowds,
    crowds,
    fits_own_row,
    identical_rows,
    records_per_row,
)
from anon_core.measures.table.fitting import find_fitting_rows
from anon_core.measures.table.utility import utility
from anon_core.seating.matching import random_matching
from anon_core.specs.columns import ColumnSpec
from anon_core.tables import encoding
from anon_core.tables.cells import write_cells
from tests import naive
from tests.strategies import tables
from tests.support.auditing import released_of
from tests.support.masked import features, unpack


def of_levels(book):
    """Which features are those of levels: nodes of trees do not count, bool (f,)."""
    return np.concatenate([np.arange(a.bits) < a.levels for a in book.attributes])


@given(tables(most_records=10), st.data())
def test_crowds_match_the_definitions(table, data):
    """Random stars (whole attributes or nothing), people, and a random truthful seating."""
    n, book = table.records, table.codebook
    attribute_stars = data.draw(hnp.arrays(np.bool_, (n, len(book.attributes))))
    attribute_stars &= np.array([a.levels > 1 for a in book.attributes])
    stars = np.repeat(attribute_stars, [a.bits for a in book.attributes], axis=1)
    hidden = np.zeros_like(table.bits)
    for record, feature in zip(*np.nonzero(stars), strict=True):
        hidden[record, feature // 64] |= np.uint64(1) << np.uint64(feature % 64)
    x = features(table)
    fit = naive.compatible(x, x, stars)
    expected = naive.matchable(fit)
    seat = np.arange(n)
    for _ in range(20):
        i, j = data.draw(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)))
        if fit[i, seat[j]] and fit[j, seat[i]]:
            seat[i], seat[j] = seat[j], seat[i]
    released = released_of(table, hidden)
    assert fits_own_row(table.codes, released, seat).all()
    found = crowds(table.codes, table.k, released, seat)
    assert (found.compatible == fit.sum(axis=1)).all()
    assert (found.matchable == expected.sum(axis=1)).all()
    assert found.below_k == (fit.sum(axis=1) < table.k).sum()
    shown = 1 - stars[:, of_levels(book)].mean()
    assert utility(book.ordinal, released).suppression == pytest.approx(shown)
    person = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    sits = np.empty_like(person)
    sits[seat] = person
    counted = crowds(table.codes, table.k, released, seat, person=person).people
    people = np.stack([naive.people(each, sits) for each in (fit, expected)], axis=1)
    k = table.k[:, None]
    assert (np.minimum(counted, k) == np.minimum(people, k)).all()  # counting may stop at k


@given(tables(most_records=10), st.data())
def test_identical_rows_have_the_same_texts(table, data):
    """Some records have no row; the others sit in rows with random stars."""
    n = table.records
    hidden = data.draw(hnp.arrays(np.bool_, (n, 1))) * np.full_like(table.bits, ~np.uint64(0))
    cells = write_cells(table, hidden)
    rows = list(zip(*(cells[a.name].tolist() for a in table.codebook.attributes), strict=True))
    seat = data.draw(hnp.arrays(np.int64, n, elements=st.integers(-1, n - 1)))
    classes = Classes.of(table.codes, released_of(table, hidden))
    expected = [0 if row < 0 else rows.count(rows[row]) for row in seat.tolist()]
    assert identical_rows(classes, seat).tolist() == expected


@given(tables(), st.integers(0, 2**32))
def test_releases_are_judged_right(table, seed):
    masked = Adaptive(max_iterations=3).anonymize(table)
    released = released_of(table, masked.hidden)
    generator = np.random.default_rng(seed)
    seat = random_matching(
        masked, lambda count: generator.integers(0, 2**32, count, dtype=np.uint32)
    )
    assert sorted(seat) == list(range(table.records))
    assert fits_own_row(table.codes, released, seat).all()
    found = crowds(table.codes, table.k, released, seat)
    assert found.below_k == 0
    assert found.matchable_below_k == 0
    stars = unpack(masked.hidden, table.codebook.features)
    assert (
        found.compatible == naive.compatible(features(table), features(table), stars).sum(axis=1)
    ).all()
    shown = 1 - stars[:, of_levels(table.codebook)].mean()
    assert utility(table.codebook.ordinal, released).suppression == pytest.approx(shown)


def test_directed_hubs_are_compatible_but_not_matchable():
    """Theory 5: fully masked rows 'cover' everyone without hiding anyone."""
    x = np.eye(6, dtype=int)
    table = encoding.from_bits(x, np.full(6, 3))
    hidden = np.zeros_like(table.bits)
    hidden[:3] = np.uint64(0b111111)
    found = crowds(table.codes, table.k, released_of(table, hidden), np.arange(6))
    assert found.below_k == 0
    assert found.matchable.tolist() == [3, 3, 3, 1, 1, 1]
    assert found.matchable_below_k == 3


@pytest.mark.long
def test_a_release_of_thousands_of_distinct_rows():
    """Rows in several words of words. Cells are random; every third row shows its record only."""
    rng = np.random.default_rng(3)
    n, levels = 9000, (2, 3, 40, 7, 11)
    codes = np.stack([rng.integers(0, each, n) for each in levels]).astype(np.int32)
    cell, allows = [], []
    for own, number in zip(codes, levels, strict=True):
        sets = rng.random((n, number)) < 0.15
        sets[::3] = False
        sets[np.arange(n), own] = True
        distinct, index = np.unique(sets, axis=0, return_inverse=True)
        cell.append(index.reshape(-1).astype(np.int32))
        allows.append(distinct)
    released = ReleasedCells(np.stack(cell), tuple(allows))
    assert len(np.unique(released.cell, axis=1).T) > 2 * 64**2
    fit = np.ones((n, n), dtype=np.bool_)
    for own, of, rows in zip(codes, cell, allows, strict=True):
        fit &= rows[of][:, own].T
    arcs = sparse.block_array([[None, sparse.csr_array(fit)], [sparse.eye_array(n), None]])
    component = sparse.csgraph.connected_components(arcs, connection="strong")[1]
    same = component[:n, None] == component[None, n:]
    found = crowds(codes, np.ones(n, dtype=np.int32), released, np.arange(n))
    assert (found.compatible == fit.sum(axis=1)).all()
    assert (found.matchable == (fit & same).sum(axis=1)).all()
    assert 1 < (found.matchable < found.compatible).sum() < n
    classes = Classes.of(codes, released)
    assert (records_per_row(classes) == fit.sum(axis=0)).all()
    start, row = find_fitting_rows(codes, released)
    assert (np.diff(start) == found.compatible).all()
    assert (row == np.nonzero(fit)[1]).all()


def test_without_a_seating_nothing_is_matchable():
    table = encoding.from_bits(np.eye(4, dtype=int), np.full(4, 2))
    everything = np.full_like(table.bits, 0b1111)
    found = crowds(table.codes, table.k, released_of(table, everything), None)
    assert (found.compatible == 4).all()
    assert found.matchable_below_k == 4


def test_figure_one():
    """Khan et al., Fig. 1: k = (3, 2, 3, 2, 2, 2), eight stars as printed, every demand met."""
    x = np.array(
        [[1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 1, 1], [1, 0, 1, 1], [1, 1, 0, 0], [0, 1, 1, 1]]
    )
    printed = ["**00", "*000", "**11", "*011", "1*00", "0*11"]
    table = encoding.from_bits(x, np.array([3, 2, 3, 2, 2, 2]))
    cells = [[row[l] for row in printed] for l in range(4)]
    book = table.codebook
    released = ReleasedCells.of(
        [read_cells(a, c) for a, c in zip(book.attributes, cells, strict=True)]
    )
    found = crowds(table.codes, table.k, released, np.arange(6))
    assert found.compatible.tolist() == [3, 2, 3, 2, 2, 2]
    assert found.below_k == found.matchable_below_k == 0
    assert utility(book.ordinal, released).suppression == pytest.approx(1 - 8 / 24)


def test_the_order_of_the_rows_decides_no_digit_of_the_utility():
    rng = np.random.default_rng(1)
    ages = rng.integers(0, 31, 90).astype(float)
    book = encoding.fit([ColumnSpec(name="age", kind="numeric", encoding="ordinal")], {"age": ages})
    allowed = np.tril(np.ones((book.attributes[0].levels,) * 2, dtype=bool))
    cell = rng.integers(0, len(allowed), (1, 90)).astype(np.int32)
    found = {
        utility(book.ordinal, ReleasedCells(cell[:, rng.permutation(90)], (allowed,))).ncp[0]
        for _ in range(50)
    }
    assert len(found) == 1


def test_where_people_own_several_records_they_are_what_is_counted():
    three = np.array([3, 3, 3], dtype=np.int32)
    people = np.array([[2, 2], [3, 2], [4, 3]])
    found = Crowds(three, np.array([5, 5, 5]), np.array([4, 4, 4]), people)
    assert (found.below_k, found.matchable_below_k) == (1, 2)
    found = Crowds(three, np.array([2, 5, 5]), np.array([2, 2, 4]))
    assert (found.below_k, found.matchable_below_k) == (1, 2)
