"""Digests of people: what links two tables, what does not, and what is secret without the key."""

from decimal import Decimal

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.people.digests import NOTHING, RECORD, People, partners, plain

KEY = bytes(range(32))


def people(record, key=KEY, **identifiers):
    return People.of(key, pl.DataFrame(record), pl.DataFrame(identifiers))


def linked(one, other):
    return partners(one, other).tolist()


AGES = {"age": [30, 30, 40]}


def test_a_column_of_identifiers_links_whatever_else_the_table_holds():
    ours = people(AGES, ssn=["a", "b", "c"])
    theirs = people({"age": [77, 78, 79], "city": ["x", "y", "z"]}, ssn=["c", "d", "a"])
    assert linked(ours, theirs) == [2, -1, 0]
    assert linked(theirs, ours) == [2, -1, 0]


def test_equal_records_of_people_with_other_identifiers_are_other_people():
    assert linked(people(AGES, ssn=["a", "b", "c"]), people(AGES, ssn=["d", "e", "f"])) == [
        -1,
        -1,
        -1,
    ]


def test_without_identifiers_whole_records_link_equal_ones_as_often_as_they_occur():
    ours, theirs = people(AGES), people({"age": [40, 30]})
    assert linked(ours, theirs) == [1, -1, 0]
    assert linked(theirs, ours) == [2, 0]


def test_a_table_with_identifiers_is_linked_by_records_to_one_without():
    assert linked(people(AGES, ssn=["a", "b", "c"]), people({"age": [40]})) == [-1, -1, 0]
    assert linked(people(AGES, ssn=["a", "b", "c"]), people({"age": [40]}, phone=["a"])) == [
        -1,
        -1,
        0,
    ]


def test_a_column_in_which_values_repeat_needs_all_the_others():
    """One name may be of two people; a new telephone number does not make another person."""
    ours = people(AGES, name=["ann", "ann", "bob"], ssn=["a", "b", None], phone=["1", "2", "2"])
    theirs = people(AGES, name=["ann", "bob", "ann"], ssn=["x", None, "b"], phone=["1", "2", "7"])
    assert linked(ours, theirs) == [-1, 2, 1]


def test_columns_that_repeat_are_all_there_is_where_the_others_differ():
    ours, theirs = (
        people(AGES, name=["ann", "ann", "bob"]),
        people(AGES, name=["ann", "bob", "bob"], ssn=["a", "b", "c"]),
    )
    assert linked(ours, theirs) == [0, -1, 1]


def test_missing_identifiers_link_nobody():
    ours = people(AGES, ssn=["a", None, None])
    assert list(ours.each("column ssn"))[1:] == [NOTHING, NOTHING]
    assert ours.repeated == {RECORD}
    assert linked(ours, people(AGES, ssn=[None, None, "a"])) == [2, -1, -1]
    assert len(ours.shuffled("column ssn")) == 16


def test_what_is_no_number_is_no_identifier_either():
    ours, theirs = (
        people(AGES, number=[4.0, float("nan"), float("nan")], tel=tel)
        for tel in (["a", "b", "c"], ["d", "e", "f"])
    )
    assert ours.repeated == {RECORD}
    assert linked(ours, theirs) == [0, -1, -1]


@pytest.mark.parametrize(
    "numbers", [[5, 7], [5.0, 7.0], [Decimal("5.00"), Decimal("7.00")], ["5", "7"]]
)
def test_numbers_are_the_same_whatever_type_the_column_has(numbers):
    assert linked(people({"n": numbers}), people({"n": [7, 5]})) == [1, 0]
    assert linked(people({"n": [1, 2]}, id=numbers), people({"n": [3, 4]}, id=[5, 6])) == [0, -1]


def test_what_is_not_the_same_number_or_column_or_key_is_not_the_same():
    assert linked(people({"n": [5.5, 7]}), people({"n": [5, 7]})) == [-1, 1]
    assert linked(people({"n": [5, 7]}), people({"m": [5, 7]})) == [-1, -1]
    assert linked(people({"n": [5, 7]}), people({"n": [5, 7]}, key=KEY[::-1])) == [-1, -1]
    assert linked(
        people({"a": ["x", "xy"], "b": ["yz", "z"]}), people({"a": ["xy"], "b": ["yz"]})
    ) == [-1, -1]


@pytest.mark.parametrize("name", ["^a$", "", "a/b", 'say "x"', "ä\n"])
def test_any_name_and_any_text(name):
    values = ["line\nbreak", 'quo"te', "", "ä\u2028", "\r", "\x0b"]
    ours = People.of(KEY, pl.DataFrame({name: values}), pl.DataFrame({name: values}))
    assert linked(
        ours,
        People.of(KEY, pl.DataFrame({name: range(6)}), pl.DataFrame({name: values[::-1]})),
    ) == [5, 4, 3, 2, 1, 0]


def test_digests_show_no_value_and_no_frequency():
    ours = people({"age": [30] * 50}, ssn=["zq7"] * 50)
    assert all(len(set(ours.each(kind))) == 50 for kind in ours.digests)
    assert b"zq7" not in b"".join(ours.digests.values())
    assert "zq7" not in repr(ours)
    ordered = ours.shuffled(RECORD)
    assert ordered == People.of(
        KEY, pl.DataFrame({"age": [30] * 50})[::-1], pl.DataFrame()
    ).shuffled(RECORD)


IDS = st.lists(st.sampled_from(["a", "b", "c", None]), min_size=1, max_size=6)


@given(IDS, IDS)
def test_one_column_links_each_value_as_often_as_both_tables_hold_it(ours, theirs):
    found = partners(
        people({"n": range(len(ours))}, id=ours), people({"n": range(len(theirs))}, id=theirs)
    )
    there = found[found >= 0]
    assert len(set(there.tolist())) == len(there)
    assert all(ours[at] == theirs[found[at]] for at in np.flatnonzero(found >= 0))
    assert len(there) == sum(min(ours.count(value), theirs.count(value)) for value in "abc")


def test_plain_texts():
    assert plain(pl.Series([1.0, 1.5, None])).to_list() == ["1", "1.5", None]
    assert plain(pl.Series(["1.0"])).to_list() == ["1.0"]
    assert plain(pl.Series([Decimal("100.00"), Decimal("-2.50")])).to_list() == ["100", "-2.5"]
    assert plain(pl.Series([1e20, 1.25e16])).to_list() == ["1e+20", "1.25e+16"]
