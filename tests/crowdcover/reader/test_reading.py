"""Release folders, whole and broken, of today and of older versions."""

import datetime as dt
import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import crowdcover as cc
from anon_core.tables.cells import write_cells
from anon_core.tables.codebook import codebook_to_json
from crowdcover.reader.coded.levels import of_attribute
from crowdcover.reader.coded.texts import masks_of
from tests.crowdcover.reader.folders import attribute, digest, folder
from tests.strategies import tables

JOB = attribute("job", labels=("clerk", "nurse"))


@given(data=st.data(), table=tables(trees=False))
def test_texts_are_read_as_the_bits_say(data, table):
    hidden = data.draw(hidden_bits(table))
    cells = write_cells(table, hidden)
    for entry, attribute_ in zip(
        codebook_to_json(table.codebook)["attributes"], table.codebook.attributes, strict=True
    ):
        masks = masks_of(of_attribute(entry), cells[entry["name"]].tolist())
        index = table.codebook.attributes.index(attribute_)
        for row in range(table.records):
            code = table.codes[index, row]
            allowed = levels_of(table, index, attribute_, int(code), hidden[row])
            assert set(masks[row].nonzero()[0].tolist()) == allowed


def hidden_bits(table):
    from hypothesis.extra import numpy as hnp

    features = table.codebook.features
    return hnp.arrays(bool, (table.records, features)).map(packed)


