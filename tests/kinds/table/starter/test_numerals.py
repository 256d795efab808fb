"""The starter plan proposes how numbers are written, and such a column is released as numbers."""

import tomllib

import polars as pl
import pytest

from anon_core.errors import InputError
from crowdcover.kinds.columns import Column, type_source_column
from crowdcover.kinds.table.starter.writing import propose_plan
from crowdcover.storage.source.sources import Source


def plan_of(folder, cells, name="pay", separator=";"):
    path = folder / "people.csv"
    lines = [f"pid{separator}{name}", *(f"p{n}{separator}{cell}" for n, cell in enumerate(cells))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    text = propose_plan(Source(path=path), header=True)
    return text, tomllib.loads(text)["columns"][name]


@pytest.mark.long
@pytest.mark.parametrize(
    ("write", "keys", "reason"),
    [
        (lambda n: f"{n * 13 % 97},5", {"decimal": ","}, "numbers with a decimal comma"),
        (
            lambda n: f"{n * 13 % 97 + 1}.{n:03d},50 €",
            {"decimal": ",", "thousands": ".", "strip": "€"},
            "a decimal comma and points between thousands and a unit",
        ),
        (
            lambda n: f"${n * 13 % 97 + 1},{n:03d}.25",
            {"thousands": ",", "strip": "$"},
            "commas between thousands and a unit",
        ),
        (lambda n: f"{n * 13 % 97}.5 %", {"strip": "%"}, "numbers with a unit"),
        (lambda n: f"{n * 13 % 97}'{n:03d}.5" if n % 97 else "7.5", {"thousands": "'"}, "apostro"),
        (lambda n: f"{n * 13 % 97 + 1} {n:03d},5", {"decimal": ",", "thousands": " "}, "blanks"),
        (lambda n: f"{n * 11 + 350} kr", {"strip": "kr"}, "numbers with a unit"),
        (lambda n: f"{n * 11 + 350} kr.", {"strip": "kr"}, "numbers with a unit"),
        (lambda n: f"EUR {n * 11 + 350}", {"strip": "ERU"}, "numbers with a unit"),
        (lambda n: f"Rs. {n * 11 + 350}", {"strip": "Rs"}, "numbers with a unit"),
        (lambda n: f"{n * 11 + 350} TL", {"strip": "LT"}, "numbers with a unit"),
        (lambda n: f"{n + 1} %", {"strip": "%"}, "numbers with a unit"),
        (
            lambda n: f"\u20b9 {n % 9 + 1},{n % 89 + 10},000",
            {"thousands": ",", "strip": "₹"},
            "unit",
        ),
    ],
)
@pytest.mark.parametrize("name", ["pay", "x"])
def test_a_way_of_writing_is_proposed_with_its_reason(tmp_path, write, keys, reason, name):
    text, column = plan_of(tmp_path, [write(n) for n in range(120)], name)
    assert column["kind"] == "numeric"
    stated = {key: column[key] for key in ("decimal", "thousands", "strip") if key in column}
    assert stated == keys
    assert "# 120 texts are " in text
    assert reason in text
    assert "thousands" not in column.get("decide", [])


def test_a_sign_that_may_mean_either_is_marked(tmp_path):
    _, column = plan_of(tmp_path, [f"{n * 7 % 50 + 1},{n:03d}" for n in range(120)], "height")
    assert column["thousands"] == ","
    assert "thousands" in column["decide"]


@pytest.mark.long
@pytest.mark.parametrize(
    "write",
    [
        lambda n: f"030 123 {n:04d}",  # telephone numbers
        lambda n: f"{n % 28 + 1:02d}.02.2020",
        lambda n: f"{n % 24:02d}:30",
        lambda n: f"{n},{n}",
        lambda n: f"A-{n},5",
    ],
)
def test_other_texts_get_no_such_keys(tmp_path, write):
    _, column = plan_of(tmp_path, [write(n + 100) for n in range(120)], "what")
    assert not {"decimal", "thousands", "strip"} & column.keys()


def test_names_over_such_numbers_are_names(tmp_path):
    path = tmp_path / "people.csv"
    rows = "".join(f"p{n};{n * 13 % 97},5\n" for n in range(120))
    path.write_text(f"foo;bar\n{rows}", encoding="utf-8")
    assert list(tomllib.loads(propose_plan(Source(path=path)))["columns"]) == ["foo", "bar"]
    path.write_text(rows, encoding="utf-8")
    assert list(tomllib.loads(propose_plan(Source(path=path)))["columns"]) == [
        "column_1",
        "column_2",
    ]


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (["1,5", "2,5"], r"look like numbers with a decimal comma: then state columns.a.decimal"),
        (["$5", "$6"], "look like numbers with a unit: then state columns.a.strip"),
        (["1", "2,5"], r"look like numbers with a decimal comma"),
        (["1,000.5", "7"], "commas between thousands: then state columns.a.thousands"),
        (["3", "4.5 %"], r"numbers with a unit: then state columns.a.strip = '%'"),
    ],
)
def test_a_refusal_of_such_texts_names_the_keys(cells, words):
    frame = pl.DataFrame({"a": cells})
    with pytest.raises(InputError, match=words) as caught:
        type_source_column(frame, Column(name="a", role="keep", kind="numeric"), ())
    assert not any(cell in str(caught.value) for cell in cells if len(cell) > 1)


def test_a_refusal_of_other_texts_names_none():
    for cells in (["low", "1"], ["1,5", "low"], ["12:30", "1"]):
        with pytest.raises(InputError, match="no finite numbers") as caught:
            type_source_column(
                pl.DataFrame({"a": cells}), Column(name="a", role="keep", kind="numeric"), ()
            )
        assert "look like" not in str(caught.value)


def test_a_first_name_that_repeats_may_be_dropped(tmp_path):
    text, _ = plan_of(tmp_path, ["Bob", "Ann", "Cy"] * 30, "first_name", ",")
    assert 'role = "drop" for first_name' in text


@pytest.mark.parametrize(
    "names",
    [
        ["pid", "age", "age"],
        ["pid", "age", " age "],
        ["age", "pid", "x", "age"],
        ["pid", "name", "name", "age", "age"],
        ["pid", "", "", "age"],
    ],
)
def test_doubled_headers_are_named(tmp_path, names):
    path = tmp_path / "people.csv"
    rows = [",".join(f"{n % 7}{place}" for place in range(len(names))) for n in range(60)]
    path.write_text("\n".join([",".join(names), *rows]) + "\n", encoding="utf-8")
    doubled = {name.strip() for name in names if [each.strip() for each in names].count(name) > 1}
    with pytest.raises(InputError, match="occur more than once: columns") as caught:
        propose_plan(Source(path=path))
    assert all(repr(name) in str(caught.value) for name in doubled)
