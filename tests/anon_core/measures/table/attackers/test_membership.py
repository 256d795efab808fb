"""Who is said to be in a table: counts, draws and the best number of rows by definition."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.measures.table.attackers.membership import (
    attack_membership,
    draw_outsiders,
    tell_apart,
)
from anon_core.measures.table.classes import Classes, ReleasedCells
from tests import naive
from tests.strategies import tables
from tests.support.auditing import random_release


@st.composite
def released_tables(draw):
    table = draw(tables(most_records=9))
    return table, *random_release(draw(st.data()), table)


def attack(codes, released):
    classes = Classes.of(codes, released)
    compatible = np.array([count_fitting(code, released) for code in codes.T], dtype=np.int64)
    return classes, attack_membership(released, classes, compatible, drawn=len(compatible))


def count_fitting(levels, released):
    """Rows all of whose cells allow the levels."""
    cells = zip(released.levels, released.cell, levels, strict=True)
    return int(np.all([allowed[cell, level] for allowed, cell, level in cells], axis=0).sum())


@given(released_tables())
def test_it_counts_what_the_definition_counts(drawn):
    table, released, fit = drawn
    classes, found = attack(table.codes, released)
    inside = [sum(map(int, row)) for row in fit]
    outside = [count_fitting(each, released) for each in draw_outsiders(classes, table.records).T]
    assert found.drawn == len(outside)
    assert found.matched == sum(rows >= 1 for rows in outside)
    if not outside:
        assert found.matched == found.others == 0
        return
    rows, advantage = naive.tell_apart(inside, outside)
    assert found.rows == rows
    assert found.members == sum(each >= rows for each in inside)
    assert found.others == sum(each >= rows for each in outside)
    share = Fraction(found.members, len(inside)) - Fraction(found.others, found.drawn)
    assert share == advantage


@given(released_tables(), st.randoms())
def test_the_order_of_the_records_changes_nothing(drawn, random):
    table, released, _ = drawn
    order = list(range(table.records))
    random.shuffle(order)
    cells = ReleasedCells(released.cell[:, order[::-1]], released.levels)
    assert attack(table.codes, released)[1] == attack(table.codes[:, order], cells)[1]


@given(released_tables())
def test_who_is_drawn_is_no_record_but_has_levels_of_two(drawn):
    """Tables of few attributes and levels, with missing values and equal records."""
    table, released, _ = drawn
    people = draw_outsiders(Classes.of(table.codes, released), 20).T
    for person in people:
        same = (table.codes == person[:, None]).T
        assert not any(one.all() for one in same)
        assert any((one | other).all() for one in same for other in same)
    records = set(map(tuple, table.codes.T.tolist()))
    mixed = [tuple(m) for a in records for b in records for m in product(*zip(a, b, strict=True))]
    assert len(people) in (0, 20) or set(mixed) & records
    if not set(mixed) - records:
        assert not len(people)


@pytest.mark.parametrize("columns", [2, 3])
def test_nobody_who_is_drawn_from_few_columns_is_a_record(columns):
    """People of two rows each, and the last level for missing values."""
    codes = np.random.default_rng(columns).integers(0, 12, size=(columns, 150), dtype=np.int32)
    codes = np.repeat(codes, 2, axis=1)
    _, found = attack(codes, show_exactly(codes))
    assert (found.rows, found.members, found.matched, found.drawn) == (2, 300, 0, 300)


def test_where_all_combinations_occur_nobody_is_drawn():
    codes = np.array(list(product(range(3), range(4))), dtype=np.int32).T
    _, found = attack(codes, show_exactly(codes))
    assert (found.drawn, found.matched, found.others) == (0, 0, 0)


def test_fewer_are_drawn_where_few_combinations_are_left():
    every = np.array(list(product(range(9), range(9))), dtype=np.int32).T
    codes = every[:, 1:]
    people = draw_outsiders(Classes.of(codes, show_exactly(codes)), 1000)
    assert 0 < people.shape[1] < 1000
    assert not people.any()  # the combination that no record has


def show_exactly(codes):
    """Rows that show the records as they are."""
    levels = tuple(np.eye(1 + each.max(), dtype=bool) for each in codes)
    return ReleasedCells(codes.copy(), levels)


def build_exact_table(columns, records):
    """Records that are equal in all columns, and rows that show them as they are."""
    codes = np.tile(np.arange(records, dtype=np.int32), (columns, 1))
    return codes, show_exactly(codes)


def test_rows_that_hide_nothing_tell_who_is_in():
    _, found = attack(*build_exact_table(8, 3000))
    assert (found.rows, found.members, found.matched, found.drawn) == (1, 3000, 0, 3000)


def test_rows_that_hide_everything_tell_nothing():
    codes = build_exact_table(4, 50)[0]
    stars = tuple(np.ones((1, 50), dtype=bool) for _ in codes)
    _, found = attack(codes, ReleasedCells(np.zeros_like(codes), stars))
    assert (found.matched, found.rows, found.members, found.others) == (50, 50, 50, 50)


def test_more_rows_may_tell_more():
    """Everybody who is in fits five rows; of the others all fit one, and few fit five."""
    found = tell_apart(np.full(10, 5), np.sort(np.array([1] * 8 + [5, 7])))
    assert (found.matched, found.rows, found.members, found.others) == (10, 5, 10, 2)
