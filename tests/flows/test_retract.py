"""A release that was never handed out is taken back; killed anywhere, a second call goes on."""

import json
import os
import shutil
import signal
import sqlite3
import stat
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest

from anon_core.errors import GuaranteeError
from crowdcover.flows import cli
from crowdcover.storage.approval.approval import Approval, Decision, DecisionError, WaitingError
from crowdcover.storage.vault.files import read_json
from crowdcover.storage.vault.refusals import SecondReleaseError
from tests.flows.orders import Order, data_bytes, people
from tests.flows.processes import die_at, run
from tests.support.audits import audit_release
from tests.support.retracting import WHY, retract


def entries(order):
    with closing(sqlite3.connect(order.vault / "ledger.sqlite")) as ledger:
        releases = ledger.execute("select name, version, published from releases").fetchall()
        return releases, ledger.execute("select count(*) from people").fetchone()[0]


def findings(folder, order):
    return {finding.guarantee: finding for finding in audit_release(folder, order.plan).findings}


def aside(order, version="v1"):
    return aside_of(order.releases / version)


def aside_of(folder):
    return folder.with_name(f"{folder.name}-retracted")


# ---------------------------------------------------------------- what it does


@pytest.mark.long
def test_a_mistaken_first_run_uses_no_source_up(tmp_path, capsys):
    order = Order(tmp_path)
    before = data_bytes(order.release())
    order.write(privacy={"k": 6})
    with pytest.raises(SecondReleaseError):
        order.release()
    assert retract(order) == 0
    out = capsys.readouterr().out
    assert "people v1 was retracted by Ada at 20" in out
    assert "Its source counts as not released" in out
    assert "No command takes back a copy" in out
    assert entries(order) == ([], 0)
    assert order.versions == ["v1-retracted"]
    assert data_bytes(aside(order)) == before
    assert order.release() == order.releases / "v2"
    assert entries(order)[0] == [("people", "v2", 1)]
    assert audit_release(order.releases / "v2", order.plan).passed


@pytest.mark.long
def test_the_folder_is_closed_and_says_so(released_once, capsys):
    order = released_once()
    retract(order)
    assert stat.S_IMODE(aside(order).stat().st_mode) == 0o700
    notice = read_json(aside(order) / "retracted.json")["retracted"]
    assert (notice["by"], notice["reason"]) == ("Ada", WHY)
    audit = audit_release(aside(order), order.plan)
    assert [finding.guarantee for finding in audit.broken] == ["not retracted"]
    assert f"retracted by Ada at {notice['at']}: {WHY}" in audit.sentence()
    capsys.readouterr()
    for arguments, expected in (
        ((), "RETRACTED by Ada at"),
        (("--all",), "RETRACTED by Ada at"),
        (("--json",), '"retracted": {'),
    ):
        with pytest.raises(SystemExit):
            cli.main(["show", str(aside(order)), *arguments])
        assert expected in capsys.readouterr().out
    with pytest.raises(SystemExit) as ended:
        cli.main(["audit", str(aside(order)), "--plan", str(order.plan)])
    assert ended.value.code == 4


@pytest.mark.long
def test_the_same_rows_are_published_again_under_a_number_of_their_own(tmp_path):
    """The rows stay what they are: if someone has the first, the second adds nothing."""
    order = Order(tmp_path)
    before = data_bytes(order.release())
    retract(order)
    shutil.rmtree(order.releases)
    assert data_bytes(order.release()) == before
    assert order.versions == ["v2"]
    assert audit_release(order.releases / "v2", order.plan).passed


def test_rows_of_an_older_version_stay_what_they_are(released_once):
    order = released_once()
    retract(order)
    stage = order.run.path / "anonymize" / "stage.json"
    stage.write_text(json.dumps({**read_json(stage), "version": "0.0"}))
    times = order.stage_times()
    assert order.release() == order.releases / "v2"
    assert order.stage_times()["anonymize"] == times["anonymize"]


def test_json_and_a_second_call(released_once, capsys):
    order = released_once()
    assert retract(order, "--json") == 0
    first = json.loads(capsys.readouterr().out)
    assert first["release"] == "people v1"
    assert first["folders"] == [str(aside(order))]
    assert first["still_released"] == []
    assert retract(order, "--json", why="another reason") == 0
    assert json.loads(capsys.readouterr().out) == first
    assert retract(order, "--json", folder=aside(order)) == 0
    assert json.loads(capsys.readouterr().out) == first


