"""Completed tables that keep relations: values from their cells, and what two columns share."""

import hashlib
import os
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crowdcover as cc
from crowdcover.reader.completed import leaves
from tests.crowdcover.reader.folders import BOOK, CELLS, attribute, folder
from tests.flows.processes import command


@pytest.fixture
def place(tmp_path):
    return folder(tmp_path / "tiny", BOOK, {name: cells * 40 for name, cells in CELLS.items()})


def find_wrong_cells(release, table):
    """Columns of which some cell holds what the release does not allow."""
    sets, bounds = release.sets(), release.bounds()
    for name in ("job", "one", "wide"):
        for drawn, allowed in zip(table[name], sets[name], strict=True):
            if ("(missing)" if drawn is None else drawn) not in allowed:
                yield name
    if not all(str(one) in some for one, some in zip(table["age"], sets["age"], strict=True)):
        yield "age"
    lo, hi = bounds["pay.lo"].fill_null(-(10**6)), bounds["pay.hi"].fill_null(10**6)
    if not ((table["pay"] > lo) & (table["pay"] <= hi)).all():
        yield "pay"
    for name in ("key", "ill", "dose"):
        if not table[name].equals(release.rows[name]):
            yield name


@pytest.mark.long
@pytest.mark.parametrize("estimator", ["crowd", "uniform", "em"])
def test_values_are_those_that_cells_allow(place, estimator):
    release = cc.read(place, estimator)
    for table in release.complete(2, seed=4, relations=True):
        assert list(find_wrong_cells(release, table)) == []
        assert table.schema == release.complete(1)[0].schema


@pytest.mark.long
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), rows=st.integers(1, 90))
def test_values_of_drawn_releases_are_those_that_cells_allow(tmp_path_factory, seed, rows):
    generator = np.random.default_rng(seed)
    cells = {
        name: [each[place] for place in generator.integers(0, 5, rows)]
        for name, each in CELLS.items()
    }
    cells["dose"] = pl.Series(cells["dose"], dtype=pl.Float64)
    cells["ill"] = pl.Series(cells["ill"], dtype=pl.String)
    release = cc.read(folder(tmp_path_factory.mktemp("drawn") / "r", BOOK, cells))
    (table,) = release.complete(1, seed=seed, relations=True)
    assert list(find_wrong_cells(release, table)) == []


def test_small_blocks_draw_the_same(place, monkeypatch):
    release = cc.read(place)
    (before,) = release.complete(1, relations=True)
    monkeypatch.setattr(leaves, "NUMBERS_AT_ONCE", 64)
    assert release.complete(1, relations=True)[0].equals(before)


def test_a_column_of_very_many_cells_is_drawn_by_itself(place, monkeypatch):
    release = cc.read(place)
    monkeypatch.setattr(leaves, "MOST_NUMBERS", 1)
    (table,) = release.complete(1, relations=True)
    assert list(find_wrong_cells(release, table)) == []


def test_one_column_has_no_others(tmp_path):
    release = cc.read(folder(tmp_path / "r", BOOK[:1], {"job": CELLS["job"] * 40}))
    (table,) = release.complete(1, relations=True)
    allowed = release.sets()["job"]
    assert all(
        ("(missing)" if one is None else one) in some
        for one, some in zip(table["job"], allowed, strict=True)
    )


@pytest.mark.long
def test_the_seed_decides_whatever_the_threads(place, tmp_path):
    digests = set()
    for threads in ("1", "3"):
        output = tmp_path / f"{threads}.csv"
        words = ["complete", str(place), "--relations", "--draws", "2", "--output", str(output)]
        environment = {
            **os.environ,
            "POLARS_MAX_THREADS": threads,
            "OMP_NUM_THREADS": threads,
            "OPENBLAS_NUM_THREADS": threads,
        }
        subprocess.run(
            [sys.executable, "-m", "crowdcover.flows.cli", *words], check=True, env=environment
        )
        digests.add(hashlib.sha256(output.read_bytes()).hexdigest())
    assert len(digests) == 1
    release = cc.read(place)
    one, same, other = (release.complete(1, seed, relations=True)[0] for seed in (0, 0, 1))
    assert one.equals(same)
    assert not one.equals(other)
    read = pl.read_csv(tmp_path / "1.csv", schema_overrides={"key": pl.String})
    assert read.filter(pl.col("draw") == 1).drop("draw").equals(one)


