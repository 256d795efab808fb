"""Columns of any name: no column of an answer takes the place of the labels."""

import polars as pl
import pytest

import crowdcover as cc
from tests.crowdcover.reader.folders import attribute, folder

ANSWERS = ["certain", "possible", "expected", "error", "share"]
# `key` and, in a series, `since` are no columns of a plan; a release without batches may have one.
ODD = ["count", "value", "lower", "upper", "weight", "since", "level", "lo", "hi", "^a$", "a b"]
ODD += ['"q"', "it's", "a=b", ".*", "literal", "row", "cell", "place", "certain.level", "*", "\\"]


def of(tmp_path, name, *, kept=False, labels=("no", "yes"), data="data.parquet"):
    """A release with a column of this name and another."""
    job = attribute("job", labels=("clerk", "nurse", "smith"))
    rows = {name: [labels[0], labels[1], labels[0]], "job": ["clerk", "clerk|nurse", "*"]}
    entries = [job] if kept else [attribute(name, labels=labels), job]
    return cc.read(folder(tmp_path / "r", entries, rows, data=data))


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("name", [*ANSWERS, *ODD])
def test_labels_of_any_column_stay(tmp_path, name, kept):
    release = of(tmp_path, name, kept=kept)
    one = release.frequencies(name)
    assert one.columns[1:] == ANSWERS
    assert one.columns[0] == (f"{name}.level" if name in ANSWERS else name)
    assert one[:, 0].to_list() == ["no", "yes"]
    assert one["certain"].to_list() == [2, 1]
    assert one["share"].to_list() == pytest.approx([2 / 3, 1 / 3])
    both = release.frequencies("job", by=name)
    assert both[:, 0].to_list() == ["no"] * 3 + ["yes"] * 3
    assert both[:, 1].to_list() == ["clerk", "nurse", "smith"] * 2
    assert both.columns[2:] == ANSWERS
    turned = release.frequencies(name, by="job")
    assert turned[:, 1].to_list() == ["no", "yes"] * 3
    assert tuple(release.count({name: "yes"}))[:2] == (1, 1)
    table = release.crosstab(name, "job")
    assert table[:, 0].to_list() == ["no", "yes"]
    assert table.columns[1:] == ["clerk", "nurse", "smith"]
    assert release.crosstab("job", name).columns == ["job", "no", "yes"]
    assert release.complete(1)[0].columns == ["key", name, "job"]
    assert release.members(name).columns == [f"{name}=no", f"{name}=yes"]
    assert release.sets().columns == ["key", name, "job"]


@pytest.mark.parametrize("name", ["^a$", '"q"', "since", "value", "weight"])
def test_csv_of_any_name_is_read(tmp_path, name):
    assert tuple(of(tmp_path, name, data="data.csv.gz").count({name: "yes"}))[:2] == (1, 1)


@pytest.mark.parametrize("name", ['"q"', 'a"b', 'a,"b"\n', "^a$"])
def test_cells_of_csv_stay_text_under_any_name(tmp_path, name):
    entries = [attribute("job"), attribute(name, labels=("01", "02", "1"))]
    rows = {"job": ["a", "b"], name: ["01", "1"]}
    release = cc.read(folder(tmp_path, entries, rows, data="data.csv.gz"))
    assert release.count({name: "01"}).certain == 1
    assert release.count({name: 1}).certain == 1


def test_two_columns_that_answers_are_called_like(tmp_path):
    a, b = attribute("certain", labels=("x", "y")), attribute("certain.level", labels=("u", "v"))
    release = cc.read(
        folder(tmp_path, [a, b], {"certain": ["x", "*"], "certain.level": ["u", "v"]})
    )
    both = release.frequencies("certain", by="certain.level")
    assert both.columns[:3] == ["certain.level.level", "certain.level", "certain"]
    assert both[:, 0].to_list() == ["u", "u", "v", "v"]
    assert both[:, 1].to_list() == ["x", "y", "x", "y"]


@pytest.mark.parametrize("labels", [("job", "yes"), ("no", "job"), ("job", "job.level")])
def test_a_level_that_is_called_like_the_column(tmp_path, labels):
    table = of(tmp_path, "sex", labels=labels).crosstab("job", "sex")
    assert table[:, 0].to_list() == ["clerk", "nurse", "smith"]
    assert table.columns[1:] == list(labels)
    assert table[:, 1:].to_numpy().sum() == pytest.approx(3)


def test_levels_of_one_text_are_told_apart(tmp_path):
    labels = ("(missing)", "(missing)", "(other)", "(other)")
    entry = attribute("town", labels=labels, has_missing=True, has_other=True)
    cells = ["(missing)", "\\(missing)", "\\(other)", "(other)"]
    job = attribute("job", labels=("clerk", "nurse"))
    release = cc.read(folder(tmp_path, [entry, job], {"town": cells, "job": ["clerk", "*"] * 2}))
    texts = ["(missing)", "\\(missing)", "\\(other)", "(other)"]
    assert release.levels("town")["level"].to_list() == texts
    assert release.frequencies("town")["town"].to_list() == texts
    assert release.frequencies("town")["certain"].to_list() == [1, 1, 1, 1]
    assert release.crosstab("job", "town").columns == ["job", *texts]
    assert [set_[0] for set_ in release.sets()["town"].to_list()] == texts
    for text in texts[:3]:
        assert release.count({"town": text}).certain == 1
    assert tuple(release.count({"town": None}))[:2] == (1, 1)


def test_members_of_columns_with_equals_signs(tmp_path):
    a, b = attribute("a", labels=("b=c", "d")), attribute("a=b", labels=("c", "d"))
    release = cc.read(folder(tmp_path, [a, b], {"a": ["b=c", "*"], "a=b": ["c", "d"]}))
    assert release.members().columns == ["a=b=c", "a=d", "a=b=c (2)", "a=b=d"]
    assert release.members()["a=b=c (2)"].to_list() == [1.0, 0.0]
    assert release.members("a", "a").columns == ["a=b=c", "a=d"]


def test_frequencies_by_itself_are_refused(tmp_path):
    with pytest.raises(cc.ReleaseError, match="two different columns"):
        of(tmp_path, "sex").frequencies("sex", by="sex")


def test_bounds_of_any_name(tmp_path):
    names = ["lo", "key.lo", "x", "x.lo"]
    entries = [attribute(name, "numeric", ("1", "2")) for name in names]
    release = cc.read(folder(tmp_path, entries, {name: ["1", "1..2"] for name in names}))
    ends = [f"{name}.{end}" for name in names for end in ("lo", "hi")]
    assert release.bounds().columns == ["key", *ends]


def test_a_name_that_is_nearly_right(tmp_path):
    with pytest.raises(cc.ReleaseError, match=r"no column 'jobb'; did you mean 'job'\? It has"):
        of(tmp_path, "sex").count({"jobb": "clerk"})


def test_completed_tables_of_odd_names_obey_rules(tmp_path):
    release = of(tmp_path, "^a$")
    for table in release.complete(5, rules=pl.col("job") == "smith"):
        assert table.columns == ["key", "^a$", "job"]
        assert "smith" not in table["job"].to_list()