def packed(bits):
    import numpy as np

    words = np.zeros((len(bits), (bits.shape[1] + 63) // 64 or 1), dtype=np.uint64)
    for row, feature in zip(*bits.nonzero(), strict=True):
        words[row, feature // 64] |= np.uint64(1) << np.uint64(feature % 64)
    return words


def levels_of(table, index, attribute_, code, words):
    """The levels whose bits differ from the record's in hidden ones only."""
    first = sum(each.bits for each in table.codebook.attributes[:index])
    bits = range(first, first + attribute_.bits)
    hidden = [bool(int(words[bit // 64]) >> (bit % 64) & 1) for bit in bits]

    def coded(level):
        if attribute_.ordinal:
            return [level > step for step in range(attribute_.bits)]
        return [level == step for step in range(attribute_.bits)]

    own = coded(code)
    return {
        level
        for level in range(attribute_.levels)
        if all(
            gone or mine == theirs
            for gone, mine, theirs in zip(hidden, own, coded(level), strict=True)
        )
    }


@given(labels=st.lists(st.text(max_size=5), min_size=1, max_size=5, unique=True))
def test_any_category_is_read_back(labels):
    from crowdcover.reader.coded.texts import format_level_texts

    levels = of_attribute(attribute("x", labels=["(missing)", *labels, "(other)"], has_other=True))
    texts = format_level_texts(levels)
    assert masks_of(levels, texts).tolist() == [
        [column == row for column in range(len(texts))] for row in range(len(texts))
    ]
    assert masks_of(levels, ["|".join(texts)]).all()


def test_csv_is_read_as_parquet_is(tmp_path):
    age = attribute("age", "numeric", ("1", "2", "3"))
    rows = {"job": ["clerk", "*"], "age": ["1", "2..3"], "pay": [1.5, None], "town": ["A", None]}
    first = cc.read(folder(tmp_path / "p", [JOB, age], rows))
    second = cc.read(folder(tmp_path / "c", [JOB, age], rows, data="data.csv.gz"))
    assert first.rows.equals(second.rows)
    assert first.mean("pay") == second.mean("pay")
    assert first.mean("pay").expected == 1.5


def test_versions_of_a_series_are_read_by_batch(tmp_path):
    """Each row by the codebook of its `since`: groups and categories differ."""
    old = [
        attribute("job", labels=("clerk", "(other)"), has_other=True),
        attribute("age", "numeric", ("..30", "30.."), inner_edges=[30]),
    ]
    new = [
        attribute("job", labels=("clerk", "nurse")),
        attribute("age", "numeric", ("..40", "40.."), inner_edges=[40]),
    ]
    rows = {
        "job": ["(other)", "*", "nurse", "*"],
        "age": ["..30", "30..", "40..", "*"],
        "since": [1, 1, 2, 2],
    }
    book = {"batches": {"1": {"attributes": old}, "2": {"attributes": new}}}
    release = cc.read(folder(tmp_path, new, rows, book=book))
    assert tuple(release.count({"job": "nurse"}))[:2] == (1, 4)
    assert tuple(release.count({"job": "clerk"}))[:2] == (0, 2)
    assert tuple(release.count({"age": cc.above(30)}))[:2] == (2, 3)
    assert tuple(release.count({"age": cc.above(40)}))[:2] == (1, 3)
    for table in release.complete(3):
        assert table["age"][0] <= 30 < table["age"][1]
        assert table["job"][2] == "nurse"


def spoiled(place, name, change):
    content = (place / name).read_bytes()
    (place / name).write_bytes(change(content))


def test_what_is_no_release_is_told(tmp_path):
    place = folder(tmp_path / "r", [JOB], {"job": ["clerk", "nurse"]})
    for wrong in (tmp_path, tmp_path / "none", place / "manifest.json"):
        with pytest.raises(cc.ReleaseError, match="is no release folder: it has no manifest"):
            cc.read(wrong)
    (place / "data.parquet").rename(place / "x")
    with pytest.raises(cc.ReleaseError, match=r"neither data\.parquet nor"):
        cc.read(place)


@pytest.mark.parametrize("name", ["data.parquet", "codebook.json"])
def test_a_changed_file_is_refused(tmp_path, name):
    place = folder(tmp_path / "r", [JOB], {"job": ["clerk", "nurse"]})
    spoiled(place, name, lambda content: content + b" ")
    with pytest.raises(cc.ReleaseError, match=f"{name} is not the file that was published"):
        cc.read(place)


@pytest.mark.parametrize("place", ["s3://health/people/v1", Path("gs://health/people/v1")])
def test_object_storage_is_not_read(place):
    with pytest.raises(cc.ReleaseError, match="copy the release folder here first"):
        cc.read(place)


def test_a_file_that_the_manifest_does_not_state_is_refused(tmp_path):
    place = folder(tmp_path / "r", [JOB], {"job": ["clerk", "nurse"]})
    manifest = json.loads((place / "manifest.json").read_text())
    del manifest["files"]["codebook.json"]
    (place / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(cc.ReleaseError, match="does not state its hash"):
        cc.read(place)
    (place / "manifest.json").write_text("{")
    with pytest.raises(cc.ReleaseError, match="no JSON document"):
        cc.read(place)


@pytest.mark.parametrize(
    ("book", "words"),
    [
        ({}, "is not a codebook"),
        ({"attributes": [{"name": "job"}]}, "is not a codebook"),
        ({"attributes": [attribute("town")]}, "lack a column"),
        ({"attributes": [attribute("job", labels=("x", "y"))]}, "2 different cells"),
    ],
)
def test_a_codebook_of_other_rows_is_refused(tmp_path, book, words):
    place = folder(tmp_path / "r", [JOB], {"job": ["clerk", "nurse"]}, book=book)
    with pytest.raises(cc.ReleaseError, match=words) as refusal:
        cc.read(place)
    assert "clerk" not in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "words"), [("rows.parquet", "a sparse matrix"), ("edges.parquet", "uncertain graph")]
)
def test_other_kinds_are_told(tmp_path, name, words):
    pl.DataFrame({"key": ["0"]}).write_parquet(tmp_path / name)
    files = {name: digest(tmp_path / name)}
    (tmp_path / "manifest.json").write_text(json.dumps({"files": files}))
    with pytest.raises(cc.ReleaseError, match=words):
        cc.read(tmp_path)


DAYS = (dt.date(2020, 1, 1), dt.date(2020, 1, 2))
NATIVE = {  # column: entry of the codebook, type of the values, each cell as text and natively
    "job": (
        attribute("job", labels=("(missing)", "clerk", "\\(other)", "(other)"), has_other=True),
        "string",
        ["clerk", "(missing)|clerk", "*", "(missing)", "\\\\(other)|(other)", "clerk"],
        [["clerk"], [None, "clerk"], None, [None], ["\\\\(other)", "(other)"], ["clerk"]],
    ),
    "age": (
        attribute("age", "numeric", ("(missing)", "18", "33", "40"))
        | {"bounds": [[18, 18], [33, 33], [40, 40]], "lower": "included"},
        "integer",
        ["18", "18..33", "*", "(missing)", "(missing)..33", "33..40"],
        [
            (18, 18, False),
            (18, 33, False),
            None,
            (None, None, True),
            (18, 33, None),
            (33, 40, False),
        ],
    ),
    "pay": (
        attribute("pay", "numeric", ("..18", "18..65", "65.."), inner_edges=[18, 65])
        | {"bounds": [[None, 18], [19, 65], [66, None]], "lower": "included"},
        "integer",
        ["..18", "18..65", "*", "..", "..65", "65.."],
        [
            (None, 18, False),
            (19, 65, False),
            None,
            (None, None, False),
            (None, 65, False),
            (66, None, False),
        ],
    ),
    "rate": (
        attribute("rate", "numeric", ("..1", "1.."), inner_edges=[1], encoding="one-hot")
        | {"bounds": [[None, 1.0], [1.0, None]], "lower": "excluded"},
        "float",
        ["..1", "1..", "*", "..1|1..", "..1", "1.."],
        [
            [(None, 1.0)],
            [(1.0, None)],
            None,
            [(None, 1.0), (1.0, None)],
            [(None, 1.0)],
            [(1.0, None)],
        ],
    ),
    "day": (
        attribute("day", "date", [str(day) for day in DAYS], values=[18262, 18263])
        | {"bounds": [[str(day)] * 2 for day in DAYS], "lower": "included"},
        "date",
        ["2020-01-01", "2020-01-02", "*", "2020-01-01..2020-01-02", "2020-01-01", "2020-01-01"],
        [(DAYS[0],) * 2 + (False,), (DAYS[1],) * 2 + (False,), None, (*DAYS, False)]
        + [(DAYS[0],) * 2 + (False,)] * 2,
    ),
}


def native(cells):
    """Cells as data.parquet has them: tuples are intervals."""
    ends = ("lo", "hi", "missing")
    return [
        dict(zip(ends, cell, strict=True))
        if isinstance(cell, tuple)
        else cell
        if cell is None or not isinstance(cell[0], tuple)
        else [dict(zip(ends[:2], each, strict=True)) for each in cell]
        for cell in cells
    ]


def test_native_cells_are_read_as_the_texts_are(tmp_path):
    """docs/release.md, row by row."""
    attributes = [entry for entry, *_ in NATIVE.values()]
    columns = [{"name": name, "role": "quasi", "type": of} for name, (_, of, *_) in NATIVE.items()]
    columns.append({"name": "zip", "role": "keep", "type": "string"})
    book = {"format": 2, "attributes": attributes, "columns": columns}
    carried = {"zip": ["01", "02", "03", None, "05", "06"]}
    text = {name: texts for name, (_, _, texts, _) in NATIVE.items()} | carried
    typed = {name: native(cells) for name, (*_, cells) in NATIVE.items()} | carried
    ends = pl.Struct({"lo": pl.Float64, "hi": pl.Float64})
    typed["rate"] = pl.Series(typed["rate"], dtype=pl.List(ends))
    csv = folder(tmp_path / "c", attributes, text, book=book, data="data.csv.gz")
    first, second = cc.read(csv), cc.read(folder(tmp_path / "p", attributes, typed, book=book))
    for name in NATIVE:
        one, other = first.column(name), second.column(name)
        assert (one.masks[one.which] == other.masks[other.which]).all(), name
    assert first.complete(2)[1].equals(second.complete(2)[1])
    assert first.rows["zip"].equals(second.rows["zip"])
    assert second.bounds()["pay.lo"].to_list() == [None, 19, None, None, None, 66]
    assert tuple(second.count({"pay": cc.above(18)}))[:2] == (2, 5)
    for release in (first, second):  # 1 is in the lower group alone
        assert tuple(release.count({"rate": cc.above(1)}))[:2] == (2, 4)
        assert tuple(release.count({"rate": cc.at_most(1)}))[:2] == (2, 4)
    assert second.complete(1)[0].schema["day"] == pl.Date


def test_native_cells_of_other_levels_are_refused(tmp_path):
    entry, _, _, cells = NATIVE["age"]
    for wrong in ((17, 33, False), (33, 18, False), (18, 34, None)):
        rows = {"age": native([*cells, wrong])}
        with pytest.raises(cc.ReleaseError, match="1 different cells of column 'age'"):
            cc.read(folder(tmp_path / "r", [entry], rows))
