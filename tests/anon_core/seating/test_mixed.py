"""Seats exchanged so that fewer crowds show one value; the law and the masks stay."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.anonymizers import Adaptive
from anon_core.seating import reseating
from anon_core.seating.matching import draw_by_holders
from anon_core.seating.reseating import mix_values
from anon_core.tables import encoding
from tests import naive
from tests.support.masked import unpack


def words(seed):
    rng = np.random.default_rng(seed)
    return lambda count: rng.integers(0, 2**32, count, dtype=np.uint32)


def made_of(n, seed, k=3):
    """A table in which a value goes with the quasi-identifiers, what was made of it, and values."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 3, n)
    x = rng.integers(0, 2, (3, 9))[kind] ^ (rng.random((n, 9)) < 0.1)
    value = np.where(rng.random(n) < 0.9, kind, 3)
    value.flags.writeable = False  # as in a release: numba compiles such an array apart
    table = encoding.from_bits(x, np.full(n, k))
    return Adaptive(seats="even").anonymize(table), value


def uniform(made, seat, value):
    x, stars = (unpack(bits, 9) for bits in (made.table.bits, made.hidden))
    return naive.uniform(naive.compatible(x, x, stars), seat, value)


@given(st.integers(4, 40), st.integers(0, 2**32 - 1))
def test_no_more_crowds_show_one_value_and_everyone_keeps_a_seat_of_the_law(n, seed):
    made, value = made_of(n, seed)
    drawn = draw_by_holders(made.table, made.holders, words(seed))
    seat = mix_values(made.table, made.hidden, made.holders, drawn, value, words(1))
    assert sorted(seat) == list(range(n))
    chances = naive.shares(made.table, made.holders)
    assert (chances[np.arange(n), seat] > 0).all()
    assert uniform(made, seat, value) <= uniform(made, drawn, value)
    again = mix_values(made.table, made.hidden, made.holders, drawn, value, words(1))
    assert (seat == again).all()


@pytest.mark.long
@pytest.mark.parametrize("at_once", [reseating.AT_ONCE, 100])
def test_exchanges_mix_a_larger_table(monkeypatch, at_once):
    monkeypatch.setattr(reseating, "AT_ONCE", at_once)
    made, value = made_of(600, 5)
    drawn = draw_by_holders(made.table, made.holders, words(2))
    seat = mix_values(made.table, made.hidden, made.holders, drawn, value, words(3))
    before, after = (uniform(made, each, value) for each in (drawn, seat))
    assert before - after > 10
    assert (seat != drawn).mean() < 0.2
