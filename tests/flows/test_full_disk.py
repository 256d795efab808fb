"""Releases on a disk that is full: refused in plain words, and whole once there is room."""

import contextlib
import errno
import os
import subprocess
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from anon_core.errors import AnonymityError
from crowdcover.storage.vault.refusals import FolderError
from tests.flows.orders import Order, data_bytes

FULL = Path("/dev/full")  # every write fails as on a full disk
write_parquet, write_arrays = pl.DataFrame.write_parquet, np.savez


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The bytes of a release that met no full disk."""
    order = Order(tmp_path_factory.mktemp("expected")).fix_seed()
    return data_bytes(order.release())


def no_room(*_, **__):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def in_polars(frame, *_, **__):
    """What polars says when the disk is full, in its own words."""
    write_parquet(frame, FULL)


def in_numpy(name):
    """No room for the arrays of one file; others are written."""

    def savez(path, *arguments, **arrays):
        return no_room() if Path(path).name == name else write_arrays(path, *arguments, **arrays)

    return savez


@pytest.mark.long
@pytest.mark.parametrize(
    ("target", "fails", "stage"),
    [
        ("polars.DataFrame.write_parquet", in_polars, "stage ingest"),
        ("crowdcover.storage.vault.run.flush_folder", no_room, "stage ingest"),
        ("crowdcover.tasks.orchestration.gates.write_private", no_room, "stage validate"),
        ("numpy.savez", in_numpy("bits.npz"), "stage binarize"),
        ("crowdcover.tasks.stages.identify.write_people", no_room, "stage identify"),
        ("numpy.savez", in_numpy("made.npz"), "stage anonymize"),
        ("numpy.savez", in_numpy("crowds.npz"), "stage check"),
        ("crowdcover.tasks.stages.publish.shutil.copyfile", no_room, "publishing"),
        ("crowdcover.tasks.stages.publish.render_report", no_room, "publishing"),
        ("crowdcover.tasks.stages.publish.flush_folder", no_room, "publishing"),
    ],
)
def test_every_place_that_writes(tmp_path, monkeypatch, expected, target, fails, stage):
    order = Order(tmp_path).fix_seed()
    with monkeypatch.context() as patched:
        patched.setattr(target, fails)
        with pytest.raises(AnonymityError) as caught:
            order.release()
    assert f"{stage} stopped: the disk or quota of" in str(caught.value)
    assert "is full" in str(caught.value)
    assert order.versions == []
    assert not order.releases.exists() or not list(order.releases.iterdir())
    assert not list(order.vault.rglob("*.partial"))
    assert data_bytes(order.release()) == expected


def test_publishing_says_what_is_needed(tmp_path, monkeypatch):
    order = Order(tmp_path)
    monkeypatch.setattr("crowdcover.tasks.stages.publish.shutil.copyfile", no_room)
    with pytest.raises(AnonymityError, match=r"\([\d.]+ [KMGT]?i?B free, [\d.]+ KiB needed\)"):
        order.release()


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EROFS, errno.EACCES])
@pytest.mark.parametrize("how", ["a command", "several plans", "a flow run"])
def test_a_plan_that_cannot_be_frozen(tmp_path, monkeypatch, error, how):
    """Before any stage, in the same words whoever keeps the plan in the vault."""
    from crowdcover.flows.launch.one_plan import frozen_release
    from crowdcover.flows.runs.parameters import load_run_plan
    from tests.flows.processes import command

    def fail(*_, **__):
        raise OSError(error, os.strerror(error))

    order, words = Order(tmp_path), f"publish.vault {tmp_path / 'vault'} cannot be used (Permission"
    monkeypatch.setattr("crowdcover.storage.vault.files.os.fsync", fail)
    if error != errno.EACCES:
        words = f"keeping the plan in the vault stopped: the disk or quota of {order.vault} is full"
    if how == "several plans":
        done = command("release", order.plan, order.plan)
        assert done.code == 1
        assert done.err.count(words) == 2
        return
    work = {
        "a command": lambda: frozen_release(order.plan, [], quiet=True),
        "a flow run": lambda: load_run_plan(str(order.plan), None, None),
    }
    with pytest.raises(FolderError) as caught:
        work[how]()
    assert words in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("small", ["vault", "releases"])
def test_a_small_disk(tmp_path, small, expected):
    """A real file system without room for the next file, wherever that is."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small file system needs root")
    try:
        key = "path" if small == "releases" else "vault"
        order = Order(tmp_path / "order")
        order.write(publish={key: str(disk / small)})
        if small == "releases":
            order.releases = disk / small / "people"
        else:
            order.vault = disk / small
        refusals: list[str] = []
        for size in range(16, 4096, 16):
            subprocess.run(
                ["mount", "-o", f"remount,size={size}k", str(disk)], check=True, capture_output=True
            )
            if not list(order.vault.rglob("stage.json")):
                with contextlib.suppress(AnonymityError, OSError):  # the release will say so
                    order.fix_seed()
            try:
                folder = order.release()
            except AnonymityError as refusal:
                refusals.append(str(refusal))
            else:
                break
            # Room may be missing just after publication: the release is whole, a rerun notes it.
            assert order.versions == [] or data_bytes(order.folder_of_v1) == expected
            assert not list(disk.rglob("*.partial"))
        assert all("is full (" in refusal for refusal in refusals), refusals
        assert len(refusals) >= 3
        assert data_bytes(folder) == expected
    finally:
        subprocess.run(["umount", str(disk)], check=True)
