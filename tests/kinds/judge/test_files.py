"""Files of a release that are compared by batches tell what files that are read whole tell."""

import gzip
import tempfile
from pathlib import Path
from unittest import mock

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdcover.kinds.judge import files
from crowdcover.kinds.judge.files import read_rows
from crowdcover.kinds.partial_files import ColumnFile
from crowdcover.kinds.rows import write_csv, write_parquet
from crowdcover.kinds.table.judge.as_text import number_distinct_cells

FILES = {"parquet": "data.parquet", "csv": "data.csv.gz"}
ODD = ["a", 'say "no"', "x,y", "two\nlines", "lone\r", "\0", "", " ", "\ufeff", None, "-1", "1.50"]
CHANGES = {
    "none": lambda text: text,
    "one row more": lambda text: text + b"key,,\n",
    "one letter more": lambda text: text + b"\n",
    "another number": lambda text: text.replace(b"0", b"1"),
    "quotes that are not needed": lambda text: text.replace(b"key", b'"key"', 1),
    "cut off": lambda text: text[:-1],
}


def read_by_columns(columns):
    return pl.DataFrame({name: columns[name] for name in columns.columns})


@pytest.mark.long
@given(
    st.lists(st.tuples(st.sampled_from(ODD), st.floats() | st.none()), max_size=7),
    st.sampled_from(list(CHANGES.values())),
    st.booleans(),
)
def test_batches_and_whole_files_give_the_same_findings(cells, change, flattened):
    rows = pl.DataFrame(
        {
            "key": [f"{number:03}" for number in range(len(cells))],
            "note": [note for note, _ in cells],
            "number": [number for _, number in cells],
        },
        schema={"key": pl.String, "note": pl.String, "number": pl.Float64},
    )
    more = {"flat": read_by_columns, "flattened": True} if flattened else {}
    with tempfile.TemporaryDirectory() as name, mock.patch.object(files, "_AT_ONCE", 2):
        folder = Path(name)
        write_parquet(rows, folder / FILES["parquet"])
        write_csv(rows, folder / FILES["csv"])
        text = gzip.decompress((folder / FILES["csv"]).read_bytes())
        (folder / FILES["csv"]).write_bytes(gzip.compress(change(text), mtime=0))
        shown, findings = read_rows(folder, FILES, [*FILES], **more)
        with mock.patch.object(files, "_is_written", return_value=False):
            whole, slowly = read_rows(folder, FILES, [*FILES], **more)
    assert findings == slowly
    assert (shown is None) == (whole is None)
    assert shown is None or shown.equals(whole)


def test_a_csv_file_that_is_as_it_is_written_is_not_parsed(tmp_path, monkeypatch):
    rows = pl.DataFrame({"key": ["a", "b"], "note": ["x", None]})
    write_parquet(rows, tmp_path / FILES["parquet"])
    write_csv(rows, tmp_path / FILES["csv"])
    monkeypatch.setattr(files, "_read_csv", None)
    assert read_rows(tmp_path, FILES, [*FILES])[0].equals(rows)
    with gzip.open(tmp_path / FILES["csv"], "ab") as file:
        file.write(b"c,\n")
    readable = read_rows(tmp_path, FILES, [*FILES])[1][0]
    assert not readable.passed


CELLS = {
    "texts": st.sampled_from(["a", "b", "", None]),
    "lists": st.none() | st.lists(st.sampled_from(["a", "b", None]), max_size=2),
    "intervals": st.none() | st.fixed_dictionaries({"lo": st.none() | st.integers(0, 2)}),
}
TYPES = [pl.String, pl.List(pl.String), pl.Struct({"lo": pl.Int64})]


@pytest.mark.parametrize(("kind", "dtype"), zip(CELLS, TYPES, strict=True))
@given(st.data(), st.integers(1, 9))
def test_cells_are_numbered_as_they_come(kind, dtype, data, at_once):
    cells = pl.Series(data.draw(st.lists(CELLS[kind], max_size=25)), dtype=dtype)
    place, distinct = number_distinct_cells(cells, at_once)
    first = list({repr(cell): cell for cell in reversed(cells.to_list())}.values())[::-1]
    known = distinct.to_list()
    assert [known[at] for at in place] == cells.to_list()
    assert sorted(map(repr, known)) == sorted(map(repr, first))
    assert list(dict.fromkeys(place.tolist())) == list(range(len(known)))


def test_one_column_of_a_file_is_read(tmp_path):
    rows = pl.DataFrame({"key": ["a"], "^a$": [1], "*": [2.5]})
    write_parquet(rows, tmp_path / "data.parquet")
    columns = ColumnFile(tmp_path / "data.parquet")
    assert columns.schema == rows.schema
    assert pl.DataFrame([*columns]).equals(rows)
    assert columns["^a$"].to_list() == [1]
