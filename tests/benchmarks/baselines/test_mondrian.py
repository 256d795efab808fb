"""Mondrian: where it cuts, strict and relaxed."""

import numpy as np
import pytest

from benchmarks.baselines.mondrian import by_appearance, mondrian
from tests.drawn import drawn


@pytest.mark.parametrize("relaxed", [False, True])
def test_classes_hold_each_record_once_and_k_at_least(relaxed):
    codes = np.random.default_rng(1).integers(0, 5, (3, 97))
    found = mondrian(codes, 4, relaxed=relaxed)
    assert sorted(np.concatenate(found).tolist()) == list(range(97))
    assert min(map(len, found)) >= 4


def test_strict_keeps_equals_together_and_relaxed_splits_them():
    codes = np.array([[0, 1, 1, 1, 1, 2]])
    strict = {frozenset(c.tolist()) for c in mondrian(codes, 3)}
    assert strict == {frozenset(range(6))}
    relaxed = {frozenset(c.tolist()) for c in mondrian(codes, 3, relaxed=True)}
    assert relaxed == {frozenset({0, 1, 2}), frozenset({3, 4, 5})}


def test_strict_cuts_the_widest_column_at_its_median():
    codes = np.array([[0, 9, 1, 8, 2, 7], [0, 0, 1, 1, 0, 1]])
    found = {frozenset(c.tolist()) for c in mondrian(codes, 3)}
    assert found == {frozenset({0, 2, 4}), frozenset({1, 3, 5})}


def test_relaxed_classes_stay_below_2k_unless_all_are_equal():
    codes = np.random.default_rng(2).integers(0, 3, (2, 200))
    for members in mondrian(codes, 5, relaxed=True):
        assert len(members) < 10 or (np.ptp(codes[:, members], axis=1) == 0).all()


def test_categories_are_ordered_by_appearance_also_where_some_are_absent():
    book = drawn(20, 2).codebook
    codes = np.array([[5, 0, 5, 3], [3, 1, 3, 0], [0, 0, 1, 1]])
    assert by_appearance(book, codes).tolist() == [[5, 0, 5, 3], [0, 1, 0, 2], [0, 0, 1, 1]]
