"""Requests and decisions in the vault, compared with a simple model."""

import json
import os
import stat
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from anon_core.errors import GuaranteeError
from crowdcover.storage.approval import request as module
from crowdcover.storage.approval.approval import (
    PAGE,
    RECORD,
    Approval,
    Decision,
    DecisionError,
    Question,
    Request,
    build_approval_section,
    format_duration,
    page_sha256,
)
from crowdcover.storage.vault.files import file_sha256, write_json
from crowdcover.storage.vault.vault import Vault

GIVEN = timedelta(hours=1)
MANIFEST = {
    "name": "people",
    "version": "v1",
    "created": "then",
    "privacy": {"records": 9, "k_min": 2},
}


@pytest.fixture
def clock(monkeypatch):
    """A clock that moves only when a test moves it."""

    class Clock:
        at = datetime(2026, 1, 1, tzinfo=UTC)

    monkeypatch.setattr(module, "current_time", lambda: Clock.at)
    return Clock


@pytest.fixture
def run(tmp_path):
    run = Vault(tmp_path / "vault").run("plan", "source")
    (run.path / PAGE).write_text("page")
    return run


def question(**changes):
    return replace(
        Question({"data.parquet": "a" * 64}, "/releases/people", "b" * 64, MANIFEST), **changes
    )


def asked(run, about=None):
    """Make a request as `ask` does."""
    about, approval = about or question(), Approval.of(run)
    if not approval.asks(about):
        approval.ask(Request.of(about, page_sha256(run), GIVEN))
    return Approval.of(run)


def decision(approved=True, note=""):
    return Decision.of(approved=approved, by="Ada", note=note)


# ---------------------------------------------------------------- all sequences of events


class Account:
    """The model: the expected result of each action. The last request has one of a few states."""

    def __init__(self):
        self.state, self.about, self.left = "nothing asked", None, 0

    def ask(self, about):
        if self.state in ("nothing asked", "over") or self.about != about:
            self.state, self.about, self.left = "open", about, 1
        if self.state == "open" and self.left <= 0:
            self.state = "over"
            return "refused"
        return {"open": "waits", "approved": "approved", "rejected": "refused"}[self.state]

    def decide(self, what):
        if self.state == "nothing asked":
            return "nothing"
        if self.state != "open" or self.left <= 0:
            return "refused"
        self.state = what
        return "done"

    def reopen(self):
        if self.state == "nothing asked" or (self.state == "open" and self.left > 0):
            return "nothing"
        self.state, self.left = "open", 1
        return "done"

    def wait(self):
        self.left -= 1
        return "done"


def outcome(work):
    try:
        return work() or "done"
    except GuaranteeError:
        return "refused"
    except DecisionError:
        return "nothing"


def came_of(found):
    return "waits" if found is None else "approved"


ACTS = {
    "ask": lambda run, clock: came_of(asked(run).require()),
    "ask something else": lambda run, clock: came_of(
        asked(run, question(verdict="c" * 64)).require()
    ),
    "approve": lambda run, clock: Approval.of(run).decide(decision()) and "done",
    "reject": lambda run, clock: Approval.of(run).decide(decision(approved=False)) and "done",
    "reopen": lambda run, clock: Approval.of(run).reopen() and "done",
    # Beyond the deadline even of a request that was moved, since another had its second.
    "wait": lambda run, clock: setattr(clock, "at", clock.at + timedelta(hours=1, minutes=1)),
}
EXPECTED = {
    "ask": lambda account: account.ask(1),
    "ask something else": lambda account: account.ask(2),
    "approve": lambda account: account.decide("approved"),
    "reject": lambda account: account.decide("rejected"),
    "reopen": lambda account: account.reopen(),
    "wait": lambda account: account.wait(),
}


