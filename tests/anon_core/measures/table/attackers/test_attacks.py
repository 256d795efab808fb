"""Attackers against the definitions, and where the answer is known."""

import math
from itertools import combinations, permutations

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.anonymizers import Adaptive
from anon_core.measures.table.attackers.attacks import (
    SWEEPS,
    attack_as_insider,
    list_known_subsets,
    partial_linkage,
    tightest_rows,
)
from anon_core.measures.table.classes import Classes, ReleasedCells
from anon_core.measures.table.crowds import components_of, crowds
from anon_core.specs.columns import ColumnSpec
from anon_core.tables import encoding
from tests import naive
from tests.strategies import tables
from tests.support.auditing import random_release, released_of


@st.composite
def attacked(draw):
    """A table, a release of it, who fits which row, and a truthful seating."""
    table = draw(tables(most_records=9))
    n = table.records
    released, fit = random_release(draw(st.data()), table)
    seat = np.arange(n)
    for _ in range(12):
        i, j = draw(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)))
        if fit[i, seat[j]] and fit[j, seat[i]]:
            seat[i], seat[j] = seat[j], seat[i]
    return table, released, fit, seat


def merged(table, released, seat):
    classes = Classes.of(table.codes, released)
    return classes, components_of(released, classes, seat)


# ---------------------------------------------------------------- one person known


@given(attacked())
def test_the_tightest_row_by_definition(case):
    table, released, fit, seat = case
    classes, _ = merged(table, released, seat)
    sizes = [math.prod(map(int, row)) for row in released.sizes().T]
    components = components_of(released, classes, seat)
    found = attack_as_insider(classes, components, tightest_rows(released, classes)).tightest
    belief = naive.likeliest_matching(fit, SWEEPS)
    assert found[classes.record_class].tolist() == pytest.approx(
        naive.tightest_row(fit, sizes, belief), rel=1e-6
    )


def test_combinations_beyond_63_bits_are_compared_exactly():
    """70 attributes of two levels: rows of 2^70 and 2^69 combinations are told apart."""
    x = np.zeros((3, 70), dtype=int)
    x[2] = 1
    table = encoding.from_bits(x, np.full(3, 1))
    levels = tuple(np.array([[True, True], [True, False], [False, True]]) for _ in range(70))
    cell = np.zeros((70, 3), dtype=np.int32)
    cell[0] = [0, 1, 2]
    released = ReleasedCells(cell, levels)
    seat = np.array([1, 0, 2])
    classes, _ = merged(table, released, seat)
    # The first two fit rows 0 and 1, of which 1 is the tighter one; the last fits rows 0 and 2.
    found = tightest_rows(released, classes)
    assert found.alike.tolist() == [1, 1]
    of = classes.record_class
    assert found.least[of].tolist() == found.rank[classes.row_class[[1, 1, 2]]].tolist()


