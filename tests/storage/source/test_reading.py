"""One reading: content, names, fingerprint and columns of one moment, by one open or one query."""

import bz2
import hashlib
import sqlite3

import polars as pl
import pytest

from anon_core.errors import InputError
from crowdcover.storage.places.objects import ObjectPath
from crowdcover.storage.source.databases import query_database
from crowdcover.storage.source.file_bytes import Content
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.source.sources import Source, read_source_header
from crowdcover.storage.source.values import as_text
from tests.support.readings import opens_counted, queries_counted

MARK = "zq7"


CSV = b"name,age\nann,1\nbob,2\n"


def file_of(folder, name="t.csv", content=CSV):
    path = folder / name
    if name.endswith(".parquet"):
        pl.DataFrame({"name": ["ann", "bob"], "age": [1, 2]}).write_parquet(path)
    elif name.endswith(".arrow"):
        pl.DataFrame({"name": ["ann", "bob"], "age": [1, 2]}).write_ipc(path)
    else:
        import gzip

        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


def database_of(folder):
    path = folder / "people.db"
    with sqlite3.connect(path) as connection:
        connection.execute("create table people (name, age integer)")
        connection.executemany("insert into people values (?, ?)", [("ann", 1), ("bob", 2)])
    connection.close()
    return path


def test_the_counter_counts_opens_of_python_and_of_polars(tmp_path):
    path = file_of(tmp_path)
    with opens_counted(path) as opened:
        path.read_bytes()
        path.read_bytes()
        path.stat()
    assert len(opened) == 2
    with opens_counted(path) as opened:
        pl.read_csv(path)
    assert opened


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet", "t.arrow"])
def test_a_file_is_opened_once(tmp_path, name):
    path = file_of(tmp_path, name)
    with opens_counted(path) as opened:
        reading = Reading(Source(path=path))
        assert reading.header == ["name", "age"]
        assert reading.columns([], ["age", "name"]).height == 2
        reading.end()
        assert reading.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert len(opened) == 2  # the test's own for the hash


def test_odd_text_is_read_from_memory_too(tmp_path):
    """A blank line keeps polars out; rows are counted, then parsed by the standard library."""
    path = file_of(tmp_path, content=b"name,age\n\nann,1\nbob,2\n")
    with opens_counted(path) as opened:
        frame = Reading(Source(path=path)).columns([], ["age"])
    assert frame["age"].to_list() == ["1", "2"]
    assert len(opened) == 1


def test_a_query_runs_once(tmp_path, monkeypatch):
    path = database_of(tmp_path)
    source = Source(uri=f"sqlite:///{path}", query="select * from people")
    with queries_counted(monkeypatch) as asked:
        reading = Reading(source)
        assert reading.header == ["name", "age"]
        assert reading.columns([], ["age"])["age"].to_list() == [1, 2]
        assert len(reading.sha256) == 64
    assert asked == ["select * from people"]


def test_a_look_at_the_header_runs_no_query_and_reads_one_row(tmp_path, monkeypatch):
    source = Source(uri=f"sqlite:///{database_of(tmp_path)}", query="select * from people")
    with queries_counted(monkeypatch) as asked:
        assert read_source_header(source) is None
    assert asked == []
    path = file_of(tmp_path, content=b"name,age\n" + b'"an open quote')
    assert read_source_header(Source(path=path)) == ["name", "age"]


FILES = ["t.csv", "t.csv.gz", "t.parquet", "t.arrow"]


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_replaced_is_read_as_it_was(tmp_path, name):
    path = file_of(tmp_path, name)
    reading, before = Reading(Source(path=path)), path.read_bytes()
    other = tmp_path / "other"
    other.write_bytes(b"other")
    other.rename(path)
    assert reading.sha256 == hashlib.sha256(before).hexdigest()
    assert reading.columns([], ["name"])["name"].to_list() == ["ann", "bob"]
    path.unlink()
    assert reading.header == ["name", "age"]