@pytest.fixture(params=["1 second", "1 day"])
def twice(request, tmp_path, monkeypatch):
    """One run that is published in two folders; within a second both have the same bytes."""
    moment, step = datetime(2026, 1, 1, tzinfo=UTC), timedelta(days=request.param == "1 day")

    class Clock(datetime):
        @classmethod
        def now(cls, tz=None):
            nonlocal moment
            moment += step
            return moment

    monkeypatch.setattr("crowdcover.tasks.stages.manifest.datetime", Clock)
    order = Order(tmp_path)
    first = order.release()
    order.write(publish={"path": "elsewhere"})
    second = order.release()
    same = (first / "manifest.json").read_bytes() == (second / "manifest.json").read_bytes()
    assert same == (request.param == "1 second")
    return order, first, second


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["first", "second"])
def test_other_releases_of_the_source_still_count(twice, folder, capsys):
    order, *folders = twice
    if folder == "second":
        folders.reverse()
    assert retract(order, folder=folders[0]) == 0
    assert "Its source still counts as released: people v1" in capsys.readouterr().out
    assert audit_release(folders[1], order.plan).passed
    assert not audit_release(aside_of(folders[0]), order.plan).passed
    order.write(privacy={"k": 6})
    with pytest.raises(SecondReleaseError):
        order.release()
    assert retract(order, folder=folders[0]) == 0  # again
    assert folders[1].exists()
    assert retract(order, folder=folders[1]) == 0
    assert "Its source counts as not released" in capsys.readouterr().out
    assert all(aside_of(each).exists() for each in folders)
    assert order.release() == order.folder / "elsewhere" / "people" / "v2"


@pytest.mark.long
def test_a_copy_of_two_releases_with_the_same_bytes(twice, tmp_path):
    """Its release is found by bytes; one that stands in its own place is no copy."""
    order, first, second = twice
    copy = shutil.copytree(first, tmp_path / "copy")
    retract(order, folder=first)
    assert not findings(copy, order)["not retracted"].passed
    assert "not retracted" not in findings(second, order)


@pytest.mark.long
def test_a_later_release_that_was_compared_with_it_passes_its_audit(tmp_path):
    order = Order(tmp_path, [(*row[:4], "ill", "note", row[6]) for row in people()])
    order.release()
    order.write(privacy={"k": 2}, publish={"allow_second_release": True})
    second = order.release()
    assert "crowds after intersection" in findings(second, order)
    retract(order)
    audit = audit_release(second, order.plan)
    assert audit.passed
    assert "crowds after intersection" not in findings(second, order)


@pytest.mark.long
def test_an_approval_ends_with_the_release(tmp_path):
    order = Order(tmp_path, publish={"approval": "required"})
    with pytest.raises(WaitingError):
        order.release()
    assert retract(order) == 2  # nothing was published: reject it
    Approval.of(order.run).decide(Decision.of(approved=True, by="Ada", note=""))
    order.release()
    assert retract(order) == 0
    with pytest.raises(WaitingError):
        order.release()
    assert order.versions == ["v1-retracted"]


@pytest.mark.long
def test_a_retracted_release_is_no_yardstick_of_drift(released_once):
    order = released_once()
    order.write_source(people(30, first=500))
    with pytest.raises(GuaranteeError, match="rows"):
        order.release()
    retract(order)
    assert order.release() == order.releases / "v2"


# ---------------------------------------------------------------- what it refuses


def test_what_the_vault_does_not_know(released_once, capsys):
    order = released_once()
    assert retract(order, folder=order.releases / "v7") == 2
    assert "knows no release at" in capsys.readouterr().err
    assert retract(order, why="two\nlines") == 2
    assert "the reason must be one line" in capsys.readouterr().err
    (order.folder_of_v1 / "manifest.json").write_text("{}")
    assert retract(order) == 1
    assert "does not hold the release that was published there" in capsys.readouterr().err
    assert entries(order)[0] == [("people", "v1", 1)]
    shutil.rmtree(order.folder_of_v1)
    assert retract(order) == 0
    assert "no folder of it stands" in capsys.readouterr().out
    assert entries(order) == ([], 0)


