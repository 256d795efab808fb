"""Guesses by the order of rows, against all orders."""

import math
from itertools import permutations

import numpy as np
import pytest

from anon_core.measures.row_order import BEYOND_CHANCE, order_hits


def test_guesses_by_order():
    n = 30
    place = np.arange(n)
    assert order_hits(place)["same place"].all()
    assert order_hits(place[::-1])["from the end"].all()
    assert order_hits(np.roll(place, 7))["next row"].sum() == n - 2
    assert order_hits(np.roll(place[::-1], 7))["row before"].sum() == n - 2
    nobody = order_hits(np.full(n, -1))
    assert not any(right.any() for right in nobody.values())


@pytest.mark.parametrize("n", range(1, 8))
def test_the_bound_of_right_guesses_holds_for_all_orders(n):
    """At most one order in t! has t right guesses or more, whichever way they are made."""
    orders = [order_hits(np.array(seat)) for seat in permutations(range(n))]
    for way in orders[0]:
        right = [int(hits[way].sum()) for hits in orders]
        for t in range(n + 1):
            assert sum(count >= t for count in right) <= math.factorial(n) / math.factorial(t)
    assert 4 / math.factorial(BEYOND_CHANCE) < 1e-9
