"""Who is said to be in a table: counts, draws and the best number of rows by definition."""

from fractions import Fraction

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
    assert found.drawn == table.records
    assert found.matched == sum(rows >= 1 for rows in outside)
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
def test_who_is_drawn_has_levels_of_two_records(drawn):
    table, released, _ = drawn
    classes = Classes.of(table.codes, released)
    for person in draw_outsiders(classes, 20).T:
        same = (table.codes == person[:, None]).T
        assert any((one | other).all() for one in same for other in same)


def build_exact_table(columns, records):
    """Records that are equal in all columns, and rows that show them as they are."""
    codes = np.tile(np.arange(records, dtype=np.int32), (columns, 1))
    return codes, ReleasedCells(codes.copy(), tuple(np.eye(records, dtype=bool) for _ in codes))


def test_rows_that_hide_nothing_tell_who_is_in():
    """A drawn person fits a row only if all coins fall alike, or both records are one."""
    _, found = attack(*build_exact_table(8, 3000))
    assert (found.rows, found.members, found.others) == (1, 3000, found.matched)
    expected = 3000 / 2**7
    assert found.matched == pytest.approx(expected, abs=5 * expected**0.5 + 5)


def test_rows_that_hide_everything_tell_nothing():
    codes, _ = build_exact_table(4, 50)
    stars = tuple(np.ones((1, 50), dtype=bool) for _ in codes)
    _, found = attack(codes, ReleasedCells(np.zeros_like(codes), stars))
    assert (found.matched, found.rows, found.members, found.others) == (50, 50, 50, 50)


def test_more_rows_may_tell_more():
    """Everybody who is in fits five rows; of the others all fit one, and few fit five."""
    found = tell_apart(np.full(10, 5), np.sort(np.array([1] * 8 + [5, 7])))
    assert (found.matched, found.rows, found.members, found.others) == (10, 5, 10, 2)
