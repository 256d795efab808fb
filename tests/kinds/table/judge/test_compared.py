"""Two published tables beside each other, from their files only."""

import gzip
import json

import pytest

from crowdcover.kinds.table.judge.compared import compare_published_tables

AGE = {
    "name": "age", "kind": "numeric", "encoding": "ordinal", "labels": ["..30", "30.."],
    "has_missing": False, "hide_missing": False, "inner_edges": [30.0],
}  # fmt: skip
CITY = {
    "name": "city", "kind": "categorical", "encoding": "one-hot",
    "labels": ["(missing)", "bonn", "ulm"], "has_missing": True, "hide_missing": False,
    "inner_edges": [], "values": [],
}  # fmt: skip


def published(folder, attributes, rows, **privacy):
    """A release folder of these rows; the last column is carried."""
    folder.mkdir()
    names = [entry["name"] for entry in attributes]
    lines = [",".join(["key", *names, "ill"]), *(",".join(("k", *row)) for row in rows)]
    (folder / "data.csv.gz").write_bytes(gzip.compress("\n".join([*lines, ""]).encode()))
    (folder / "codebook.json").write_text(json.dumps({"attributes": attributes}))
    manifest = {"privacy": {"untruthful_rows": 0, **privacy}}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


@pytest.fixture
def earlier(tmp_path):
    rows = [("..30", "ulm", "a"), ("..30", "bonn|ulm", "a"), ("*", "*", "b"), ("30..", "ulm", "b")]
    return published(tmp_path / "v1", [AGE, CITY], rows)


def test_each_column_has_its_categories_and_bounds(earlier, tmp_path):
    labels = {"labels": ["(missing)", "kiel", "ulm"]}
    rows = [("20..", "kiel", "a"), ("20..", "kiel", "c"), ("..20", "(missing)", "c"),
            ("20..", "kiel", "c")]  # fmt: skip
    older = {"labels": ["..20", "20.."], "inner_edges": [20.0]}
    later = published(tmp_path / "v2", [AGE | older, CITY | labels], rows)
    found = compare_published_tables(earlier, later)
    # Up to 25 perhaps no row was and perhaps all rows are.
    assert found["age"] == {"at_least": 0.0, "at_most": 1.0}
    # At least two rows were of ulm, none is; three rows are of kiel.
    assert found["city"] == {"new": ["kiel"], "gone": ["bonn"], "at_least": 0.75, "at_most": 1.0}
    assert found["ill"] == {"new": ["c"], "gone": ["b"], "at_least": 0.75, "at_most": 0.75}


def test_no_shift_is_told_where_cells_need_not_be_true(earlier, tmp_path):
    rows = [("30..", "ulm", "a")]
    later = published(tmp_path / "v2", [AGE, CITY], rows, untruthful_rows=1)
    found = compare_published_tables(earlier, later)
    assert found["age"] == {}
    assert found["city"] == {"new": [], "gone": []}
    assert found["ill"]["at_least"] == 0.5


def test_a_pooled_category_may_be_any_that_is_not_named(earlier, tmp_path):
    pooled = {"labels": ["(missing)", "ulm", "(other)"], "has_other": True}
    rows = [("30..", "(other)", "a"), ("30..", "ulm", "a")]
    found = compare_published_tables(
        earlier, published(tmp_path / "v2", [AGE, CITY | pooled], rows)
    )
    assert found["city"]["gone"] == ["bonn"]
    assert found["city"]["at_least"] == 0.0
    assert found["city"]["at_most"] == 0.5  # of ulm: all but one of four rows, or half


def test_a_folder_that_cannot_be_read_tells_nothing(earlier, tmp_path):
    later = published(tmp_path / "v2", [AGE, CITY], [("30..", "ulm", "a")])
    (later / "data.csv.gz").write_bytes(b"no gzip")
    assert compare_published_tables(earlier, later) is None
    (later / "data.csv.gz").unlink()
    assert compare_published_tables(earlier, later) is None
