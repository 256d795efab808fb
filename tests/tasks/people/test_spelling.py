"""One spelling of identifiers: what is one person, and what stays apart."""

import unicodedata
from decimal import Decimal

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.people.digests import (
    COLUMN,
    People,
    base_digests,
    column_digests,
    of_column,
    partners,
    row_digests,
)
from tasks.people.spelling import count_respelt, respell, spell_plainly

KEY = bytes(32)
UUID = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"
ONE = {
    "whole numbers": ["1000", "1000.0", "1000.", "+1000", "1000.000", "1e+03", "1.0E3", " 1000\t"],
    "negative ones": ["-5", "-5.0", "-5e+00"],
    "zero": ["0", "-0", "0.0", "-0.00", "+0"],
    "large numbers": ["120000000000000000000", "1.2e+20", "1.2E+20", "120000000000000000000.0"],
    "UUIDs": [
        UUID,
        UUID.upper(),
        f"{{{UUID}}}",
        f"urn:uuid:{UUID}",
        f"URN:UUID:{UUID.upper()}",
        UUID.replace("-", ""),
    ],
    "accents": [
        "José",
        unicodedata.normalize("NFD", "José"),
        "\u200bJosé",
        "José\u00a0",
        "José\u200d",
    ],
    "blanks": ["A 17", "A\u00a017", "A\u202f17", "A  17", "\ufeffA 17", "A\u300017 "],
    "marks": ["\u212b1", "\u00c51", "A\u030a1"],
}
APART = [
    ("007", "7"),
    ("00", "0"),
    ("1.50", "1.5"),
    ("1e3", "1000"),
    ("12E5", "1200000"),
    ("1,000", "1000"),
    ("ab", "AB"),
    ("José", "Jose"),
    ("A17", "A 17"),
    ("1000.01", "1000"),
    ("--5", "-5"),
    (UUID[:-1], UUID),
]


@pytest.mark.parametrize("texts", ONE.values(), ids=ONE.keys())
def test_one_person(texts):
    assert respell(pl.Series(texts)).n_unique() == 1
    assert count_respelt(pl.Series(texts)) == len(set(texts)) - 1


@pytest.mark.parametrize(("one", "other"), APART)
def test_two_persons(one, other):
    assert respell(pl.Series([one, other])).n_unique() == 2


@pytest.mark.parametrize(
    "values",
    [
        pl.Series([1000, 7], dtype=pl.Int16),
        pl.Series([1000, 7], dtype=pl.UInt64),
        pl.Series([1000.0, 7.0], dtype=pl.Float64),
        pl.Series([1000.0, 7.0], dtype=pl.Float32),
        pl.Series([Decimal("1000.00"), Decimal("7.00")]),
        pl.Series(["1000", "7"], dtype=pl.Categorical),
        pl.Series(["1000.0", "7"]),
    ],
    ids=lambda values: str(values.dtype),
)
def test_one_number_whatever_its_type(values):
    assert respell(values).to_list() == ["1000", "7"]


def test_large_floats_are_written_out():
    assert respell(pl.Series([1e15, 1e16, 1.25e22])).to_list() == [
        "1000000000000000",
        "10000000000000000",
        "12500000000000000000000",
    ]
    assert respell(pl.Series([1.5, 1e-7, None])).to_list() == ["1.5", "1e-7", None]


def test_blanks_name_nobody():
    assert respell(pl.Series(["", "  ", "\u00a0", "\ufeff", None])).to_list() == [None] * 5


@given(st.lists(st.text(max_size=8) | st.integers().map(str) | st.uuids().map(str), min_size=1))
def test_the_spelling_of_a_spelling_is_the_same(texts):
    once = respell(pl.Series(texts, dtype=pl.String))
    assert respell(once).equals(once)


@given(st.integers())
def test_every_whole_number_is_itself(number):
    written = [str(number), f"{number}.0", f"{number:+d}"]
    assert set(respell(pl.Series(written)).to_list()) == {str(number)}


# ---------------------------------------------------------------- digests of older builds


def of_older_build(texts):
    """The people of a release whose digests were made of texts as the file spelt them."""
    names = pl.DataFrame({"id": texts})
    spelt = names.with_columns(spell_plainly(names["id"]))
    label = {COLUMN + "id": b"".join(_raw(spelt["id"]))}
    return People.staying(KEY, names, label, range(len(texts)))


def _raw(values):
    return column_digests(KEY, values, form=1)


def people(texts):
    names = pl.DataFrame({"id": texts})
    return People.of(KEY, pl.DataFrame({"age": range(len(texts))}), names)


@pytest.mark.parametrize(
    "texts", [["1000.0", "7"], ["A-1", "b"], [UUID.upper(), "x"], ["José\u00a0x", "y"]]
)
def test_older_releases_of_the_same_spelling_are_known(texts):
    ours, theirs = people(texts), of_older_build(texts)
    assert partners(ours, theirs).tolist() == [0, 1]


def test_older_releases_with_plain_numbers_are_known_however_the_new_file_spells():
    assert partners(people(["7.0", "1e+03"]), of_older_build(["1000", "7"])).tolist() == [1, 0]


def test_digests_of_both_forms_are_kept_only_where_they_differ():
    plain = pl.DataFrame({"id": ["1", "2"]})
    assert list(base_digests(KEY, plain)) == [COLUMN + "id"]
    spelt = people(["1.0", "2"])
    assert of_column(spelt, "id", 1) == _raw(pl.Series("id", ["1.0", "2"]))
    assert of_column(spelt, "id", 2) == column_digests(KEY, pl.Series("id", ["1", "2"]))
    assert row_digests(KEY, "x", plain) != row_digests(KEY, "x", plain.reverse())