def test_another_ledger_than_that_of_the_release(released_once, capsys):
    order = released_once()
    (order.vault / "ledger.sqlite").unlink()
    assert retract(order) == 2
    assert "does not list people v1" in capsys.readouterr().err
    assert order.versions == ["v1"]
    assert audit_release(order.folder_of_v1, order.plan).passed  # it enters what the ledger lacks
    assert retract(order) == 0


def test_a_folder_that_cannot_be_moved_still_counts(released_once, monkeypatch, capsys):
    order = released_once()
    rename = os.rename

    def renamed(source, target):
        if str(target).endswith("-retracted"):
            raise PermissionError(13, "denied")
        rename(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", renamed)
        assert retract(order) == 1
    assert "still counts as released" in capsys.readouterr().err
    assert entries(order)[0] == [("people", "v1", 1)]
    assert retract(order) == 0


@pytest.mark.long
def test_a_copy_and_the_release_itself(tmp_path):
    order = Order(tmp_path)
    copy = shutil.copytree(order.release(), tmp_path / "copy")
    retract(order)
    assert not findings(copy, order)["not retracted"].passed


@pytest.mark.long
def test_a_release_that_is_named_by_its_copy(tmp_path):
    order = Order(tmp_path)
    copy = shutil.copytree(order.release(), tmp_path / "copy")
    retract(order, folder=copy)
    assert order.versions == ["v1-retracted"]
    assert (tmp_path / "copy-retracted" / "retracted.json").exists()
    assert entries(order) == ([], 0)


def test_a_notice_of_nobody_fails_an_audit(released_once):
    order = released_once()
    folder = order.folder_of_v1
    (folder / "retracted.json").write_text("{}")
    assert [finding.guarantee for finding in audit_release(folder, order.plan).broken] == [
        "not retracted"
    ]


# ---------------------------------------------------------------- killed in between

STEPS = {
    "before the decision": (
        "crowdcover.storage.series.retractions.Retractions",
        "record",
        0,
        False,
    ),
    "after the decision": ("crowdcover.storage.series.retractions.Retractions", "record", 0, True),
    "before the rename": ("crowdcover.storage.shelf.folders.os", "rename", 1, False),
    "after the rename": ("crowdcover.storage.shelf.folders.os", "rename", 1, True),
    "before the notice": ("crowdcover.storage.shelf.folders.os", "rename", 2, False),
    "after the notice": ("crowdcover.flows.vault.retraction", "put_aside", 0, True),
    "after the run forgot": ("crowdcover.storage.vault.run.Run", "forget_released", 0, True),
    "after the ledger forgot": ("crowdcover.storage.ledger.ledger.Ledger", "forget", 0, True),
    "before the end": ("crowdcover.storage.series.retractions.Retractions", "end", 0, False),
}


def retract_until(plan, folder, module, name, passes, called):
    """Retract and die at a call of module.name, after it was made or instead of it."""
    die_at(module, name, passes, called)
    cli.main(["retract", folder, "--plan", plan, "--by", "Ada", "--reason", WHY])


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """An order whose finished stages are published anew for each step."""
    order = Order(tmp_path_factory.mktemp("kept")).fix_seed()
    return order, data_bytes(order.release()), retract(order)


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
def test_killed_between_steps(kept, step):
    order, before, _ = kept
    folder = order.release()
    aside = aside_of(folder)
    died = run(retract_until, str(order.plan), str(folder), *STEPS[step])
    assert died.code == -signal.SIGKILL
    listed = entries(order)[0]
    assert listed == [("people", folder.name, 1)] or not folder.exists()
    if step != "before the decision":
        with pytest.raises(DecisionError, match="stopped before its end"):
            order.release()
    assert entries(order)[0] == listed  # nothing is forgotten or remembered by the way
    assert retract(order, folder=folder) == 0
    assert entries(order) == ([], 0)
    assert folder.name not in order.versions
    assert data_bytes(aside) == before
    assert read_json(aside / "retracted.json")["retracted"]["reason"] == WHY
    records = read_json(order.run.path / "retracted.json")["retractions"]
    assert all(record["done"] for record in records)
    assert len(records) == len(order.versions)
    assert not list(order.run.path.rglob(".*"))