@given(attacked())
def test_less_known_is_never_a_better_guess(case):
    table, released, fit, seat = case
    classes, _ = merged(table, released, seat)
    attributes = len(table.codes)
    allowed = [
        levels[cell][:, code].T
        for cell, levels, code in zip(released.cell, released.levels, table.codes, strict=True)
    ]
    found = partial_linkage(released, classes)
    assert set(found) == {size for size in (attributes - 1, attributes // 2) if size}
    for size, chance in found.items():
        success = chance[classes.record_class]
        by_subset = [
            1 / np.all([allowed[a] for a in known], axis=0).sum(axis=1)
            for known in list_known_subsets(attributes)[size]
        ]
        assert success.tolist() == pytest.approx(np.mean(by_subset, axis=0).tolist())
        assert (success <= 1 / fit.sum(axis=1) * (1 + 1e-12)).all()


@pytest.mark.parametrize("attributes", range(2, 9))
def test_all_but_one_are_all_such_subsets_and_every_attribute_is_known_equally_often(attributes):
    subsets = list_known_subsets(attributes)
    everything = {frozenset(known) for known in combinations(range(attributes), attributes - 1)}
    assert {frozenset(known) for known in subsets[attributes - 1]} == everything
    for size, chosen in subsets.items():
        assert {len(set(known)) for known in chosen} == {size}
        assert set(np.bincount(np.concatenate(chosen)).tolist()) == {size}


def test_long_tables_are_counted_in_parts():
    """More words than are joined at a time."""
    draws = np.random.default_rng(4)
    x = draws.integers(0, 2, (40_000, 3))
    table = encoding.from_bits(x, np.full(len(x), 2))
    released = released_of(table, np.zeros_like(table.bits))
    classes = Classes.of(table.codes, released)
    for size, chance in partial_linkage(released, classes).items():
        success = chance[classes.record_class]
        subsets = list_known_subsets(3)[size]
        for person in range(5):
            crowds_of_part = [
                (x[:, known] == x[person, known]).all(axis=1).sum() for known in subsets
            ]
            assert success[person] == pytest.approx(np.mean(1 / np.array(crowds_of_part)))


# ---------------------------------------------------------------- everybody known


@given(attacked())
def test_the_insiders_belief_by_definition(case):
    table, released, fit, seat = case
    classes, components = merged(table, released, seat)
    belief = naive.likeliest_matching(fit, SWEEPS)
    found = attack_as_insider(classes, components, tightest_rows(released, classes))
    assert found.likeliest[classes.record_class].tolist() == pytest.approx(
        belief.max(axis=1).tolist(), rel=1e-6
    )


def belief_of(flags, sweeps=2000):
    """Belief in the likeliest row of each record, on rows that allow exactly these records.

    Each record is a level of one attribute.
    """
    flags = np.array(flags, dtype=bool)
    column = {"who": np.array(list("abcdef"[: len(flags)]), dtype=object)}
    book = encoding.fit([ColumnSpec(name="who", kind="categorical")], column)
    table = encoding.encode(book, column, np.ones(len(flags), dtype=np.int64))
    released = ReleasedCells(np.arange(len(flags), dtype=np.int32)[None], (flags.T.copy(),))
    seat = np.arange(len(flags))
    classes, components = merged(table, released, seat)
    tightest = tightest_rows(released, classes)
    found = attack_as_insider(classes, components, tightest, sweeps=sweeps)
    return found.likeliest[classes.record_class]


def test_beliefs_that_are_known():
    golden = (math.sqrt(5) - 1) / 2
    cases = {
        "all fit all": (np.ones((5, 5)), [0.2] * 5),
        "two blocks": (np.kron(np.eye(2), np.ones((3, 3))), [1 / 3] * 6),
        "one matching only": (np.tril(np.ones((4, 4))), [1] * 4),
        # First row p, 1 - p, 0: both squares of four pairs are balanced if p^2 + p = 1.
        "a chain": ([[1, 1, 0], [1, 1, 1], [0, 1, 1]], [golden, 1 - golden, golden]),
    }
    for fit, expected in cases.values():
        assert belief_of(fit).tolist() == pytest.approx(expected, rel=1e-9)


def test_beliefs_lie_near_the_shares_of_all_matchings():
    """The chain has three perfect matchings; in two of them the first person has the own row."""
    fit = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], dtype=bool)
    all_of_them = [seats for seats in permutations(range(3)) if fit[range(3), seats].all()]
    share = sum(seats[0] == 0 for seats in all_of_them) / len(all_of_them)
    assert belief_of(fit)[0] == pytest.approx(share, abs=0.06)


# ---------------------------------------------------------------- whole releases


def all_attacks(table, hidden):
    seat = np.arange(table.records)
    released = released_of(table, hidden)
    classes, components = merged(table, released, seat)
    found = crowds(table.codes, table.k, released, seat, classes, components)
    belief = attack_as_insider(classes, components, tightest_rows(released, classes))
    return {
        "linkage": 1 / found.compatible,
        "tightest row": belief.tightest[classes.record_class],
        "insider": belief.likeliest[classes.record_class],
    }


def test_an_unmasked_table_of_unique_people_is_an_open_book():
    table = encoding.from_bits(np.eye(6, dtype=int), np.full(6, 1))
    for success in all_attacks(table, np.zeros_like(table.bits)).values():
        assert (success == 1).all()


def test_rows_that_say_nothing_leave_one_in_n():
    table = encoding.from_bits(np.eye(6, dtype=int), np.full(6, 1))
    for success in all_attacks(table, np.full_like(table.bits, 0b111111)).values():
        assert success.tolist() == pytest.approx([1 / 6] * 6)


@pytest.fixture(scope="module")
def adapted():
    draws = np.random.default_rng(8)
    table = encoding.from_bits(draws.integers(0, 2, (400, 12)), draws.integers(2, 9, 400))
    released = released_of(table, Adaptive(max_iterations=2).anonymize(table).hidden)
    seat = np.arange(table.records)
    return table, released, seat, *merged(table, released, seat)


def test_threads_and_parts_change_no_digit(adapted):
    _, released, _, classes, components = adapted
    answers = set()
    before = numba.get_num_threads()
    try:
        for threads in {1, before}:
            numba.set_num_threads(threads)
            for most_pairs in (2**20, 1000, 1):
                tight = tightest_rows(released, classes)
                belief = attack_as_insider(classes, components, tight, most_pairs=most_pairs)
                partly = b"".join(
                    success.tobytes() for success in partial_linkage(released, classes).values()
                )
                answers.add((belief.likeliest.tobytes(), belief.tightest.tobytes(), partly))
    finally:
        numba.set_num_threads(before)
    assert len(answers) == 1


def test_beliefs_are_nearly_doubly_stochastic(adapted):
    """More sweeps change the mean success in the third digit at most."""
    _, released, _, classes, components = adapted
    tightest = tightest_rows(released, classes)
    few, many = (
        attack_as_insider(classes, components, tightest, sweeps=sweeps).likeliest
        for sweeps in (SWEEPS, 20 * SWEEPS)
    )
    of = classes.record_class
    assert few[of].mean() == pytest.approx(many[of].mean(), abs=1e-3)
