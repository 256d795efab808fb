"""Sources and releases in S3, against a server that runs as a process of its own."""

import contextlib
import json
import re
import signal
import sqlite3
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from crowdcover.storage.places.objects import StoreError
from crowdcover.storage.places.place import place_of
from crowdcover.storage.shelf.content import has_version_files, hash_released_file
from crowdcover.storage.shelf.shelf import shelf_of
from crowdcover.storage.vault.refusals import FolderError
from tests.flows.orders import FILES, HEADER, Order, data_bytes, people
from tests.flows.processes import command, run
from tests.flows.processes import crowdcover as in_process
from tests.flows.s3 import storage
from tests.support.audits import audit_release
from tests.support.objects import WRITES, die_before
from tests.support.soaking import soak_after

pytest.importorskip("moto", reason="the S3 server is not installed: pip install 'moto[server]'")
s3fs = pytest.importorskip("s3fs", reason="not installed: pip install 'crowdcover[s3]'")
pytestmark = pytest.mark.slow
WORDS = r"no half version is visible: the object storage of s3://people does not answer"


@pytest.fixture
def door(monkeypatch):
    monkeypatch.setattr(s3fs.S3FileSystem, "retries", 1)
    s3fs.S3FileSystem.clear_instance_cache()
    with storage() as door:
        s3fs.S3FileSystem().mkdir("people")
        yield door
    s3fs.S3FileSystem.clear_instance_cache()


def order_at(folder, *arguments, **publish):
    order = Order(folder, *arguments, publish={"path": "s3://people/releases", **publish})
    order.fix_seed()
    return order


def test_from_an_object_to_objects(door, server, tmp_path):
    """The command line, in processes of their own: release, show, audit, release again, retract."""

    def crowdcover(*arguments):
        return in_process(*arguments, environment=door.environment)

    local = Order(tmp_path / "local").fix_seed()
    there = data_bytes(local.release())
    order = order_at(tmp_path / "s3")
    s3fs.S3FileSystem().put_file(str(order.source), "people/in/people.csv")
    order.write(source={"path": "s3://people/in/people.csv"})
    order.fix_seed()
    done = crowdcover("release", order.plan)
    assert done.last_line == "s3://people/releases/people/v1", done.err
    folder = place_of(done.last_line)
    assert sorted(folder.below()) == FILES
    assert data_bytes(folder) == there
    assert crowdcover("release", order.plan).last_line == str(folder)
    assert "people v1" in crowdcover("show", folder).out
    done = crowdcover("audit", folder, "--plan", order.plan)
    assert done.code == 0, done.out + done.err
    again = people(first=90, draws=5)
    order.write_source(again)
    s3fs.S3FileSystem().put_file(str(order.source), "people/in/people.csv")
    assert crowdcover("release", order.plan).last_line == "s3://people/releases/people/v2"
    options = ("--plan", order.plan, "--by", "Ada", "--reason", "k too small")
    done = crowdcover("retract", "s3://people/releases/people/v2", *options)
    assert "its folder is now s3://people/releases/people/v2-retracted" in done.out, done.err
    assert not place_of("s3://people/releases/people/v2").exists()
    assert crowdcover("release", order.plan).last_line == "s3://people/releases/people/v3"
    held = [path.read_bytes() for path in order.folder.rglob("*") if path.is_file()]
    assert not any(b"zq7secret" in content for content in held)


def killed_before(plan, number):
    """Release, and die in place of a write."""
    die_before(number)
    command("release", plan)


@pytest.mark.parametrize("number", soak_after(2, [0, WRITES - 1, 5]))
def test_killed_between_two_writes(door, server, tmp_path, number):
    order = order_at(tmp_path)
    died = run(killed_before, str(order.plan), number, environment=door.environment)
    assert died.code == -signal.SIGKILL, died.err
    assert "manifest.json" not in place_of("s3://people/releases/people/v1").below()
    assert command("show", "s3://people/releases/people/v1").code == 2
    folder = order.release()
    assert (folder.name, sorted(folder.below())) == ("v1", FILES)
    assert audit_release(folder, order.plan).passed
    assert data_bytes(folder) == data_bytes(Order(tmp_path / "local").fix_seed().release())


@pytest.mark.parametrize("number", soak_after(2, [1, WRITES, 2, 5]))
def test_storage_that_goes_down_while_a_version_is_written(door, tmp_path, number):
    order = order_at(tmp_path)
    door.requests, door.close_before = 0, number
    with pytest.raises(FolderError, match=WORDS) as caught:
        order.release()
    assert "run again" in str(caught.value)
    assert "zq7" not in str(caught.value)
    door.is_open, door.close_before = True, None
    assert "manifest.json" not in place_of("s3://people/releases/people/v1").below()
    folder = order.release()
    assert sorted(folder.below()) == FILES
    assert audit_release(folder, order.plan).passed
    with closing(sqlite3.connect(order.vault / "ledger.sqlite")) as ledger:
        assert ledger.execute("select version, published from releases").fetchall() == [("v1", 1)]


