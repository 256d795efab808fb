"""Sources of many Parquet files and of objects: names, columns, one moment, refusals."""

import datetime
import hashlib
import random
import shutil
from pathlib import Path

import fsspec
import polars as pl
import pytest

from anon_core.errors import InputError
from crowdcover.flows import course
from crowdcover.storage.places.objects import ObjectPath
from crowdcover.storage.places.place import place_of
from crowdcover.storage.source import parts
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.source.sources import Source, read_source_header
from tests.flows.orders import HEADER, Order, data_bytes, people
from tests.support.audits import audit_release

FRAME = pl.DataFrame(
    {
        "year": [2023, 2023, 2024, 2024],
        "land": ["de", "fr", "de", None],
        "age": [31, 40, 50, 60],
        "born": [datetime.date(1990, 1, day) for day in (1, 2, 3, 4)],
    }
)


def write(folder, frame=FRAME):
    """A file for each year and land, as Hive names them; folders are made in a random order."""
    rows = [*frame.iter_slices(1)]
    random.shuffle(rows)
    for row in rows:
        year, land = row["year"].item(), row["land"].item() or parts.HIVE_MISSING
        place = folder / f"year={year}" / f"land={land}"
        place.mkdir(parents=True)
        row.drop("year", "land").write_parquet(place / "part-0.parquet")
    (folder / "_SUCCESS").touch()
    (folder / ".part.crc").touch()
    return folder


@pytest.fixture
def memory(monkeypatch):
    """Object storage in memory."""
    monkeypatch.setattr("crowdcover.storage.places.place.STARTS", ("memory://",))
    store = fsspec.filesystem("memory")
    store.store.clear()
    store.pseudo_dirs[:] = [""]
    yield store
    store.store.clear()


def put(store, folder, bucket):
    for path in folder.rglob("*"):
        if path.is_file():
            store.pipe_file(f"{bucket}/{path.relative_to(folder).as_posix()}", path.read_bytes())


def read(path, columns=FRAME.columns):
    reading = Reading(Source(path=path))
    return reading.columns([], columns).sort("age" if "age" in columns else columns[0]), reading


@pytest.mark.parametrize("pattern", ["", "**/*.parquet", "year=*/*/part-?.parquet"])
def test_columns_of_files_and_of_their_names(tmp_path, memory, pattern):
    folder = write(tmp_path / "people")
    put(memory, folder, "memory://bucket/people")
    frame, reading = read(folder / pattern)
    assert reading.header == ["age", "born", "year", "land"]
    assert frame.equals(FRAME)
    for place in ("memory://bucket/people", "memory://bucket/people/"):
        frame, remote = read(place_of(place + ("/" + pattern if pattern else "")))
        assert frame.equals(FRAME)
        assert remote.sha256 == reading.sha256
    assert read_source_header(Source(path=folder)) is None
    assert Source(path=folder / pattern).format.name == "parquet"
    assert read(folder / pattern, ["age", "land"])[0].columns == ["age", "land"]


def test_the_fingerprint_is_of_names_and_bytes(tmp_path):
    one, other = write(tmp_path / "one"), write(tmp_path / "other")
    files = sorted(path for path in one.rglob("*.parquet"))
    lines = (
        f"{path.relative_to(one).as_posix()}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n"
        for path in files
    )
    expected = hashlib.sha256("".join(lines).encode()).hexdigest()
    assert read(one)[1].sha256 == read(other)[1].sha256 == expected
    shutil.move(files[0], files[0].with_name("part-1.parquet"))
    assert read(one)[1].sha256 != expected


def test_a_pattern_takes_some_files(tmp_path):
    folder = write(tmp_path / "people")
    frame, _ = read(folder / "year=2024" / "**" / "*.parquet", ["age", "land"])
    assert frame["age"].to_list() == [50, 60]
    odd = tmp_path / "a*b.parquet"
    FRAME.write_parquet(odd)
    assert read(odd)[0].equals(FRAME)  # a file of that very name


def test_a_pattern_without_a_folder_is_of_the_current_one(tmp_path, monkeypatch):
    write(tmp_path / "below")
    FRAME.write_parquet(tmp_path / "a.parquet")
    monkeypatch.chdir(tmp_path)
    assert read(Path("*.parquet"))[0].equals(FRAME)


def test_columns_that_stand_in_the_files_too_are_read_there(tmp_path):
    place = tmp_path / "people" / "year=1"
    place.mkdir(parents=True)
    FRAME.write_parquet(place / "a.parquet")
    assert read(tmp_path / "people")[0].equals(FRAME)


def test_numbers_in_names_that_are_none(tmp_path):
    for value in ("007", "1", "a b%2Fc"):
        place = tmp_path / "people" / f"code={value}"
        place.mkdir(parents=True)
        FRAME.head(1).write_parquet(place / "a.parquet")
    assert set(read(tmp_path / "people", ["code", "age"])[0]["code"]) == {"007", "1", "a b/c"}


