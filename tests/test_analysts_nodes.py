"""The recipes on nodes in docs/analysts.md, run as they stand; answers are counted from the CSV."""

import csv
import random
import shutil
import subprocess
from collections import Counter

import polars as pl
import pytest

import crowdcover as cc
from tests.flows.orders import HEADER, Order, people
from tests.postgres import PASSWORD, USER, missing, running
from tests.support.recipes import blocks, statements
from tests.support.releases import released_rows

BELOW = {
    "I": {"I20", "I21", "I22"},
    "I2": {"I21", "I22"},
    "J": {"J10", "J11"},
    "K": {"K00"},
}
LEVELS = {"I": "1", "J": "1", "K": "1", "I2": "2"}
FILE = "I20;I20;I\nI21;I2;I\nI22;I2;I\nJ10;J;J\nJ11;J;J\nK00;K;K\n".replace("\n", ";*\n")


class Cases(Order):
    """A table whose last column is `icd`."""

    def write_source(self, rows):
        with self.source.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([[*HEADER[:-1], "icd"], *rows])


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cases")
    (folder / "icd.csv").write_text(FILE, encoding="utf-8")
    chance = random.Random(3)
    codes = sorted(BELOW["I"] | BELOW["J"]) * 4 + ["K00"]
    rows = [(*row[:6], chance.choice(codes)) for row in people(120)]
    icd = {"role": "quasi", "kind": "categorical", "hierarchy": "icd.csv"}
    order = Cases(folder, rows, columns={"icd": icd}, privacy={"k": 8})
    del order.document["columns"]["junk"]
    order.write()
    order.release()
    return order.folder_of_v1


@pytest.fixture(scope="module")
def answers(cases):
    """The ten answers."""
    rows = released_rows(cases)
    every = set().union(*BELOW.values())
    cells = [every if row["icd"] == "*" else BELOW.get(row["icd"], {row["icd"]}) for row in rows]
    below, top = BELOW["I"], [node for node, level in LEVELS.items() if level == "1"]
    forms = Counter("*" if row["icd"] == "*" else LEVELS.get(row["icd"], "value") for row in rows)
    assert {"value", "1", "*"} <= forms.keys()
    possible = [bool(cell & below) for cell in cells]
    diagnoses = Counter(row["diagnosis"] for row, may in zip(rows, possible, strict=True) if may)
    return [
        sum(cell <= below for cell in cells),
        sum(possible),
        sum(row["icd"] == "I" for row in rows),
        dict(forms),
        {
            node: (
                sum(cell <= BELOW[node] for cell in cells),
                sum(bool(cell & BELOW[node]) for cell in cells),
            )
            for node in top
        },
        {
            node: pytest.approx(sum(len(c & BELOW[node]) / len(c) for c in cells), abs=1e-3)
            for node in top
        },
        sum(cell <= BELOW["I"] | BELOW["J"] for cell in cells),
        len(cells) - sum(possible),
        dict(diagnoses),
        sorted(below),
    ]


def shaped(results):
    """Rows of ten queries as the answers have them."""
    single, pairs = {0, 1, 2, 6, 7}, {3, 5, 8}
    found = []
    for place, rows in enumerate(results):
        if place in single:
            found.append(rows[0][0])
        elif place in pairs:
            found.append(dict(rows))
        elif place == 4:
            found.append({node: (certain, possible) for node, certain, possible in rows})
        else:
            found.append([value for (value,) in rows])
    return found


@pytest.mark.long
def test_duckdb(cases, answers, monkeypatch):
    duckdb = pytest.importorskip("duckdb", reason="pip install 'crowdcover[duckdb]'")
    monkeypatch.chdir(cases)
    with duckdb.connect() as session:
        _, _, *found = [session.execute(each).fetchall() for each in statements("Nodes in DuckDB")]
    assert shaped(found) == answers


@pytest.mark.parametrize("tool", ["polars", "pandas"])
def test_frames(cases, answers, monkeypatch, tool):
    monkeypatch.chdir(cases)
    told = {}
    (code,) = blocks(f"Nodes in {tool}", "python")
    exec(code, told)
    assert told["answers"] == answers


@pytest.mark.long
def test_postgresql(cases, answers, monkeypatch):
    if reason := missing():
        pytest.skip(reason)
    pytest.importorskip("adbc_driver_postgresql", reason="pip install 'crowdcover[postgres]'")
    monkeypatch.chdir(cases)
    (load,) = blocks("Nodes in PostgreSQL", "python")
    with running() as server:
        uri = f"postgresql://{USER}:{PASSWORD}@{server.host}:{server.port}/postgres"
        exec(load, {"URI": uri})
        view, *queries = statements("Nodes in PostgreSQL")
        server.run(view)
        found = [pl.read_database_uri(each.rstrip(";"), uri, engine="adbc") for each in queries]
    assert shaped([each.rows() for each in found]) == answers


@pytest.mark.skipif(not shutil.which("Rscript"), reason="R is not installed")
def test_r(cases, answers):
    (code,) = blocks("Nodes in R", "r")
    code += "cat(unlist(answers))"
    done = subprocess.run(
        ["Rscript", "-e", code], cwd=cases, capture_output=True, text=True, check=True, timeout=120
    )
    found = done.stdout.split()
    numbers = [*answers[:3], *(number for _, number in sorted(answers[3].items()))]
    numbers += [number for pair in answers[4].values() for number in pair]
    numbers += [*answers[5].values(), *answers[6:8]]
    numbers += [number for _, number in sorted(answers[8].items())]
    assert [float(each) for each in found[: len(numbers)]] == pytest.approx(numbers, abs=1e-3)
    assert found[len(numbers) :] == answers[9]


def test_the_reader_gives_the_same_bounds(cases, answers):
    release = cc.read(cases)
    found = release.count({"icd": cc.under("I")})
    assert (found.certain, found.possible) == (*answers[:2],)
    assert release.count({"icd": [cc.under("I"), cc.under("J")]}).certain == answers[6]
    table = release.frequencies("icd", level=1)
    assert {name: pair for name, *pair in table["icd", "certain", "possible"].rows()} == {
        node: [*pair] for node, pair in answers[4].items()
    }
