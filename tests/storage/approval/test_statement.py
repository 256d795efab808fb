"""Signed decisions: every change of what was signed is found, whoever made it."""

import json
import os
from dataclasses import replace
from datetime import timedelta

import pytest

from anon_core.errors import GuaranteeError
from crowdcover.storage.approval import identity
from crowdcover.storage.approval.approval import (
    PAGE,
    Approval,
    Decision,
    DecisionError,
    Question,
    Request,
    build_approval_section,
    page_sha256,
)
from crowdcover.storage.approval.decision_rules import (
    find_decision_objection,
    find_release_objection,
    find_signature_objection,
    require_approved,
)
from crowdcover.storage.approval.officer_copy import accept_signed_decision
from crowdcover.storage.approval.signing_keys import new_key, public_of, read_key, sign_content
from crowdcover.storage.approval.statement import (
    LONGEST_SIGNED,
    Rules,
    attach_signature,
    build_decision_statement,
    format_canonical_json,
    from_file,
    to_file,
)
from crowdcover.storage.vault.files import file_sha256, write_json
from crowdcover.storage.vault.vault import Vault

ADA, BO = "ada@example.org", "bo@example.org"
ASKED_BY = {"operating system": "carol"}
MANIFEST = {"name": "people", "version": "v1", "created": "then", "privacy": {"records": 9}}
QUESTION = Question({"data.parquet": "a" * 64}, "/releases/people", "b" * 64, MANIFEST)
REQUEST = Request.of(QUESTION, "p" * 64, timedelta(hours=1), ASKED_BY)


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """Private keys: of Ada and Bo, who are registered, and of Eve, who is not."""
    folder = tmp_path_factory.mktemp("keys")
    for name in ("ada", "bo", "eve"):
        new_key(folder / name)
    return {name: read_key(folder / name) for name in ("ada", "bo", "eve")}


@pytest.fixture(scope="module")
def rules(keys):
    return Rules({ADA: public_of(keys["ada"]), BO: public_of(keys["bo"])}, False)


@pytest.fixture
def made(keys, rules):
    """What Ada signed about the question."""
    plain = Decision.of(approved=True, by="Ada Lovelace", note="read")
    return attach_signature(REQUEST, plain, keys["ada"], rules)


def test_what_was_signed_counts(made, rules):
    assert find_decision_objection(QUESTION, made, ASKED_BY, rules) == ""
    assert (made.identity, made.authenticated) == (ADA, "signature")
    told = build_approval_section(made)
    assert told["identity"] == ADA
    assert told["question"] == QUESTION.sha256
    assert told["requested_by"] == ASKED_BY
    assert len(told["statement"]) == 64


def test_the_statement_is_the_same_for_any_order_of_its_parts():
    told = {"note": "ä", "at": 1}
    assert (
        format_canonical_json(told)
        == format_canonical_json({"at": 1, "note": "ä"})
        == b'{"at":1,"note":"\\u00e4"}'
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"note": "read twice"}, "name, note, time, files, numbers or who asked differ"),
        ({"by": "Eve"}, "name, note, time, files, numbers or who asked differ"),
        ({"at": "2020-01-01T00:00:00+00:00"}, "name, note, time, files, numbers or who asked"),
        ({"approved": False}, "the signature is not of this decision"),
        ({"asked": "2020-01-01T00:00:00+00:00"}, "the signature is not of this decision"),
        ({"requested_by": {}}, "the signature is not of this decision"),
        ({"statement": "0" * 64}, "the signature is not of this decision"),
        ({"identity": BO}, "another key than publish.approvers registers for that person"),
        ({"identity": "eve@example.org"}, "a person whom publish.approvers does not register"),
        ({"signature": ""}, "it is not signed, and publish.approvers requires a signature"),
        ({"signature": "ed25519:" + 86 * "A" + "=="}, "the signature is not of this decision"),
        ({"signature": "yes"}, "the signature is not of this decision"),
    ],
    ids=str,
)
def test_every_change_is_found(made, rules, changes, words):
    changed = replace(made, **changes)
    assert words in find_signature_objection(QUESTION, changed, rules)
    assert words in find_decision_objection(QUESTION, changed, ASKED_BY, rules)


@pytest.mark.parametrize(
    "other",
    [
        {"files": {"data.parquet": "c" * 64}},
        {"folder": "/elsewhere"},
        {"manifest": {**MANIFEST, "privacy": {"records": 8}}},
        {"manifest": {**MANIFEST, "name": "others"}},
    ],
    ids=str,
)
def test_a_signature_of_another_release_does_not_count(made, rules, other):
    assert "the signature is not of" in find_decision_objection(
        replace(QUESTION, **other), made, ASKED_BY, rules
    )


