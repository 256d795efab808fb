"""Attacks on small tables with known answers, the score by its definition, trees by enumeration."""

import itertools
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchmarks import ROOT
from benchmarks.reconstruction import adult, attacks, views
from benchmarks.reconstruction.linear import linear
from benchmarks.reconstruction.memorization import compared, wrong_pairs
from benchmarks.reconstruction.score import score, scores
from crowdcover.flows.plan.plan import ReleasePlan

PERSON = {
    "age": "30",
    "workclass": "Private",
    "fnlwgt": "1",
    "education": "Masters",
    "education-num": "14",
    "marital-status": "Divorced",
    "occupation": "Sales",
    "relationship": "Unmarried",
    "race": "White",
    "sex": "Male",
    "capital-gain": "0",
    "capital-loss": "0",
    "hours-per-week": "40",
    "native-country": "Peru",
    "income": "<=50K",
}


def people(*changes):
    return pl.DataFrame([PERSON | each for each in changes], schema=list(adult.COLUMNS))


# Whoever is 60 is rich and works 10 hours, so each attack can know it.
TABLE = people(
    *[{"age": "30", "sex": sex} for sex in ("Male", "Female") * 6],
    *[{"age": "60", "income": ">50K", "hours-per-week": "10"} for _ in range(5)],
)
ASKED = people({"age": "60"}, {"age": "31", "sex": "Female"})


# ---------------------------------------------------------------- score


def test_the_score_pays_a_right_guess_by_how_rare_its_value_is():
    truth = np.array([0, 0, 0, 1, 1, 2])
    right = np.array([1, 0, 0, 1, 0, 1], dtype=bool)
    rarity = np.array([6 / 3] * 3 + [6 / 2] * 2 + [6 / 1])
    assert score(truth, right) == pytest.approx(100 * (right * rarity).sum() / rarity.sum())


@pytest.mark.parametrize("value", range(3))
def test_who_always_guesses_one_of_c_values_gets_one_of_c(value):
    truth = np.array([0, 0, 0, 0, 1, 2, 2])
    assert score(truth, truth == value) == pytest.approx(100 / 3)


def test_a_weight_counts_as_that_many_targets():
    truth, right = np.array([0, 1, 1, 2]), np.array([True, True, False, False])
    weight = np.array([2, 1, 3, 0])
    assert score(truth, right, weight) == pytest.approx(
        score(np.repeat(truth, weight), np.repeat(right, weight))
    )


def test_the_bootstrap_spreads_around_the_mean_of_the_columns():
    generator = np.random.default_rng(1)
    truth = {"a": generator.integers(0, 2, 400), "b": np.zeros(400, dtype=int)}
    right = {"a": generator.random(400) < 0.5, "b": np.ones(400, dtype=bool)}
    mean, draws = scores(truth, right, generator)
    assert mean == pytest.approx((score(truth["a"], right["a"]) + 100) / 2)
    assert draws.mean() == pytest.approx(mean, abs=0.5)
    assert draws.std() == pytest.approx(1.25, rel=0.3)  # 100 / 2 columns * sqrt(1/4 / 400)


def test_people_before_the_cut_are_compared_with_those_after_it():
    targets = people({"income": ">50K"}, {}, {"income": ">50K"}, {})
    guesses = {"income": np.array([">50K", "<=50K", "<=50K", "<=50K"])}
    inside, outside, apart, error = compared(targets, guesses, 2)
    assert (inside, outside, apart) == (100, 50, 50)
    assert error >= 0


# ---------------------------------------------------------------- attacks


def guessed(attack):
    view = views.of_table(TABLE)
    known = views.known_codes(view, ASKED)
    if attack == "nearest":
        found = attacks.nearest(view, attacks.near(view, known, 3))
    else:
        found = getattr(attacks, attack)(view, known)
    return {
        name: view.parts[name].labels[each].tolist()
        for name, each in attacks.likeliest(view, found).items()
    }


@pytest.mark.parametrize("attack", ["fitting", "nearest", "naive_bayes", "tree"])
def test_each_attack_finds_what_the_known_columns_decide(attack):
    guess = guessed(attack)
    assert guess["income"] == [">50K", "<=50K"]
    assert guess["hours-per-week"] == ["10", "40"]
    assert guess["occupation"] == ["Sales", "Sales"]


