"""What the program itself tells of masked cells: theory.md, section 12, by enumeration."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from anon_core.anonymizers import Adaptive, Freeform, KMember, LocalSearch, Optimal
from tests import drawn
from tests.support.posteriors import conclude, read_rows, worlds

EVEN = Adaptive(seats="even")
# Levels of each column (below zero: an ordered one), people, k, whether the order of ties is known.
CASES = [
    ((2, 2), 4, 2, False),
    ((2, 2), 8, 2, True),
    ((3, 2), 4, 2, True),
    ((3, -3), 3, 3, True),
    ((2, 2), 6, 3, True),
    ((-4,), 6, 2, True),
    ((3,), 4, (2, 2, 4, 4), False),
]


def found_by(make, levels, people, k, known):
    return list(worlds(make, levels, people, k, order_known=known))


@pytest.fixture(scope="module", params=CASES, ids=str)
def even(request):
    """All worlds of even seats, k of each person, and the number of shares of a row."""
    levels, people, k, known = request.param
    each = [k] * people if isinstance(k, int) else k
    return found_by(EVEN, levels, people, each, known), each, math.lcm(*each)


def masked(world):
    return [
        (text, column)
        for text in set(world.rows)
        for column, allowed in enumerate(text)
        if len(allowed) > 1
    ]


@pytest.mark.long
def test_no_row_is_anybodys_with_more_than_1_over_k(even):
    found, k, _ = even
    for world in found:
        for own, demanded in zip(world.law, k, strict=True):
            assert sum(own) == 1
            assert max(own) <= Fraction(1, demanded)


def test_who_knows_every_quasi_identifier_names_no_masked_cell(even):
    found, _, shares = even
    cells = 0
    for world in found:
        for text, column in masked(world):
            chances = world.values(text, column)
            assert max(chances.values()) <= 1 - Fraction(1, shares)
            assert min(text[column]) in chances
            assert max(text[column]) in chances
            cells += 1
    assert cells > 50


def test_who_knows_only_the_program_names_no_masked_cell(even):
    found, _, shares = even
    for _, chances in conclude(found):
        assert sum(chances.values()) == 1
        assert max(chances.values()) <= 1 - Fraction(1, shares)


@pytest.mark.long
@pytest.mark.parametrize(
    "make",
    [EVEN, LocalSearch(seats="even"), Freeform(), Optimal(method="greedy")],
    ids=["adaptive", "local-search", "freeform", "optimal"],
)
def test_no_value_of_a_set_is_excluded(make):
    """Each listed value has at least the chance of one share."""
    for levels, people, k, known in (((3, 2), 4, 2, True), ((3,), 6, 3, True)):
        for allowed, chances in conclude(found_by(make, levels, people, k, known)):
            assert set(chances) == allowed
            assert min(chances.values()) >= Fraction(1, k)


def test_rows_of_a_class_larger_than_k_are_told_apart_by_nothing():
    """k of its members may hold a row, all alike in a masked cell; its rows have one text."""
    alike = 0
    for world in found_by(Optimal(method="greedy"), (2, 2), 5, 2, True):
        for text, column in masked(world):
            size = world.rows.count(text)
            chances = world.values(text, column)
            assert size < 4
            assert max(chances.values()) <= 1 - Fraction(1, size)
            assert set(chances) == text[column]
            for row in (row for row, its in enumerate(world.rows) if its == text):
                owners = [
                    its for its, own in zip(world.records, world.law, strict=True) if own[row]
                ]
                alike += len({its[column] for its in owners}) == 1
    assert alike > 0


@pytest.mark.long
@pytest.mark.parametrize(
    "make",
    [EVEN, Adaptive(seats="even", part=60), LocalSearch(seats="even"), Freeform()],
    ids=["adaptive", "parts", "local-search", "freeform"],
)
@pytest.mark.parametrize("levels", [(4,), (2, 4)], ids=str)
def test_a_row_hides_what_its_holders_differ_in(make, levels):
    """Each value of a set, and both ends of an interval, are a holder's."""
    for alike in (drawn.clustered(150, 4), drawn.drawn(127, 4)):
        table = replace(alike, k=np.resize(np.array(levels, dtype=np.int32), alike.records))
        made, cells = make.anonymize(table), 0
        for row, text in enumerate(read_rows(made)):
            for column, allowed in enumerate(text):
                held = set(table.codes[column][made.holders[row]].tolist())
                ends = {min(allowed), max(allowed)}
                assert ends <= held <= allowed
                assert table.codebook.attributes[column].ordinal or held == allowed
                cells += len(allowed) > 1
        assert cells > 50


def test_matchable_seats_are_narrowed():
    """Of the same sources: values of some cells are excluded, others pass the bound."""
    found = found_by(Adaptive(seats="matchable"), (3, 2), 4, 2, True)
    known = [world.values(text, column) for world in found for text, column in masked(world)]
    assert max(max(chances.values()) for chances in known) > Fraction(1, 2)
    concluded = list(conclude(found))
    assert max(max(chances.values()) for _, chances in concluded) > Fraction(1, 2)
    assert any(set(chances) < allowed for allowed, chances in concluded)


@pytest.mark.parametrize(
    "make",
    [EVEN, Optimal(method="greedy"), KMember()],
    ids=["adaptive", "optimal", "k-member"],
)
def test_of_identical_rows_together_more_may_be_known(make):
    """Two rows that two people share: one of each value, but nobody knows which row is whose."""
    (world,) = (
        world for world in found_by(make, (2, 2), 2, 2, True) if world.records == ((0, 0), (1, 1))
    )
    text = (frozenset({0, 1}), frozenset({0, 1}))
    assert world.rows == (text, text)
    assert world.values(text, 0) == {0: Fraction(1, 2), 1: Fraction(1, 2)}
    assert world.least(text, 0) == {0: 1, 1: 1}