def test_what_is_published_tells_nothing_of_the_verdict(keys, rules):
    """The verdict is a hash of numbers of each record, some of which are published rounded."""
    other = replace(QUESTION, verdict="c" * 64)
    plain = Decision.of(approved=True, by="Ada", note="")
    made = [
        build_approval_section(
            attach_signature(replace(REQUEST, question=each), plain, keys["ada"], rules)
        )
        for each in (QUESTION, other)
    ]
    assert made[0] == made[1]
    assert not QUESTION.same(other)  # all the same it is asked anew


def test_who_asked_is_as_it_was_signed(made, rules):
    """Who can write in the vault changes who asked, after the person who asked has signed."""
    asked_by = {"operating system": "dora"}
    assert "it names others who asked" in find_decision_objection(QUESTION, made, asked_by, rules)


def test_an_unregistered_key_signs_nothing_that_counts(keys, rules, made):
    with pytest.raises(DecisionError, match="does not register this key"):
        attach_signature(REQUEST, made, keys["eve"], rules)
    eves = replace(made, key=public_of(keys["eve"]))
    eves = replace(
        eves,
        signature=sign_content(
            keys["eve"], format_canonical_json(build_decision_statement(QUESTION, eves))
        ),
    )
    assert "another key than publish.approvers" in find_decision_objection(
        QUESTION, eves, ASKED_BY, rules
    )
    forged = replace(eves, key=public_of(keys["ada"]))
    assert "the signature is not of" in find_decision_objection(QUESTION, forged, ASKED_BY, rules)


# ---------------------------------------------------------------- who asked


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("ada", "ada", True),
        ("ada", "Ada@example.org", True),
        ("ada@example.org", "ada@elsewhere.org", False),
        ("ada", "bo", False),
        ("", "", False),
        ("uid 1000", "uid 1001", False),
    ],
)
def test_which_names_may_mean_one_person(one, other, expected):
    assert identity.is_same_person(one, other) is identity.is_same_person(other, one) is expected


def test_the_account_is_of_the_process_and_not_of_a_variable(monkeypatch):
    for name in ("USER", "LOGNAME", "USERNAME"):
        monkeypatch.setenv(name, "eve")
    monkeypatch.setattr(os, "getuid", lambda: 0)
    assert identity.account_of_process() == "root"
    assert identity.find_account_name(2**31 - 5) == f"uid {2**31 - 5}"


def test_who_asked_may_not_approve_where_the_plan_says_so(made, rules):
    for name in ("ada", "ADA", ADA):
        asked_by = {"operating system": name}
        told = find_decision_objection(
            QUESTION, replace(made, requested_by=asked_by), asked_by, rules
        )
        assert told  # the signature is of another request
        plain = Decision.of(
            approved=True, by="A", note="", identity=name, authenticated=identity.ACCOUNT
        )
        told = find_decision_objection(QUESTION, plain, asked_by, Rules({}, False))
        assert "the person who asked for the release decided about it" in told
        assert find_decision_objection(QUESTION, plain, asked_by, Rules({}, True)) == ""
        assert (
            find_decision_objection(
                QUESTION, replace(plain, approved=False), asked_by, Rules({}, False)
            )
            == ""
        )


def test_a_signed_decision_of_who_asked_does_not_count(keys, rules):
    for asked_by, account in (({"prefect": ADA}, ""), ({"operating system": "c.smith"}, "c.smith")):
        plain = Decision.of(approved=True, by="Ada", note="")
        asked = replace(REQUEST, asked_by=asked_by)
        told = attach_signature(asked, plain, keys["ada"], rules)
        told = replace(told, account=account)
        assert "decided about it" in find_decision_objection(QUESTION, told, asked_by, rules)


def test_nobody_is_another_person(made):
    typed = Decision.of(approved=True, by="Ada", note="", authenticated=identity.NOBODY)
    assert "nobody authenticated who decided" in find_decision_objection(
        QUESTION, typed, ASKED_BY, Rules({}, False)
    )
    assert "it is not recorded who asked" in find_decision_objection(
        QUESTION, replace(typed, identity="ada", authenticated="x"), {}, Rules({}, False)
    )
    assert find_decision_objection(QUESTION, typed, ASKED_BY, Rules({}, True)) == ""


# ---------------------------------------------------------------- as a file


def request(rules, **changes):
    stated = {"approvers": rules.approvers, "requester_may_approve": rules.requester_may_approve}
    return replace(REQUEST, rules=stated, **changes)


