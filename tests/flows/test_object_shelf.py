"""Releases in object storage, over a file system in memory: no server, no network."""

import argparse
import json

import fsspec
import pytest

from crowdcover.flows.cli import main
from crowdcover.flows.vault.retraction import retract_release
from crowdcover.kinds.section import PlanError
from crowdcover.storage.places.objects import ObjectPath
from crowdcover.storage.places.place import place_of
from crowdcover.storage.shelf.content import has_version_files
from crowdcover.storage.shelf.shelf import shelf_of
from crowdcover.storage.vault.refusals import FolderError
from tests.flows.orders import FILES, Order, data_bytes, people
from tests.support.audits import audit_release

SLOW = pytest.mark.slow


class Killed(BaseException):
    """Ends a process in place of a signal: no handler of errors sees it."""


@pytest.fixture
def bucket(monkeypatch):
    """A bucket in memory, and the places below it."""
    monkeypatch.setattr("crowdcover.storage.places.place.STARTS", ("memory://",))
    store = fsspec.filesystem("memory")
    store.store.clear()
    store.pseudo_dirs[:] = [""]
    yield ObjectPath("memory://bucket/releases")
    store.store.clear()


def order_at(folder, bucket, *arguments, **sections):
    return Order(folder, *arguments, publish={"path": str(bucket)}, **sections)


def writes(monkeypatch, kill_at=None):
    """Count what is written into the storage; die in place of one of them."""
    done = []

    def counted(name):
        real = getattr(ObjectPath, name)

        def write(self, *arguments):
            if len(done) == kill_at:
                raise Killed
            done.append(self.name)
            return real(self, *arguments)

        monkeypatch.setattr(ObjectPath, name, write)

    for name in ("create", "create_from", "unlink", "copy_to", "write_bytes"):
        counted(name)
    return done


@pytest.mark.long
def test_the_same_bytes_as_in_a_folder(tmp_path, bucket, monkeypatch, capsys):
    local, order = Order(tmp_path / "local").fix_seed(), order_at(tmp_path / "s3", bucket)
    order.fix_seed()
    there = local.release()
    done = writes(monkeypatch)
    folder = order.release()
    assert str(folder) == "memory://bucket/releases/people/v1"
    assert sorted(folder.below()) == FILES
    others = [name for name in FILES if name != "manifest.json"]
    # The smallest file twice: the second time the storage must refuse. The pointer is last.
    smallest = min(others, key=lambda name: len((folder / name).read_bytes()))
    assert done == [".vault", *others, smallest, "manifest.json"]
    assert data_bytes(folder) == data_bytes(there)
    assert not list(order.vault.rglob("*.partial"))
    assert order.release() == folder  # nothing is done again
    assert len(done) == 2 + len(FILES)
    assert audit_release(folder, order.plan).passed
    with pytest.raises(SystemExit) as ended:
        main(["show", str(folder), "--json"])
    assert ended.value.code == 0
    assert json.loads(capsys.readouterr().out)["version"] == "v1"


@pytest.mark.long
@pytest.mark.parametrize("at", [*(pytest.param(at, marks=SLOW) for at in (0, 1, 5, 9)), 10])
def test_killed_between_two_writes(tmp_path, bucket, monkeypatch, at):
    order = order_at(tmp_path, bucket)
    order.fix_seed()
    with monkeypatch.context() as patch:
        writes(patch, kill_at=at)
        with pytest.raises(Killed):
            order.release()
    assert not (bucket / "people" / "v1" / "manifest.json").exists()
    folder = order.release()
    assert folder.name == "v1"
    assert sorted(folder.below()) == FILES
    assert audit_release(folder, order.plan).passed


@pytest.mark.long
def test_what_another_run_left_is_no_version(tmp_path, bucket, monkeypatch):
    order = order_at(tmp_path, bucket)
    with monkeypatch.context() as patch:
        writes(patch, kill_at=4)
        with pytest.raises(Killed):
            order.release()
    order.write_source(people(first=90))
    folder = order.release()
    assert folder.name == "v1"
    assert audit_release(folder, order.plan).passed


def test_another_writer_is_faster(tmp_path, bucket, monkeypatch):
    """A copy of the vault on another machine: locks do not tell, the storage does."""
    order = order_at(tmp_path, bucket)
    create = ObjectPath.create

    def late(self, content):
        if self.name == "manifest.json":
            monkeypatch.undo()
            monkeypatch.setattr("crowdcover.storage.places.place.STARTS", ("memory://",))
            create(self, b"{}")
        create(self, content)

    monkeypatch.setattr(ObjectPath, "create", late)
    with pytest.raises(FolderError, match="another writer published"):
        order.release()
    assert (bucket / "people/v1/manifest.json").read_bytes() == b"{}"


