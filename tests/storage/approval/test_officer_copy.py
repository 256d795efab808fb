"""The officer's copy: what it holds, who can read it, and which decisions are taken up."""

import json
import os
import stat
from dataclasses import replace
from datetime import timedelta

import pytest

from crowdcover.storage.approval import request as module
from crowdcover.storage.approval.approval import (
    PAGE,
    Approval,
    Decision,
    DecisionError,
    Question,
    Request,
    page_sha256,
)
from crowdcover.storage.approval.officer_copy import (
    OUTCOME,
    Copy,
    close_copy,
    find_signed_decision,
    locate_copy,
    take_up,
    write_copy,
)
from crowdcover.storage.approval.signing_keys import new_key, public_of, read_key
from crowdcover.storage.approval.statement import Rules, attach_signature, to_file
from crowdcover.storage.vault.files import read_json
from crowdcover.storage.vault.refusals import FolderError
from crowdcover.storage.vault.vault import Vault

MANIFEST = {"name": "people", "version": "v1", "created": "then", "privacy": {"records": 9}}
QUESTION = Question({"data.parquet": "a" * 64}, "/releases/people", "b" * 64, MANIFEST)
ASKED_BY = {"operating system": "carol"}


@pytest.fixture
def keys(tmp_path):
    found = {}
    for name in ("ada", "bo"):
        new_key(tmp_path / f"{name}.key")
        found[name] = read_key(tmp_path / f"{name}.key")
    return found


@pytest.fixture
def rules(keys):
    return Rules({f"{name}@example.org": public_of(key) for name, key in keys.items()}, True)


@pytest.fixture
def run(tmp_path, rules):
    run = Vault(tmp_path / "vault").run("plan", "source")
    (run.path / PAGE).write_text("page")
    ask(run, rules)
    return run


def ask(run, rules, question=QUESTION):
    stated = {"approvers": rules.approvers, "requester_may_approve": rules.requester_may_approve}
    asked = Request.of(question, page_sha256(run), timedelta(hours=1), ASKED_BY, stated)
    return Approval.of(run).ask(asked)


@pytest.fixture
def copy(run, tmp_path):
    return write_copy(tmp_path / "reports", run, Approval.of(run).last)


def decide(copy, keys, who="ada", approved=True, name=None, **changes):
    """A signed decision in the copy, as `crowdcover sign` leaves it."""
    request = Copy.read(copy).request
    plain = replace(Decision.of(approved=approved, by=who, note=""), **changes)
    told = attach_signature(request, plain, keys[who], Rules.of(request.rules))
    path = copy / "decisions" / (name or f"{who}.json")
    path.write_bytes(to_file(request.question, told))
    return path


def test_a_copy_holds_what_is_asked_and_can_be_read_by_its_group(copy, run):
    assert copy == locate_copy(copy.parents[1], run, QUESTION)
    assert sorted(path.name for path in copy.iterdir()) == [
        "decisions", "numbers.json", "report.html", "request.json",
    ]  # fmt: skip
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (copy, *copy.iterdir())}
    assert modes.pop("decisions") == 0o3770
    assert modes.pop(copy.name) == 0o750
    assert set(modes.values()) == {0o640}
    assert stat.S_IMODE(copy.parents[1].stat().st_mode) == 0o750
    read = Copy.read(copy)
    read.require_open()
    assert read.request.question == replace(QUESTION, verdict="")  # it stays in the vault
    assert (copy / "report.html").read_text() == "page"
    assert (run.path / "seed").read_bytes().hex() not in (copy / "request.json").read_text()


@pytest.mark.parametrize("umask", [0, 0o077])
@pytest.mark.parametrize(
    ("mode", "folder", "file"),
    [(0o700, 0o700, 0o600), (0o3770, 0o750, 0o640), (0o755, 0o750, 0o640)],
)
def test_modes_follow_the_folder_of_reports_and_no_umask(run, tmp_path, umask, mode, folder, file):
    reports = tmp_path / "of officers"
    reports.mkdir()
    reports.chmod(mode)
    before = os.umask(umask)
    try:
        copy = write_copy(reports, run, Approval.of(run).last)
    finally:
        os.umask(before)
    assert stat.S_IMODE(copy.stat().st_mode) == folder
    assert stat.S_IMODE((copy / "request.json").stat().st_mode) == file
    assert stat.S_IMODE(reports.stat().st_mode) == mode