def test_a_signed_file_is_read_back(made, rules):
    text = to_file(QUESTION, made).decode()
    assert from_file(text, request(rules)) == made
    assert accept_signed_decision(text, request(rules), rules, "ada") == replace(
        made, account="ada"
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda told: told["statement"].update(note="no"), "the signature is not of this decision"),
        (lambda told: told["statement"].update(decision="reject"), "the signature is not of this"),
        (lambda told: told["statement"].update(question="0" * 64), "about another release"),
        (lambda told: told["statement"].update(files={}), "about another release"),
        (lambda told: told["statement"].update(more="x"), "about another release"),
        (lambda told: told["statement"].update(requested_by={}), "about another release"),
        (lambda told: told["statement"].update(note="a\nb"), "the note must be one line"),
        (lambda told: told["statement"].update(at="soon"), "is no signed decision"),
        (lambda told: told["statement"].update(at="2026-01-01T00:00:00"), "is no signed decision"),
        (lambda told: told["statement"].update(decision="perhaps"), "is no signed decision"),
        (lambda told: told["statement"].update(by=7), "is no signed decision"),
        (lambda told: told.pop("signature"), "is no signed decision"),
        (lambda told: told.pop("statement"), "is no signed decision"),
        (lambda told: told.update(key="ed25519:AA=="), "another key than"),
    ],
)
def test_a_file_that_was_changed_does_not_count(made, rules, change, words):
    told = json.loads(to_file(QUESTION, made))
    change(told)
    with pytest.raises(DecisionError, match=words):
        accept_signed_decision(json.dumps(told), request(rules), rules)


@pytest.mark.parametrize("text", ["", "[]", "1", "{}", "x" * (LONGEST_SIGNED + 1), "[" * 50_000])
def test_a_text_that_is_no_signed_decision(rules, text):
    with pytest.raises(DecisionError, match="is no signed decision"):
        from_file(text, request(rules))


def test_a_decision_that_was_signed_too_late(made, rules):
    text = to_file(QUESTION, made).decode()
    with pytest.raises(DecisionError, match="signed after"):
        accept_signed_decision(text, request(rules, until=made.at), rules)


# ---------------------------------------------------------------- a published folder


@pytest.fixture
def published(tmp_path, keys, rules):
    """A run with Ada's approval, and the folder that was published with it."""
    run = Vault(tmp_path / "vault").run("plan", "source")
    (run.path / PAGE).write_text("page")
    folder = tmp_path / "v1"
    folder.mkdir()
    (folder / "data.parquet").write_text("rows")
    about = replace(QUESTION, files={"data.parquet": file_sha256(folder / "data.parquet")})
    asked = Request.of(about, page_sha256(run), timedelta(hours=1), ASKED_BY)
    approval = Approval.of(run)
    approval.ask(asked)
    plain = Decision.of(approved=True, by="Ada", note="read")
    decision = attach_signature(asked, plain, keys["ada"], rules)
    Approval.of(run).decide(decision)
    manifest = {**MANIFEST, "approval": build_approval_section(decision), "files": {}}
    write_json(folder / "manifest.json", manifest)
    return run, folder


def test_a_signed_release_stands(published, rules):
    assert find_release_objection(*published, rules) == ""
    assert find_release_objection(*published, Rules({}, True)) == ""
    require_approved(*published, rules)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"note": "fine"}, "the signature is not of this decision"),
        ({"by": "Bo"}, "the signature is not of this decision"),
        ({"identity": BO}, "another key than publish.approvers registers"),
        ({"identity": "eve@example.org"}, "whom publish.approvers does not register"),
        ({"signature": "ed25519:" + 86 * "A" + "=="}, "the signature is not of this decision"),
        ({"requested_by": {"operating system": "dora"}}, "the signature is not of this decision"),
    ],
    ids=str,
)
def test_manifest_and_vault_that_were_changed_together_are_found(published, rules, changes, words):
    """Whoever owns both can make them agree, and has no signature for it."""
    run, folder = published
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["approval"] |= changes
    write_json(folder / "manifest.json", manifest)
    record = json.loads((run.path / "approval.json").read_text())
    record["requests"][0]["decision"] |= changes
    if "requested_by" in changes:
        record["requests"][0]["asked_by"] = changes["requested_by"]
    write_json(run.path / "approval.json", record)
    assert Approval.of(run).find_objection(folder) == ""
    assert words in find_release_objection(run, folder, rules)
    with pytest.raises(GuaranteeError, match="was published before and stays as it is"):
        require_approved(run, folder, rules)


def test_a_key_that_the_plan_no_longer_registers(published, rules, keys):
    others = Rules({ADA: public_of(keys["eve"])}, True)
    assert "another key than" in find_release_objection(*published, others)
    assert "does not register" in find_release_objection(
        *published, Rules({BO: public_of(keys["bo"])}, True)
    )


def test_a_release_of_other_files_has_no_signature(published, rules):
    run, folder = published
    (folder / "data.parquet").write_text("other rows")
    assert (
        find_release_objection(run, folder, rules) == "the approval is for other files or numbers"
    )
