"""Full disks: recognised in whatever words, named, and nothing half-written stays."""

import errno
import shutil
import sqlite3
from collections import namedtuple
from contextlib import closing
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from crowdcover.storage.vault.disk_space import describe_full_disk, is_full
from crowdcover.storage.vault.failures import StageError, keep_failures
from crowdcover.storage.vault.files import write_private
from crowdcover.storage.vault.refusals import FolderError
from crowdcover.storage.vault.vault import Vault

FULL = Path("/dev/full")  # every write fails as on a full disk
Usage = namedtuple("Usage", "total used free")


def caught(work):
    with pytest.raises(Exception) as error:  # noqa: PT011 - whatever a package makes of it
        work()
    return error.value


def write_text():
    with FULL.open("w") as handle:
        handle.write("x")


def write_array():
    with FULL.open("wb") as handle:
        np.save(handle, np.zeros(100_000))


def fill_a_database():
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("pragma max_page_count = 1")
        connection.execute("create table t (x text)")


@pytest.mark.parametrize(
    "work",
    [
        write_text,
        fill_a_database,
        write_array,
        lambda: pl.DataFrame({"a": [1]}).write_parquet(FULL),
        lambda: pl.DataFrame({"a": [1]}).write_csv(FULL),
        lambda: shutil.copyfile(__file__, FULL),
    ],
)
def test_a_full_disk_is_recognised(work):
    error = caught(work)
    assert is_full(error)
    assert is_full(caught(lambda: wrapped(error)))


def wrapped(error):
    raise RuntimeError("the stage failed") from error


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.EACCES, "Permission denied"),
        ValueError("28 records"),
        ValueError("a cell that says: no space left on device"),
        RuntimeError("os error 2"),
        RuntimeError("os error 281"),
    ],
)
def test_other_errors_are_not(error):
    assert not is_full(error)


def test_an_error_that_led_to_itself():
    error, other = RuntimeError("one"), RuntimeError("other")
    error.__cause__, other.__cause__ = other, error
    assert not is_full(error)


def test_a_quota_is_a_disk():
    assert is_full(OSError(errno.EDQUOT, "Disk quota exceeded"))


def test_the_folder_with_the_least_room_is_named(monkeypatch, tmp_path):
    free = {tmp_path: 3 * 2**30, tmp_path / "small": 1536}
    (tmp_path / "small").mkdir()
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(0, 0, free[path]))
    told = describe_full_disk(
        "publishing", [tmp_path, tmp_path / "small" / "absent" / "v1"], 5_000_000
    )
    assert f"publishing stopped: the disk or quota of {tmp_path}/small/absent/v1 is full" in told
    assert "(1.5 KiB free, 4.8 MiB needed)" in told
    assert "run again: finished stages are not repeated" in told
    assert "(3.0 GiB free)" in describe_full_disk("stage x", [tmp_path])


def test_a_stage_on_a_full_disk_leaves_nothing(tmp_path, monkeypatch):
    # Other tests write meanwhile: two looks at one disk would differ.
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(0, 0, 1536))
    run = Vault(tmp_path / "vault").run("p" * 64, "s" * 64)

    def make(folder):
        (folder / "half").write_bytes(b"x" * 100)
        write_text()

    with pytest.raises(FolderError, match=rf"stage rows stopped: .* of {run.path} is full") as told:
        run.once("rows", [], make)
    assert told.value.__context__ is None
    assert not list(run.path.glob("*rows*"))
    assert run.once("rows", [], lambda _: {}).path.is_dir()


def test_a_stage_that_fails_otherwise_leaves_nothing_either(tmp_path):
    run = Vault(tmp_path / "vault").run("p" * 64, "s" * 64)
    with pytest.raises(ZeroDivisionError):
        run.once("rows", [], lambda folder: {"shape": 1 / len(list(folder.iterdir()))})
    assert not list(run.path.glob("*rows*"))


def test_a_full_disk_outside_of_a_stored_stage(tmp_path):
    with (
        pytest.raises(FolderError, match=rf"stage check stopped: .* of {tmp_path} is full"),
        keep_failures(tmp_path, "check"),
    ):
        write_text()
    assert not list(tmp_path.iterdir())
    with (
        pytest.raises(StageError, match="failed with ZeroDivisionError"),
        keep_failures(tmp_path, "check"),
    ):
        _ = 1 / 0


def test_a_file_that_is_replaced_stays_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "mark.json"
    write_private(path, b"before")

    def no_room(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("crowdcover.storage.vault.files.os.fsync", no_room)
    error = caught(lambda: write_private(path, b"after"))
    assert error.filename == str(path)
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_vault_that_cannot_be_opened(tmp_path, monkeypatch):
    def no_room(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "mkdir", no_room)
    with pytest.raises(FolderError, match="opening the vault stopped: the disk or quota of"):
        Vault(tmp_path / "vault").open()
