"""One spelling of identifiers: what is one person, and what stays apart."""

import unicodedata
from decimal import Decimal

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdcover.storage.ledger.digests import (
    COLUMN,
    People,
    base_digests,
    column_digests,
    match_people,
    of_column,
    row_digests,
)
from crowdcover.storage.ledger.identifier_spelling import (
    count_ambiguous,
    count_respelt,
    normalize_spelling,
    spell_plainly,
)

KEY = bytes(32)
UUID = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"
ZEROS = "\uff10\u0660\u06f0\u0966\u09e6\u0e50\U0001d7ce"  # of scripts and of mathematics


def in_script(digits, zero):
    """Digits of the script that has this zero."""
    return "".join(chr(ord(zero) + int(digit)) for digit in digits)


def in_full_width(text):
    """A text of ASCII as Chinese and Japanese keyboards write it."""
    return "".join(chr(ord(sign) + 0xFEE0) for sign in text)


ONE = {
    "whole numbers": ["1000", "1000.0", "1000.", "+1000", "1000.000", "1e+03", "1.0E3", " 1000\t"],
    "decimal commas": ["1000", "1000,0", "1000,00", "1000,000", "1.000,0", "1,000.00"],
    "groups of digits": [
        "1234567",
        "1,234,567",
        "1.234.567",
        "1 234 567",
        "1\u202f234\u202f567",
        "1'234'567",
        "1\u2019234\u2019567.0",
        "+1.234.567,00",
    ],
    "one sign between": ["12345", "12,345", "12 345", "12'345", "12.345,0"],
    "digits of other scripts": ["1047", *(in_script("1047", zero) for zero in ZEROS)],
    "full width": ["AB-17", in_full_width("AB-17"), "AB\u201117", "AB\u201017", "A\u200bB-17"],
    "full width numbers": ["1047", in_full_width("1047.0"), in_full_width("+1,047")],
    "ligatures and half width": ["\ufb01\uff76\uff9e", "fi\u30ac"],
    "negative ones": ["-5", "-5.0", "-5e+00", "\u22125", in_full_width("-5")],
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
    ("1.000", "1000"),
    ("1.000", "1"),
    ("1.234", "1234"),
    ("1,5", "15"),
    ("12,34", "1234"),
    ("0,123", "123"),
    ("1,2345", "12345"),
    ("1234,567", "1234567"),
    ("1,234.567", "1234567"),
    ("1,234 567", "1234567"),
    ("001,234", "1234"),
    ("10.0.0.1", "10001"),
    ("ab", "AB"),
    ("José", "Jose"),
    ("A17", "A 17"),
    ("1000.01", "1000"),
    ("--5", "-5"),
    (UUID[:-1], UUID),
]


@pytest.mark.parametrize("texts", ONE.values(), ids=ONE.keys())
def test_one_person(texts):
    assert normalize_spelling(pl.Series(texts)).n_unique() == 1
    assert count_respelt(pl.Series(texts)) == len(set(texts)) - 1


@pytest.mark.parametrize(("one", "other"), APART)
def test_two_persons(one, other):
    assert normalize_spelling(pl.Series([one, other])).n_unique() == 2


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
    assert normalize_spelling(values).to_list() == ["1000", "7"]


def test_a_point_before_three_digits_is_told():
    texts = pl.Series(
        [
            "1.000",
            "12.345",
            f"{in_full_width('1')}.000",
            "-1.000",
            "1000.000",
            "1,000",
            "0.000",
            None,
        ]
    )
    assert count_ambiguous(texts) == 4
    assert count_ambiguous(pl.Series([1.234])) == 0


def test_large_floats_are_written_out():
    assert normalize_spelling(pl.Series([1e15, 1e16, 1.25e22])).to_list() == [
        "1000000000000000",
        "10000000000000000",
        "12500000000000000000000",
    ]
    assert normalize_spelling(pl.Series([1.5, 1e-7, None])).to_list() == ["1.5", "1e-7", None]


def test_blanks_name_nobody():
    assert (
        normalize_spelling(pl.Series(["", "  ", "\u00a0", "\ufeff", None])).to_list() == [None] * 5
    )


@given(st.lists(st.text(max_size=8) | st.integers().map(str) | st.uuids().map(str), min_size=1))
def test_the_spelling_of_a_spelling_is_the_same(texts):
    once = normalize_spelling(pl.Series(texts, dtype=pl.String))
    assert normalize_spelling(once).equals(once)


@given(st.integers())
def test_every_whole_number_is_itself(number):
    written = [str(number), f"{number}.0", f"{number:+d}"]
    assert set(normalize_spelling(pl.Series(written)).to_list()) == {str(number)}


# ---------------------------------------------------------------- digests of older builds


def of_older_build(texts):
    """The people of a release whose digests were made of texts as the file spelt them."""
    names = pl.DataFrame({"id": texts})
    spelt = names.with_columns(spell_plainly(names["id"]))
    label = {COLUMN + "id": b"".join(_raw(spelt["id"]))}
    return People.digest_people(KEY, [names], label, range(len(texts)))


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
    assert match_people(ours, theirs).tolist() == [0, 1]


def test_older_releases_with_plain_numbers_are_known_however_the_new_file_spells():
    assert match_people(people(["7.0", "1e+03"]), of_older_build(["1000", "7"])).tolist() == [1, 0]


def test_digests_of_both_forms_are_kept_only_where_they_differ():
    plain = pl.DataFrame({"id": ["1", "2"]})
    assert list(base_digests(KEY, plain)) == [COLUMN + "id"]
    spelt = people(["1.0", "2"])
    assert of_column(spelt, "id", 1) == _raw(pl.Series("id", ["1.0", "2"]))
    assert of_column(spelt, "id", 2) == column_digests(KEY, pl.Series("id", ["1", "2"]))
    assert row_digests(KEY, "x", plain) != row_digests(KEY, "x", plain.reverse())


@pytest.mark.long
@given(st.lists(st.none() | st.integers(1).map(str) | st.from_regex(r"[1-9][0-9]{30,33}\Z")))
def test_plain_numbers_are_spelt_alone_as_beside_other_texts(texts):
    alone = normalize_spelling(pl.Series(texts, dtype=pl.String)).to_list()
    assert alone == normalize_spelling(pl.Series([*texts, "x"])).to_list()[:-1]
    assert count_respelt(pl.Series(texts, dtype=pl.String)) == 0
