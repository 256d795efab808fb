"""Estimates from completed tables: rehearsals, what they put right, regressions by formula."""

import dataclasses
from functools import partial
from math import sqrt

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import crowdcover as cc
from crowdcover.reader.coded.columns import find_levels
from crowdcover.reader.completed import estimating
from tests.crowdcover.reader.folders import BOOK, CELLS, attribute, folder


def draw_people(count=400):
    """People whose pay follows their age and schooling; `who` tells each row apart."""
    generator = np.random.default_rng(7)
    age = generator.integers(20, 60, count)
    school = np.clip(generator.normal(8 + age / 10, 2, count), 6, 18).round().astype(int)
    pay = 20 * age + 90 * school + generator.normal(0, 150, count)
    return pl.DataFrame(
        {
            "who": [f"p{row}" for row in range(count)],
            "age": age,
            "school": school,
            "sex": generator.choice(["f", "m"], count),
            "town": generator.choice(["Bonn", "Ulm", None], count, p=[0.6, 0.3, 0.1]),
            "pay": pay.round().astype(int),
            "rich": np.where(pay > np.median(pay), "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def release():
    columns = {name: {"bins": "none"} for name in ("age", "school")}
    quasi = ["age", "school", "sex", "town"]
    out = cc.anonymize(
        draw_people(), quasi, k=6, sensitive=["pay", "rich"], keep="who",
        columns=columns, secret=bytes(32),
    )  # fmt: skip
    return out.release


@pytest.mark.long
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_levels_are_found_again_in_what_was_drawn(tmp_path_factory, seed):
    generator = np.random.default_rng(seed)
    rows = {
        name: [each[place] for place in generator.integers(0, 5, 30)]
        for name, each in CELLS.items()
    }
    rows["dose"] = pl.Series(rows["dose"], dtype=pl.Float64)
    rows["ill"] = pl.Series(rows["ill"], dtype=pl.String)
    release = cc.read(folder(tmp_path_factory.mktemp("levels") / "r", BOOK, rows))
    (table,) = release.complete(1, seed=seed % 1000)
    for name in ("job", "age", "pay", "one", "wide"):
        column = release.column(name)
        levels = find_levels(column, table[name])
        assert column.masks[column.which, levels].all()
        if name != "pay":
            assert column.values.gather(levels).equals(table[name])


def test_the_end_of_a_level_that_begins_another_is_in_the_other(tmp_path):
    labels = ("1", "2..4.5", "4.5..8", "9..")
    values = [1.0, [2.0, 4.5], [4.5, 8.0], [9.0, None]]
    entry = attribute("size", "numeric", labels, inner_edges=[], values=values)
    column = cc.read(folder(tmp_path, [entry], {"size": list(labels)})).column("size")
    numbers = pl.Series([1.0, 2.0, 4.4, 4.5, 4.6, 8.0, 9.0, 50.0])
    assert find_levels(column, numbers).tolist() == [0, 1, 1, 2, 2, 2, 3, 3]


@pytest.mark.long
def test_a_rehearsal_is_a_release_of_the_completed_table(release):
    """Everybody fits their row, and k rows; what is not masked goes with its person."""
    (table,) = release.complete(1, seed=2)
    again = release.rehearse(table, seed=3)
    assert sorted(again.rows["who"]) == sorted(table["who"])
    person = {who: row for row, who in enumerate(table["who"])}
    mine = [person[who] for who in again.rows["who"]]
    assert again.rows["pay"].equals(table["pay"][mine])
    fits = np.ones((len(table), len(table)), dtype=bool)  # person, row
    for name in ("age", "school", "sex", "town"):
        column = again.column(name)
        fits &= column.masks[column.which].T[find_levels(column, table[name])]
    assert fits[mine, np.arange(len(table))].all()
    assert fits.sum(axis=1).min() >= 6
    assert again.rehearse(table, seed=3).rows.equals(release.rehearse(table, seed=3).rows)
    assert not again.rows.equals(release.rehearse(table, seed=4).rows)


def test_a_rehearsal_takes_the_method_of_the_release(release):
    (table,) = release.complete(1, seed=2)
    manifest = release.manifest | {"anonymizer": {"name": "k-member", "unknown": 3}}
    again = dataclasses.replace(release, manifest=manifest).rehearse(table)
    cells = again.rows.select("age", "school", "sex", "town")
    assert cells.group_by(pl.all()).len()["len"].min() >= 6  # classes
    manifest = release.manifest | {"anonymizer": {"name": "of-others"}}
    with pytest.raises(cc.ReleaseError, match="'of-others' of this release is not installed"):
        dataclasses.replace(release, manifest=manifest).rehearse(table)
    with pytest.raises(cc.ReleaseError, match="a version of a series cannot be rehearsed"):
        dataclasses.replace(release, codebook={"batches": {}}).rehearse(table)


def test_assumed_ends_hold_in_rehearsals(tmp_path):
    pay = attribute("pay", "numeric", ("..100", "100..300", "300.."), inner_edges=[100, 300])
    rows = {"pay": ["..100", "100..300", "300..", "*"] * 5}
    told = cc.read(folder(tmp_path, [pay | {"features": 2}], rows)).assume("pay", lo=0, hi=900)
    (table,) = told.complete(1)
    again = told.rehearse(table)
    assert (again.mean("pay").lo, again.mean("pay").hi) != (-np.inf, np.inf)
    assert again.assumed == {"pay": (0, 900)}


def count_mean(table):
    """The mean of pay with its error: of a column that is not masked."""
    return {"pay": (table["pay"].mean(), table["pay"].std() / sqrt(len(table)))}


def test_what_is_not_masked_has_the_error_of_a_plain_table(release):
    (row,) = release.estimate(count_mean, m=3, rehearsals=1).rows(named=True)
    value, error = count_mean(release.rows)["pay"]
    assert (row["estimate"], row["error"]) == pytest.approx((value, error))
    assert (row["masking"], row["moved"]) == pytest.approx((0, 0), abs=1e-9)
    assert (row["low"], row["high"]) == pytest.approx(
        (value - 1.96 * error, value + 1.96 * error), rel=1e-4
    )


@pytest.mark.long
def test_estimates_are_those_of_their_rules(release):
    """Recomputed from the tables: Rubin's rules, the shift, and what is left of it."""
    asked = lambda table: {"r": np.corrcoef(table["age"], table["school"])[0, 1]}  # noqa: E731
    found = release.estimate(asked, m=4, seed=5, rehearsals=2).rows(named=True)[0]
    tables = release.complete(4, seed=5, relations=True)
    values = [asked(table)["r"] for table in tables]
    shifts = []
    for number in range(2):
        again = release.rehearse(tables[number], 5 + number)
        drawn = again.complete(2, seed=5 + number, relations=True)
        shifts.append(np.mean([asked(table)["r"] for table in drawn]) - values[number])
    shift, between = np.mean(shifts), np.var(values, ddof=1)
    chance = 1.5 * between / 2
    moved = -shift * max(0, 1 - chance / shift**2)
    error = sqrt(1.25 * between + max(shift**2, chance))
    assert found["moved"] == pytest.approx(moved)
    assert found["estimate"] == pytest.approx(np.mean(values) + moved)
    assert found["error"] == pytest.approx(error)
    assert found["degrees"] == pytest.approx(3)
    assert found["high"] - found["low"] == pytest.approx(2 * stats.t.ppf(0.975, 3) * error)
    alone = release.estimate(asked, m=4, seed=5, rehearsals=0).rows(named=True)[0]
    assert alone["estimate"] == pytest.approx(np.mean(values))
    assert alone["error"] == pytest.approx(sqrt(1.25 * between))


@pytest.mark.long
def test_intervals_hold_what_is_true(release):
    people = draw_people()
    true = np.linalg.lstsq(
        np.column_stack([people["age"], people["school"], np.ones(len(people))]),
        people["pay"].to_numpy(),
    )[0]
    found = release.fit("pay ~ age + school").rows_by_key("figure", named=True, unique=True)
    for name, value in zip(("age", "school"), true, strict=False):
        assert found[name]["low"] <= value <= found[name]["high"]
        assert found[name]["p"] < 0.001
        assert found[name]["masking"] > 0
    (row,) = release.correlation("age", "school", ranks=True).rows(named=True)
    rank = stats.spearmanr(people["age"], people["school"]).statistic
    assert row["figure"] == "age, school"
    assert row["low"] <= rank <= row["high"]


def test_a_study_is_drawn_once(release, monkeypatch):
    first = release.correlation("age", "pay", m=2, rehearsals=1)
    monkeypatch.setattr(estimating, "Study", None)
    assert release.correlation("age", "pay", m=2, rehearsals=1).equals(first)
    with pytest.raises(TypeError):
        release.correlation("age", "pay", m=2, seed=1, rehearsals=1)


@pytest.fixture(scope="module")
def exact(tmp_path_factory):
    """A release in which no cell is masked."""
    people = draw_people(120)
    labels = [str(each) for each in sorted(people["school"].unique())]
    rows = {name: people[name] for name in ("age", "sex", "town", "pay", "rich")}
    rows["school"] = people["school"].cast(pl.String)
    book = [attribute("school", "numeric", labels)]
    return people, cc.read(folder(tmp_path_factory.mktemp("exact") / "r", book, rows))


@pytest.mark.parametrize(
    ("formula", "family", "model"),
    [
        ("pay ~ age + school + C(sex)", "gaussian", "ols"),
        ("pay ~ np.log(age) + town", "gaussian", "ols"),
        ("rich ~ age + school", "binomial", "logit"),
        ("school ~ age", "poisson", "poisson"),
    ],
)
def test_a_fit_is_that_of_statsmodels(exact, formula, family, model):
    from statsmodels.formula import api

    people, release = exact
    data = people.with_columns(rich=(pl.col("rich") == "yes").cast(pl.Int8))
    data = pd.DataFrame({name: data[name].to_list() for name in data.columns})
    wanted = getattr(api, model)(formula, data).fit(disp=0)
    found = release.fit(formula, family, m=2, rehearsals=0)
    assert found["figure"].to_list() == list(wanted.model.exog_names)
    assert found["estimate"].to_list() == pytest.approx(list(wanted.params))
    assert found["error"].to_list() == pytest.approx(list(wanted.bse))
    assert found["p"].to_list() == pytest.approx(list(wanted.pvalues), abs=1e-3)
    if family == "gaussian":  # the degrees of freedom of Barnard and Rubin, without masking
        rows = wanted.df_resid
        assert found["degrees"].to_list() == pytest.approx(
            [(rows + 1) / (rows + 3) * rows] * len(found)
        )


@pytest.mark.parametrize(
    ("formula", "family"), [("pay ~ age + town", "gaussian"), ("rich ~ age + school", "binomial")]
)
def test_a_weighed_fit_is_that_of_statsmodels(exact, formula, family):
    from statsmodels import api
    from statsmodels.formula import api as formulas

    people, release = exact
    data = people.with_columns(rich=(pl.col("rich") == "yes").cast(pl.Int8))
    if "town" in formula:
        data = data.drop_nulls()
    data = pd.DataFrame({name: data[name].to_list() for name in data.columns})
    kind = getattr(api.families, family.capitalize())()
    wanted = formulas.glm(formula, data, family=kind, var_weights=data["pay"]).fit(cov_type="HC0")
    robust = np.sqrt(len(data) / wanted.df_resid)  # HC1; that of GLM lacks this factor
    found = release.weigh("pay").fit(formula, family, m=2, rehearsals=0)
    assert found["estimate"].to_list() == pytest.approx(list(wanted.params))
    assert found["error"].to_list() == pytest.approx(list(robust * wanted.bse))


def test_a_weighed_correlation_is_that_of_so_many_rows(exact):
    people, release = exact
    rows = people.select("age", "school", "pay")
    many = rows.with_columns(pl.col("pay") // 100)
    repeated = many.select(pl.all().repeat_by("pay").explode(empty_as_null=False))
    weighed = dataclasses.replace(
        release, columns=release.columns, rows=release.rows.with_columns(pl.col("pay") // 100)
    )
    (found,) = weighed.weigh("pay").correlation("age", "school", m=2, rehearsals=0).rows(named=True)
    wanted = np.corrcoef(repeated["age"], repeated["school"])[0, 1]
    assert found["estimate"] == pytest.approx(wanted, rel=1e-3)


def test_a_term_without_a_row_in_some_table_is_left_out(tmp_path):
    """A level that cells allow and hardly any table has."""
    labels = ("a", "b", "rare")
    cells = ["a"] * 60 + ["b"] * 60 + ["a|rare"]
    rows = {"job": cells, "pay": [float(row % 7) for row in range(121)]}
    release = cc.read(folder(tmp_path, [attribute("job", labels=labels)], rows))
    with pytest.warns(UserWarning, match=r"1 term\(s\) have no row"):
        found = release.fit("pay ~ job", m=8, seed=1, rehearsals=0)
    assert found["figure"].to_list() == ["Intercept", "job[T.b]"]


def read_exact(place, **columns):
    """A release of these columns, none of them masked but one of a single level."""
    rows = len(next(iter(columns.values())))
    return cc.read(
        folder(place, [attribute("one", labels=("x",))], {"one": ["x"] * rows, **columns})
    )


FEW = {"m": 2, "rehearsals": 0}


def test_the_first_level_is_one_that_has_rows(tmp_path):
    """Rows of level a lack an outcome: without them its place is taken by b."""
    grp = ["a"] * 5 + ["b", "c", "d"] * 30
    pay = [None] * 5 + [10.0 + (each == "c") * 5 + row % 7 for row, each in enumerate(grp[5:])]
    release = read_exact(tmp_path, grp=grp, pay=pay)
    with pytest.warns(UserWarning, match=r"1 term\(s\) have no row"):
        found = release.fit("pay ~ C(grp)", **FEW)
    assert found["figure"].to_list() == ["Intercept", "C(grp)[T.c]", "C(grp)[T.d]"]
    means = [np.mean([p for p, g in zip(pay, grp, strict=True) if g == each]) for each in "bcd"]
    assert found["estimate"].to_list() == pytest.approx(
        [means[0], means[1] - means[0], means[2] - means[0]]
    )


def test_rows_that_count_for_nobody_change_nothing(tmp_path):
    age = [20.0 + row % 13 for row in range(60)]
    pay = [3 * a + row % 5 for row, a in enumerate(age)]
    weight = [row % 3 for row in range(60)]
    release = read_exact(tmp_path / "all", age=age, pay=pay, w=weight).weigh("w")
    kept = [row for row in range(60) if weight[row]]
    cut = {"age": age, "pay": pay, "w": weight}
    other = read_exact(
        tmp_path / "cut", **{name: [each[row] for row in kept] for name, each in cut.items()}
    ).weigh("w")
    assert release.fit("pay ~ age", **FEW).equals(other.fit("pay ~ age", **FEW))
    for ranks in (False, True):
        found, wanted = (
            each.correlation("age", "pay", ranks=ranks, **FEW) for each in (release, other)
        )
        assert found.equals(wanted)


def test_ranks_count_people(tmp_path):
    age = [20, 30, 40, 50, 60, 70]
    pay = [3, 1, 5, 2, 9, 4]
    weight = [1, 2, 3, 1, 2, 1]
    release = read_exact(tmp_path, age=age, pay=pay, w=weight).weigh("w")
    (found,) = release.correlation("age", "pay", ranks=True, **FEW).rows(named=True)
    many = [np.repeat(each, weight) for each in (age, pay)]
    assert found["estimate"] == pytest.approx(stats.spearmanr(*many).statistic)


def test_odd_names_are_found_and_functions_stay(tmp_path):
    pay = [float(row % 11) for row in range(40)]
    odd = {name: [float(row * place % 13) for row in range(40)] for place, name in enumerate(
        ("^a$", "it's", 'say "x"', "C", "np", "größe", "two words", "pay_2"), start=2)}  # fmt: skip
    release = read_exact(tmp_path, pay=pay, kind=["u", "v"] * 20, **odd)
    for term in (
        "Q('^a$')",
        "Q('it\\'s')",
        "Q('say \"x\"')",
        "C(kind)",
        "np.exp(größe)",
        "Q('two words')",
        "pay_2",
    ):
        found = release.fit(f"pay ~ {term}", **FEW)
        assert found.height == 2


def test_cells_that_tell_hardly_anything_are_warned_of(tmp_path):
    ages = [str(each) for each in range(20, 60)]
    book = [attribute("age", "numeric", ages)]
    for telling, words in ((1, None), (40, "'age' ")):
        cells = [age if row % telling == 0 else "*" for row, age in enumerate(ages * 3)]
        rows = {"age": cells, "pay": [float(each) for each in ages * 3]}
        release = cc.read(folder(tmp_path / str(telling), book, rows))
        for name, asked in (("fit", ("pay ~ age",)), ("correlation", ("age", "pay"))):
            ask = partial(getattr(release, name), *asked, **FEW)
            if words is None:
                ask()
            else:
                with pytest.warns(UserWarning, match=f"cells tell little .*{words}"):
                    ask()


@pytest.mark.parametrize(
    ("columns", "ask", "words"),
    [
        ({"a": [1.0, 2.0] * 9, "b": [2.0, 4.0] * 9, "y": range(18)}, "y ~ a + b", "tell the same"),
        ({"a": [1.0, 2.0] * 9, "y": [None] * 17 + [2.0]}, "y ~ a", "tell the same|finite"),
        ({"a": [None, 2.0] * 9, "y": [2.0, None] * 9}, "y ~ a", "no row has a value of each"),
    ],
)
def test_what_cannot_be_told_apart_is_refused(tmp_path, columns, ask, words):
    release = read_exact(
        tmp_path,
        **{name: pl.Series(list(each), dtype=pl.Float64) for name, each in columns.items()},
    )
    with pytest.raises(cc.ReleaseError, match=words):
        release.fit(ask, **FEW)


def test_a_correlation_without_rows_is_refused(tmp_path):
    release = read_exact(
        tmp_path, a=pl.Series([None, 2.0] * 5), b=pl.Series([1.0, None] * 5), w=[0] * 10
    )
    for each in (release, release.weigh("w")):
        with pytest.raises(cc.ReleaseError, match="one value in all rows"):
            each.correlation("a", "b", **FEW)


@pytest.mark.long
@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda r: r.fit("pay ~ nothing"), "cannot be fitted .*columns are 'key'"),
        (lambda r: r.fit("pay ~"), "cannot be fitted"),
        (lambda r: r.fit("town ~ age", family="binomial", rehearsals=0, m=2), None),
        (lambda r: r.fit("who ~ age"), "has 400 values; an outcome is a number"),
        (lambda r: r.fit("pay ~ age", family="gamma"), "family must be one of gaussian"),
        (lambda r: r.estimate(count_mean, m=1), "two completed tables or more"),
        (lambda r: r.estimate(count_mean, m=2, rehearsals=3), "as many rehearsals"),
        (lambda r: r.correlation("age", "town"), "column 'town' holds categories"),
        (lambda r: r.correlation("age", "age"), "two different columns"),
        (lambda r: r.correlation("age", "aeg"), "no column 'aeg'"),
        (lambda r: r.estimate(lambda _: {"a": None}), "a mapping from names to numbers"),
        (lambda r: r.estimate(lambda _: 3.0), "a mapping from names to numbers"),
        (lambda r: r.estimate(lambda _: {"a": float("nan")}), "no finite number"),
        (lambda r: r.fit(3), "formula must be a text"),
        (lambda r: r.rehearse(r.complete(1)), "one completed table"),
        (lambda r: r.rehearse(r.complete(1)[0].drop("age")), "one completed table"),
        (lambda r: r.fit("pay ~ age + I(age * 2)"), "tell the same"),
    ],
)
def test_wrong_questions_are_told_what_to_do(release, ask, words):
    if words is None:  # two towns, and some without: rows without one are left out
        assert ask(release).height == 2
        return
    with pytest.raises(cc.ReleaseError, match=words):
        ask(release)