@pytest.mark.long
def test_another_writer_takes_files_for_leftovers(tmp_path, bucket, monkeypatch):
    """It replaces files that this run has just written: the version would be of both."""
    order = order_at(tmp_path, bucket)
    create = ObjectPath.create_from

    def mixed(self, file):
        create(self, file)
        if self.name == "report.html":
            self.with_name("data.parquet").write_bytes(b"of the other")

    with monkeypatch.context() as patch:
        patch.setattr(ObjectPath, "create_from", mixed)
        with pytest.raises(FolderError, match="another writer published"):
            order.release()
    assert "manifest.json" not in (bucket / "people" / "v1").below()
    assert audit_release(order.release(), order.plan).passed


def test_a_storage_that_replaces_objects(tmp_path, bucket, monkeypatch):
    """It knows no If-None-Match: nobody could be refused."""
    order = order_at(tmp_path, bucket)
    monkeypatch.setattr(
        ObjectPath, "create_from", lambda self, file: self.write_bytes(file.read_bytes())
    )
    with pytest.raises(FolderError, match=r"If-None-Match.*name another publish\.path"):
        order.release()
    assert "manifest.json" not in (bucket / "people" / "v1").below()


@pytest.mark.long
def test_a_reader_never_sees_half_a_version(tmp_path, bucket, monkeypatch):
    """Whoever looks before and after each write finds whole versions or none."""
    order, seen = order_at(tmp_path, bucket), []

    def look():
        for version in shelf_of(bucket / "people").versions():
            folder = bucket / "people" / version
            manifest = json.loads((folder / "manifest.json").read_bytes())
            seen.append(has_version_files(folder, manifest["files"]))

    def watched(real):
        def write(self, *arguments):
            look()
            done = real(self, *arguments)
            look()
            return done

        return write

    with monkeypatch.context() as patch:
        for name in ("create", "create_from", "unlink", "copy_to", "write_bytes"):
            patch.setattr(ObjectPath, name, watched(getattr(ObjectPath, name)))
        order.release()
        assert seen == [True]  # after the manifest, not before
        order.write_source(people(first=90, draws=5))
        folder = order.release()
        retract_release(_retraction(order, folder))
    assert len(seen) > 20
    assert all(seen)


def test_an_answer_that_was_lost(tmp_path, bucket, monkeypatch):
    """The driver asks again and is told that the manifest is there: it is ours."""
    order = order_at(tmp_path, bucket)
    create = ObjectPath.create

    def twice(self, content):
        create(self, content)
        create(self, content)

    monkeypatch.setattr(
        ObjectPath,
        "create",
        lambda self, content: (twice if self.name == "manifest.json" else create)(self, content),
    )
    assert audit_release(order.release(), order.plan).passed


def test_another_vault_is_refused(tmp_path, bucket):
    order_at(tmp_path / "one", bucket).release()
    other = order_at(tmp_path / "other", bucket, people(first=90))
    with pytest.raises(FolderError, match=r"another vault published.* \(v1\)"):
        other.release()
    assert [name for name in (bucket / "people").below() if name.startswith("v2")] == []


@pytest.mark.long
def test_the_next_version_is_compared_with_the_last(tmp_path, bucket):
    order = order_at(tmp_path, bucket)
    order.release()
    order.write_source(people(first=90, draws=5))
    folder = order.release()
    assert folder.name == "v2"
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["drift"]["compared_with"] == "v1"
    assert audit_release(folder, order.plan).passed


def _retraction(order, folder):
    return argparse.Namespace(
        plan=order.plan, overrides=[], release=folder, by="Ada", reason="k too small", json=True
    )


@pytest.mark.long
@pytest.mark.parametrize(
    "at", [2, *(pytest.param(at, marks=SLOW) for at in (None, 0, 1, 3, 9, 17, 18))]
)
def test_retract(tmp_path, bucket, monkeypatch, at, capsys):
    order = order_at(tmp_path, bucket)
    order.fix_seed()
    folder = order.release()
    before = data_bytes(folder)
    options = _retraction(order, folder)
    with monkeypatch.context() as patch:
        writes(patch, kill_at=at)
        if at is not None:
            with pytest.raises(Killed):
                retract_release(options)
    capsys.readouterr()
    assert retract_release(options) == 0
    aside = place_of(json.loads(capsys.readouterr().out)["folders"][0])
    assert aside == folder.with_name("v1-retracted")
    assert sorted(aside.below()) == sorted([*FILES, "retracted.json"])
    assert data_bytes(aside) == before
    assert folder.below() == {}
    again = order.release()
    assert again.name == "v2"
    assert data_bytes(again) == before


def test_a_vault_stays_local(tmp_path, bucket):
    order = order_at(tmp_path, bucket)
    order.write(publish={"vault": "memory://bucket/vault"})
    with pytest.raises(PlanError, match=r"publish\.vault must be a local folder"):
        order.release()