def test_storage_that_is_down_or_refuses(door, tmp_path, monkeypatch):
    order = order_at(tmp_path)
    door.is_open = False
    with pytest.raises(StoreError, match=r"s3://people does not answer .*AWS_ENDPOINT_URL"):
        order.release()
    done = command("show", "s3://people/releases/people/v1")
    assert done.code == 1
    assert "does not answer" in done.err
    door.is_open = True
    order.write(publish={"path": "s3://nobody/releases"})
    with pytest.raises(StoreError, match="there is no bucket s3://nobody; create it"):
        order.release()
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    s3fs.S3FileSystem.clear_instance_cache()
    order.write(publish={"path": "s3://people/releases"})
    with pytest.raises(StoreError, match="no valid credentials for s3://people were found"):
        order.release()


def test_a_source_that_cannot_be_read(door, tmp_path, monkeypatch):
    """Each message names the key of the plan, and quotes no key of the storage."""

    def refused(words):
        done = command("release", order.plan, "--dry-run")
        assert done.code == 3, done.err
        assert re.search(words, done.err), done.err
        assert "zq7" not in done.out + done.err

    order = Order(tmp_path, source={"path": "s3://people/people.csv"})
    refused("the source people.csv was not found; correct source.path")
    large = s3fs.S3FileSystem()
    large.pipe_file("people/people.csv", order.source.read_bytes() * 2000)
    door.bytes_left = 3 * 2**20
    refused("source.path could not be read: the object storage of s3://people does not answer")
    door.is_open, door.bytes_left = True, None
    monkeypatch.setenv("AWS_ENDPOINT_URL", "zq7")
    s3fs.S3FileSystem.clear_instance_cache()
    refused("address of the object storage of s3://people is none; correct AWS_ENDPOINT_URL")
    monkeypatch.setenv("AWS_ENDPOINT_URL", door.environment["AWS_ENDPOINT_URL"])
    s3fs.S3FileSystem.clear_instance_cache()
    ask_for_keys(door)
    refused("s3://people does not let this account do that; check its keys or role")


def ask_for_keys(door):
    """From now on the server refuses keys that it has not given."""
    address = f"http://127.0.0.1:{door.port}/moto-api/reset-auth"
    asked = urllib.request.Request(address, b"0", {"Content-Type": "text/plain"})
    urllib.request.urlopen(asked).close()


def test_two_writers_at_the_same_moment(door, tmp_path):
    """Copies of one vault: at most one publishes, and what is visible is one version."""
    published = []

    def write(shelf, writer):
        aside = tmp_path / f"{shelf.parent.name}-{writer}"
        aside.mkdir()
        for name in FILES[:3]:
            (aside / name).write_bytes(f"{name} of {writer}".encode())
        files = {name: hash_released_file(aside / name) for name in FILES[:3]}
        (aside / "manifest.json").write_text(json.dumps({"files": files}))
        with contextlib.suppress(FileExistsError):
            shelf.commit(aside, "v1")
            published.append((shelf.parent, files))

    for number in range(6):
        shelf = shelf_of(place_of(f"s3://people/{number}"))
        with ThreadPoolExecutor(2) as writers:
            list(writers.map(lambda writer, to=shelf: write(to, writer), "ab"))
        winners = [files for parent, files in published if parent == shelf.parent]
        assert len(winners) <= 1
        assert shelf.versions() == ["v1"] * len(winners)
        assert all(has_version_files(shelf.parent / "v1", files) for files in winners)
        if not winners:  # each was in the way of the other
            write(shelf, "c")
            assert shelf.versions() == ["v1"]
    assert published


def test_two_vaults(door, tmp_path):
    order_at(tmp_path / "one").release()
    other = order_at(tmp_path / "other", people(first=90))
    with pytest.raises(FolderError, match="another vault published"):
        other.release()


def test_a_series(door, tmp_path):
    order = Order(
        tmp_path,
        people(),
        publish={"path": "s3://people/releases"},
        series={"record": "ssn"},
        checks={"drift": "off"},
    )
    first = order.release()
    order.write_source([*people(), *people(40, draws=8, first=500)])
    second = order.release()
    assert (first.name, second.name) == ("v1", "v2")
    for folder in (first, second):
        assert audit_release(folder, order.plan).passed
    assert order.release() == second
    assert HEADER
