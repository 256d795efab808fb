"""One vault publishes into a folder: another one is refused before it reads a table."""

import shutil

import pytest

from tasks.vault.belonging import refuse_foreign
from tasks.vault.storage import FolderError, Vault
from tests.flows.orders import Order, data_bytes, people

WORDS = r"holds releases that another vault published, .* \(v1\);.*Set publish\.vault"


@pytest.fixture
def two(tmp_path):
    """The same folder of releases, other people, a vault each."""
    place = {"path": str(tmp_path / "releases")}
    order = Order(tmp_path / "one", publish=place)
    other = Order(tmp_path / "other", people(first=90), publish=place)
    for each in (order, other):
        each.releases = tmp_path / "releases" / "people"
    return order, other


def test_a_second_vault_publishes_nothing(two):
    order, other = two
    folder = order.release()
    before = data_bytes(folder)
    with pytest.raises(FolderError, match=WORDS):
        other.release()
    assert not list(other.vault.rglob("stage.json"))  # refused before any work
    assert other.versions == ["v1"]
    assert data_bytes(folder) == before
    assert order.release() == folder
    other.write(publish={"path": str(other.folder / "of-its-own")})
    assert other.release() == other.folder / "of-its-own" / "people" / "v1"


def test_the_vault_of_the_folder_goes_on(two):
    order, _ = two
    order.release()
    order.write_source(people(first=90))
    order.write(checks={"drift": "off"})
    assert order.release() == order.releases / "v2"


def test_a_run_that_was_removed_from_the_vault(two):
    """The ledger still lists its release; a vault without that entry does not know it."""
    order, _ = two
    order.release()
    shutil.rmtree(order.run.path)
    order.write_source(people(first=90))
    order.write(checks={"drift": "off"})
    assert order.release() == order.releases / "v2"
    (order.vault / "ledger.sqlite").unlink()
    order.write_source(people(first=180))
    with pytest.raises(FolderError, match=WORDS):
        order.release()


def test_a_vault_that_publishes_meanwhile(two, monkeypatch):
    """Both began while the folder was empty; the one that comes second is refused."""
    from tasks.stages import publish

    order, other = two
    draft = publish.draft

    def drafted(*arguments):
        manifest = draft(*arguments)
        monkeypatch.setattr(publish, "draft", draft)
        other.release()
        return manifest

    monkeypatch.setattr(publish, "draft", drafted)
    with pytest.raises(FolderError, match=WORDS):
        order.release()
    assert order.versions == ["v1"]
    assert other.release() == other.folder_of_v1


def test_a_vault_that_publishes_at_the_last_moment(two, monkeypatch):
    """No version is overwritten, whoever is first."""
    from tasks.stages import publish

    order, other = two
    rename = publish.os.rename

    def renamed(source, target):
        if target == order.folder_of_v1:
            monkeypatch.undo()
            other.release()
        return rename(source, target)

    monkeypatch.setattr(publish.os, "rename", renamed)
    with pytest.raises(FolderError, match="nothing could be published"):
        order.release()
    assert other.release() == other.folder_of_v1
    with pytest.raises(FolderError, match=WORDS):
        order.release()


def test_a_folder_that_was_moved_with_its_vault(released, tmp_path):
    """The bytes are known where the place is not."""
    moved = tmp_path / "moved"
    shutil.copytree(released.folder, moved)
    parent = moved / "releases" / "people"
    refuse_foreign(Vault(moved / "vault"), parent)
    (parent / "v1" / "manifest.json").write_text("{}")
    with pytest.raises(FolderError, match=WORDS):
        refuse_foreign(Vault(moved / "vault"), parent)
    refuse_foreign(Vault(released.vault), released.releases)


def test_what_is_no_release_belongs_to_nobody(tmp_path):
    vault = Vault(tmp_path / "vault").open()
    refuse_foreign(vault, tmp_path / "absent")
    for name in ("v1", ".v2.partial", "notes"):
        (tmp_path / name).mkdir()
    refuse_foreign(vault, tmp_path)
