"""Random matchings: who fits which row is found exactly, and every draw is a matching of those."""

import numpy as np
import pytest

from anon_core import encoding
from anon_core.anonymizers import Adaptive
from anon_core.graphs import perfect_matching
from tests import naive
from tests.anon_core.test_adaptive import unpack


@pytest.mark.parametrize(("n", "f", "most"), [(63, 5, 1000), (64, 5, 1000), (65, 9, 1000), (300, 7, 1000), (300, 7, 10)])
def test_fitting_rows_are_those_of_the_definition(monkeypatch, n, f, most):
    rng = np.random.default_rng(n)
    x = rng.integers(0, 2, (n, f))
    masked = Adaptive(weights="bits").anonymize(encoding.from_bits(x, rng.integers(1, 12, n)))
    fit = naive.compatible(x, x, unpack(masked.hidden, f))
    monkeypatch.setattr(perfect_matching, "MOST_ROWS", most)
    rows, found = perfect_matching._fitting_rows(masked, rng.integers(0, 2**32, n, dtype=np.uint32))
    assert (found == np.minimum(most, fit.sum(axis=1))).all()
    for person in range(n):
        listed = rows[person, : found[person]]
        assert len(set(listed.tolist())) == len(listed)
        assert fit[person, listed].all()


def test_a_matching_seats_everyone_in_a_fitting_row_and_the_same_words_give_the_same():
    rng = np.random.default_rng(5)
    x = rng.integers(0, 2, (300, 7))
    masked = Adaptive(weights="bits").anonymize(encoding.from_bits(x, rng.integers(3, 12, 300)))
    fit = naive.compatible(x, x, unpack(masked.hidden, 7))
    seats = []
    for seed in (1, 1, 2):
        generator = np.random.default_rng(seed)
        seats.append(perfect_matching.random_matching(masked, lambda c, g=generator: g.integers(0, 2**32, c, dtype=np.uint32)))
        assert sorted(seats[-1]) == list(range(300))
        assert fit[np.arange(300), seats[-1]].all()
    assert (seats[0] == seats[1]).all()
    assert (seats[0] != seats[2]).any()