@pytest.mark.slow
def test_every_course_of_four_acts_goes_as_it_should(run, clock, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    seen = set()
    for acts in product(ACTS, repeat=4):
        (run.path / RECORD).unlink(missing_ok=True)
        account, before = Account(), []
        for act in acts:
            found, wanted = outcome(lambda act=act: ACTS[act](run, clock)), EXPECTED[act](account)
            assert found == wanted, (acts, act)
            seen.add((act, found))
            requests = Approval.of(run).requests
            for old, new in zip(before, requests, strict=False):  # a finished request never changes
                assert old == new or (old.decision is None and not old.ended)
            assert len(requests) >= len(before)
            before = list(requests)
    assert {found for act, found in seen if act == "ask"} == {"waits", "approved", "refused"}
    assert {found for act, found in seen if act == "approve"} == {"done", "refused", "nothing"}
    assert {found for act, found in seen if act == "reopen"} == {"done", "nothing"}


# ---------------------------------------------------------------- messages and files


def test_refusals_say_who_and_why(run, clock):
    with pytest.raises(
        DecisionError, match=f"run {run.path.name} has asked for no approval; run the release first"
    ):
        Approval.of(run).decide(decision())
    asked(run).decide(decision(approved=False, note="raise k"))
    words = (
        rf"publication refused: run {run.path.name} was rejected by Ada "
        r"at 2026-01-01T00:00:00\+00:00: raise k; nothing was"
    )
    for _ in range(2):
        with pytest.raises(GuaranteeError, match=words):
            asked(run).require()
    with pytest.raises(
        GuaranteeError, match=r"was rejected by Ada at .*: raise k; a decision cannot be changed"
    ):
        Approval.of(run).decide(decision())


def test_who_is_asked_twice_in_a_second_has_as_long_to_answer(run, clock):
    asked(run).decide(decision(approved=False))
    Approval.of(run).reopen()
    first, again = Approval.of(run).requests
    assert first.asked != again.asked
    assert first.given == again.given == GIVEN


def test_silence_is_told_once(run, clock):
    asked(run)
    clock.at += GIVEN
    with pytest.raises(GuaranteeError, match="nobody approved within 1h of 2026-01-01T00:00:00"):
        Approval.of(run).decide(decision())
    with pytest.raises(
        GuaranteeError,
        match=r"refused: nobody approved within 1h of .*; nothing was published\. "
        "Run the release to ask",
    ):
        asked(run).require()
    assert asked(run).require() is None
    assert [request.ended for request in Approval.of(run).requests] == [True, False]


def test_an_answer_that_prefect_has_taken_in_time_is_taken(run, clock):
    asked(run)
    clock.at += GIVEN
    Approval.of(run).decide(decision(), in_time=True)
    assert Approval.of(run).require().by == "Ada"
    with pytest.raises(GuaranteeError, match="a decision cannot be changed"):
        Approval.of(run).decide(decision(), in_time=True)


@pytest.mark.parametrize(
    "changes",
    [
        {"files": {"data.parquet": "c" * 64}},
        {"files": {}},
        {"folder": "/public"},
        {"verdict": "c" * 64},
        {"manifest": {**MANIFEST, "privacy": {"records": 9, "k_min": 3}}},
        {"manifest": {**MANIFEST, "attacks": {}}},
    ],
    ids="".join,
)
def test_an_approval_is_for_what_was_asked_and_nothing_else(run, changes):
    asked(run).decide(decision())
    assert asked(run).require() is not None
    assert asked(run, question(**changes)).require() is None


def test_the_moment_does_not_matter(run):
    asked(run).decide(decision())
    later = {
        **MANIFEST,
        "version": "v2",
        "created": "now",
        "timings": {"check": 1.0},
        "peak_memory_bytes": 5,
    }
    assert asked(run, question(manifest=later)).require() is not None


def test_a_changed_report_is_not_approved(run):
    asked(run)
    (run.path / PAGE).write_text("another page")
    with pytest.raises(GuaranteeError, match=r"approval\.html is not the report of the request"):
        Approval.of(run).decide(decision())
    assert Approval.of(run).require() is None


def test_the_vaults_record_is_its_owners_and_damage_is_no_approval(run):
    asked(run).decide(decision())
    path = run.path / RECORD
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for content in (
        "{",
        "[]",
        '{"requests": [{}]}',
        '{"requests": [{"decision": 1}]}',
        '{"requests": [null]}',
    ):
        path.write_text(content)
        with pytest.raises(GuaranteeError, match="cannot be read, so no approval counts"):
            Approval.of(run)


@pytest.mark.parametrize(
    "text", ["", "  ", "a\nb", "a\tb", "\x1b[31mred", "a\u202eb", "x" * 101], ids=repr
)
def test_names_are_a_line_of_text(text):
    with pytest.raises(
        DecisionError, match="the name must be one line of 1 to 100 printable characters"
    ):
        Decision.of(approved=True, by=text, note="")


@pytest.mark.parametrize("text", ["a\nb", "\x00", "x" * 501], ids=lambda text: repr(text[:5]))
def test_notes_are_a_line_of_text(text):
    with pytest.raises(
        DecisionError, match="the note must be one line of 0 to 500 printable characters"
    ):
        Decision.of(approved=True, by="Ada", note=text)


def test_words_are_kept_as_they_are(run):
    told = Decision.of(approved=True, by=" Zoë <b>O'Neil</b> ", note='"yes" & {{ more }} 好')
    asked(run).decide(told)
    assert build_approval_section(Approval.of(run).require()) == {
        "required": True, "by": "Zoë <b>O'Neil</b>", "note": '"yes" & {{ more }} 好', "at": told.at,
    }  # fmt: skip


@pytest.mark.parametrize(("hours", "words"), [(168, "7d"), (36, "1d12h"), (1, "1h"), (0.5, "30m")])
def test_times_are_said_as_a_plan_says_them(hours, words):
    assert format_duration(timedelta(hours=hours)) == words


# ---------------------------------------------------------------- a published folder


def publish(run, folder, **changes):
    folder.mkdir()
    (folder / "data.parquet").write_text("rows")
    about = question(files={"data.parquet": file_sha256(folder / "data.parquet")})
    asked(run, about).decide(decision(note="fine"))
    manifest = {
        **MANIFEST,
        "approval": build_approval_section(Approval.of(run).require()),
        "files": {},
    }
    write_json(folder / "manifest.json", {**manifest, **changes})
    return folder


def test_a_published_folder_is_what_was_approved(run, tmp_path):
    folder = publish(run, tmp_path / "v1")
    assert Approval.of(run).find_objection(folder) == ""
    asked(run, question()).decide(decision(approved=False))  # a later request changes nothing
    assert Approval.of(run).find_objection(folder) == ""


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"approval": None}, "its manifest names no person"),
        (
            {"approval": {"required": True, "by": "Eve", "note": "fine", "at": "2026"}},
            "the vault has no such approval",
        ),
        ({"approval": "yes"}, "the vault has no such approval"),
        ({"privacy": {"records": 9, "k_min": 3}}, "the approval is for other files or numbers"),
    ],
)
def test_a_manifest_that_says_something_else_is_found(run, tmp_path, changes, words):
    folder = publish(run, tmp_path / "v1", **changes)
    assert words in Approval.of(run).find_objection(folder)


def test_rows_that_changed_after_the_approval_are_found(run, tmp_path):
    folder = publish(run, tmp_path / "v1")
    (folder / "data.parquet").write_text("other rows")
    assert Approval.of(run).find_objection(folder) == "the approval is for other files or numbers"


def test_a_rejection_is_no_approval(run, tmp_path):
    folder = publish(run, tmp_path / "v1")
    record = json.loads((run.path / RECORD).read_text())
    record["requests"][0]["decision"]["approved"] = False
    write_json(run.path / RECORD, record)
    assert Approval.of(run).find_objection(folder) == "the vault has no such approval"
