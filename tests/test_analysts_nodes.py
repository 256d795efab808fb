"""The recipes on nodes in docs/analysts.md, run as they stand; answers are counted from the CSV."""

import csv
import random
import re
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

PLAIN = ("I20", "I21", "I22", "J10", "J11", "K00")
# Bars, stars, dots and backslashes; texts of nodes, of sets, and of a missing value.
SIGNS = ("I|J", "I*", "I2\\", "(missing)", "J|*", "..K")
LEVELS = {"I": "1", "J": "1", "K": "1", "I2": "2"}


def list_below(codes):
    """The values below each node."""
    below = {"I": {*codes[:3]}, "I2": {*codes[1:3]}, "J": {*codes[3:5]}, "K": {codes[5]}}
    return below | {"*": {*codes}}


def write_tree(codes):
    """The file of the hierarchy."""
    one, two, three, *rest = codes
    rows = [(one, one, "I"), (two, "I2", "I"), (three, "I2", "I")]
    rows += [(code, node, node) for code, node in zip(rest, "JJK", strict=True)]
    return "".join(f"{';'.join(row)};*\n" for row in rows)


def read_cell(below, text):
    """The values that a cell of the CSV file allows."""
    if text in below:
        return below[text]
    parts = re.findall(r"(?:[^\\|]|\\.)+", text)
    return {re.sub(r"\\(.)", r"\1", part) for part in parts}


class Cases(Order):
    """A table whose last column is `icd`."""

    def write_source(self, rows):
        with self.source.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([[*HEADER[:-1], "icd"], *rows])


@pytest.fixture(scope="module", params=["node", "shorter"])
def made(request, tmp_path_factory):
    """A release, and the values of its `icd`."""
    codes = {"node": PLAIN, "shorter": SIGNS}[request.param]
    folder = tmp_path_factory.mktemp("cases")
    (folder / "icd.csv").write_text(write_tree(codes), encoding="utf-8")
    chance = random.Random(3)
    drawn = sorted(codes[:5]) * 4 + [codes[5]]
    rows = [(*row[:6], chance.choice(drawn)) for row in people(120)]
    icd = {"role": "quasi", "kind": "categorical", "hierarchy": "icd.csv", "cells": request.param}
    order = Cases(folder, rows, columns={"icd": icd}, privacy={"k": 8})
    del order.document["columns"]["junk"]
    order.write()
    order.fix_seed().release()
    return order.folder_of_v1, codes


@pytest.fixture(scope="module")
def cases(made):
    return made[0]


@pytest.fixture(scope="module")
def answers(made):
    """The ten answers."""
    folder, codes = made
    rows, tree = released_rows(folder), list_below(codes)
    cells = [read_cell(tree, row["icd"]) for row in rows]
    assert set().union(*cells) == {*codes}
    below, top = tree["I"], [node for node, level in LEVELS.items() if level == "1"]
    several = ["set" if len(cell) > 1 else "value" for cell in cells]
    forms = Counter(
        "*" if row["icd"] == "*" else LEVELS.get(row["icd"], form)
        for row, form in zip(rows, several, strict=True)
    )
    assert {"value", "1", "*", *(["set"] if codes == SIGNS else [])} <= forms.keys()
    possible = [bool(cell & below) for cell in cells]
    diagnoses = Counter(row["diagnosis"] for row, may in zip(rows, possible, strict=True) if may)
    return [
        sum(cell <= below for cell in cells),
        sum(possible),
        sum(row["icd"] == "I" for row in rows),
        dict(forms),
        {
            node: (
                sum(cell <= tree[node] for cell in cells),
                sum(bool(cell & tree[node]) for cell in cells),
            )
            for node in top
        },
        {
            node: pytest.approx(sum(len(c & tree[node]) / len(c) for c in cells), abs=1e-3)
            for node in top
        },
        sum(cell <= tree["I"] | tree["J"] for cell in cells),
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
    assert sorted(found[len(numbers) :]) == answers[9]  # R sorts by the language


def test_the_reader_gives_the_same_bounds(cases, answers):
    release = cc.read(cases)
    found = release.count({"icd": cc.under("I")})
    assert (found.certain, found.possible) == (*answers[:2],)
    assert release.count({"icd": [cc.under("I"), cc.under("J")]}).certain == answers[6]
    table = release.frequencies("icd", level=1)
    assert {name: pair for name, *pair in table["icd", "certain", "possible"].rows()} == {
        node: [*pair] for node, pair in answers[4].items()
    }
