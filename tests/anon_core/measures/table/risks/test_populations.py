"""Risks in a population, by sums over what may have been drawn."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import binom, invgauss, nbinom, poisson

from anon_core.measures.table.risks.populations import (
    estimate_uniques_by_inverse_gaussian,
    estimate_uniques_by_pitman,
    estimate_uniques_by_snb,
    estimate_uniques_by_zayatz,
    expect_chances,
    log_inverse_gaussian_chances,
)


@pytest.mark.parametrize("fraction", [0.02, 0.1, 0.5, 0.99])
@pytest.mark.parametrize("held", [1, 2, 7, 60])
def test_the_expected_chance_is_a_sum_over_populations(held, fraction):
    """The people who agree in the population follow a negative binomial distribution."""
    weight, total = fraction**held, 0.0
    for people in range(held, 40_000):
        total += weight / people
        weight *= people * (1 - fraction) / (people + 1 - held)
    assert expect_chances(np.array([held]), fraction)[0] == pytest.approx(total, rel=1e-9)


def test_of_a_whole_population_the_chance_is_that_of_the_table():
    assert expect_chances(np.array([1, 4, 4]), 1.0).tolist() == [1, 0.25, 0.25]


@given(st.lists(st.integers(1, 5), min_size=1, max_size=9), st.integers(0, 60))
def test_zayatz_in_exact_numbers(sizes, more):
    drawn = sum(sizes)
    population = drawn + more
    chance = {
        size: Fraction(sizes.count(size) * size * comb(population - size, drawn - 1),
                       comb(population, drawn))
        for size in set(sizes)
    }  # fmt: skip
    alone = sizes.count(1)
    exact = Fraction(alone * population, drawn) * chance.get(1, 0) / (sum(chance.values()) or 1)
    found = estimate_uniques_by_zayatz(np.array(sizes), population)
    assert found == pytest.approx(float(exact), rel=1e-9, abs=1e-9)


def seat_in_restaurant(people, shift, share, seed):
    """Groups of Pitman's formula: each person joins one, or opens one."""
    chance, tables, group = np.random.default_rng(seed), [], []
    for guest in range(people):
        if chance.random() * (shift + guest) < shift + share * len(tables):
            tables.append(1)
            group.append(len(tables) - 1)
            continue
        # One of those who sit, or one more draw where the table's discount takes it back.
        while True:
            table = group[chance.integers(guest)]
            if chance.random() < 1 - share / tables[table]:
                break
        tables[table] += 1
        group.append(table)
    return np.array(group)


@pytest.mark.long
@pytest.mark.parametrize(("shift", "share"), [(20.0, 0.3), (5.0, 0.6), (100.0, 0.5)])
def test_pitman_finds_the_uniques_of_its_own_populations(shift, share):
    errors = []
    for seed in range(6):
        people = seat_in_restaurant(20_000, shift, share, seed)
        true = (np.bincount(people) == 1).sum()
        drawn = np.random.default_rng(seed).choice(people, 4_000, replace=False)
        sizes = np.bincount(drawn)
        errors.append(estimate_uniques_by_pitman(sizes[sizes > 0], 20_000) / true - 1)
    assert abs(np.median(errors)) < 0.12
    assert np.abs(errors).max() < 0.5


def test_pitman_of_extremes():
    assert estimate_uniques_by_pitman(np.ones(9, dtype=np.int64), 500) == 500
    assert estimate_uniques_by_pitman(np.array([400, 600]), 10_000) < 1


@pytest.mark.parametrize("fraction", [0.1, 0.5])
@pytest.mark.parametrize(("number", "chance"), [(0.5, 0.2), (3.0, 0.5), (1.0, 0.05), (40.0, 0.9)])
def test_snb_finds_the_uniques_of_its_own_expectation(number, chance, fraction):
    """A sample that has exactly as many groups of each size as are expected."""
    groups, held = 10_000_000, np.arange(1, 400)
    of_size = nbinom.pmf(held - 1, number, chance)
    seen = np.array([(of_size * binom.pmf(size, held, fraction)).sum() for size in range(1, 200)])
    sizes = np.repeat(np.arange(1, 200), np.round(groups * seen).astype(np.int64))
    people = round(groups * (1 + number * (1 - chance) / chance))
    found = estimate_uniques_by_snb(sizes, people)
    assert found == pytest.approx(groups * of_size[0], rel=0.01)