def test_rows_that_fit_count_by_the_chance_of_the_known_values_in_their_cells():
    ages = views.Part(
        np.array(["30", "60"]),
        np.array([[1, 0], [0.25, 0.75], [0, 1]], dtype=np.float32),
        np.array([0, 1, 2]),
    )
    incomes = views.Part(
        np.array(["<=50K", ">50K"]), np.eye(2, dtype=np.float32)[[0, 1, 1]], ages.which
    )
    parts = {name: views.of_table(TABLE[:3]).parts[name] for name in adult.KNOWN}
    view = views.View(TABLE[:3], parts | {"age": ages, "income": incomes})
    known = np.zeros((2, len(adult.KNOWN)), dtype=int)
    known[:, 0] = [0, 1]
    known[:, 1] = views.coded(TABLE[:3]["sex"], parts["sex"].labels)[0]
    found = attacks.fitting(view, known)["income"]
    sexes = parts["sex"].members[:, known[0, 1]]

    def chance(age, sex):
        miss = attacks.MISS
        return [
            ((1 - miss) * ages.members[row, age] + miss * ages.shares[age])
            * ((1 - miss) * sexes[row] + miss * parts["sex"].shares[sex])
            for row in range(3)
        ]

    for target, age in enumerate((0, 1)):
        rows = np.array(chance(age, known[target, 1]))
        rich = (rows * incomes.members[:, 1]).sum() / rows.sum()
        assert found[target, 1] == pytest.approx(rich, abs=1e-5)


def test_the_rare_guess_is_the_level_that_gained_most():
    part = views.Part(np.array(["a", "b"]), np.eye(2, dtype=np.float32), np.array([0] * 9 + [1]))
    view = views.View(TABLE, {"income": part})
    found = {"income": np.array([[0.8, 0.2], [0.95, 0.05]])}
    assert attacks.likeliest(view, found)["income"].tolist() == [0, 0]
    assert attacks.rarest(view, found)["income"].tolist() == [1, 0]


def test_columns_of_many_levels_are_told_by_the_likeliest_row():
    table = TABLE.with_columns(fnlwgt=pl.int_range(pl.len()).cast(pl.String))
    view = views.of_table(table)
    row = attacks.matched(view, views.known_codes(view, ASKED))[0]
    assert table["age"][int(row)] == "60"


def test_linear_reconstruction_solves_the_counts_of_a_release():
    chances = linear(TABLE, ASKED, ["age", "sex"], "income", ">50K")
    assert chances.tolist() == pytest.approx([2 * 5 / 17, 0])  # 5 of 17 rows, as many of 2 targets
    everyone = linear(TABLE, TABLE, ["age", "sex"], "income", ">50K")
    assert ((everyone > 0.5) == (TABLE["income"] == ">50K").to_numpy()).all()


def test_chances_that_disagree_are_made_to_agree():
    view = views.of_table(
        people(
            *[{"occupation": "Sales", "relationship": "Husband"}] * 9, *[{"occupation": "Tech"}] * 9
        )
    )
    first = {name: np.tile(part.shares, (1, 1)) for name, part in view.parts.items()}
    jobs = view.parts["occupation"].labels.tolist()
    first["occupation"] = np.full((1, 2), 0.01)
    first["occupation"][0, jobs.index("Sales")] = 0.99
    passed = attacks.passed(view, first, np.arange(18)[None])
    kin = view.parts["relationship"].labels.tolist()
    assert passed["relationship"][0, kin.index("Husband")] > 0.8


# ---------------------------------------------------------------- trees


def test_beliefs_are_those_of_all_combinations():
    generator = np.random.default_rng(3)
    sizes, edges = (2, 3, 2, 4), [(0, 1), (1, 2), (1, 3)]
    unary = [generator.random((5, size)) for size in sizes]
    lifts = [generator.random((sizes[a], sizes[b])) for a, b in edges]
    lifts[1] = generator.random((5, *lifts[1].shape))  # one of each target's own
    expected = [np.zeros((5, size)) for size in sizes]
    for levels in itertools.product(*map(range, sizes)):
        weight = np.prod(
            [each[:, level] for each, level in zip(unary, levels, strict=True)], axis=0
        )
        for (a, b), lift in zip(edges, lifts, strict=True):
            weight = weight * lift[..., levels[a], levels[b]]
        for node, level in enumerate(levels):
            expected[node][:, level] += weight
    for found, each in zip(attacks.beliefs(unary, edges, lifts), expected, strict=True):
        assert found == pytest.approx(each / each.sum(axis=1, keepdims=True))


