"""The recipes of docs/analysts.md, run as they stand; answers are counted from the CSV file."""

import csv
import json
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

import crowdcover as cc
from tests.flows.orders import people
from tests.postgres import PASSWORD, USER, missing, running
from tests.support.recipes import blocks, statements
from tests.support.releases import allowed, attributes, released_rows
from tests.support.validators import VALIDATORS


@pytest.fixture(scope="module")
def answers(released):
    """Certain and possible counts, the cross table and diagnoses, cell by cell."""
    book, rows = attributes(released.folder_of_v1), released_rows(released.folder_of_v1)
    edges, names = book["age"]["inner_edges"], book["city"]["labels"]
    assert not book["age"]["has_missing"]
    above = {level for level, edge in enumerate([None, *edges]) if edge is not None and edge >= 50}
    may = {level for level, edge in enumerate([*edges, None]) if edge is None or edge > 50}
    city = [allowed(book["city"], row["city"]) for row in rows]
    age = [allowed(book["age"], row["age"]) for row in rows]
    smokes = [allowed(book["smokes"], row["smokes"]) for row in rows]
    ulm = names.index("ulm")
    crosstab = Counter()
    for cities, habits in zip(city, smokes, strict=True):
        for one in cities:
            for other in habits:
                name = None if names[one] == "(missing)" else names[one]
                habit = book["smokes"]["labels"][other]
                crosstab[name, habit] += 1 / (len(cities) * len(habits))
    both = [row for row, c, a in zip(rows, city, age, strict=True) if ulm in c and a & may]
    found = {
        "city": (sum(each == {ulm} for each in city), sum(ulm in each for each in city)),
        "age": (sum(each <= above for each in age), sum(bool(each & may) for each in age)),
        "crosstab": crosstab,
        "diagnoses": Counter(row["diagnosis"] for row in both),
    }
    for question in ("city", "age"):
        assert 0 < found[question][0] < found[question][1] < len(rows)
    return found


def rounded(crosstab):
    return {pair: pytest.approx(number, abs=0.001) for pair, number in crosstab.items()}


def test_duckdb(released, answers, monkeypatch):
    duckdb = pytest.importorskip("duckdb", reason="pip install 'crowdcover[duckdb]'")
    monkeypatch.chdir(released.folder_of_v1)
    with duckdb.connect() as session:
        city, age, _, crosstab, diagnoses = (
            session.execute(each).fetchall() for each in statements("DuckDB")
        )
    assert (city, age) == ([answers["city"]], [answers["age"]])
    assert {(c, s): number for c, s, number in crosstab} == rounded(answers["crosstab"])
    assert dict(diagnoses) == answers["diagnoses"]


def test_polars(released, answers, monkeypatch):
    monkeypatch.chdir(released.folder_of_v1)
    told = {}
    (code,) = blocks("polars", "python")
    exec(code, told)
    assert told["answers"].row(0) == answers["city"] + answers["age"]
    assert {(c, s): number for c, s, number in told["crosstab"].rows()} == rounded(
        answers["crosstab"]
    )
    assert dict(told["diagnoses"].rows()) == answers["diagnoses"]


def test_pandas(released, answers, monkeypatch):
    monkeypatch.chdir(released.folder_of_v1)
    told = {}
    (code,) = blocks("pandas", "python")
    exec(code, told)
    assert (told["certain_city"], told["possible_city"]) == answers["city"]
    assert (told["certain_age"], told["possible_age"]) == answers["age"]
    assert told["diagnoses"].to_dict() == answers["diagnoses"]


def test_the_reader(released, answers, monkeypatch):
    monkeypatch.chdir(released.folder_of_v1)
    told = {}
    (code,) = blocks("A mean, a cross table, a model", "python")
    exec(code, told)
    ages = [age for _, age, *_ in people()]
    assert told["mean"].lo <= sum(ages) / len(ages) <= told["mean"].hi
    cells = told["crosstab"].drop("city").to_numpy()
    assert cells.sum() == pytest.approx(len(ages))
    assert told["features"].sum(axis=1) == pytest.approx(1)


