"""Large tables in two parts: records that hide among equal ones, and all others."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from anon_core.anonymizers import ANONYMIZERS, Adaptive
from anon_core.errors import InfeasibleError, LimitError
from anon_core.measures.table.cells import read_cells
from anon_core.measures.table.classes import Classes, ReleasedCells
from anon_core.measures.table.crowds import crowds, fits_own_row, identical_rows
from anon_core.seating.matching import random_matching
from anon_core.tables.cells import write_cells
from anon_core.tables.records import Attribute, BinaryTable, Codebook
from anon_core.tables.settled import SPLIT_RECORDS, Unsettled
from tests.strategies import tables
from tests.support.auditing import stated

METHODS = [
    Adaptive(),
    Adaptive(seats="even"),
    *(cls() for cls in ANONYMIZERS.values() if cls.kind == "table" and cls is not Adaptive),
]


def repeated(table, times, people=None):
    """Each record so often; `people` as often as that, in turn."""
    many = table.at(np.repeat(np.arange(table.records), times))
    if people is None:
        return many
    person = np.arange(many.records) % people
    return replace(many, person=person.astype(np.int32), k=np.full_like(many.k, many.k.min()))


@st.composite
def larger(draw):
    table = draw(tables())
    return repeated(table, draw(st.integers(1, 12))), draw(st.randoms(use_true_random=False))


def order_of(table, random):
    return np.array(random.sample(range(table.records), table.records), dtype=np.int64)


@given(larger())
def test_a_group_keeps_as_many_as_anybody_demands_and_the_rest_is_a_crowd(drawn):
    table, random = drawn
    part = Unsettled.of(table, order_of(table, random), large=0)
    levels = [(*table.codes[:, v].tolist(), int(table.k[v])) for v in range(table.records)]
    all_of, settled = Counter(levels), Counter(levels[v] for v in part.settled)
    assert sorted([*part.places, *part.settled]) == list(range(table.records))
    for group, number in all_of.items():
        beyond = number - int(table.k.max())
        blank = table.blank[:, levels.index(group)].any()
        assert settled[group] == (beyond if beyond >= group[-1] and not blank else 0)


@given(larger())
def test_ties_keep_their_order_and_the_first_of_a_group_stay(drawn):
    table, random = drawn
    order = order_of(table, random)
    part = Unsettled.of(table, order, large=0)
    assert (part.places[part.tie_order] == order[np.isin(order, part.places)]).all()
    place = np.argsort(order)
    levels = np.vstack([table.codes, table.k[None]])
    for v in part.settled:
        alike = np.flatnonzero((levels[:, part.places] == levels[:, [v]]).all(axis=0))
        assert (place[part.places[alike]] < place[v]).all()


@pytest.mark.long
@pytest.mark.parametrize("method", METHODS, ids=str)
@settings(max_examples=15)
@given(larger())
def test_both_parts_together_keep_the_promise(method, drawn):
    table, random = drawn
    part = Unsettled.of(table, order_of(table, random), large=0)
    try:
        method.admit(table)
        masked = part.restore_whole(method.anonymize(part.data, tie_order=part.tie_order))
    except (InfeasibleError, LimitError):  # the table, or these demands of it, are refused anyhow
        reject()
    judged(masked, method.promise, random)


def judged(masked, promise, random):
    """Nobody's crowd is smaller than demanded, whoever made the masks."""
    table = masked.table
    generator = np.random.default_rng(random.randrange(2**32))
    seat = random_matching(masked, lambda count: generator.integers(0, 2**32, count, np.uint32))
    cells = write_cells(table, masked.hidden)
    released = ReleasedCells.of(
        [read_cells(a, cells[a.name].tolist()) for a in table.codebook.attributes]
    )
    assert fits_own_row(table.codes, released, seat).all()
    person = None if table.person is None else table.person.astype(np.int64)
    found = crowds(table.codes, table.k, released, seat, person=person)
    assert found.below_k == found.matchable_below_k == 0
    if masked.holders is not None:
        holders = masked.holders.astype(np.int64)
        assert stated(table.codes, table.k, released, holders, seat, person).holds
    if "equivalence classes" in promise.findings:
        assert (identical_rows(Classes.of(table.codes, released), seat) >= table.k).all()


@pytest.mark.long
@settings(max_examples=25)
@given(larger(), st.integers(2, 9))
def test_one_record_of_a_person_in_each_group_of_settled_ones(drawn, people):
    table, random = drawn
    owned = repeated(table, 1, people)
    part = Unsettled.of(owned, order_of(owned, random), large=0)
    for group in range(int(part.group.max(initial=-1)) + 1):
        members = part.settled[part.group == group]
        assert len(set(owned.person[members])) == len(members) >= owned.k[members[0]]
    method = Adaptive(seats="even")
    try:
        method.admit(owned)
    except InfeasibleError:
        return
    judged(
        part.restore_whole(method.anonymize(part.data, tie_order=part.tie_order)),
        method.promise,
        random,
    )


def test_of_a_table_that_is_not_large_nothing_is_settled():
    table = alike(SPLIT_RECORDS - 1)
    part = Unsettled.of(table, np.arange(table.records))
    assert part.data is table
    assert len(Unsettled.of(alike(SPLIT_RECORDS), np.arange(SPLIT_RECORDS)).places) == 2


def test_nothing_is_settled_where_the_rest_could_not_hide():
    """Person 0 owns 4 of 103 records; without those that are settled they would be 3 of 5."""
    table = alike(103)
    codes = table.codes.copy()
    codes[0, 100:] = 1
    person = np.minimum(np.arange(103), 103 - 1) % 100 * (np.arange(103) < 100)
    owned = replace(table, codes=codes, person=person.astype(np.int32))
    owned.refuse_impossible_demands()
    assert Unsettled.of(owned, np.arange(103), large=0).data is owned


def alike(records):
    """Equal records of two levels, k = 2."""
    codes = np.zeros((1, records), dtype=np.int32)
    attribute = Attribute(name="a", kind="binary", encoding="ordinal", labels=("0", "1"))
    book = Codebook((attribute,))
    k = np.full(records, 2, dtype=np.int32)
    return BinaryTable(book, codes, k, codes.astype(np.bool_))