@pytest.mark.parametrize("name", [*FILES, "t.csv.bz2", "t.jsonl"])
@pytest.mark.parametrize("change", ["cut", "longer", "other"])
def test_a_file_that_is_changed_in_place_is_refused(tmp_path, name, change):
    """Whatever is wrong with it now: it is other than its fingerprint says."""
    content = b'{"name": "ann"}\n{"name": "bob"}\n' if name.endswith("l") else CSV
    path = file_of(tmp_path, name, content)
    if name.endswith("bz2"):
        path.write_bytes(bz2.compress(content))
    reading, before = Reading(Source(path=path)), path.read_bytes()
    assert reading.columns([], ["name"])["name"].to_list() == ["ann", "bob"]
    again = reading.again()
    changed = {"cut": before[:-1], "longer": before + b"\n", "other": before.replace(b"b", b"c")}
    path.write_bytes(changed[change] if changed[change] != before else b"gone")
    for each in (reading, again):
        with pytest.raises(InputError, match="the source changed while it was read; run again"):
            each.columns([], ["name"])
    assert reading.again().sha256 != reading.sha256


def test_an_object_is_on_disk_only_once_it_is_kept(tmp_path, monkeypatch):
    path = file_of(tmp_path)
    monkeypatch.setattr(
        "crowdcover.storage.source.reading.read_object", lambda *_: path.read_bytes()
    )
    monkeypatch.setattr("crowdcover.storage.source.reading.in_parts", lambda _: False)
    reading = Reading(Source(path=ObjectPath("s3://bucket/t.csv")))
    fingerprint = reading.sha256
    reading.keep(tmp_path)
    assert not isinstance(reading._content, Content)
    assert reading.columns([], ["age"])["age"].to_list() == ["1", "2"]
    assert reading.again().sha256 == fingerprint


def test_a_reading_shows_nothing_and_is_released(tmp_path):
    reading = Reading(Source(path=file_of(tmp_path, content=f"{MARK},b\n{MARK},1\n".encode())))
    assert repr(reading) == str(reading) == "Reading()"
    assert not hasattr(reading, "__dict__")
    assert not hasattr(reading, "__dataclass_fields__")
    sha256 = reading.sha256
    reading.close()
    assert reading.sha256 == sha256
    with pytest.raises(AssertionError, match="closed"):
        _ = reading.header


def test_fewer_than_two_rows_are_refused_whatever_is_needed(tmp_path):
    source = Source(path=file_of(tmp_path, content=b"a,b\n1,2\n"))
    with pytest.raises(InputError, match="the source has 1 row"):
        Reading(source).columns([], ["a"])


@pytest.mark.parametrize("at_once", [1, 3, 250_000])
def test_the_fingerprint_of_a_query_is_that_of_earlier_releases(tmp_path, monkeypatch, at_once):
    """Run folders in vaults are named by it: sorted columns, sorted rows, as JSON lines."""
    for module in ("packed_rows", "row_order"):
        monkeypatch.setattr(f"crowdcover.storage.source.snapshot.{module}.AT_ONCE", at_once)
    path = tmp_path / "t.db"
    rows = [("b", 2.5, None), ("a", None, b"\xff"), (None, 1.0, b""), ("a", None, b"\xff")]
    with sqlite3.connect(path) as connection:
        connection.execute("create table t (name, score, photo)")
        connection.executemany("insert into t values (?, ?, ?)", rows)
    connection.close()
    found = query_database(f"sqlite:///{path}", "select * from t")
    frame, sha256 = found.unpack_columns(found.names), found.sha256
    texts = pl.DataFrame({name: as_text(frame[name]) for name in sorted(frame.columns)})
    lines = texts.sample(fraction=1, shuffle=True, seed=3).sort(pl.all()).write_ndjson()
    assert sha256 == hashlib.sha256(lines.encode()).hexdigest()
    assert sha256 == "af2b954ad59ebb519b7bf2ce148078c6ed9ec9f6bd59ae5bc294882f5689a89a"
