"""What looks like a direct identifier is found, and codes of like shape are not."""

import random
import re
from typing import get_args

import numpy as np
import polars as pl
import pytest

from crowdcover.validations.recognition.cells import Cells
from crowdcover.validations.recognition.chance import compute_binomial_tail
from crowdcover.validations.recognition.kinds import KINDS, Kind
from crowdcover.validations.recognition.numbers import SELDOM, SOME, list_sorts
from crowdcover.validations.recognition.recognise import RECOGNISERS, count_rows
from crowdcover.validations.recognition.words import load_words
from tests.validations.recognition.columns import FORMS, HARMLESS_CELLS, harmless
from tests.validations.recognition.drawn import draw


def counted(name, cells):
    times = pl.Series(cells, dtype=pl.String).alias("t").value_counts(name="n").sort("t")
    return count_rows(name, times["t"], times["n"].to_numpy().astype(np.int64))


def test_every_kind_has_a_recogniser_and_a_phrase():
    assert set(get_args(Kind)) == set(KINDS) == set(RECOGNISERS)
    assert {sort.kind for sort in list_sorts()} <= set(KINDS)


@pytest.mark.long
@pytest.mark.parametrize("form", FORMS)
def test_one_cell_of_many_is_found_and_counted(form):
    kind, name, cell = FORMS[form]
    others = HARMLESS_CELLS if name in ("remark", "extra", "geo") else ()
    found = counted(name, [*["ok"] * 50, *others, cell, cell])
    assert found.get(kind) == 2, (form, found)


def test_harmless_cells_are_not_found_together():
    assert counted("remark", [*HARMLESS_CELLS, *HARMLESS_CELLS]) == {}


@pytest.mark.long
@pytest.mark.parametrize("cell", HARMLESS_CELLS)
def test_harmless_cells_are_not_found_alone(cell):
    assert counted("remark", [cell] * 3) == {}


@pytest.mark.long
@pytest.mark.parametrize("seed", [3, 4, 5])
def test_codes_of_like_shape_are_not_found(seed):
    found = {name: counted(name, cells) for name, cells in harmless(seed).items()}
    assert {name: kinds for name, kinds in found.items() if kinds} == {}


@pytest.mark.long
@pytest.mark.parametrize("name", ["pl-pesel", "nl-bsn", "gb-nhs", "br-cpf", "in-aadhaar", "es-dni"])
def test_bare_numbers_count_by_their_share(name):
    sort = next(each for each in list_sorts() if each.name == name)
    rng = random.Random(8)
    real = []
    while len(real) < 40:
        real += [text for text in draw(sort.bare, rng, 200) if sort.check(text)][:40]
    real, chance = real[:40], draw(sort.bare, rng, 40)
    assert counted("code", real) == {sort.kind: 40}
    assert counted("code", [*real[:10], *chance, *draw(sort.bare, rng, 40)]) == {}
    if sort.chance > 0.01:
        assert counted("code", real[:1]) == {}


def test_bare_telephone_numbers_count_by_their_share():
    rng = random.Random(2)
    areas = ("212", "415", "312", "617", "305", "206", "713", "404", "512", "602")
    real = [f"{rng.choice(areas)}{rng.randrange(2_000_000, 9_999_999)}" for _ in range(80)]
    assert counted("code", real) == {"phone": len(real)}
    assert counted("code", real[:10]) == {}


def test_days_in_eight_digits_are_no_telephone_numbers():
    days = [f"{1990 + at % 30}{1 + at % 12:02}{1 + at % 28:02}" for at in range(300)]
    assert counted("when", days) == {}


def test_nearly_unique_text_is_found_and_templates_are_not():
    rng = random.Random(1)
    some = [
        "pain",
        "left",
        "knee",
        "came",
        "again",
        "since",
        "weeks",
        "sleep",
        "poor",
        "treatment",
        "cough",
        "night",
        "water",
        "run",
    ]
    notes = [" ".join(rng.sample(some, 8)) for _ in range(60)]
    assert counted("note", notes) == {"text": 60}
    assert counted("note", notes * 2) == {}
    assert counted("note", notes[:9]) == {}


def test_columns_whose_header_says_what_they_hold():
    names = [
        f"{start}son"
        for start in [
            "Anders",
            "Eriks",
            "Johans",
            "Karls",
            "Nils",
            "Pers",
            "Svens",
            "Lars",
            "Ols",
            "Matts",
        ]
    ]
    assert counted("lastName", names) == {"name": 10}
    assert counted("street", names) == {}
    users = [f"user_{letter}" for letter in "abcdefghijkl"]
    assert counted("username", users) == {"handle": 12}
    degrees = [f"{52 + at / 7:.5f}" for at in range(20)]
    assert counted("home_lat", degrees) == {"coordinates": 20}
    assert counted("rate", degrees) == {}