def test_files_that_were_kept_are_read_from_there(tmp_path):
    folder = write(tmp_path / "people")
    expected, reading = read(folder)
    reading.keep(tmp_path)
    shutil.rmtree(folder)
    for each in (reading, reading.again(), reading.again().again()):
        assert each.columns([], FRAME.columns).sort("age").equals(expected)
        assert each.sha256 == reading.sha256
    again = reading.again()
    reading._disk.truncate(99)
    for each in (reading, again):
        with pytest.raises(InputError, match="the snapshot of the source cannot be read any more"):
            each.columns([], FRAME.columns)


def test_what_is_refused(tmp_path):
    folder = write(tmp_path / "people")
    for name, words in (
        ("notes.csv", "1 of 5 files at source.path are no Parquet"),
        ("year=2024/land=de/q.parquet", "1 of 5 files of the source have other columns"),
        ("strange.parquet", "4 of 5 files of the source state other columns in their names"),
    ):
        frame = FRAME.select("age", "born")
        if "land" in name:
            frame = frame.with_columns(zq7="age")
        frame.write_parquet(folder / name)
        with pytest.raises(InputError, match=words) as caught:
            read(folder)[1].header  # noqa: B018
        assert "zq7" not in str(caught.value)
        (folder / name).unlink()
    (folder / "year=2023/land=de/part-0.parquet").write_bytes(b"zq7")
    with pytest.raises(InputError, match="a file of the source is no readable Parquet"):
        read(folder)
    (folder / "year=2023/land=de/part-0.parquet").unlink()
    assert read(folder, ["year", "land"])[0].height == 3
    with pytest.raises(InputError, match="no Parquet file was found"):
        read(folder / "*.pq")


def test_files_that_change_while_they_are_read(tmp_path, memory, monkeypatch):
    folder = write(tmp_path / "people")
    put(memory, folder, "memory://bucket/people")
    memory.pipe_file("memory://bucket/one.csv", b"a\n1\n2\n")
    listed = parts._list_files

    def changed(*arguments):
        found = listed(*arguments)
        FRAME.write_parquet(folder / "year=2023/land=de/part-0.parquet")
        return found

    with monkeypatch.context() as patch:
        patch.setattr(parts, "_list_files", changed)
        with pytest.raises(InputError, match="the source changed while it was read"):
            read(folder)

    def replacing(real):
        def read_and_replace(self):
            content = real(self)
            memory.pipe_file(self.url, content + b"3\n")
            return content

        return read_and_replace

    for name in ("read_bytes", "read_in_blocks"):
        monkeypatch.setattr(ObjectPath, name, replacing(getattr(ObjectPath, name)))
    for place in ("memory://bucket/one.csv", "memory://bucket/people"):
        with pytest.raises(InputError, match="the source changed while it was read"):
            Reading(Source(path=place_of(place)))


def test_objects_that_are_none(memory):
    memory.pipe_file("memory://bucket/empty.csv", b"")
    for name, words in (("none.csv", "none.csv was not found"), ("empty.csv", "is empty")):
        with pytest.raises(InputError, match=words):
            Reading(Source(path=place_of(f"memory://bucket/{name}")))


@pytest.mark.long
@pytest.mark.parametrize("kind", ["object", "parts"])
def test_a_release_is_of_one_moment(tmp_path, memory, monkeypatch, kind):
    """The storage changes after the source was read: the release is of what was read."""
    order = Order(tmp_path / "order").fix_seed()
    frame = pl.read_csv(order.source, infer_schema=False)
    if kind == "object":
        place = "memory://bucket/people.csv"
        memory.pipe_file(place, order.source.read_bytes())
    else:
        place = "memory://bucket/people"
        for number, rows in enumerate(frame.iter_slices(20)):
            rows.write_parquet(tmp_path / "part")
            memory.pipe_file(f"{place}/{number}.parquet", (tmp_path / "part").read_bytes())
    order.write(source={"path": place})
    order.fix_seed()
    validate = course.validate

    def emptied(*arguments):
        for name in memory.find("memory://bucket"):
            memory.rm_file(name)
        return validate(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(course, "validate", emptied)
        folder = order.release()
    assert sorted(order.rows()["diagnosis"]) == sorted(row[4] for row in people())
    assert data_bytes(folder)
    with pytest.raises(InputError, match="not found"):
        audit_release(folder, order.plan)


@pytest.mark.long
def test_an_object_gives_the_bytes_of_a_file(tmp_path, memory):
    local, remote = Order(tmp_path / "local").fix_seed(), Order(tmp_path / "remote")
    memory.pipe_file("memory://bucket/people.csv", remote.source.read_bytes())
    remote.write(source={"path": "memory://bucket/people.csv"})
    remote.fix_seed()
    assert data_bytes(remote.release()) == data_bytes(local.release())
    assert audit_release(remote.folder_of_v1, remote.plan).passed
    assert HEADER
