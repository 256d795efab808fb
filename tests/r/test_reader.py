"""The reader in R answers as the one in Python does."""

import json
import math
import os
import shutil
import subprocess
from datetime import date
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

import crowdcover as cc
from tests.crowdcover.reader.folders import attribute, folder
from tests.support.examples import ROOT

NUMBERS = ("certain", "possible", "expected", "error")
SCRIPT = """
suppressMessages(library(crowdcover, lib.loc = "{library}"))
release <- read_release("{release}")
answers <- list(
{questions}
)
cat(jsonlite::toJSON(answers, digits = NA, na = "string", dataframe = "columns"))
"""


def list_lacking():
    """What the tests need and this machine lacks."""
    if shutil.which("Rscript") is None:
        return "R"
    asked = 'cat(setdiff(c("digest", "jsonlite"), rownames(installed.packages())))'
    return subprocess.run(
        ["Rscript", "-e", asked], capture_output=True, text=True, check=True
    ).stdout


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The package, installed."""
    if lacking := list_lacking():
        pytest.skip(f"left out: needs R with digest and jsonlite; not here: {lacking}")
    place = tmp_path_factory.mktemp("library")
    run("R", "CMD", "INSTALL", f"--library={place}", str(ROOT / "r"))
    return place


def run(*command):
    # Without a locale R takes what is not ASCII for single bytes.
    spoken = os.environ | {"LC_ALL": "C.UTF-8"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=spoken)
    assert not done.returncode, done.stderr
    return done.stdout


def ask(library, place, *questions):
    """The answers of R to questions in R, as lists of numbers and texts."""
    script = place.parent / "questions.R"
    asked = ",\n".join(f"  {each}" for each in questions)
    script.write_text(
        SCRIPT.format(library=library, release=place, questions=asked), encoding="utf-8"
    )
    return json.loads(run("Rscript", str(script)))


def read_number(value):
    return {"NaN": math.nan, "NA": None, "Inf": math.inf, "-Inf": -math.inf}.get(value, value)


def assert_close(found, wanted):
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert read_number(one) == pytest.approx(other, rel=1e-7, abs=1e-5, nan_ok=True)


def assert_same_answers(library, place, counts=()):
    """Frequencies of each column, alone and by the next one, means of numbers, and counts."""
    release = cc.read(place)
    columns = list(release.columns.values())
    quoted = [json.dumps(each.name, ensure_ascii=False) for each in columns]
    asked = [f"frequencies(release, {name})" for name in quoted]
    asked += [
        f"mean(release, {name})"
        for name, each in zip(quoted, columns, strict=True)
        if each.levels.is_counted
    ]
    asked += [f"frequencies(release, {one}, by = {other})" for one, other in pairwise(quoted)]
    asked += [f"count(release{', ' * bool(where)}{conditions})" for conditions, where in counts]
    answers = iter(ask(library, place, *asked))
    for each in columns:
        found, wanted = next(answers), release.frequencies(each.name)
        if each.role == "quasi":
            assert found[wanted.columns[0]] == wanted[wanted.columns[0]].to_list()
        for name in (*NUMBERS, "share"):
            assert_close(found[name], wanted[name].to_list())
    for each in columns:
        if each.levels.is_counted:
            found, wanted = next(answers), release.mean(each.name)
            for name in ("expected", "error", "lo", "hi"):
                assert_close(found[name], [getattr(wanted, name)])
    for one, other in pairwise(columns):
        found, wanted = next(answers), release.frequencies(one.name, by=other.name)
        for name in (*NUMBERS, "share"):
            assert_close(found[name], wanted[name].to_list())
    for (_, where), found in zip(counts, answers, strict=True):
        wanted = release.count(where)
        assert_close([found[name][0] for name in NUMBERS], [getattr(wanted, n) for n in NUMBERS])


TOWNS = [
    "Köln",
    "a|b",
    "..",
    "(missing)",
    "x*",
    "back\\slash",
    "",
    '"quoted", too',
    "two\nlines",
    "two\r\nlines",
]


def draw_people(count=600):
    generator = np.random.default_rng(5)
    days = np.datetime64("2020-01-01") + generator.integers(0, 900, count)
    ages = np.clip(generator.normal(40, 15, count), 0, 90).astype(int).tolist()
    return pl.DataFrame(
        {
            "age": [None if place % 50 == 0 else age for place, age in enumerate(ages)],
            "town": [TOWNS[town] for town in generator.zipf(1.7, count).clip(max=len(TOWNS)) - 1],
            "code": [f"{a}{b}" for a, b in generator.integers(0, 4, (count, 2)).tolist()],
            "weight": generator.normal(70, 9, count).round(1),
            "day": days.astype("datetime64[D]"),
            "smokes": [[None, "yes", "no"][each] for each in generator.integers(0, 3, count)],
            "ill": generator.choice(["flu", "cold", "none"], count),
            "income": generator.integers(10, 90, count) * 100,
            "seen": days[::-1].astype("datetime64[D]"),
            "r": generator.integers(0, 2, count) == 1,
            "release": generator.choice(["u", "v"], count),
        }
    )


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """A release with numbers, groups, dates, odd names, missing values and a hierarchy."""
    out = cc.anonymize(
        draw_people(),
        quasi=["age", "town", "code", "weight", "day", "smokes"],
        sensitive=["ill", "income"],
        keep=["seen", "r", "release"],
        hierarchies={"code": {"prefix": [1]}},
        columns={
            "seen": {"kind": "date", "step": "quarter"},
            "income": {"kind": "numeric", "step": 1000, "top": "k"},
        },
        k=6,
        secret=bytes(32),
    )
    return out.save(tmp_path_factory.mktemp("released") / "people")


QUESTIONS = (
    ("", {}),
    ("age = above(50)", {"age": cc.above(50)}),
    ("age = between(20, 29), ill = 'flu'", {"age": cc.between(20, 29), "ill": "flu"}),
    ("age = c(30, 31, 31)", {"age": [30, 31, 31]}),
    ("age = NA", {"age": None}),
    ("town = c('Köln', '..')", {"town": ["Köln", ".."]}),
    ("code = under('1*')", {"code": cc.under("1*")}),
    ("code = 12", {"code": 12}),
    ("age = '30.0'", {"age": "30.0"}),
    ("age = factor('30')", {"age": 30}),
    ("r = 'true'", {"r": "true"}),
    ("release = 'u', r = TRUE", {"release": "u", "r": True}),
    ("weight = at_most(70.5)", {"weight": cc.at_most(70.5)}),
    ("day = at_least(as.Date('2021-06-01'))", {"day": cc.at_least(date(2021, 6, 1))}),
    ("day = below('2021-06-01')", {"day": cc.below("2021-06-01")}),
    ("seen = at_most('2021-05-01')", {"seen": cc.at_most("2021-05-01")}),
    ("income = at_least(8200)", {"income": cc.at_least(8200)}),
    ("income = above(5000), smokes = 'yes'", {"income": cc.above(5000), "smokes": "yes"}),
)


@pytest.mark.long
def test_a_release_is_read_alike(library, released):
    assert_same_answers(library, released, QUESTIONS)


@pytest.mark.parametrize("cells", ["set", "shorter"])
def test_sets_of_a_column_with_a_hierarchy_are_read_alike(library, tmp_path, cells):
    out = cc.anonymize(
        draw_people()[["age", "town", "code"]],
        quasi=["age", "town", "code"],
        hierarchies={"code": {"prefix": [1]}},
        columns={"code": {"cells": cells}},
        k=6,
        secret=bytes(32),
    )
    place = out.save(tmp_path / "people")
    questions = ("code = under('1*')", {"code": cc.under("1*")}), ("code = 12", {"code": 12})
    assert_same_answers(library, place, questions)


def test_sets_of_values_with_signs_are_read_alike(library, tmp_path):
    towns = ["a|b", "a*", "a\\", "a..", "(missing)", "(x)", "b|", "b\\*", "b"]
    chosen = np.random.default_rng(7).integers(0, 10, 300).tolist()
    people = pl.DataFrame(
        {
            "town": [[*towns, None][each] for each in chosen],  # a* is also the name of a node
            "age": [20 + place % 30 for place in range(300)],
        }
    )
    out = cc.anonymize(
        people,
        quasi=["town", "age"],
        hierarchies={"town": {"prefix": [1]}},
        columns={"town": {"cells": "shorter"}},
        k=6,
        secret=bytes(32),
    )
    place = out.save(tmp_path / "people")
    typed = cc.read(place)
    questions = [("town = under('a*')", {"town": cc.under("a*")})]
    questions += [(f"town = {json.dumps(town)}", {"town": town}) for town in towns]
    assert_same_answers(library, place, questions)
    # The CSV file, where these values carry backslashes, has the same sets.
    cells = pl.read_csv(place / "data.csv.gz", infer_schema=False)["town"]
    assert any("|" in cell.replace("\\|", "") for cell in cells)
    (place / "data.parquet").unlink()
    assert cc.read(place).frequencies("town").equals(typed.frequencies("town"))


def test_completed_tables_are_drawn_from_the_cells(library, released):
    release = cc.read(released)
    same, first, other = ask(
        library,
        released,
        "identical(complete(release, 2, seed = 7), complete(release, 2, seed = 7))",
        "lapply(complete(release, 1, seed = 7)[[1]], as.character)",
        "lapply(complete(release, 1, seed = 8)[[1]], as.character)",
    )
    assert same == [True]
    assert first != other
    sets = release.sets()
    for name in ("town", "code", "smokes"):
        # A town is called as a missing value is shown.
        texts = {"NA": "(missing)"}
        if name == "town":
            texts |= {"(missing)": "\\(missing)"}
        for drawn, allowed in zip(first[name], sets[name].to_list(), strict=True):
            assert texts.get(drawn, drawn) in allowed
    bounds = release.bounds()
    for name in ("age", "weight"):
        for row, drawn in enumerate(first[name]):
            lo, hi = bounds[f"{name}.lo"][row], bounds[f"{name}.hi"][row]
            assert drawn == "NA" or (
                (lo is None or lo <= float(drawn)) and (hi is None or float(drawn) <= hi)
            )
    for name in ("ill", "income"):
        assert first[name] == [str(each) for each in release.frame()[name]]


def test_a_series_is_read_by_the_codebook_of_each_batch(library, tmp_path):
    books = {
        "9": {"attributes": [
            attribute("age", "numeric", ["..20", "20..40", "40.."], inner_edges=[20.0, 40.0]),
            attribute("city", labels=["(missing)", "Bonn", "Ulm"]),
        ]},
        "10": {"attributes": [
            attribute("age", "numeric", ["..30", "30.."], inner_edges=[30.0]),
            attribute("city", labels=["Ulm", "Zell", "(other)"], has_other=True),
        ]},
    }  # fmt: skip
    rows = {
        "age": ["..20", "20..", "..", "..30", "..", "30.."] * 3,
        "city": ["Bonn|Ulm", "(missing)", "*", "Ulm|(other)", "Zell", "*"] * 3,
        "since": [9, 9, 9, 10, 10, 10] * 3,
    }
    place = folder(
        tmp_path / "series",
        books["9"]["attributes"],
        rows,
        book={
            "batches": books,
            "columns": [
                {"name": "age", "role": "quasi", "type": "integer"},
                {"name": "city", "role": "quasi", "type": "string"},
                {"name": "since", "role": "since", "type": "integer"},
            ],
        },
        data="data.csv.gz",
    )
    asked = (
        ("age = above(30)", {"age": cc.above(30)}),
        ("city = 'Ulm'", {"city": "Ulm"}),
        ("city = 'Kiel'", {"city": "Kiel"}),
    )
    assert_same_answers(library, place, asked)


def test_what_is_wrong_is_refused(library, released, tmp_path):
    changed = tmp_path / "changed"
    shutil.copytree(released, changed)
    (changed / "codebook.json").write_bytes((changed / "codebook.json").read_bytes() + b" ")
    told = ask(
        library,
        released,
        *(
            f"tryCatch({each}, error = conditionMessage)"
            for each in (
                f"read_release('{changed}')",
                "read_release('/nowhere')",
                "count(release, agee = 3)",
                "count(release, town = 'Atlantis')",
                "count(release, town = above(3))",
                "count(release, 3)",
                "mean(release, 'town')",
                "mean(release, 'age', by = 'town')",
                "count(release, age = 3, age = 4)",
                "count(release, age = above(NA_real_))",
                "count(release, code = under('9*'))",
            )
        ),
    )
    for (text,), words in zip(
        told,
        ("SHA-256 differs", "no release folder", "no column 'agee'", "names 1 value(s)",
         "holds categories", "name the column", "have no mean",
         "no other argument", "two conditions", "not missing", "no node '9*'"),
        strict=True,
    ):  # fmt: skip
        assert words in text