def test_a_copy_that_stands_is_left_and_one_that_was_changed_is_written_anew(copy, run):
    before = (copy / "report.html").stat().st_ino
    write_copy(copy.parents[1], run, Approval.of(run).last)
    assert (copy / "report.html").stat().st_ino == before
    for name in ("report.html", "numbers.json", "request.json"):
        (copy / name).write_text('{"name": "others"}')
        with pytest.raises(DecisionError):
            Copy.read(copy)
        write_copy(copy.parents[1], run, Approval.of(run).last)
        Copy.read(copy)


def test_a_question_that_is_asked_anew_closes_its_copy(copy, run, rules, keys):
    request = ask(run, rules, replace(QUESTION, files={"data.parquet": "c" * 64}))
    later = write_copy(copy.parents[1], run, request)
    assert read_json(copy / OUTCOME) == {"state": "asked anew"}
    with pytest.raises(DecisionError, match="was decided or asked anew: see"):
        Copy.read(copy).require_open()
    Copy.read(later).require_open()
    decide(copy, keys)
    assert take_up(copy.parents[1], run, rules) == []  # the copy of the last question counts
    assert Approval.of(run).last.decision is None


def test_a_signed_approval_is_taken_up_once(copy, run, keys, rules):
    decide(copy, keys)
    assert take_up(copy.parents[1], run, rules) == []
    decision = Approval.of(run).require()
    assert (decision.identity, decision.authenticated) == ("ada@example.org", "signature")
    assert read_json(copy / OUTCOME)["state"] == "approved"
    decide(copy, keys, "bo", approved=False)
    assert take_up(copy.parents[1], run, rules) == []
    assert Approval.of(run).require() == decision
    close_copy(copy.parents[1], run, Approval.of(run).last)
    assert read_json(copy / OUTCOME)["state"] == "approved"


def test_a_rejection_goes_before_an_approval(copy, run, keys, rules):
    decide(copy, keys, "ada", name="1.json")
    decide(copy, keys, "bo", approved=False, name="2.json")
    take_up(copy.parents[1], run, rules)
    assert Approval.of(run).last.decision.identity == "bo@example.org"


def test_what_was_signed_in_time_counts_also_if_it_is_found_later(
    copy, run, keys, monkeypatch, rules
):
    decide(copy, keys)
    later = module.current_time() + timedelta(days=1)
    monkeypatch.setattr(module, "current_time", lambda: later)
    assert take_up(copy.parents[1], run, rules) == []
    assert Approval.of(run).require().identity == "ada@example.org"


def test_what_was_signed_too_late_is_not_taken_up(copy, run, keys, rules):
    decide(copy, keys, at=Approval.of(run).last.until)
    (reason,) = take_up(copy.parents[1], run, rules)
    assert "it was signed after" in reason
    assert Approval.of(run).last.decision is None


def test_what_is_signed_ahead_of_the_clock_is_not_taken_up(copy, run, keys, rules):
    """Else publish.approval_valid would let it count for longer."""
    now = module.current_time()
    decide(copy, keys, at=module.format_record_time(now + timedelta(minutes=20)))
    (reason,) = take_up(copy.parents[1], run, rules)
    assert "which is later than now" in reason
    assert Approval.of(run).last.decision is None
    decide(copy, keys, at=module.format_record_time(now + timedelta(minutes=2)))
    assert take_up(copy.parents[1], run, rules) == []
    assert Approval.of(run).require().identity == "ada@example.org"


def test_odd_files_among_the_decisions_are_no_decisions(copy, run, tmp_path, keys, rules):
    folder = copy / "decisions"
    (folder / "text").write_text("I agree")
    (folder / "folder").mkdir()
    (folder / "link").symlink_to(run.path / "seed")
    os.mkfifo(folder / "pipe")
    (folder / "zeros").write_bytes(bytes(100_000))
    reasons = take_up(copy.parents[1], run, rules)
    assert len(reasons) == 2
    assert all("is no signed decision" in reason for reason in reasons)
    told = json.loads(decide(copy, keys).read_text())
    told["statement"]["note"] = "something else"
    (folder / "ada.json").write_text(json.dumps(told))
    first, reasons = find_signed_decision(copy.parents[1], run, Approval.of(run).last, rules)
    assert first is None
    assert len(reasons) == 3
    assert Approval.of(run).last.decision is None