NATIONAL = {  # national telephone numbers: a header, first digits, and the groups of the others
    "ES": ("telf", ("61", "65", "69"), (1, 3, 3)),
    "PL": ("nr_telefonu", ("50", "60", "72", "88"), (1, 3, 3)),
    "CZ": ("mobil", ("602", "731", "777"), (0, 3, 3)),
    "DK": ("tlf", ("24", "42", "61", "93"), (0, 2, 2, 2)),
    "NO": ("mobilnr", ("40", "48", "91", "97"), (1, 2, 3)),
    "GR": ("κινητό", ("693", "694", "697"), (0, 3, 4)),
    "MX": ("celular", ("33", "55", "81"), (0, 4, 4)),
    "PT": ("telemóvel", ("91", "92", "96"), (1, 3, 3)),
}


def national(country, sign, rng):
    _, starts, groups = NATIONAL[country]
    drawn = ["".join(rng.choices("0123456789", k=size)) for size in groups]
    return sign.join([rng.choice(starts) + drawn[0], *drawn[1:]])


@pytest.mark.long
@pytest.mark.parametrize("sign", ["", " ", ".", "-"])
@pytest.mark.parametrize("country", NATIONAL)
def test_national_numbers_are_found_under_a_header_and_in_groups_without_one(country, sign):
    rng = random.Random(9)
    cells = ["ok"] * 90 + [national(country, sign, rng) for _ in range(10)]
    assert counted(NATIONAL[country][0], cells) == {"phone": 10}
    if sign == " ":
        assert counted("code", cells) == {"phone": 10}


@pytest.mark.parametrize(
    ("name", "cells"),
    {
        "phone_plan": [f"{at:08}" for at in range(40)],
        "login_count": [f"a{at}" for at in range(40)],
        "dni_type": [f"{at:08}A" for at in range(40)],
        "long_term_rate": [f"{1 + at / 7:.5f}" for at in range(40)],
        "code": [f"19{2 * at + 1:03}{at * 37 % 9000 + 100:04}00" for at in range(40)],
        "size": [f"{at % 24:02} {at * 7 % 60:02} {at * 11 % 60:02} {at}" for at in range(10, 50)],
        "amount": [f"{300 + at * 37 % 600} {at * 7 % 900:03} {at * 7:03}" for at in range(40)],
        "scores": [f"{at / 17 - 1:.5f}, {1 - at / 13:.5f}" for at in range(40)],
        "kelvin": [f"{320 + at}.{1234567 + at * 7919}" for at in range(40)],
        "firmware": [f"10.2.{at}.60" for at in range(40)],
        "item": [f"Blue {a} {b} Bottle Set" for a in "ABCDE" for b in ("Mini", "Big", "Old")],
    }.items(),
)  # fmt: skip
def test_measures_codes_and_titles_of_products_pass(name, cells):
    assert counted(name, cells) == {}


def test_short_notes_count_where_some_have_words_of_prose():
    notes = [f"{a} {b} {c}" for a in ("knee", "back") for b in ("hurts", "swollen", "better")
             for c in ("since march", "again today")]  # fmt: skip
    assert counted("remark", ["ok"] * 90 + notes) == {"text": 12}


def test_degrees_under_x_count_beside_y_only():
    degrees = [f"{9 + at / 17:.5f}" for at in range(40)]
    times = pl.Series(degrees), np.ones(40, dtype=np.int64)
    assert count_rows("home_x", *times, ("home_x", "home_y")) == {"coordinates": 40}
    assert count_rows("home_x", *times, ("home_x",)) == {}


@pytest.mark.long
@pytest.mark.parametrize(
    "sort", [each for each in list_sorts() if each.check], ids=lambda each: each.name
)
def test_stated_chances_are_those_of_random_numbers(sort):
    number = 4000
    passed = sum(map(sort.check, draw(sort.bare, random.Random(6), number)))
    assert sort.chance > SELDOM or compute_binomial_tail(passed, number, sort.chance) > 1e-6


@pytest.mark.parametrize("sort", list_sorts(), ids=lambda each: each.name)
def test_no_number_is_passed_over_by_the_first_look(sort):
    texts = [f"a {text} b" for text in draw(sort.pattern, random.Random(7), 50)]
    texts = [text for text in texts if sort.whole_pattern.search(text)]
    cells = Cells.of("x", pl.Series(texts), np.ones(len(texts), dtype=np.int64))
    assert cells.contain(SOME).all()


def test_tails_of_the_binomial():
    assert compute_binomial_tail(0, 5, 0.1) == 1
    assert compute_binomial_tail(5, 5, 0.1) == pytest.approx(1e-5)
    assert compute_binomial_tail(1, 2, 0.5) == pytest.approx(0.75)
    assert compute_binomial_tail(600, 1000, 0.5) < 1e-9


def test_files_of_words_have_no_word_twice():
    lists = [each for section in load_words().values() for each in section.values()]
    for listed in lists:
        assert len(listed) == len(set(listed))
    assert all(re.compile(sort.pattern) for sort in list_sorts())
