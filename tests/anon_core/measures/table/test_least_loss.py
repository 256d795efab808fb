"""The lower bound of a release's loss, beside all boxes of small tables."""

from fractions import Fraction
from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.measures.table import least_loss
from anon_core.measures.table.classes import Classes, ReleasedCells
from anon_core.measures.table.least_loss import bound_least_loss


def classes_of(codes, levels):
    """Classes of records beside rows that show them."""
    shown = tuple(np.eye(count, dtype=np.bool_) for count in levels)
    return Classes.of(codes, ReleasedCells(codes, shown))


def cheapest_loss(codes, k, ordinal, levels, center):
    """The least loss of a row that shows a record and others whose 1/k sum to 1, by definition."""
    others = [v for v in range(len(k)) if v != center]
    losses = []
    for more in chain.from_iterable(combinations(others, size) for size in range(len(k))):
        crowd = [center, *more]
        if sum(Fraction(1, int(k[v])) for v in crowd) < 1:
            continue
        parts = [
            Fraction(
                max(column) - min(column) if interval else len(set(column)) - 1, max(1, count - 1)
            )
            for column, interval, count in zip(
                codes[:, crowd].tolist(), ordinal, levels, strict=True
            )
        ]
        losses.append(sum(parts) / len(levels))
    return min(losses)


@st.composite
def tables(draw):
    records, attributes = draw(st.integers(2, 9)), draw(st.integers(1, 4))
    levels = draw(st.lists(st.integers(1, 6), min_size=attributes, max_size=attributes))
    codes = [
        draw(st.lists(st.integers(0, count - 1), min_size=records, max_size=records))
        for count in levels
    ]
    ordinal = draw(st.lists(st.booleans(), min_size=attributes, max_size=attributes))
    least = draw(st.lists(st.integers(1, records), min_size=records, max_size=records))
    return np.array(codes, np.int32), np.array(least, np.int32), np.array(ordinal), levels


@given(tables())
def test_the_bound_is_the_mean_of_the_cheapest_boxes(table):
    codes, k, ordinal, levels = table
    if sum(Fraction(1, int(each)) for each in k) < 1:
        return  # nobody can be hidden
    found = bound_least_loss(classes_of(codes, levels), k, ordinal, levels)
    every = [cheapest_loss(codes, k, ordinal, levels, v) for v in range(len(k))]
    mean = sum(every) / len(every)
    assert found.gcp == pytest.approx(float(mean), abs=1e-8)
    assert Fraction(found.gcp) <= mean
    assert (found.error, found.records) == (0, len(k))


def drawn(records, seed=1):
    rng = np.random.default_rng(seed)
    levels = [30, 12, 5, 2]
    codes = np.stack([(rng.random(records) ** 2 * count).astype(np.int32) for count in levels])
    return codes, np.full(records, 5, np.int32), np.array([True, False, False, False]), levels


def test_a_sample_estimates_the_mean_of_all(monkeypatch):
    codes, k, ordinal, levels = drawn(1500)
    classes = classes_of(codes, levels)
    estimate = bound_least_loss(classes, k, ordinal, levels)
    monkeypatch.setattr(least_loss, "SAMPLE", 1500)
    every = bound_least_loss(classes, k, ordinal, levels)
    assert (estimate.records, every.records) == (200, 1500)
    assert 0 < abs(estimate.gcp - every.gcp) < 3 * estimate.error < every.gcp
    assert every.error == 0


def test_too_many_distinct_records_have_no_bound(monkeypatch):
    codes, k, ordinal, levels = drawn(50)
    classes = classes_of(codes, levels)
    assert bound_least_loss(classes, k, ordinal, levels) is not None
    monkeypatch.setattr(least_loss, "MOST_CLASSES", classes.level.shape[1] - 1)
    assert bound_least_loss(classes, k, ordinal, levels) is None


@pytest.mark.long
def test_the_bound_is_below_the_loss_of_classes():
    """Where no record's search may come to its end, too."""
    codes, k, ordinal, levels = drawn(300)
    classes = classes_of(codes, levels)
    k = np.full(300, 60, np.int32)
    found = bound_least_loss(classes, k, ordinal, levels)
    ranked = np.argsort(codes.sum(axis=0), kind="stable")
    crowds = np.array_split(ranked, 5)
    lost = [
        sum(
            (np.ptp(column) if interval else len(set(column.tolist())) - 1) / (count - 1)
            for column, interval, count in zip(codes[:, crowd], ordinal, levels, strict=True)
        )
        / len(levels)
        for crowd in crowds
    ]
    assert 0 < found.gcp < np.mean(lost)
