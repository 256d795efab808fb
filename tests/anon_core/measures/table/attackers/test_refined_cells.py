"""Masked cells that are concluded, beside enumerations of small releases."""

from collections import defaultdict

import numpy as np
import pytest

from anon_core.anonymizers import Adaptive, KMember, Optimal
from anon_core.measures.table.attackers import refinement
from anon_core.measures.table.attackers.refinement import refine_by_matchings, refine_by_shares
from anon_core.measures.table.classes import Classes
from anon_core.measures.table.crowds import components_of
from anon_core.tables import encoding
from tests import drawn
from tests.naive import perfect_matchings
from tests.support.auditing import released_of
from tests.support.posteriors import domain, read_rows

EVEN, MATCHABLE = Adaptive(seats="even"), Adaptive(seats="matchable")


def small(seed, people=7, k=3, levels=(3, -4)):
    """A table of few people."""
    book, combinations, columns = domain(levels)
    chosen = np.random.default_rng(seed).integers(0, len(combinations), people)
    held = {name: values[chosen] for name, values in columns.items()}
    return encoding.encode(book, held, np.full(people, k))


def read(made):
    """Records, their rows as the auditor reads them, and both merged."""
    released = released_of(made.table, made.hidden)
    return made.table.codes, released, Classes.of(made.table.codes, released)


def count(made, owners):
    """Masked cells, those of one value and those narrowed, by definition.

    `owners` lists the records that may sit in each row.
    """
    rows, codes = read_rows(made), made.table.codes
    possible = defaultdict(set)
    for row, text in enumerate(rows):
        for column in range(len(codes)):
            possible[text, column] |= {int(codes[column, each]) for each in owners[row]}
    masked = [
        (len(allowed), len(possible[text, column]))
        for text in rows
        for column, allowed in enumerate(text)
        if len(allowed) > 1
    ]
    one_value = sum(left == 1 for _, left in masked)
    return len(masked), one_value, sum(left < allowed for allowed, left in masked)


def check(found, expected, cells):
    masked, one_value, narrowed = expected
    assert found.masked == pytest.approx(masked / cells)
    assert found.one_value == pytest.approx(one_value / max(1, masked))
    assert found.narrowed == pytest.approx(narrowed / max(1, masked))


@pytest.mark.parametrize("make", [MATCHABLE, KMember(), Optimal(method="greedy")], ids=str)
def test_by_matchings_a_level_is_possible_if_some_seating_has_it(make):
    seen = 0
    for seed in range(6):
        made = make.anonymize(small(seed))
        codes, released, classes = read(made)
        fits = np.array([
            [all(code in cell for code, cell in zip(own, text, strict=True))
             for text in read_rows(made)]
            for own in codes.T
        ])  # fmt: skip
        owners = defaultdict(set)
        for seating in perfect_matchings(fits):
            for record, row in enumerate(seating):
                owners[row].add(record)
        components = components_of(released, classes, np.arange(len(codes.T)))
        found = refine_by_matchings(released, classes, components)
        check(found, count(made, owners), codes.size)
        seen += found.masked > 0
    assert seen > 3


@pytest.mark.parametrize("at_once", [2**17, 2])
@pytest.mark.parametrize("make", [EVEN, Optimal(method="greedy")], ids=str)
def test_by_shares_a_level_is_possible_if_a_holder_has_it(make, at_once, monkeypatch):
    monkeypatch.setattr(refinement, "_AT_ONCE", at_once)
    for seed in range(6):
        made = make.anonymize(small(seed))
        codes, released, classes = read(made)
        holders = np.asarray(made.holders)
        found = refine_by_shares(codes, released, classes, holders)
        check(found, count(made, [set(each.tolist()) for each in holders]), codes.size)
        assert found.one_value == 0  # as it is proved


def test_even_seats_leave_no_cell_one_value():
    for levels in ((4,), (2, 4)):
        table = drawn.clustered(150, 4)
        table.k[:] = np.resize(levels, table.records)
        made = EVEN.anonymize(table)
        codes, released, classes = read(made)
        found = refine_by_shares(codes, released, classes, np.asarray(made.holders))
        assert found.masked > 0.05
        assert found.one_value == 0


def test_holders_that_are_alike_leave_one_value():
    made = EVEN.anonymize(small(0))
    codes, released, classes = read(made)
    alone = np.arange(codes.shape[1])[:, None]  # everybody holds the own row
    found = refine_by_shares(codes, released, classes, alone)
    check(found, count(made, [{row} for row in range(codes.shape[1])]), codes.size)
    assert found.one_value > 0
    assert found.narrowed >= found.one_value


def test_beyond_a_size_nothing_is_measured(monkeypatch):
    made = EVEN.anonymize(small(0))
    codes, released, classes = read(made)
    components = components_of(released, classes, np.arange(codes.shape[1]))
    for limit in ("MOST_HELD_LEVELS", "MOST_CLASS_PRODUCTS", "MOST_CLASS_PAIRS"):
        with monkeypatch.context() as patched:
            patched.setattr(refinement, limit, 1)
            found = (
                refine_by_shares(codes, released, classes, np.asarray(made.holders))
                if limit == "MOST_HELD_LEVELS"
                else refine_by_matchings(released, classes, components)
            )
            assert (found.one_value, found.narrowed) == (None, None)
            assert found.masked > 0
