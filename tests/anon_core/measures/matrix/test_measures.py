"""Classes, majorities and attackers against their definitions, on drawn matrices."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.measures.matrix import linkage as links
from anon_core.measures.matrix.classes import RowClasses
from anon_core.measures.matrix.intersection import count_alike_users
from anon_core.measures.matrix.linkage import measure_linkage
from anon_core.measures.matrix.smoothness import measure_smoothness
from tests import naive

ITEMS = 5


def sparse(rows):
    """indptr and items, both int64, of sets of items."""
    indptr = np.cumsum([0, *(len(row) for row in rows)])
    return indptr, np.array([i for row in rows for i in sorted(row)], dtype=np.int64)


@st.composite
def releases(draw):
    """Source, released rows, and k: any rows, kept promise or not."""
    rows = st.frozensets(st.integers(0, ITEMS - 1))
    source = draw(st.lists(rows, min_size=1, max_size=12).filter(any))
    kinds = draw(st.lists(rows, min_size=1, max_size=4))
    released = [draw(st.sampled_from(kinds)) for _ in source]
    k = [draw(st.integers(1, len(source))) for _ in source]
    return source, released, k


def measured(source, rows):
    """Classes of the rows and the smoothness, record v in row v."""
    classes = RowClasses.of(*sparse(rows))
    indptr, items = sparse(source)
    record = np.repeat(np.arange(len(source)), np.diff(indptr))
    return classes, measure_smoothness(classes, classes.of_row, record, items, ITEMS)


@given(releases())
def test_measures_are_those_of_the_definitions(drawn):
    source, rows, k = drawn
    classes, smooth = measured(source, rows)
    below = int((classes.sizes[classes.of_row] < k).sum())
    assert (below, smooth.broken) == naive.smooth_failures(source, rows, k)
    jaccard, suppressed, created = naive.jaccard(source, rows)
    assert smooth.jaccard == pytest.approx(jaccard)
    assert smooth.suppression_count == round(suppressed * smooth.entries)
    assert smooth.false_entries == round(created * smooth.entries)
    assert smooth.true_entries + smooth.false_entries == classes.entries == sum(map(len, rows))
    assert smooth.members[smooth.unanimous].sum() == naive.unanimous(source, rows)
    assert classes.number == len(set(rows))


@given(releases())
def test_one_known_item_is_tried_exactly(drawn):
    source, rows, _ = drawn
    classes, _ = measured(source, rows)
    tried = measure_linkage(classes, *sparse(source), ITEMS, 1)
    assert tried.record.tolist() == [v for v, items in enumerate(source) if items]
    for record, chance in zip(tried.record, tried.chance, strict=True):
        found = [naive.rows_with([item], rows) for item in source[record]]
        assert chance == pytest.approx(
            math.fsum(1 / number for number in found if number) / len(found)
        )


@given(releases(), st.integers(2, 4))
def test_more_known_items_reach_one_of_the_possible_chances(drawn, known):
    from itertools import combinations

    source, rows, _ = drawn
    classes, _ = measured(source, rows)
    tried = measure_linkage(classes, *sparse(source), ITEMS, known)
    assert sorted(tried.record) == [v for v, items in enumerate(source) if len(items) >= known]
    for record, chance in zip(tried.record, tried.chance, strict=True):
        found = [naive.rows_with(each, rows) for each in combinations(source[record], known)]
        assert any(chance == pytest.approx(1 / n if n else 0) for n in found)


def test_the_order_of_the_records_decides_no_chance(monkeypatch):
    monkeypatch.setattr(links, "RECORDS_TRIED", 20)
    draws = np.random.default_rng(5)
    source = [frozenset(draws.choice(ITEMS, 3, replace=False).tolist()) for _ in range(60)]
    rows = [frozenset(row & {0, 1, 2}) for row in source]
    means = set()
    for _ in range(3):
        order = draws.permutation(60).tolist()
        classes = RowClasses.of(*sparse([rows[v] for v in order]))
        tried = measure_linkage(classes, *sparse([source[v] for v in order]), ITEMS, 2)
        assert (len(tried.record), tried.of) == (20, 60)
        means.add(math.fsum(tried.chance.tolist()))
    assert len(means) == 1


def test_an_item_in_no_row_finds_nobody():
    classes = RowClasses.of(*sparse([{0}, {0}]))
    indptr, items = np.array([0, 2, 4]), np.array([-1, 0, -1, 0])
    assert measure_linkage(classes, indptr, items, 1, 1).chance.tolist() == [0.25, 0.25]
    assert measure_linkage(classes, indptr, items, 1, 2).chance.tolist() == [0.0, 0.0]
    assert measure_linkage(classes, indptr, items, 1, 5).chance.tolist() == []


def test_a_record_without_a_row_holds_nothing_in_a_class():
    classes = RowClasses.of(*sparse([{0}, {0}]))
    found = measure_smoothness(classes, np.array([0, -1]), np.array([0, 1]), np.array([0, 0]), 1)
    assert (found.holders.tolist(), found.broken) == ([1], 0)


@given(
    st.integers(1, 3).flatmap(
        lambda releases: st.lists(
            st.tuples(*[st.none() | st.integers(0, 2)] * releases), min_size=1, max_size=12
        )
    )
)
def test_users_with_the_same_classes_in_every_release_are_alike(users):
    releases = [
        {user: row for user, row in enumerate(rows) if row is not None}
        for rows in zip(*users, strict=True)
    ]
    classes = [[-1 if row is None else row for row in rows] for rows in zip(*users, strict=True)]
    counted = count_alike_users(np.array(classes, dtype=np.int64))
    for user, number in naive.users_alike(releases).items():
        assert counted[user] == number


def test_labels_of_many_classes_do_not_overflow():
    many = np.arange(200_000, dtype=np.int64)
    assert (count_alike_users(np.stack([many, many[::-1], many // 2])) == 1).all()
