"""Digests of people: what links two tables, what does not, and what is secret without the key."""

import hashlib
from decimal import Decimal

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdcover.storage.ledger import digests
from crowdcover.storage.ledger.digests import (
    NOTHING,
    RECORD,
    People,
    StoredDigests,
    base_digests,
    match_people,
)
from crowdcover.storage.ledger.identifier_spelling import spell_plainly
from crowdcover.storage.vault.secret_streams import digest_with_key

KEY = bytes(range(32))


def people(record, key=KEY, **identifiers):
    return People.of(key, pl.DataFrame(record), pl.DataFrame(identifiers))


def linked(one, other):
    return match_people(one, other).tolist()


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
    assert len(ours.sort_digests("column ssn")) == 16


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
    values = ["line\nbreak", 'quo"te', "{", "ä\u2028b", "a\rb", "\\x0b"]
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
    ordered = ours.sort_digests(RECORD)
    assert ordered == People.of(
        KEY, pl.DataFrame({"age": [30] * 50})[::-1], pl.DataFrame()
    ).sort_digests(RECORD)


IDS = st.lists(st.sampled_from(["a", "b", "c", None]), min_size=1, max_size=6)


@pytest.mark.long
@given(IDS, IDS)
def test_one_column_links_each_value_as_often_as_both_tables_hold_it(ours, theirs):
    found = match_people(
        people({"n": range(len(ours))}, id=ours), people({"n": range(len(theirs))}, id=theirs)
    )
    there = found[found >= 0]
    assert len(set(there.tolist())) == len(there)
    assert all(ours[at] == theirs[found[at]] for at in np.flatnonzero(found >= 0))
    assert len(there) == sum(min(ours.count(value), theirs.count(value)) for value in "abc")


def test_plain_texts():
    assert spell_plainly(pl.Series([1.0, 1.5, None])).to_list() == ["1", "1.5", None]
    assert spell_plainly(pl.Series(["1.0"])).to_list() == ["1.0"]
    assert spell_plainly(pl.Series([Decimal("100.00"), Decimal("-2.50")])).to_list() == [
        "100",
        "-2.5",
    ]
    assert spell_plainly(pl.Series([1e20, 1.25e16])).to_list() == ["1e+20", "1.25e+16"]


# ---------------------------------------------------------------- base digests of all rows

ROWS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", None]),
        st.sampled_from([1.0, 2.5, float("nan"), None]),
        st.integers(0, 2),
        st.booleans(),
    ),
    min_size=1,
    max_size=8,
)


@given(ROWS)
def test_digests_of_the_rows_that_stay_are_those_of_a_table_of_these_rows(rows):
    """Counts start at the rows that stay: rows that were dropped leave no trace."""
    ssn, tel, age, stays = zip(*rows, strict=True)
    table = pl.DataFrame({"age": age})
    identifiers = pl.DataFrame(
        [pl.Series("ssn", ssn, pl.String), pl.Series("tel", tel, pl.Float64)]
    )
    at = np.flatnonzero(stays)
    found = People.digest_people(KEY, [table[at]], base_digests(KEY, identifiers), at)
    assert found == People.of(KEY, table[at], identifiers[at])


def test_equal_values_have_equal_base_digests_and_missing_ones_none():
    bases = base_digests(KEY, pl.DataFrame({"ssn": ["zq7", None, "zq7", "b"]}))
    assert list(bases) == ["column ssn"]
    one, none, again, other = (bases["column ssn"][at : at + 16] for at in range(0, 64, 16))
    assert one == again != other
    assert none == NOTHING
    assert base_digests(KEY[::-1], pl.DataFrame({"ssn": ["zq7"]}))["column ssn"] != one
    assert base_digests(KEY, pl.DataFrame()) == {}


def test_digests_are_those_that_ledgers_hold():
    """Known values, made before identifiers were digested at ingest."""
    identifiers = pl.DataFrame(
        {"ssn": ["a", "a", None, "b", "a"], "tel": [1.0, 1.0, None, float("nan"), 2.5]}
    )
    table = pl.DataFrame({"age": [30, 30, None, 40, 30], "city": ["x", "x", None, "y", "x"]})
    ours = People.of(KEY, table, identifiers)
    hashes = {kind: hashlib.sha256(each).hexdigest()[:16] for kind, each in ours.digests.items()}
    assert hashes == {
        "column ssn": "b2ef90d740b95a28",
        "column tel": "6fe64ab7e9524834",
        'columns ["ssn", "tel"]': "ca02046adce6c779",
        RECORD: "34364fc55ac0ce1a",
    }
    assert ours.repeated == {"column ssn", "column tel", 'columns ["ssn", "tel"]', RECORD}


def test_digests_made_in_parts_are_those_made_at_once(monkeypatch):
    # In the first part no spelling differs from the one spelling, in others some do.
    record = {"age": [1, 2, None, 1, 5, 1]}
    identifiers = {"ssn": ["a", None, "c", "1.0", "1.0", "1.0"], "tel": ["d\n", "e\r", *"abcd"]}
    whole = people(record, **identifiers)
    assert "as spelt column ssn" in whole.digests
    monkeypatch.setattr(digests, "AT_ONCE", 2)
    assert people(record, **identifiers) == whole
    table = pl.DataFrame(record)
    bases = base_digests(KEY, pl.DataFrame(identifiers))
    tables = [table[:1], table[1:1], table[1:]]
    assert People.digest_people(KEY, tables, bases, np.arange(6)) == whole


@given(
    st.binary(min_size=1, max_size=64),
    st.binary(min_size=1, max_size=140),
    st.lists(st.binary(max_size=300) | st.sampled_from([bytes(128), bytes(127), bytes(256)])),
)
def test_many_texts_are_digested_as_one_by_one(key, label, texts):
    ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
    found = digests._digest_texts(
        key, label, np.frombuffer(b"".join(texts), np.uint8), np.append(0, ends)[:-1], ends
    )
    assert found.tobytes() == b"".join(digest_with_key(key, label + text) for text in texts)


@given(st.lists(st.integers(0, 4), max_size=40))
def test_each_repeat_is_digested_with_its_count(values):
    bases = [bytes(8) + (value << 60).to_bytes(8) for value in values]  # places that collide
    found, any_equal = digests._distinguish_repeats(
        KEY, np.frombuffer(b"".join(bases), "<u8").reshape(-1, 2).copy()
    )
    expected = []
    for at, base in enumerate(bases):
        again = bases[:at].count(base) if base != NOTHING else 0
        expected.append(digest_with_key(KEY, base + again.to_bytes(8)) if again else base)
    assert found == b"".join(expected)
    assert any_equal == (expected != bases)


def test_stored_digests_are_read_by_kind(tmp_path):
    kinds = {"one": b"a" * 32, "two": b"b" * 32}
    (tmp_path / "x.bin").write_bytes(b"".join(kinds.values()))
    stored = StoredDigests(tmp_path / "x.bin", list(kinds), 2)
    assert stored == kinds
    assert "three" not in stored
