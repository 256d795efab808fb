"""Who may sit where, in words, and what even seats must be."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import strategies as st

from anon_core.seating import fits, widening
from tests import naive
from tests.strategies import tables
from tests.support.masked import unpack

LEVELS = (1, 2, 3, 4, 6)  # divisors of 12


@st.composite
def few_levels(draw):
    """A table whose levels of k have a small common multiple."""
    table = draw(tables())
    allowed = [level for level in LEVELS if level <= table.records]
    k = draw(st.lists(st.sampled_from(allowed), min_size=table.records, max_size=table.records))
    return replace(table, k=np.array(k, dtype=np.int32))


def check_even(table, rows):
    """The definition: a doubly stochastic matrix on the fit graph, no entry above 1/k."""
    f = table.codebook.features
    x, stars = unpack(table.bits, f), unpack(rows.hidden, f)
    d = rows.holders.shape[1]
    held = naive.shares(table, rows.holders)
    assert held.sum(axis=0) == pytest.approx(d)
    assert held.sum(axis=1) == pytest.approx(d)
    assert (held <= d / table.k[:, None] + 1e-9).all()
    assert (naive.compatible(x, x, stars) | (held == 0)).all()
    # A row hides what its holders differ in and what must be hidden, nothing else.
    blank = np.repeat(table.blank.T, [a.bits for a in table.codebook.attributes], axis=1)
    needed = (x[rows.holders] != x[:, None, :]).any(axis=1) | blank
    assert (stars == needed).all()


def keep_short(patch):
    """Let lists, and what is looked at for them, be as short as can be."""
    for module in (fits, widening):
        patch.setattr(module, "ROWS_PER_NEED", 1)
    for name in ("CLASSES_TRIED", "LOOKED", "MOST_LISTED"):
        patch.setattr(widening, name, 1)


def words(seed):
    """A stream of random words, like those of storage/vault/secret_streams.py."""
    generator = np.random.default_rng(seed)
    return lambda count: generator.integers(0, 2**32, count, dtype=np.uint32)
