"""What crowds tell of demands: by definition, over all rules, on tiny tables."""

from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.measures.table.attackers.demand_guesses import guess_demands


def best_rule(crowds, demands):
    """Try every rule that gives a greater crowd no smaller demand."""
    sizes, levels = sorted(set(crowds)), sorted(set(demands))
    rules = [
        dict(zip(sizes, rule, strict=True))
        for rule in combinations_with_replacement(levels, len(sizes))
    ]
    people = list(zip(crowds, demands, strict=True))
    return max(sum(rule[crowd] == k for crowd, k in people) for rule in rules)


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 4)), min_size=1, max_size=9))
def test_by_definition(people):
    crowds, demands = zip(*people, strict=True)
    found = guess_demands(np.array(crowds), np.array(demands, dtype=np.int32))
    assert found.right == best_rule(crowds, demands)
    assert found.commonest == max(demands.count(k) for k in demands)
    assert found.ruled_out == sum(crowd < max(demands) for crowd in crowds)
    assert found.levels == len(set(demands))
    assert found.commonest <= found.right <= len(people)


@given(
    st.lists(st.tuples(st.integers(1, 99), st.integers(1, 9)), min_size=2, max_size=40),
    st.randoms(),
)
def test_the_order_of_records_is_free(people, chance):
    def guessed(listed):
        crowds, demands = zip(*listed, strict=True)
        return guess_demands(np.array(crowds), np.array(demands, dtype=np.int32))

    shuffled = chance.sample(people, len(people))
    assert guessed(shuffled) == guessed(people)


@pytest.mark.parametrize(
    ("crowds", "demands", "right", "commonest", "ruled_out"),
    [
        ([5, 6, 20, 30], [5, 5, 20, 20], 4, 2, 2),  # crowds tell everything
        ([9, 9, 9, 9], [5, 5, 5, 2], 3, 3, 0),  # nothing
        ([5, 6, 20, 30], [20, 20, 5, 5], 2, 2, 2),  # against the order: no rule of this kind
        ([7], [7], 1, 1, 0),
        ([2**40, 3], [2**31 - 1, 3], 2, 1, 1),
    ],
)
def test_known_cases(crowds, demands, right, commonest, ruled_out):
    found = guess_demands(np.array(crowds), np.array(demands, dtype=np.int32))
    assert (found.right, found.commonest, found.ruled_out) == (right, commonest, ruled_out)


def test_many_records_and_demands():
    """As large as a real table; a minute would be a fault."""
    chance = np.random.default_rng(4)
    demands = chance.integers(5, 101, 200_000).astype(np.int32)
    crowds = demands + chance.integers(0, 20_000, 200_000)
    found = guess_demands(crowds, demands)
    assert found.levels == 96
    assert found.commonest < found.right < 10 * found.commonest