@pytest.mark.long
def test_postgresql(released, answers, monkeypatch):
    if reason := missing():
        pytest.skip(reason)
    pytest.importorskip("adbc_driver_postgresql", reason="pip install 'crowdcover[postgres]'")
    monkeypatch.chdir(released.folder_of_v1)
    (load,) = blocks("PostgreSQL", "python")
    with running() as server:
        uri = f"postgresql://{USER}:{PASSWORD}@{server.host}:{server.port}/postgres"
        exec(load, {"URI": uri})
        *changes, city, age, diagnoses = statements("PostgreSQL")
        server.run(";".join(changes))
        city, age, diagnoses = (
            pl.read_database_uri(each.rstrip(";"), uri, engine="adbc").rows()
            for each in (city, age, diagnoses)
        )
    assert (city, age) == ([answers["city"]], [answers["age"]])
    assert dict(diagnoses) == answers["diagnoses"]


@pytest.mark.skipif(not shutil.which("Rscript"), reason="R is not installed")
def test_r(released, answers):
    (code,) = blocks("R", "r")
    code += "cat(certain_city, possible_city, certain_age, possible_age, diagnoses)"
    done = subprocess.run(
        ["Rscript", "-e", code],
        cwd=released.folder_of_v1,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    numbers = [int(number) for number in done.stdout.split()]
    counted = [number for _, number in sorted(answers["diagnoses"].items())]
    assert numbers == [*answers["city"], *answers["age"], *counted]


# ---------------------------------------------------------------- Excel

SPREADSHEET = Path(__file__).parent / "spreadsheet.py"


def formulas():
    """The formulas of each block by their places."""
    return [
        dict(line.split(": ", 1) for line in each.splitlines()) for each in blocks("Excel", "excel")
    ]


def filled(cells, last):
    """Formulas of row 2, in all rows."""
    return {
        f"{place[0]}{row}": re.sub(r"\b([A-Z])2\b", rf"\g<1>{row}", formula)
        for place, formula in cells.items()
        for row in range(2, last + 1)
    }


def evaluated(folder, *sheets):
    """The answers of each sheet, by the library that the page names."""
    python = VALIDATORS / "bin" / "python"
    assert python.exists(), f"no validators at {VALIDATORS}; make them with `make validators`"
    (folder / "order.json").write_text(json.dumps(sheets), "utf-8")
    done = subprocess.run(
        [python, SPREADSHEET, folder / "order.json"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_excel(released, answers, tmp_path):
    rows = [[*line.values()] for line in released_rows(released.folder_of_v1)]
    assert len(rows) == 90
    assert len(attributes(released.folder_of_v1)["city"]["labels"]) == 6
    read, asked, _ = formulas()

    def sheet(city, habit, diagnosis):
        named = {"M2": "(missing)" if city is None else city, "N2": habit, "O2": diagnosis}
        return {
            "rows": [["key", "age", "city", "smokes", "diagnosis", "note"], *rows],
            "cells": {**filled(read, 91), **asked, **named},
            "answers": [*asked],
        }

    pairs = [("ulm", "yes"), (None, "no"), ("rare-Atlantis", "yes")]
    named = [*answers["diagnoses"]][: len(pairs)]
    sheets = [sheet(*pair, each) for pair, each in zip(pairs, named, strict=True)]
    for found, pair, each in zip(evaluated(tmp_path, *sheets), pairs, named, strict=True):
        assert (found["P2"], found["P3"]) == answers["city"]
        assert (found["P4"], found["P5"]) == answers["age"]
        assert found["P6"] == pytest.approx(answers["crosstab"][pair])
        assert found["P7"] == answers["diagnoses"][each]


@pytest.mark.slow
def test_excel_reads_completed_tables(released, tmp_path):
    from tests.flows.processes import command

    drawn = tmp_path / "people.csv"
    done = command("complete", released.folder_of_v1, "--draws", 5, "--output", drawn)
    assert done.code == 0, done.err
    with drawn.open(newline="", encoding="utf-8") as file:
        header, *lines = csv.reader(file)
    assert header[:3] == ["draw", "key", "age"]
    assert len(lines) == 450
    rows = [header, *([int(draw), key, float(age), *rest] for draw, key, age, *rest in lines)]
    of_draw = {f"J{at + 1}": at for at in range(1, 6)}
    (*_, asked) = formulas()
    mean = {"K2": asked["K2"]}
    cells = {**filled(mean, 6), **asked, **of_draw}
    (found,) = evaluated(tmp_path, {"rows": rows, "cells": cells, "answers": ["K8", "K9"]})
    table = pl.read_csv(drawn)
    means = table.group_by("draw", maintain_order=True).agg(pl.col("age").mean())["age"]
    pooled = cc.pooled(means)
    assert found["K8"] == pytest.approx(pooled.estimate)
    assert found["K9"] == pytest.approx(pooled.error)