def test_the_tree_has_the_greatest_information_of_all_trees():
    generator = np.random.default_rng(4)
    first = generator.integers(0, 3, 200)
    columns = [np.where(generator.random(200) < chance, first, 2) for chance in (1, 0.9, 0.6, 0.2)]
    members = [np.eye(3)[each] for each in columns]
    pairs = list(itertools.combinations(range(4), 2))
    told = {pair: attacks.information(members[pair[0]].T @ members[pair[1]]) for pair in pairs}
    best = max(
        sum(told[pair] for pair in edges)
        for edges in itertools.combinations(pairs, 3)
        if {node for edge in edges for node in edge} == set(range(4))
    )
    found = sum(told[min(edge), max(edge)] for edge in attacks.spanning(members))
    assert found == pytest.approx(best)


# ---------------------------------------------------------------- samples


def test_labels_that_a_release_lacks_have_no_code_and_numbers_take_the_nearest():
    assert views.coded(pl.Series("sex", ["Male", "X"]), np.array(["Male", "A"])).tolist() == [0, -1]
    ages = pl.Series("age", ["17", "33", "90"])
    assert views.coded(ages, np.array(["40", "30", "20"])).tolist() == [2, 1, 0]


def test_a_category_that_was_pooled_has_the_level_of_the_pooled_ones():
    labels = np.array(["Peru", "(other)", "Cuba"])
    assert views.coded(pl.Series("race", ["Cuba", "Laos", "Peru"]), labels).tolist() == [2, 1, 0]


def test_wrong_pairs_are_the_rows_that_would_have_to_change():
    truth = people(*[{}] * 3, {"sex": "Female"}, {"sex": "Female", "race": "Black"})
    assert wrong_pairs(views.of_table(truth), truth) == pytest.approx(0)
    # One of five rows differs in one of nine columns, which is in 8 of 36 pairs.
    other = truth.with_columns(sex=pl.Series(["Male"] * 4 + ["Female"]))
    assert wrong_pairs(views.of_table(other), truth) == pytest.approx(20 * 8 / 36)
    # A value that the release lacks is wrong, too.
    lacks = truth.with_columns(race=pl.lit("White"))
    assert wrong_pairs(views.of_table(lacks), truth) == pytest.approx(20 * 8 / 36)


def test_samples_are_disjoint():
    frame = pl.DataFrame({"row": range(100)})
    drawn = adult.samples(frame, rows=20, count=4)
    assert len({row for each in drawn for row in each["row"]}) == 80


DATA = Path(os.environ.get("CROWDCOVER_DATA", ROOT.parent / "shared" / "data"))


@pytest.mark.long
@pytest.mark.skipif(not (DATA / "adult").exists(), reason="left out: no Adult in CROWDCOVER_DATA")
def test_the_first_sample_is_that_of_the_attacks_authors():
    frame = adult.population()
    assert frame.height == 47_621
    sizes = [adult.samples(frame)[0][name].n_unique() for name in adult.COLUMNS]
    # As their get_data.py states them.
    assert sizes == [70, 8, 8477, 16, 16, 7, 15, 6, 5, 2, 98, 69, 86, 42, 2]


@pytest.mark.parametrize("settings", [{}, {"kept": adult.HIDDEN}, {"bins": "none", "rare": "pool"}])
def test_each_plan_says_what_becomes_of_each_column(tmp_path, settings):
    path = tmp_path / "plan.toml"
    path.write_text(adult.plan(6, weight=0.05, **settings), encoding="utf-8")
    columns = {each.name: each for each in ReleasePlan.load(path).data.columns}
    assert tuple(columns) == adult.COLUMNS
    kept = {name for name, each in columns.items() if each.role == "keep"}
    assert kept == set(settings.get("kept", ()))
    quasi = [each.spec for each in columns.values() if each.role == "quasi"]
    assert {each.name for each in quasi if each.weight == 0.05} == set(adult.KNOWN)
