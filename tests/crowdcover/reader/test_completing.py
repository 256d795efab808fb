"""Completed tables: members only, the same for a seed, and Rubin's rules."""

import hashlib
import os
import subprocess
import sys

import fsspec
import numpy as np
import polars as pl
import pytest

import crowdcover as cc
from crowdcover.flows import cli
from crowdcover.flows.look import completed_tables
from tests.crowdcover.reader.folders import attribute, folder
from tests.flows.processes import command

JOB = attribute("job", labels=("(missing)", "clerk", "nurse", "smith"))
AGE = attribute("age", "numeric", ("20", "30", "40", "50"))
PAY = attribute("pay", "numeric", ("..100", "100..300", "300.."), inner_edges=[100, 300])
CELLS = {
    "job": ["clerk", "nurse|smith", "*", "(missing)|nurse", "smith"],
    "age": ["20..30", "40", "20", "*", "30..50"],
    "pay": ["..100", "100..300", "*", "100..", "..300"],
    "ill": ["yes", "no", "no", "yes", None],
}
ROWS = {name: cells * 40 for name, cells in CELLS.items()}


@pytest.fixture
def place(tmp_path):
    return folder(tmp_path / "tiny", [JOB, AGE, PAY], ROWS)


@pytest.mark.long
@pytest.mark.parametrize("estimator", ["crowd", "uniform", "em"])
def test_draws_are_members(place, estimator):
    release = cc.read(place, estimator)
    sets, bounds = release.sets(), release.bounds()
    for table in release.complete(3, seed=4):
        assert table["ill"].equals(release.rows["ill"])
        for drawn, allowed in zip(table["job"], sets["job"], strict=True):
            assert ("(missing)" if drawn is None else drawn) in allowed
        for drawn, allowed in zip(table["age"], sets["age"], strict=True):
            assert str(drawn) in allowed
        lo, hi = bounds["pay.lo"].fill_null(-(10**6)), bounds["pay.hi"].fill_null(10**6)
        assert ((table["pay"] > lo) & (table["pay"] <= hi)).all()
        assert table.schema["age"] == table.schema["pay"] == pl.Int64


@pytest.mark.long
@pytest.mark.parametrize("estimator", ["crowd", "uniform", "em"])
def test_draws_have_the_chances_that_answers_state(place, estimator):
    release = cc.read(place, estimator)
    tables = release.complete(60, seed=1)
    for value in ("clerk", "nurse", "smith"):
        drawn = [(table["job"] == value).sum() for table in tables]
        count = release.count({"job": value})
        assert abs(np.mean(drawn) - count.expected) < 4 * count.drawn / np.sqrt(60) + 1e-9
        assert np.std(drawn) == pytest.approx(count.drawn, rel=0.4)
    ages = [table["age"].mean() for table in tables]
    mean = release.mean("age")
    assert abs(np.mean(ages) - mean.expected) < 4 * mean.drawn / np.sqrt(60)
    assert np.std(ages) == pytest.approx(mean.drawn, rel=0.4)
    pays = [table["pay"].mean() for table in tables]
    mean = release.mean("pay")
    assert abs(np.mean(pays) - mean.expected) < 4 * mean.drawn / np.sqrt(60)
    assert np.std(pays) == pytest.approx(mean.drawn, rel=0.4)


@pytest.mark.long
def test_the_seed_decides_whatever_the_threads(place, tmp_path):
    digests = set()
    for threads in ("1", "3"):
        output = tmp_path / f"{threads}.csv"
        words = ["complete", str(place), "--draws", "2", "--seed", "9", "--output", str(output)]
        environment = {**os.environ, "POLARS_MAX_THREADS": threads, "OMP_NUM_THREADS": threads}
        subprocess.run(
            [sys.executable, "-m", "crowdcover.flows.cli", *words], check=True, env=environment
        )
        digests.add(hashlib.sha256(output.read_bytes()).hexdigest())
    assert len(digests) == 1
    release = cc.read(place)
    first, other = release.complete(1, seed=9)[0], release.complete(1, seed=8)[0]
    read = pl.read_csv(tmp_path / "1.csv", schema_overrides={"key": pl.String})
    assert read.filter(pl.col("draw") == 1).drop("draw").equals(first)
    assert not first.equals(other)


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
def test_the_command_writes_one_draw_without_a_number(place, tmp_path, ending, capsys):
    output = tmp_path / f"done.{ending}"
    with pytest.raises(SystemExit) as end:
        cli.main(["complete", str(place), "--draws", "1", "--output", str(output)])
    assert end.value.code == 0
    assert capsys.readouterr().out.strip() == str(output)
    read = pl.read_parquet if ending == "parquet" else pl.read_csv
    assert read(output).columns == ["key", "job", "age", "pay", "ill"]


