"""What a person names in place of a release folder: refused in plain words, exit code 2."""

import json
import os

import fsspec
import pytest

from tests.flows.orders import Order
from tests.flows.processes import command
from tests.kinds.matrix.orders import MatrixOrder

KEY = "ed25519:PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw="
GIVE = "give the folder that `crowdcover release` printed"
COMMANDS = {
    "audit": ("--plan", "people.toml"),
    "show": (),
    "diff": ("releases/people/v1",),
    "verify": ("--key", KEY),
    "complete": ("--output", "completed.csv"),
}
WRONG = {
    "nowhere": f"nowhere was not found; {GIVE}",
    "people.csv": f"people.csv is a file and no release; {GIVE}",
    "people.csv/v1": f"people.csv/v1 was not found; {GIVE}",
    "empty": f"empty holds no release: it has no manifest.json; {GIVE}",
    "vault": f"vault holds no release: it has no manifest.json; {GIVE}",
    "odd": f"odd holds no release: it has no manifest.json; {GIVE}",
    "releases": f"releases holds no release: it has no manifest.json; {GIVE}",
    "releases/people": "releases/people holds 1 release and is none itself; give one of them, such "
    "as releases/people/v1",
}


@pytest.fixture(scope="module")
def order(tmp_path_factory):
    order = Order(tmp_path_factory.mktemp("named"))
    order.release()
    (order.folder / "empty").mkdir()
    (order.folder / "odd" / "manifest.json").mkdir(parents=True)
    return order


def call(order, name, folder, monkeypatch):
    monkeypatch.chdir(order.folder)
    return command(name, folder, *COMMANDS[name])


@pytest.mark.long
@pytest.mark.parametrize("folder", WRONG)
@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_no_release_is_refused_in_one_line(order, monkeypatch, name, folder):
    done = call(order, name, folder, monkeypatch)
    assert (done.code, done.out) == (2, "")
    assert done.err == f"crowdcover: {WRONG[folder]}\n"


def test_the_second_folder_of_diff_is_refused_as_the_first(order, monkeypatch):
    monkeypatch.chdir(order.folder)
    done = command("diff", "releases/people/v1", "empty")
    assert (done.code, done.err) == (2, f"crowdcover: {WRONG['empty']}\n")


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b"[" * 100_000, b'{"name": "app"}'])
@pytest.mark.parametrize("name", ["show", "diff"])
def test_another_document_is_no_manifest(order, monkeypatch, tmp_path, name, content):
    (tmp_path / "manifest.json").write_bytes(content)
    done = call(order, name, tmp_path, monkeypatch)
    assert (done.code, done.out) == (3, "")
    assert "manifest.json is no manifest of a release, or it is damaged" in done.err
    assert done.err.count("\n") == 1


def test_a_manifest_without_a_number_that_is_shown_is_damaged(order, monkeypatch, tmp_path):
    manifest = json.loads((order.folder_of_v1 / "manifest.json").read_text("utf-8"))
    (tmp_path / "manifest.json").write_text(json.dumps(manifest | {"source": {}}), "utf-8")
    monkeypatch.chdir(order.folder)
    done = command("show", tmp_path, "--all")
    assert done.code == 3
    assert done.err == (
        "crowdcover: a manifest.json is damaged; give a release as it was published\n"
    )


@pytest.mark.long
@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b"[" * 100_000, b'{"name": "app"}'])
def test_a_release_with_a_damaged_manifest_does_not_hold(order, monkeypatch, content):
    path = order.folder_of_v1 / "manifest.json"
    whole = path.read_bytes()
    path.write_bytes(content)
    try:
        done = call(order, "audit", order.folder_of_v1, monkeypatch)
    finally:
        path.write_bytes(whole)
    assert done.code == 4
    assert "manifest (manifest.json cannot be read)" in done.last_line


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_folder_of_another_account_is_named(order, monkeypatch, tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o000)
    done = call(order, "show", closed, monkeypatch)
    assert (done.code, done.out) == (1, "")
    assert "cannot be read (PermissionError); correct its permissions" in done.err


def test_a_plan_of_another_kind_is_refused(order, monkeypatch, tmp_path):
    other = MatrixOrder(tmp_path / "matrix")
    other.release()
    done = call(order, "audit", other.published, monkeypatch)
    assert (done.code, done.out) == (2, "")
    assert "is a release of a matrix, and the plan is of a table; give the plan" in done.err
    done = command("audit", order.folder_of_v1, "--plan", other.plan)
    assert (done.code, done.out) == (2, "")
    assert "is a release of a table, and the plan is of a matrix" in done.err
    done = call(order, "diff", other.published, monkeypatch)
    assert (done.code, done.out) == (2, "")
    assert "are of different kinds of data" in done.err


@pytest.mark.long
@pytest.mark.parametrize("kind", ["matrix", "other", 5, [], None])
def test_a_manifest_that_was_changed_to_another_kind_is_no_release(order, monkeypatch, kind):
    path = order.folder_of_v1 / "manifest.json"
    whole = path.read_bytes()
    manifest = json.loads(whole)
    manifest["source"] = {**manifest["source"], "kind": kind} if kind else "x"
    path.write_text(json.dumps(manifest), "utf-8")
    try:
        done = call(order, "audit", order.folder_of_v1, monkeypatch)
    finally:
        path.write_bytes(whole)
    assert done.code == 4
    assert "manifest as published" in done.last_line


@pytest.mark.parametrize(
    ("folder", "words"),
    [
        ("memory://bucket/none", "memory://bucket/none was not found"),
        ("memory://bucket/people", "holds 1 release and is none itself; give one of them, such as"),
        ("memory://bucket", "memory://bucket holds no release"),
    ],
)
@pytest.mark.parametrize("name", ["audit", "show", "verify", "complete"])
def test_places_in_object_storage(order, monkeypatch, name, folder, words):
    monkeypatch.setattr("crowdcover.storage.places.place.STARTS", ("memory://",))
    store = fsspec.filesystem("memory")
    store.store.clear()
    store.pseudo_dirs[:] = [""]
    store.put(str(order.folder_of_v1), "memory://bucket/people/v1", recursive=True)
    try:
        done = call(order, name, folder, monkeypatch)
    finally:
        store.store.clear()
    assert (done.code, done.out) == (2, "")
    assert words in done.err
