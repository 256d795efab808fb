"""`assess`: few quasi-identifiers, and the population around a table."""

import json
import random

import numpy as np
import polars as pl
import pytest

import crowdcover as cc
from anon_core.errors import InputError
from tests.support.commands import call

QUASI = ["age", "zip", "sex"]


def population(size=400, draws=2):
    chance = random.Random(draws)
    return pl.DataFrame(
        {
            "age": [chance.randint(20, 49) for _ in range(size)],
            "zip": [chance.choice(["101", "102", "201"]) for _ in range(size)],
            "sex": [chance.choice("fm") for _ in range(size)],
        }
    )


def test_few_quasi_identifiers_single_out():
    table = population(60)
    found = cc.assess(table, QUASI, subsets=2)
    pairs = [["age", "zip"], ["age", "sex"], ["zip", "sex"]]
    assert found.subsets["k"][1] == min(table[n].value_counts()["count"].min() for n in QUASI)
    assert found.subsets["k"][2] == min(table.group_by(p).len()["len"].min() for p in pairs)
    alone = np.zeros(60, dtype=bool)
    for few in [["age"], ["zip"], ["sex"], *pairs]:
        alone |= table.select(pl.len().over(few)).to_series().to_numpy() == 1
    assert found.subsets["alone"][2] == alone.sum()
    scores = found.score_rows()
    assert (scores.to_numpy() > 0).tolist() == alone.tolist()
    assert found.subsets["highest_score"] == scores.max()
    assert "greatest SUDA score of a row" in repr(found)


def test_subsets_count_people_where_a_person_is_named():
    twice = pl.concat([population(30)] * 2).with_columns(who=pl.Series([*range(30)] * 2))
    assert cc.assess(twice, QUASI, subsets=2).subsets["alone"][2] == 0
    once = cc.assess(twice[:30], QUASI, subsets=2).subsets["alone"][2]
    assert cc.assess(twice, QUASI, subsets=2, person="who").subsets["alone"][2] == 2 * once


def test_scores_need_subsets():
    with pytest.raises(InputError, match="subsets=3"):
        cc.assess(population(9), QUASI).score_rows()


def test_a_table_of_the_population_is_counted():
    everyone = population()
    table = everyone[::4]
    found = cc.assess(table, QUASI, population=everyone)
    alike = table.join(everyone.group_by(QUASI).len("people"), on=QUASI)["people"]
    risk = found.population
    assert risk["k_map"] == alike.min()
    assert risk["uniques"] == (alike == 1).sum()
    assert risk["journalist_highest"] == 1 / alike.min()
    assert risk["journalist"] == pytest.approx((1 / alike).mean(), rel=1e-12)
    held = table.select(pl.len().over(QUASI)).to_series()
    share = table.with_columns(held=held).join(everyone.group_by(QUASI).len("people"), on=QUASI)
    share = share["held"] / share["people"]
    assert (risk["presence_least"], risk["presence_highest"]) == (share.min(), share.max())


def test_masked_rows_look_for_everybody_whom_they_fit():
    everyone = population()
    masked = pl.DataFrame({"age": ["20-29", "30-39"], "zip": ["10*", "*"], "sex": ["f", "{f, m}"]})
    risk = cc.assess(masked, QUASI, population=everyone).population
    first = everyone.filter(
        pl.col("age").is_between(20, 29), pl.col("zip").str.starts_with("10"), sex="f"
    ).height
    second = everyone.filter(pl.col("age").is_between(30, 39)).height
    assert risk["k_map"] == min(first, second)
    assert risk["journalist"] == pytest.approx((1 / first + 1 / second) / 2, rel=1e-12)


def test_rows_of_nobody_are_refused():
    stray = population(5).with_columns(age=pl.lit(99))
    with pytest.raises(InputError, match="5 of 5 rows fit nobody of the population"):
        cc.assess(stray, QUASI, population=population())


def test_a_number_of_people_is_enough_for_models():
    everyone = population(4_000)
    table = everyone[::10]
    risk = cc.assess(table, QUASI, population=4_000).population
    assert risk["fraction"] == 0.1
    assert risk["journalist_highest"] >= risk["journalist"] > 1 / 40
    assert 0 <= risk["uniques_zayatz"] < 400
    assert 0 <= risk["uniques_pig"] <= 4_000
    whole = cc.assess(table, QUASI, population=400)
    assert whole.population["journalist"] == pytest.approx(whole.classes["marketer"], rel=1e-12)


@pytest.mark.parametrize("size", [399, 0, -1, 1e6, True])
def test_a_population_is_at_least_the_table(size):
    with pytest.raises(InputError, match="at least the 400 rows"):
        cc.assess(population(), QUASI, population=size)


def test_the_command_takes_both(tmp_path, capsys):
    table, everyone = tmp_path / "table.csv", tmp_path / "everyone.csv"
    population()[::4].write_csv(table)
    population().write_csv(everyone)
    asked = ["--quasi", ",".join(QUASI), "--subsets", "2", "--json"]
    code, shown, _ = call(capsys, "assess", table, *asked, "--population", everyone)
    counted = json.loads(shown)
    assert (code, counted["population"]["people"]) == (0, 400)
    assert counted["subsets"]["k"].keys() == {"1", "2"}
    _, shown, _ = call(capsys, "assess", table, *asked, "--population", "5000")
    assert json.loads(shown)["population"]["fraction"] == 0.02
