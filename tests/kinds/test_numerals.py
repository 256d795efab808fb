"""Numbers as people write them: found, read exactly, not guessed where texts are no numbers."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdcover.kinds.numerals import Numerals, find_numerals, list_numeral_keys
from crowdcover.kinds.section import PlanError
from crowdcover.kinds.table.plan.columns import ColumnSection
from crowdcover.kinds.table.plan.earlier_columns import EarlierColumnSection


@pytest.mark.parametrize(
    ("texts", "keys", "plain"),
    [
        (["0,5", "12", "-13,25"], {"decimal": ","}, ["0.5", "12", "-13.25"]),
        (
            ["1.234,50 €", "12,00 €"],
            {"decimal": ",", "thousands": ".", "strip": "€"},
            ["1234.50", "12.00"],
        ),
        (
            ["$1,234.50", "-$5", "$1,000,000"],
            {"thousands": ",", "strip": "$"},
            ["1234.50", "-5", "1000000"],
        ),
        (["12 %", "3.5 %", "0%"], {"strip": "%"}, ["12", "3.5", "0"]),
        (["1 234,5", "7"], {"decimal": ",", "thousands": " "}, ["1234.5", "7"]),
        (["1\u202f234,5", "1\u00a0234"], {"decimal": ",", "thousands": " "}, ["1234.5", "1234"]),
        (["1'234.50", "2"], {"thousands": "'"}, ["1234.50", "2"]),
        (["EUR 12", "EUR 13,5"], {"decimal": ",", "strip": "ERU"}, ["12", "13.5"]),
        (["R$ 5,50", "R$ 1.200,00"], {"decimal": ",", "thousands": ".", "strip": "$R"}, None),
        (["₹ 1,00,000", "₹ 12"], {"thousands": ",", "strip": "₹"}, ["100000", "12"]),
        (["2,5 zł", "3 zł"], {"decimal": ",", "strip": "zł"}, ["2.5", "3"]),
        (["350 kr.", "1.200,50 kr", "kr. 5"], None, ["350", "1200.50", "5"]),
        (["Rs. 350", "-Rs.5.5"], {"strip": "Rs"}, ["350", "-5.5"]),
        (["500 円", "1,200円"], None, ["500", "1200"]),
        ([",5", "1,5"], {"decimal": ","}, ["0.5", "1.5"]),
        (["1,5", None, "2,5"], {"decimal": ","}, ["1.5", None, "2.5"]),
    ],
)
def test_numbers_are_found_as_they_are_written(texts, keys, plain):
    guess = find_numerals(pl.Series(texts, dtype=pl.String))
    assert guess is not None
    if keys:
        assert (list_numeral_keys(guess.numerals), guess.unsure) == (keys, False)
    assert guess.texts == sum(text is not None for text in texts)
    if plain:
        assert guess.numerals.plain(pl.Series(texts, dtype=pl.String)).to_list() == plain


@pytest.mark.parametrize(
    "texts",
    [
        ["1", "2.5"],  # plain numbers
        ["$5", "€6"],  # two units
        ["00,5", "01,2"],  # codes
        ["01.02.2020", "02.03.2021"],
        ["12:30", "13:00"],
        ["10.0.0.1", "10.0.0.2"],
        ["1,2,3", "4,5"],
        ["12,3456.7", "1"],
        ["5 mg", "6 mg"],
        ["low", "1,5"],
        ["Elm 5", "Oak 6"],
        ["$", "%"],
        [",", "."],
        [],
        [None],
    ],
)
def test_other_texts_are_no_numbers(texts):
    assert find_numerals(pl.Series(texts, dtype=pl.String)) is None


@pytest.mark.parametrize(
    ("texts", "thousands"), [(["1,234", "5"], ","), (["€ 1.234", "€ 5.678"], ".")]
)
def test_a_sign_that_may_mean_either_is_asked_about(texts, thousands):
    guess = find_numerals(pl.Series(texts))
    assert guess is not None
    assert guess.unsure
    assert guess.numerals.thousands == thousands


def test_signs_between_thousands_must_stand_where_they_belong():
    numerals = Numerals(decimal=",", thousands=".")
    texts = pl.Series(["1.234", "1.5", "12.34,5", "1.2345", "1,234.5", "1234,5", "", ".", "-"])
    found = numerals.plain(texts).to_list()
    assert found == ["1234", None, None, None, None, "1234.5", None, None, None]


@given(
    st.integers(-(10**12), 10**12),
    st.integers(0, 99),
    st.sampled_from([(".", ","), (",", "."), (",", " "), (".", "'"), (",", "")]),
    st.sampled_from(["", "€", "$", "%", "kr"]),
)
def test_what_is_written_comes_back(whole, part, signs, unit):
    decimal, thousands = signs
    written = f"{whole:,}".replace(",", thousands) + f"{decimal}{part:02d} {unit}"
    numerals = Numerals(decimal=decimal, thousands=thousands, strip=unit)
    assert numerals.plain(pl.Series([written])).to_list() == [f"{whole}.{part:02d}"]


# ---------------------------------------------------------------- the keys of a plan


def section(**keys):
    return ColumnSection(**{"role": "keep", "kind": "numeric", **keys})


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"kind": "date", "decimal": ","}, "columns.x.decimal belongs to kind = 'numeric'"),
        ({"kind": None, "strip": "$"}, "columns.x.strip belongs to kind = 'numeric'"),
        ({"role": "identifier", "thousands": "."}, "columns.x.thousands belongs to numbers"),
        ({"thousands": "."}, "columns.x.thousands is the sign before a fraction, too"),
        ({"decimal": ",", "thousands": ","}, "columns.x.thousands is the sign before"),
        ({"strip": "$0"}, "columns.x.strip holds a digit or a sign of numbers"),
        ({"strip": "-"}, "columns.x.strip holds a digit or a sign of numbers"),
    ],
)
def test_keys_that_contradict_are_refused(keys, words):
    with pytest.raises(PlanError, match=words):
        section(**keys).column("x")


def test_hashes_know_the_keys_only_where_they_are_stated():
    assert section().levels() == {}
    assert section(decimal=",").levels() != section(decimal=",", strip="$").levels() != {}
    stated = section(role="quasi", decimal=",")
    assert EarlierColumnSection.of(stated) is stated
    assert stated.column("x").numerals == Numerals(decimal=",")