def test_rules_hold(place):
    release = cc.read(place)
    impossible = (pl.col("job") == "clerk") & (pl.col("age") > 20)
    (plain,) = release.complete(1, seed=7, relations=True)
    (kept,) = release.complete(1, seed=7, rules=impossible, relations=True)
    possible = ~plain.select(impossible).to_series().fill_null(value=False)
    assert not possible.all()
    assert kept.filter(possible).equals(plain.filter(possible))
    assert not kept.select(impossible).to_series().any()
    assert list(find_wrong_cells(release, kept)) == []


# ---------------------------------------------------------------- relations


def build_crowds(generator, rows, k):
    """Ages and jobs that go together, and the cells of crowds of k similar people."""
    at = generator.random(rows)
    noisy = np.clip(at + generator.normal(0, 0.12, rows), 0, 0.999)
    level = np.stack([(at * 12).astype(int), (noisy * 6).astype(int)])
    sick = np.where(at + generator.normal(0, 0.1, rows) > 0.5, "yes", "no")
    # Classes of k people who are somewhat alike: each has the cells of its class.
    order = np.argsort(at + generator.normal(0, 0.2, rows))
    level, sick = level[:, order], sick[order]
    classes = level.reshape(2, rows // k, k).repeat(k, axis=1)
    ages = [
        f"{20 + low}..{20 + high}" if low < high else f"{20 + low}"
        for low, high in zip(classes[0].min(axis=1), classes[0].max(axis=1), strict=True)
    ]
    works = ["|".join(f"w{each}" for each in sorted(set(row))) for row in classes[1].tolist()]
    return level, {"age": ages, "work": works, "sick": sick.tolist()}


@pytest.fixture(scope="module")
def crowds(tmp_path_factory):
    """A release of 1,500 people in crowds of 5, and the true ages and works."""
    level, cells = build_crowds(np.random.default_rng(3), 1500, 5)
    book = [
        attribute("age", "numeric", tuple(f"{20 + each}" for each in range(12))),
        attribute("work", labels=tuple(f"w{each}" for each in range(6))),
    ]
    return cc.read(folder(tmp_path_factory.mktemp("crowds") / "r", book, cells, k=5)), level


def correlate(age, work):
    return np.corrcoef(age, work)[0, 1]


def read_levels(table):
    return table["age"].to_numpy(), table["work"].str.slice(1).cast(pl.Int64).to_numpy()


def test_a_strong_relation_is_restored(crowds):
    release, (age, work) = crowds
    true = correlate(age, work)
    alone, related = (
        np.mean([correlate(*read_levels(t)) for t in release.complete(3, relations=each)])
        for each in (False, True)
    )
    print(true, alone, related)
    assert alone < 0.8 * true
    assert abs(related - true) < abs(alone - true) / 2


def test_frequencies_stay_those_that_the_reader_expects(crowds):
    release, _ = crowds
    tables = release.complete(4, relations=True)
    for name in ("age", "work"):
        expected = release.frequencies(name)
        for value, count in zip(release.levels(name)["value"], expected["expected"], strict=True):
            drawn = np.mean([(table[name] == value).sum() for table in tables])
            assert abs(drawn - count) < 5 * np.sqrt(count / 4) + 5


# ---------------------------------------------------------------- without scikit-learn


def test_without_scikit_learn_the_words_say_what_to_install(place, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.tree", None)
    release = cc.read(place)
    with pytest.raises(cc.ReleaseError, match=r"pip install 'crowdcover\[models\]'"):
        release.complete(1, relations=True)
    assert release.complete(1)[0].height == 200
    ended = command("complete", place, "--relations", "--output", tmp_path / "a.csv")
    assert (ended.code, "crowdcover[models]" in ended.err) == (3, True)
