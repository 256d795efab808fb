"""A ledger reads a run again if its releases changed, or if it lost them."""

import shutil
from unittest import mock

import pytest

from crowdcover.storage.ledger.digests import COLUMN, People
from crowdcover.storage.ledger.ledger import Ledger
from crowdcover.storage.vault.run import Release, Run
from crowdcover.storage.vault.vault import Vault

FILES = {"manifest.json": 64 * "0"}  # no folder holds it
PEOPLE = People(2, {f"{COLUMN}id": bytes(range(32))}, frozenset())


@pytest.fixture
def vault(tmp_path):
    return Vault(tmp_path / "vault").open()


def published(vault, source, parent, *, visible=True):
    run = vault.run("plan", source)
    run.mark_released(Release(parent / f"v{source}", FILES, published=visible))
    return run


def read_by(ledger):
    """Mend the ledger; the runs whose releases it read."""
    ledger.mend()
    with mock.patch.object(Run, "ever_visible", autospec=True, side_effect=visible_of) as asked:
        ledger.mend()
    return {call.args[0].path.name for call in asked.call_args_list}


visible_of = Run.ever_visible


def test_a_run_that_was_read_is_not_read_again(vault, tmp_path):
    ledger = Ledger(vault, lambda *_: PEOPLE)
    for source in "12":
        published(vault, source, tmp_path / "people")
    assert read_by(ledger) == set()
    assert ledger.versions(str(tmp_path / "people")) == {"v1", "v2"}


def test_another_release_of_a_run_is_entered(vault, tmp_path):
    ledger = Ledger(vault, lambda *_: PEOPLE)
    run = published(vault, "1", tmp_path / "people")
    ledger.mend()
    run.mark_released(Release(tmp_path / "others" / "v1", FILES, published=True))
    ledger.mend()
    assert ledger.versions(str(tmp_path / "others")) == {"v1"}


def test_what_the_ledger_lost_is_entered_again(vault, tmp_path):
    ledger = Ledger(vault, lambda *_: PEOPLE)
    run = published(vault, "1", tmp_path / "people")
    ledger.mend()
    ledger.forget(run, str(tmp_path / "people"), "v1")  # the run still has its mark
    assert not ledger.knows(run)
    ledger.mend()
    assert ledger.knows(run)


def test_a_copy_of_a_vault_enters_again_what_the_other_forgot(vault, tmp_path):
    """Both share a ledger; what one retracts, the other has published all the same."""
    run = published(vault, "1", tmp_path / "people")
    ledger = Ledger(vault, lambda *_: PEOPLE)
    ledger.mend()
    shutil.copytree(vault.path, tmp_path / "copy")
    copy = Ledger(Vault(tmp_path / "copy"), lambda *_: PEOPLE)
    for name in ("ledger.sqlite", "ledger.key"):
        (copy.vault.path / name).unlink()
        (copy.vault.path / name).symlink_to(vault.path / name)
    copy.mend()
    ledger.forget(run, str(tmp_path / "people"), "v1")
    run.forget_released(run.released(tmp_path / "people"))
    run.mark_released(Release(tmp_path / "others" / "v1", FILES, published=True))
    ledger.mend()  # as many entries as before
    assert not copy.lists(run, str(tmp_path / "people"), "v1")
    copy.mend()
    assert copy.lists(run, str(tmp_path / "people"), "v1")


def test_a_run_that_did_not_confirm_its_release_is_read_each_time(vault, tmp_path):
    ledger = Ledger(vault, lambda *_: PEOPLE)
    run = published(vault, "1", tmp_path / "people", visible=False)
    assert read_by(ledger) == {run.path.name}
    assert not ledger.knows(run)
    run.mark_released(Release(tmp_path / "people" / "v1", FILES, published=True))
    ledger.mend()
    assert ledger.knows(run)