def test_the_owner_of_a_decision_may_be_who_asked(copy, run, keys, rules, monkeypatch):
    """Who asked signs with somebody's key, from the account that asked."""
    strict = replace(rules, requester_may_approve=False)
    ask(run, strict)
    again = write_copy(copy.parents[1], run, Approval.of(run).last)
    path = decide(again, keys)
    monkeypatch.setattr("crowdcover.storage.approval.identity.find_account_name", lambda _: "ada")
    first, reasons = find_signed_decision(copy.parents[1], run, Approval.of(run).last, strict)
    assert (first.account, reasons) == ("ada", [])
    monkeypatch.setattr("crowdcover.storage.approval.identity.find_account_name", lambda _: "carol")
    assert path.exists()
    first, reasons = find_signed_decision(copy.parents[1], run, Approval.of(run).last, strict)
    assert first is None
    assert "the person who asked for the release decided about it" in reasons[0]


def test_who_may_no_longer_decide_does_not_reject_either(copy, run, keys, rules):
    """The plan today does not register Bo, who was registered when it was asked."""
    decide(copy, keys, "bo", approved=False)
    today = replace(rules, approvers={"ada@example.org": public_of(keys["ada"])})
    (reason,) = take_up(copy.parents[1], run, today)
    assert "it names a person whom publish.approvers does not register" in reason
    assert Approval.of(run).last.decision is None
    decide(copy, keys, "ada")
    take_up(copy.parents[1], run, today)
    assert Approval.of(run).require().identity == "ada@example.org"


@pytest.mark.parametrize("may", [True, False])
def test_a_signature_that_nobody_can_verify_does_not_count(copy, run, keys, may):
    """The plan registers nobody; who may write in the copy made a text that looks signed."""
    told = json.loads(decide(copy, keys).read_text())
    (copy / "decisions" / "ada.json").write_text(json.dumps({**told, "signature": "forged"}))
    (reason,) = take_up(copy.parents[1], run, Rules({}, may))
    assert "publish.approvers registers nobody, so no signature can be verified" in reason
    assert Approval.of(run).last.decision is None


def test_a_copy_leads_nowhere(run, tmp_path):
    """Whoever may write beside copies leads one to the vault, which would get the group's modes."""
    reports = tmp_path / "reports"
    reports.mkdir()
    reports.chmod(0o1777)
    vault = run.path.parents[1]
    request, modes = Approval.of(run).last, stat.S_IMODE(vault.stat().st_mode)
    (reports / "people").symlink_to(vault)
    with pytest.raises(FolderError, match="is a link or of another account"):
        write_copy(reports, run, request)
    assert stat.S_IMODE(vault.stat().st_mode) == modes
    (reports / "people").unlink()
    copy = locate_copy(reports, run, QUESTION)
    copy.parent.mkdir(mode=0o750)
    copy.symlink_to(run.path)
    before = {path: path.read_bytes() for path in run.path.rglob("*") if path.is_file()}
    with pytest.raises(FolderError, match="is a link or of another account"):
        write_copy(reports, run, request)
    Approval.of(run).amend(decision=Decision.of(approved=True, by="A", note=""))
    close_copy(reports, run, Approval.of(run).last)
    assert not (run.path / OUTCOME).exists()
    assert before.keys() == {path for path in run.path.rglob("*") if path.is_file()}


@pytest.mark.parametrize("mode", [0o770, 0o757])
def test_a_folder_in_which_others_could_replace_copies(run, tmp_path, mode):
    (tmp_path / "of all").mkdir()
    (tmp_path / "of all").chmod(mode)
    with pytest.raises(FolderError, match="can be changed by other accounts; chmod g-w,o-w it"):
        write_copy(tmp_path / "of all", run, Approval.of(run).last)
    assert not list((tmp_path / "of all").iterdir())


def test_a_folder_that_cannot_be_written_is_named(run, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FolderError, match="the report cannot be copied to"):
        write_copy(tmp_path / "file" / "reports", run, Approval.of(run).last)


def test_a_decision_of_before_does_not_answer_the_question_that_is_asked_again(
    copy, run, keys, rules
):
    path = decide(copy, keys, approved=False)
    old = path.read_bytes()
    take_up(copy.parents[1], run, rules)
    last = Approval.of(run).reopen()
    assert last.question == QUESTION
    again = write_copy(copy.parents[1], run, Approval.of(run).last)
    assert not path.exists()
    assert not (again / OUTCOME).exists()
    path.write_bytes(old)
    (reason,) = take_up(copy.parents[1], run, rules)
    assert "about another release or another request" in reason