def refused(words, capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(["complete", *map(str, words)])
    return end.value.code, capsys.readouterr().err


def test_a_file_that_appears_while_tables_are_drawn_stays(place, tmp_path, monkeypatch, capsys):
    output, write = tmp_path / "a.csv.gz", completed_tables.write_csv

    def write_late(rows, path):
        write(rows, path)
        output.write_text("of somebody else")

    monkeypatch.setattr(completed_tables, "write_csv", write_late)
    code, words = refused([place, "--output", output], capsys)
    assert (code, "exists" in words) == (2, True)
    assert output.read_text() == "of somebody else"
    assert list(tmp_path.glob(".a.csv.gz.*")) == []


def test_the_command_refuses_what_it_cannot_do(place, tmp_path, monkeypatch, capsys):
    standing = tmp_path / "old.csv"
    standing.write_text("x")
    code, words = refused([place, "--output", standing], capsys)
    assert code == 2
    assert "exists" in words
    assert standing.read_text() == "x"
    code, words = refused([place, "--output", tmp_path / "a.xlsx"], capsys)
    assert (code, "must end in .csv" in words) == (2, True)
    code, words = refused([place, "--output", tmp_path / "none" / "a.csv"], capsys)
    assert (code, "cannot be written" in words) == (2, True)
    draw = folder(tmp_path / "draw", [JOB], {"job": ["clerk"], "draw": [1]})
    # Before the work: tables may be large.
    monkeypatch.setattr(cc.Release, "complete", lambda *_: pytest.fail("tables were drawn"))
    code, words = refused([draw, "--output", tmp_path / "a.csv"], capsys)
    assert (code, "--draws 1" in words) == (3, True)


def test_the_command_reads_object_storage(place, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("crowdcover.storage.places.place.STARTS", ("memory://",))
    store = fsspec.filesystem("memory")
    store.store.clear()
    store.put(str(place), "memory://bucket/v1", recursive=True)
    outputs = [tmp_path / "local.csv", tmp_path / "remote.csv"]
    for release, output in zip((place, "memory://bucket/v1"), outputs, strict=True):
        assert command("complete", release, "--output", output).code == 0
    assert outputs[0].read_bytes() == outputs[1].read_bytes()
    code, words = refused(["memory://bucket/v2", "--output", tmp_path / "a.csv"], capsys)
    assert (code, "memory://bucket/v2 was not found" in words) == (2, True)
    store.store.clear()


# ---------------------------------------------------------------- rules

CLERK, OLD = pl.col("job") == "clerk", pl.col("age") > 20
RULES = {  # what may not be, of polars and of a row
    "no old clerks": (CLERK & OLD, lambda job, age: job == "clerk" and age > 20),
    "either missing or young": (
        pl.col("job").is_null() != (pl.col("age") == 20),
        lambda job, age: (job is None) != (age == 20),
    ),
    "null is no answer": (pl.col("job") == "smith", lambda job, age: job == "smith"),
}
# Rows whose cells allow something that is possible by all rules.
OPEN = {"job": ["*", "(missing)|clerk|nurse", "*"], "age": ["*", "20..30", "20..40"]}


@pytest.mark.long
@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("estimator", ["crowd", "uniform"])
def test_rows_are_drawn_given_that_they_are_possible(tmp_path, estimator, name):
    """The chance of each pair of values, by listing all of them."""
    rules, breaks = RULES[name]
    cells = {column: texts * 100 for column, texts in OPEN.items()}
    release = cc.read(folder(tmp_path / "r", [JOB, AGE], cells, k=6), estimator)
    values = [release.column(each).values.to_list() for each in ("job", "age")]
    chances = [
        release.weights(each).dense()[release.column(each).which[:3]] for each in ("job", "age")
    ]
    draws = 20
    found = [{}, {}, {}]
    for table in release.completions(draws, 3, rules):
        for row, pair in enumerate(table.select("job", "age").rows()):
            found[row % 3][pair] = found[row % 3].get(pair, 0) + 1
    for row in range(3):
        joint = {
            (job, age): chances[0][row][a] * chances[1][row][b]
            for a, job in enumerate(values[0])
            for b, age in enumerate(values[1])
            if not breaks(job, age)
        }
        total, n = sum(joint.values()), draws * 100
        assert {pair for pair in found[row] if breaks(*pair)} == set()
        for pair, chance in joint.items():
            p = chance / total
            assert abs(found[row].get(pair, 0) - n * p) < 4.5 * np.sqrt(n * p * (1 - p)) + 1e-9


def test_possible_rows_stay_as_they_were_drawn(place):
    release = cc.read(place)
    rules = CLERK & OLD
    plain, kept = release.complete(3, seed=7), release.complete(3, seed=7, rules=rules)
    changed = 0
    for before, after in zip(plain, kept, strict=True):
        possible = ~before.select(rules).to_series().fill_null(value=False)
        assert before.filter(possible).equals(after.filter(possible))
        assert before.schema == after.schema
        assert before["ill"].equals(after["ill"])
        assert not after.select(rules).to_series().any()
        changed += (~possible).sum()
    assert changed
    again = release.complete(3, seed=7, rules=rules)
    assert all(one.equals(other) for one, other in zip(kept, again, strict=True))
    assert not release.complete(1, seed=8, rules=rules)[0].equals(kept[0])
    assert release.complete(1, seed=7, rules=pl.lit(value=False) & OLD)[0].equals(plain[0])


def test_rows_that_stay_impossible_are_counted(place):
    release = cc.read(place)
    with pytest.warns(cc.RulesWarning, match=r"table 1: 40 of 200 rows .* in each of 100 draws"):
        (table,) = release.complete(1, rules=pl.col("ill").is_null())
    assert table["ill"].equals(release.rows["ill"])
    with pytest.warns(cc.RulesWarning, match="80 of 200 rows"):  # exact cells
        release.complete(1, rules=(pl.col("age") == 40) | pl.col("ill").is_null())


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ("age < 15", "one polars expression"),
        (lambda table: table, "one polars expression"),
        (pl.col("size") > 1, r"ColumnNotFoundError.*columns 'key', 'job', 'age'"),
        (pl.col("age") + 1, "one truth value for each row"),
        ((pl.col("age") > 30).any(), "one truth value for each row"),
        (pl.col("job", "age").is_null(), "one truth value for each row"),
        (pl.col("job") > 3, "cannot be evaluated"),
    ],
)
def test_rules_that_tell_nothing_of_rows_are_refused(place, rules, words):
    with pytest.raises(cc.ReleaseError, match=words):
        cc.read(place).complete(1, rules=rules)


# ---------------------------------------------------------------- pooling


def test_rubins_rules():
    # By hand: mean 11, W = (1 + 4 + 1) / 3 = 2, B = 1, T = 2 + 4/3.
    pooled = cc.pooled([10, 11, 12], [1, 2, 1])
    assert (pooled.estimate, pooled.within, pooled.between) == (11, 2, 1)
    assert pooled.error == pytest.approx((2 + 4 / 3) ** 0.5)
    assert pooled.degrees == pytest.approx(2 * (1 + 2 / (4 / 3)) ** 2)
    assert pooled.missing == pytest.approx((4 / 3) / (10 / 3))
    assert cc.pooled([3, 3]).error == 0
    for wrong in ([1], [1, 2, 3]):
        with pytest.raises(cc.ReleaseError, match=r"release\.complete\(5\)"):
            cc.pooled(wrong, [1, 2])
