"""One vault publishes into a folder: another one is refused before it reads a table."""

import re
import shutil

import pytest

from crowdcover.storage.shelf.layout import MARK
from crowdcover.storage.vault.refusals import FolderError
from crowdcover.storage.vault.release_owner import refuse_foreign
from crowdcover.storage.vault.vault import Vault
from tests.flows.orders import Order, data_bytes, people

CLAIMED = r"belongs to another vault than .* by its file \.vault"
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


@pytest.mark.long
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


@pytest.mark.long
def test_the_vault_of_the_folder_goes_on(two):
    order, _ = two
    order.release()
    order.write_source(people(first=90))
    order.write(checks={"drift": "off"})
    assert order.release() == order.releases / "v2"


@pytest.mark.long
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


@pytest.mark.long
def test_a_vault_that_publishes_meanwhile(two, monkeypatch):
    """Both began while the folder was empty; the one that comes second is refused."""
    from crowdcover.tasks.stages import publish

    order, other = two
    draft = publish.draft_manifest

    def drafted(*arguments):
        manifest = draft(*arguments)
        monkeypatch.setattr(publish, "draft_manifest", draft)
        other.release()
        return manifest

    monkeypatch.setattr(publish, "draft_manifest", drafted)
    with pytest.raises(FolderError, match=WORDS):
        order.release()
    assert order.versions == ["v1"]
    assert other.release() == other.folder_of_v1


@pytest.mark.long
def test_a_vault_that_publishes_at_the_last_moment(two, monkeypatch):
    """The folder is claimed by then."""
    from crowdcover.storage.shelf import folders

    order, other = two
    rename = folders.os.rename

    def renamed(source, target):
        if target == order.folder_of_v1:
            monkeypatch.undo()
            with pytest.raises(FolderError, match=CLAIMED):
                other.release()
        return rename(source, target)

    monkeypatch.setattr(folders.os, "rename", renamed)
    assert order.release() == order.folder_of_v1
    with pytest.raises(FolderError, match=WORDS):
        other.release()


@pytest.mark.long
def test_a_vault_that_claims_at_the_last_moment(two, monkeypatch):
    """Both looked while nobody had claimed the folder: one mark appears, and one release."""
    from crowdcover.storage.shelf import folders

    order, other = two
    link = folders.os.link

    def linked(source, target):
        if target.name == MARK:
            monkeypatch.undo()
            other.release()
        return link(source, target)

    monkeypatch.setattr(folders.os, "link", linked)
    with pytest.raises(FolderError, match=CLAIMED):
        order.release()
    assert order.versions == ["v1"]
    assert other.release() == other.folder_of_v1
    assert not list(order.releases.glob(".*.partial"))


@pytest.mark.long
@pytest.mark.parametrize("linking", [True, False], ids=["links", "no links"])
def test_the_mark_tells_nothing_and_stays(two, monkeypatch, linking):
    order, other = two
    if not linking:

        def refuse(*_):
            raise OSError(95, "not supported")

        monkeypatch.setattr("crowdcover.storage.shelf.folders.os.link", refuse)
    order.release()
    mark = (order.releases / ".vault").read_text()
    assert re.fullmatch(r"[0-9a-f]{32}\n", mark)
    key = (order.vault / "folders.key").read_bytes()
    assert key not in mark.encode()
    assert key != (order.vault / "ledger.key").read_bytes()
    shutil.rmtree(order.folder_of_v1)  # nothing stands there, and the folder is still not free
    with pytest.raises(FolderError, match=CLAIMED):
        other.release()
    assert order.release() == order.folder_of_v1
    assert (order.releases / ".vault").read_text() == mark
    order.write(name="cities")
    order.write_source(people(first=90))
    assert (order.release().parent / ".vault").read_text() != mark


@pytest.mark.long
def test_a_folder_of_an_older_version_is_claimed_by_the_vault_that_knows_it(two):
    order, other = two
    order.release()
    (order.releases / ".vault").unlink()
    (order.vault / "folders.key").unlink()
    with pytest.raises(FolderError, match=WORDS):
        other.release()
    assert order.release() == order.folder_of_v1  # nothing is published, nothing is claimed
    assert not (order.releases / ".vault").exists()
    order.write_source(people(first=90))
    order.write(checks={"drift": "off"})
    assert order.release() == order.releases / "v2"
    shutil.rmtree(order.folder_of_v1)
    shutil.rmtree(order.releases / "v2")
    with pytest.raises(FolderError, match=CLAIMED):
        other.release()


@pytest.mark.long
def test_vaults_that_share_a_ledger_key_are_two_vaults(two):
    order, other = two
    order.release()
    shutil.rmtree(order.folder_of_v1)
    Vault(other.vault).open()
    shutil.copy(order.vault / "ledger.key", other.vault / "ledger.key")
    with pytest.raises(FolderError, match=CLAIMED):
        other.release()
    (order.releases / ".vault").unlink()
    assert other.release() == other.folder_of_v1


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
