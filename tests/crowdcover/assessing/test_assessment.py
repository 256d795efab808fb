"""`assess`: what is wrong with a table is found, whoever made it."""

import math
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pycanon.anonymity as pycanon
import pytest

import crowdcover as cc
from anon_core.errors import InputError
from tests.crowdcover.assessing.tables import DATA, TABLES, read_real_table
from tests.crowdcover.releasing.people import people
from tests.names import ROOT
from tests.support.soaking import soak_after

QUASI = ["age", "zip", "born", "smokes"]


def pycanon_finds(frame, quasi, told):
    rows = frame.to_pandas()
    return {
        "k": pycanon.k_anonymity(rows, quasi),
        "l": pycanon.l_diversity(rows, quasi, told),
        "t": pycanon.t_closeness(rows, quasi, told),
        "alpha": pycanon.alpha_k_anonymity(rows, quasi, told)[0],
        "beta": pycanon.basic_beta_likeness(rows, quasi, told),
    }


def ours(frame, quasi, told):
    found = cc.assess(frame, quasi, sensitive=told)
    each = list(found.sensitive.values())
    return {
        "k": found.k,
        "l": min(one["l"] for one in each),
        **{name: max(one[name] for one in each) for name in ("t", "alpha", "beta")},
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", soak_after(2, TABLES))
def test_pycanon_agrees_on_real_tables(name):
    """Where a row is all of a group, and where groups are large."""
    frame, quasi, told = read_real_table(name)
    assert ours(frame, quasi, told) == pytest.approx(pycanon_finds(frame, quasi, told))
    assert ours(frame, quasi[:1], told) == pytest.approx(pycanon_finds(frame, quasi[:1], told))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_pycanon_agrees_on_drawn_tables(seed):
    frame = people(200, seed).with_columns(pl.col("age") // 10 * 10).drop_nulls()
    arguments = frame, ["age", "zip"], ["income", "note"]
    assert ours(*arguments) == pytest.approx(pycanon_finds(*arguments))


def classes_of(seed=1, k=5):
    out = cc.anonymize(people(200, seed), QUASI, sensitive=["income"], k=k, method="classes",
                       cells="text", secret=bytes(32))  # fmt: skip
    return out.frame


def test_a_merge_that_breaks_k_is_found():
    frame = classes_of()
    whole = cc.assess(frame, QUASI, sensitive=["income"], k=5)
    assert whole.k >= 5
    assert not [each for each in whole.findings if "fewer than 5" in each]
    towns = [f"town {number % 17}" for number in range(frame.height)]
    merged = frame.with_columns(pl.Series("town", towns))
    found = cc.assess(merged, [*QUASI, "town"], sensitive=["income"], k=5)
    groups = Counter(merged.select(*QUASI, "town").rows())
    below = [row for row, key in enumerate(merged.select(*QUASI, "town").rows()) if groups[key] < 5]
    assert found.locate_rows().to_list() == below
    assert found.findings[0] == (
        f"{len(below)} of 200 rows are in groups of fewer than 5 identical rows; "
        "without town no row would be"
    )


def test_rows_that_overlap_are_counted_as_sdcmicro_counts_missing_values():
    """Templ et al., sdcMicro: a missing value fits every category (frequencies of freqCalc)."""
    table = pl.DataFrame({"a": [1, 1, 2, None], "b": ["x", "x", "y", "x"]})
    found = cc.assess(table, ["a", "b"])
    assert found.k == 1
    assert (found.crowds["least"], found.crowds["mean"]) == (1, (3 + 3 + 1 + 3) / 4)
    assert found.columns["suppressed"].to_list() == [1, 0]


@pytest.mark.long
@pytest.mark.parametrize("cells", ["text", "typed"])
def test_people_of_the_source_fit_k_rows_of_our_releases(cells):
    source = people(120, 3)
    out = cc.anonymize(source, ["age", "smokes", "zip"], k=4, cells=cells, secret=bytes(32))
    shown = out.frame
    found = cc.assess(shown, ["age", "smokes", "zip"], k=4, source=source)
    assert found.source["least"] >= 4
    assert found.source["fit_none"] == found.source["below_k"] == 0
    assert found.source.title in repr(found)
    assert found.source.title in found._repr_html_()
    other = source.with_columns(age=pl.col("age") + 500)
    broken = cc.assess(shown, ["age", "smokes", "zip"], k=4, source=other)
    assert broken.source["fit_none"] > 0
    assert any("fit no row" in each for each in broken.findings)


def test_groups_count_people_where_a_person_is_named():
    table = pl.DataFrame({"a": [1, 1, 1, 2, 2], "who": ["p", "p", "q", "r", "s"]})
    assert cc.assess(table, ["a"]).k == 2
    found = cc.assess(table, "a", person="who")
    assert found.k == 2
    assert found.locate_rows(3).to_list() == [0, 1, 2, 3, 4]
    alone = cc.assess(table.with_columns(who=pl.lit("p")), ["a"], person="who")
    assert alone.k == 1


def test_measures_by_hand():
    """Two groups of two and four; shares 1/2 and 1/4 against 2/6 and 2/6."""
    table = pl.DataFrame({"q": list("aabbbb"), "s": list("xyxyzz")})
    found = cc.assess(table, ["q"], sensitive=["s"])
    each = found.sensitive["s"]
    assert (found.k, each["l"], each["uniform_rows"]) == (2, 2, 0)
    assert each["entropy_l"] == pytest.approx(2)
    assert each["t"] == pytest.approx(1 / 3)
    assert each["alpha"] == pytest.approx(1 / 2)
    assert each["beta"] == pytest.approx(1 / 2)
    assert each["delta"] == math.inf  # a group has no z
    assert found.classes["marketer"] == pytest.approx(2 / 6)
    whole = cc.assess(table.with_columns(q=pl.lit("a")), ["q"], sensitive=["s"])
    assert whole.sensitive["s"]["delta"] == pytest.approx(0, abs=1e-12)


def test_releases_of_others_are_read():
    arx = pl.DataFrame({"age": ["[20, 30[", "[20, 30[", "*"], "zip": ["8166*", "8166*", "*****"]})
    found = cc.assess(arx, ["age", "zip"], source=pl.DataFrame({"age": [25], "zip": ["81667"]}))
    assert (found.k, found.source["least"]) == (1, 3)
    mondrian = pl.DataFrame({"age": ["20-29", "20-29", "30"], "zip": ["a,b", "a,b", "a"]})
    assert cc.assess(mondrian, ["age", "zip"]).classes["groups"] == 2
    tilde = pl.DataFrame({"age": ["20~29", "25"], "job": ["clerk~nurse", "nurse"]})
    assert cc.assess(tilde, ["age", "job"]).crowds["least"] == 2


def test_a_recoding_by_hierarchies_of_arx():
    """Each cell of 300 people is a node of any level: who fits which row, by definition."""
    folder, rng = DATA / "adult", np.random.default_rng(0)
    if not folder.exists():
        pytest.skip("left out: adult is not in CROWDCOVER_DATA")
    names = ["age", "education", "marital-status", "workclass"]
    people = pl.read_csv(folder / "arx_adult.csv.gz", separator=";", infer_schema=False)[:300, :]
    files = {name: folder / f"hierarchies-arx/adult_hierarchy_{name}.csv" for name in names}
    recoded, allowed = {}, {}
    for name, file in files.items():
        lines = [line.split(";") for line in file.read_text().splitlines()]
        path = {line[0]: line for line in lines}
        leaves = {
            node: {line[0] for line in lines if node in line} for line in lines for node in line
        }
        shown = [path[value][rng.integers(0, len(path[value]))] for value in people[name]]
        recoded[name], allowed[name] = shown, [leaves[node] for node in shown]
    found = cc.assess(pl.DataFrame(recoded), names, hierarchies=files, source=people, k=5)
    fits = [
        sum(all(value[name] in allowed[name][row] for name in names) for row in range(300))
        for value in people.select(names).to_dicts()
    ]
    assert found.source["least"] == min(fits) >= 1
    assert found.source["mean"] == pytest.approx(np.mean(fits))
    assert found.source["below_k"] == sum(fit < 5 for fit in fits)
    overlap = [
        sum(all(allowed[n][a] & allowed[n][b] for n in names) for b in range(300))
        for a in range(300)
    ]
    assert found.crowds["mean"] == pytest.approx(np.mean(overlap))


def test_neither_texts_nor_errors_show_a_value():
    table = pl.DataFrame({"a": ["secret1", "secret2", "*"], "s": ["secret3", "secret3", "secret4"]})
    found = cc.assess(table, ["a"], sensitive=["s"], k=2)
    for text in (repr(found), found._repr_html_(), str(found.columns), str(found.findings)):
        assert "secret" not in text
    with pytest.raises(InputError) as refused:
        cc.assess(table.with_columns(a=pl.Series([b"secret1", b"x", b"y"])), ["a"])
    assert "secret" not in str(refused.value)


def test_numbers_of_numpy_are_taken():
    table = pl.DataFrame({"a": [1, 1, 2]})
    assert str(cc.assess(table, ["a"], k=np.int64(2))) == str(cc.assess(table, ["a"], k=2))
    many = cc.assess(table, ["a"], population=np.int64(9))
    assert str(many) == str(cc.assess(table, ["a"], population=9))


def test_what_cannot_be_assessed_is_refused():
    table = pl.DataFrame({"a": [1, 2]})
    with pytest.raises(InputError, match="has no column b; it has a"):
        cc.assess(table, ["b"])
    with pytest.raises(InputError, match="needs quasi"):
        cc.assess(table, [])
    with pytest.raises(InputError, match="no rows"):
        cc.assess(table.head(0), ["a"])
    with pytest.raises(InputError, match=r"locate_rows\(5\)"):
        cc.assess(table, ["a"]).locate_rows()
    for k in (0, 2.5, "5"):
        with pytest.raises(InputError, match="whole number"):
            cc.assess(table, ["a"], k=k)
    for named in ({"as_text": "b"}, {"hierarchies": {"b": {}}}, {"person": "b"}):
        with pytest.raises(InputError, match="has no column b"):
            cc.assess(table, ["a"], **named)
    with pytest.raises(InputError, match="the source has no column a"):
        cc.assess(table, ["a"], source=pl.DataFrame({"b": [1]}))


def test_names_that_look_like_patterns():
    table = pl.DataFrame({"^a.*$": ["x", "y"], "ab": [1, 1]})
    assert cc.assess(table, ["^a.*$"], sensitive=["ab"]).k == 1


def test_a_column_of_several_types_is_refused():
    with pytest.raises(InputError, match="several types"):
        cc.assess(pd.DataFrame({"a": ["secret", 1]}), ["a"])


@pytest.mark.parametrize("name", ["to_pandas", "to_arrow"])
def test_tables_of_other_libraries(name):
    frame = people(50, 2)
    found = cc.assess(getattr(frame, name)(), ["age", "smokes"], sensitive=["income"])
    assert repr(found) == repr(cc.assess(frame, ["age", "smokes"], sensitive=["income"]))


def test_order_and_threads_change_nothing():
    frame = people(90, 5)
    found = cc.assess(frame, QUASI, sensitive=["income"])
    shuffled = frame[np.random.default_rng(0).permutation(90)]
    assert repr(cc.assess(shuffled, QUASI, sensitive=["income"])) == repr(found)


def test_the_page_shows_what_is_printed():
    """docs/assess.md is read beside the program: its output is that of its example."""
    page = (ROOT / "docs" / "assess.md").read_text()
    table = pl.DataFrame({"age": ["20-29", "20-29", "30-39"], "zip": ["101**", "101**", "10117"],
                          "illness": ["flu", "flu", "gout"]})  # fmt: skip
    assert repr(cc.assess(table, ["age", "zip"], sensitive=["illness"], k=2)) in page