def test_snb_of_whole_populations_and_extremes():
    held = 1 + np.random.default_rng(3).negative_binomial(2.0, 0.3, 5_000)
    found = estimate_uniques_by_snb(held, int(held.sum()))
    assert found == pytest.approx((held == 1).sum(), rel=1e-6)
    assert estimate_uniques_by_snb(np.ones(9, dtype=np.int64), 500) == 500
    assert 0 <= estimate_uniques_by_snb(np.array([400, 600]), 10_000) < 1
    assert 0 <= estimate_uniques_by_snb(np.array([1, 1, 2]), 10_000_000) <= 10_000_000
    assert 0 <= estimate_uniques_by_snb(np.array([1, 3, 3]), 7) <= 7


def mix_poisson(counts, mean, spread):
    """Chances of counts by definition: Poisson with an inverse Gaussian rate, summed over rates."""
    shape = mean**2 / spread
    log_rate = np.linspace(np.log(1e-7), np.log(1e5), 20_001)
    rate = np.exp(log_rate)
    weight = invgauss(mean / shape, scale=shape).pdf(rate) * rate * (log_rate[1] - log_rate[0])
    return poisson.pmf(np.asarray(counts)[:, None], rate) @ weight


@pytest.mark.parametrize(("mean", "spread"), [(0.3, 0.5), (2.0, 5.0), (10.0, 40.0)])
def test_inverse_gaussian_chances_are_those_of_the_mixture(mean, spread):
    counts = np.array([0, 1, 2, 5, 30, 64, 65, 66, 90])
    found = np.exp(log_inverse_gaussian_chances(counts, mean, spread))
    assert found == pytest.approx(mix_poisson(counts, mean, spread), rel=1e-6)
    everything = np.exp(log_inverse_gaussian_chances(np.arange(5_000), mean, spread))
    assert everything.sum() == pytest.approx(1, abs=1e-9)
    assert everything @ np.arange(5_000) == pytest.approx(mean, rel=1e-6)


@pytest.mark.parametrize("fraction", [0.1, 0.5])
@pytest.mark.parametrize(("mean", "spread"), [(3.0, 2.0), (20.0, 30.0), (8.0, 1.0)])
def test_inverse_gaussian_finds_the_uniques_of_its_own_expectation(mean, spread, fraction):
    """A sample that has as many groups of each size as are expected, drawn person by person."""
    groups, held = 1_000_000, np.arange(1, 1_500)
    of_size = np.exp(log_inverse_gaussian_chances(held, mean, spread))
    seen = np.array([(of_size * binom.pmf(size, held, fraction)).sum() for size in range(1, 800)])
    sizes = np.repeat(np.arange(1, 800), np.round(groups * seen).astype(np.int64))
    found = estimate_uniques_by_inverse_gaussian(sizes, round(sizes.sum() / fraction))
    assert found == pytest.approx(groups * of_size[0], rel=0.02)


@pytest.mark.parametrize("fraction", [0.2, 1.0])
def test_inverse_gaussian_has_the_greatest_likelihood(fraction):
    """The same by an optimizer of the definition, which shares no code."""
    sizes = np.random.default_rng(4).negative_binomial(1.0, 0.2, 400)
    sizes = sizes[sizes > 0]
    number, times = np.unique(sizes, return_counts=True)

    def compute_loss(given):
        unseen, *chances = mix_poisson([0, *number], *np.exp(given))
        return -float(times @ np.log(np.array(chances) / (1 - unseen)))

    mean, spread = np.exp(minimize(compute_loss, [1.0, 1.0], method="Nelder-Mead").x)
    (unseen,) = mix_poisson([0], mean, spread)
    (alone,) = mix_poisson([1], mean / fraction, spread / fraction)
    found = estimate_uniques_by_inverse_gaussian(sizes, round(sizes.sum() / fraction))
    assert found == pytest.approx(len(sizes) / (1 - unseen) * alone, rel=2e-3)


def test_inverse_gaussian_of_extremes():
    assert estimate_uniques_by_inverse_gaussian(np.ones(9, dtype=np.int64), 500) == 500
    assert 0 <= estimate_uniques_by_inverse_gaussian(np.array([400, 600]), 10_000) < 1
    assert 0 <= estimate_uniques_by_inverse_gaussian(np.array([1, 1, 2]), 10_000_000) <= 10_000_000
    assert 0 <= estimate_uniques_by_inverse_gaussian(np.array([1, 3, 100_000]), 200_000) <= 200_000
