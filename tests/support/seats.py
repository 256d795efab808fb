"""Who may sit where, in words, and what even seats must be."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume
from hypothesis import strategies as st

from anon_core.seating import fits, widening
from anon_core.tables.demands import of_people
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


@st.composite
def owned(draw):
    """A table of people who own several records, no more than crowds of k people allow."""
    table = draw(tables())
    n = table.records
    person = np.array(draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)))
    person = np.unique(person, return_inverse=True)[1].astype(np.int32)
    most = np.bincount(person).max()
    k = draw(st.integers(1, n))
    assume(most * k <= n)
    return of_people(replace(table, k=np.full(n, k, dtype=np.int32)), person)


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
    for place, attribute in enumerate(table.codebook.attributes):
        if attribute.nodes is not None and not attribute.tree.sets:
            start = table.codebook.bit_offsets[place]
            everyone = range(attribute.levels)
            for row, holders in enumerate(table.codes[place][rows.holders]):
                levels = everyone if table.blank[place, row] else holders
                inside = naive.inside_node(attribute.levels, attribute.nodes, levels)
                needed[row, start : start + attribute.bits] = inside
    assert (stars == needed).all()


def check_people(table, hidden, holders):
    """A doubly stochastic matrix on the fit graph; no person has more than 1/k of a row.

    Nor has a record more than 1/k in the rows made from the records of one person.
    """
    x, stars = unpack(table.bits, table.codebook.features), unpack(hidden, table.codebook.features)
    shares, d = naive.shares(table, holders), holders.shape[1]
    most = d / table.k + 1e-9
    assert shares.sum(axis=0) == pytest.approx(d)
    assert shares.sum(axis=1) == pytest.approx(d)
    assert (naive.compatible(x, x, stars) | (shares == 0)).all()
    for person in range(table.person.max() + 1):
        mine = table.person == person
        assert (shares[mine].sum(axis=0) <= most[mine].min()).all()
        assert (shares[:, mine].sum(axis=1) <= most).all()


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
