"""Which records are left out, by the definition of what their absence saves."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.anonymizers.local_search.leaving_out import choose_left_out, compute_savings
from anon_core.errors import LimitError
from anon_core.seating.shares import shares_of
from anon_core.tables import encoding
from anon_core.tables.loss import loss_table
from tests.strategies import tables
from tests.support.seats import few_levels, owned


def lose(table, held):
    """What a row loses that these records hold, by the definition of NCP."""
    loss, lost, first = loss_table(table.codebook, "rank"), 0, 0
    for place, attribute in enumerate(table.codebook.attributes):
        levels = {int(table.codes[place][each]) for each in held}
        if levels and attribute.ordinal:
            position = loss.position[first : first + attribute.levels]
            lost += min(int(loss.whole[place]), int(position[max(levels)] - position[min(levels)]))
        elif levels:
            lost += (len(levels) - 1) * int(loss.step[place])
        first += attribute.levels
    return lost


def save(table, holders):
    """What each record saves: its row, and its part of what rows lose less without its equals."""
    alike = [(*table.codes[:, each].tolist(), int(table.k[each])) for each in range(table.records)]
    rows = [set(row.tolist()) for row in holders]
    for own, kind in enumerate(alike):
        equal = {other for other, its in enumerate(alike) if its == kind}
        less = sum(lose(table, row) - lose(table, row - equal) for row in rows)
        yield lose(table, rows[own]) + less / len(equal)


@given(tables(), st.integers(1, 5), st.randoms(use_true_random=False))
def test_savings_by_definition(table, shares, random):
    """Whoever holds the rows: the first of equal records stands for all of them."""
    kinds = np.column_stack([*table.codes, table.k])
    _, first, of = np.unique(kinds, axis=0, return_index=True, return_inverse=True)
    drawn = [[random.randrange(table.records) for _ in range(shares)] for _ in table.k]
    holders = first[of.ravel()[np.array(drawn)]].astype(np.int32)
    expected = list(save(table, holders))
    assert compute_savings(table, holders) == pytest.approx(expected)


@given(few_levels(), st.floats(0, 1))
def test_no_more_than_the_share_and_nobody_whom_the_others_need(table, share):
    gone = choose_left_out(table, share)
    left = table.records - int(gone.sum())
    assert gone.sum() <= int(share * table.records)
    assert left >= table.k.max()


@pytest.mark.long
@given(owned(), st.floats(0, 1))
def test_all_records_of_a_person_go(table, share):
    gone = choose_left_out(table, share)
    assert gone.sum() <= int(share * table.records)
    assert all(len({*gone[table.person == each].tolist()}) == 1 for each in table.person)
    table.at(np.flatnonzero(~gone)).refuse_impossible_demands()


def of_ages(ages, k):
    """One column of numbers."""
    column = {"age": np.array(ages, dtype=float)}
    specs = [encoding.ColumnSpec(name="age", kind="numeric", encoding="ordinal")]
    demands = np.broadcast_to(np.array(k, dtype=np.int32), len(ages))
    return encoding.encode(encoding.fit(specs, column), column, demands.copy())


def test_who_is_far_from_everyone_goes_first():
    table = of_ages([*[30] * 20, *[31] * 20, 99], 4)
    assert np.flatnonzero(choose_left_out(table, 1 / 40)).tolist() == [40]


def test_nobody_goes_whose_absence_saves_nothing():
    assert not choose_left_out(of_ages([30, 31] * 20, 4), 0.5).any()
    assert not choose_left_out(of_ages(range(20), 1), 0.5).any()


@pytest.mark.long
def test_any_levels_of_k():
    """Where even seats would need too many shares, powers of two stand for the levels."""
    table = of_ages([*[30] * 60, *[31] * 60, 99], [*range(2, 52), *range(2, 52), *[7] * 21])
    with pytest.raises(LimitError):
        shares_of(table.k)
    assert np.flatnonzero(choose_left_out(table, 0.01)).tolist() == [120]
    assert choose_left_out(of_ages(range(110), [5 + at % 96 for at in range(110)]), 0.05).any()


def test_a_person_of_many_records_keeps_enough_others():
    table = replace(of_ages(range(100), 10), person=np.r_[np.zeros(10), 1 + np.arange(90)])
    table = replace(table, person=table.person.astype(np.int32))
    assert not choose_left_out(table, 0.05).any()
