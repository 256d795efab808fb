"""Attack (d) against its definition, and against all choices of rows where both are equal."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.measures.table.attackers import intersection
from anon_core.measures.table.attackers.intersection import ReleaseRows, crowds_left
from anon_core.measures.table.classes import Classes, ReleasedCells
from tests import naive


def shown(codes, levels, cells, carried):
    """A release of people with these codes (attributes, n).

    cells[a][row] is the set of levels that the row allows.
    """
    read = []
    for allowed, number in zip(cells, levels, strict=True):
        distinct = sorted({tuple(sorted(cell)) for cell in allowed})
        index = np.array([distinct.index(tuple(sorted(cell))) for cell in allowed], dtype=np.int32)
        read.append(
            (index, np.array([[level in cell for level in range(number)] for cell in distinct]))
        )
    classes = Classes.of(np.array(codes, dtype=np.int32), ReleasedCells.of(read))
    return ReleaseRows(
        classes, {name: np.array(values, dtype=np.int64) for name, values in carried.items()}
    )


@st.composite
def releases(draw, alike=False):
    """(what naive needs, what the measure takes, record (releases, persons))."""
    number = draw(st.integers(2, 3))
    everyone = draw(st.integers(1, 5))
    columns = draw(st.lists(st.sampled_from("abc"), unique=True, max_size=2)) if alike else None
    plain, made, who = [], [], []
    for _ in range(number):
        n, rows = draw(st.integers(1, 5)), draw(st.integers(1, 6))
        levels = draw(st.lists(st.integers(1, 3), min_size=1, max_size=2))
        codes = [draw(st.lists(st.integers(0, top - 1), min_size=n, max_size=n)) for top in levels]
        cells = [
            draw(
                st.lists(st.sets(st.integers(0, top - 1), min_size=1), min_size=rows, max_size=rows)
            )
            for top in levels
        ]
        names = (
            columns if alike else draw(st.lists(st.sampled_from("abc"), unique=True, max_size=2))
        )
        carried = {
            name: draw(st.lists(st.integers(0, 2), min_size=rows, max_size=rows)) for name in names
        }
        crowd = [
            [
                row
                for row in range(rows)
                if all(code[v] in cell[row] for code, cell in zip(codes, cells, strict=True))
            ]
            for v in range(n)
        ]
        plain.append(
            [
                [{name: values[row] for name, values in carried.items()} for row in rows_of_v]
                for rows_of_v in crowd
            ]
        )
        made.append(shown(codes, levels, cells, carried))
        who.append(draw(st.lists(st.integers(-1, n - 1), min_size=everyone, max_size=everyone)))
    return plain, made, np.array(who, dtype=np.int64)


def expected(plain, who, count):
    """The same numbers from a count of the rows left of lists of rows."""
    found = np.full(who.shape, -1)
    for person in range(who.shape[1]):
        there = np.flatnonzero(who[:, person] >= 0)
        found[there, person] = count([plain[at][who[at, person]] for at in there])
    return found


@given(releases())
def test_against_the_definition(case):
    plain, made, who = case
    np.testing.assert_array_equal(crowds_left(made, who), expected(plain, who, naive.rows_left))


@given(releases(alike=True))
def test_releases_that_carry_the_same_columns_against_all_choices(case):
    plain, made, who = case
    np.testing.assert_array_equal(
        crowds_left(made, who), expected(plain, who, naive.rows_jointly_left)
    )


@given(releases())
def test_two_releases_against_all_choices(case):
    plain, made, who = case[0][:2], case[1][:2], case[2][:2]
    np.testing.assert_array_equal(
        crowds_left(made, who), expected(plain, who, naive.rows_jointly_left)
    )


@given(releases())
def test_portions_change_nothing(case):
    _, made, who = case
    whole = crowds_left(made, who)
    before = intersection.VALUES_AT_ONCE
    try:
        intersection.VALUES_AT_ONCE = 2
        np.testing.assert_array_equal(crowds_left(made, who), whole)
    finally:
        intersection.VALUES_AT_ONCE = before


EVERYBODY = [[0, 0, 0]]  # three people alike, whose rows differ in what they carry alone
ANY = [[{0}, {0}, {0}]]


@pytest.mark.parametrize(
    ("first", "second", "left"),
    [
        ({"note": [1, 2, 3]}, {"note": [3, 4, 5]}, [1, 1]),
        ({"note": [1, 2, 3]}, {"note": [4, 5, 6]}, [0, 0]),
        ({"note": [1, 1, 2]}, {"note": [1, 2, 2]}, [3, 3]),
        ({"note": [1, 2, 3]}, {"other": [1, 1, 1]}, [3, 3]),
        ({"note": [1, 2, 3]}, {}, [3, 3]),
        (
            {"a": [1, 1, 2], "b": [1, 2, 2]},
            {"a": [2, 1, 1], "b": [2, 1, 1], "c": [1, 2, 3]},
            [2, 3],
        ),
    ],
)
def test_by_hand(first, second, left):
    made = [shown(EVERYBODY, [1], ANY, carried) for carried in (first, second)]
    np.testing.assert_array_equal(crowds_left(made, np.array([[0], [2]])), np.array(left)[:, None])


def test_a_third_release_narrows_what_two_left():
    """No two of the first pair exclude a row; the third has no row for one of the values."""
    made = [
        shown(EVERYBODY, [1], ANY, {"note": notes}) for notes in ([1, 2, 2], [2, 1, 1], [1, 1, 1])
    ]
    np.testing.assert_array_equal(
        crowds_left(made[:2], np.array([[0, 0], [0, -1]])), [[3, 3], [3, -1]]
    )
    np.testing.assert_array_equal(
        crowds_left(made, np.array([[0, 0], [0, 0], [0, -1]])), [[1, 3], [2, 3], [3, -1]]
    )


def test_what_two_releases_share_narrows_a_third_that_carries_nothing_of_it():
    first, second = (
        shown(EVERYBODY, [1], ANY, {"a": [1, 2, 3], "b": [1, 2, 3]}),
        shown(EVERYBODY, [1], ANY, {"b": [1, 4, 4]}),
    )
    third = shown(EVERYBODY, [1], ANY, {"a": [1, 1, 2]})
    np.testing.assert_array_equal(
        crowds_left([first, second, third], np.zeros((3, 1), dtype=np.int64)), [[1], [1], [2]]
    )
