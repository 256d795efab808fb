"""Several people, deputies and the age of approvals: what counts, and what ends the waiting."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from anon_core.errors import GuaranteeError
from crowdcover.storage.approval import identity
from crowdcover.storage.approval import request as module
from crowdcover.storage.approval.approval import (
    PAGE,
    Approval,
    Decision,
    DecisionError,
    Question,
    Request,
    build_approval_section,
    count_approvals,
    page_sha256,
)
from crowdcover.storage.approval.decision_rules import (
    ExpiredError,
    _find_objection_to_any,
    find_decision_objection,
    find_release_objection,
    is_of_same_person,
    require_several,
)
from crowdcover.storage.approval.officer_copy import Copy, take_up, write_copy
from crowdcover.storage.approval.sign_in import read_identity, state_identity
from crowdcover.storage.approval.signing_keys import new_key, public_of, read_key
from crowdcover.storage.approval.statement import (
    Deputy,
    Rules,
    Terms,
    attach_signature,
    from_file,
    to_file,
)
from crowdcover.storage.vault.files import file_sha256, write_json
from crowdcover.storage.vault.vault import Vault

ADA, BO, CY = "ada@example.org", "bo@example.org", "cy@example.org"
ASKED_BY = {"operating system": "carol"}
MANIFEST = {"name": "people", "version": "v1", "created": "then", "privacy": {"records": 9}}
HOUR = timedelta(hours=1)


@pytest.fixture
def clock(monkeypatch):
    class Clock:
        at = datetime(2026, 1, 1, tzinfo=UTC)

    monkeypatch.setattr(module, "current_time", lambda: Clock.at)
    return Clock


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    folder = tmp_path_factory.mktemp("keys")
    for name in (ADA, BO, CY):
        new_key(folder / name)
    return {name: read_key(folder / name) for name in (ADA, BO, CY)}


@pytest.fixture
def terms(keys):
    """Ada and Bo approve, both; Cy signs in the place of Ada."""
    public = {name: public_of(key) for name, key in keys.items()}
    return Terms(
        HOUR,
        {ADA: public[ADA], BO: public[BO]},
        approvals=2,
        deputies={CY: Deputy(ADA, public[CY])},
        valid=timedelta(days=2),
    )


@pytest.fixture
def run(tmp_path, terms, clock):
    run = Vault(tmp_path / "vault").run("plan", "source")
    (run.path / PAGE).write_text("page")
    files = {"data.parquet": "a" * 64}
    question = Question(files, "/releases/people", "b" * 64, MANIFEST)
    Approval.of(run).ask(Request.of(question, page_sha256(run), HOUR, ASKED_BY, terms.rules))
    return run


def typed(by, account="", approved=True):
    how = identity.ACCOUNT if account else identity.NOBODY
    return Decision.of(approved=approved, by=by, note="", identity=account, authenticated=how)


def signed(run, keys, name, approved=True, by=""):
    request = Approval.of(run).last
    plain = Decision.of(approved=approved, by=by or name, note="")
    return attach_signature(request, plain, keys[name], Rules.of(request.rules))


def objection(run, decision, earlier=()):
    request = Approval.of(run).last
    rules = Rules.of(request.rules)
    return find_decision_objection(request.question, decision, request.asked_by, rules, earlier)


def test_rules_survive_the_record_and_one_approval_states_nothing_new(terms):
    assert Terms(HOUR, {}).rules == {"approvers": {}, "requester_may_approve": True}
    rules = Rules.of(terms.rules)
    assert (rules.approvals, rules.valid) == (2, timedelta(days=2))
    assert rules.deputies == dict(terms.deputies)
    assert rules.find_place(CY) == ADA
    assert rules.find_place(BO) == ""
    assert not Rules({}, True, approvals=2).ask_nothing
    assert Rules({}, True, approvals=2).need_no_requester


def test_the_second_person_decides(run):
    approval = Approval.of(run)
    first = approval.decide(typed("Ada"), needed=2)
    assert first.decision is None
    assert count_approvals(first) == "1 of 2 approvals: Ada"
    assert Approval.of(run).require(2) is None
    second = Approval.of(run).decide(typed("Bo"), needed=2)
    assert second.decision.by == "Bo"
    assert [each.by for each in Approval.of(run).last.approvals] == ["Ada", "Bo"]
    assert Approval.of(run).require(2).by == "Bo"
    section = build_approval_section(second.decision, second.agreed)
    assert (section["by"], [each["by"] for each in section["also"]]) == ("Bo", ["Ada"])
    assert "also" not in build_approval_section(second.decision)
    with pytest.raises(GuaranteeError, match="a decision cannot be changed"):
        Approval.of(run).decide(typed("Cy"), needed=2)


def test_one_rejection_ends_it(run):
    Approval.of(run).decide(typed("Ada"), needed=2)
    Approval.of(run).decide(typed("Bo", approved=False), needed=2)
    with pytest.raises(GuaranteeError, match="was rejected by Bo"):
        Approval.of(run).require(2)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (typed("Ada"), typed("ADA "), True),
        (typed("Ada", "ada"), typed("Ada Lovelace", "ada"), True),  # one account, two names
        (typed("Ada", "svc-a"), typed("ada@example.org", "svc-b"), True),
        (typed("Ada", "ada"), typed("Bo", "bo"), False),
        (typed("Ada"), typed("Bo", "ada"), True),  # the account may be hers
        (replace(typed("Ada"), key="k"), replace(typed("Bo"), key="k"), True),
        (replace(typed("Ada"), key="k"), replace(typed("Bo"), key="l"), False),
        (replace(typed("Ada"), account="a"), replace(typed("Bo"), account="a"), True),
        (replace(typed("Ada"), account="a"), replace(typed("Bo"), account="b"), False),
        (replace(typed("Cy"), in_place_of=ADA), typed("Ada", ADA), True),
    ],
)
def test_who_counts_as_one_person(one, other, same):
    assert is_of_same_person(one, other) == same
    assert is_of_same_person(other, one) == same


def test_the_same_key_or_name_counts_once(run, keys):
    ada = signed(run, keys, ADA)
    assert objection(run, ada) == ""
    assert "this person approved already" in objection(run, ada, [ada])
    assert "this person approved already" in objection(run, signed(run, keys, ADA, by="Eve"), [ada])
    assert "this person approved already" in objection(run, signed(run, keys, BO, by=ADA), [ada])
    assert objection(run, signed(run, keys, BO), [ada]) == ""
    assert objection(run, signed(run, keys, ADA, approved=False), [ada]) == ""


def test_a_deputy_signs_in_the_place_that_the_plan_states(run, keys, terms):
    cy, ada, bo = (signed(run, keys, name) for name in (CY, ADA, BO))
    assert (cy.identity, cy.in_place_of) == (CY, ADA)
    assert objection(run, cy) == ""
    assert "this person approved already" in objection(run, cy, [ada])
    assert "this person approved already" in objection(run, ada, [cy])
    assert objection(run, cy, [bo]) == ""
    request = Approval.of(run).last
    assert from_file(to_file(request.question, cy).decode(), request) == cy
    assert "another place" in objection(run, replace(cy, in_place_of=""))
    assert "another place" in objection(run, replace(cy, in_place_of=BO))
    without = Rules.of(replace(terms, deputies={}).rules)
    refused = find_decision_objection(request.question, cy, request.asked_by, without)
    assert "whom publish.approvers does not register" in refused
    # Stated otherwise in the plan: the signature is of the place that stood there.
    other = Rules.of(replace(terms, deputies={CY: Deputy(BO, cy.key)}).rules)
    moved = replace(cy, in_place_of=BO)
    refused = find_decision_objection(request.question, moved, request.asked_by, other)
    assert "the signature is not of this decision" in refused


def test_a_deputy_of_who_asked_cannot_approve(run, keys, terms):
    rules = Rules.of(replace(terms, requester_may_approve=False).rules)
    asked_by = {"operating system": "ada"}
    Approval.of(run).amend(asked_by=asked_by)
    request = Approval.of(run).last
    for name, refused in ((CY, True), (ADA, True), (BO, False)):
        made = signed(run, keys, name)
        words = find_decision_objection(request.question, made, asked_by, rules)
        assert ("the person who asked for the release decided" in words) == refused


def test_all_that_is_signed_in_the_copy_is_taken_up(run, keys, terms, tmp_path, monkeypatch):
    accounts = (f"account {number}" for number in count())
    monkeypatch.setattr(identity, "find_account_name", lambda _: next(accounts))
    reports, rules = tmp_path / "reports", Rules.of(terms.rules)
    copy = write_copy(reports, run, Approval.of(run).last)

    def put(name, file, **more):
        request = Copy.read(copy).request
        plain = Decision.of(approved=True, by=name, note="", **more)
        made = attach_signature(request, plain, keys[name], Rules.of(request.rules))
        (copy / "decisions" / file).write_bytes(to_file(request.question, made))

    put(ADA, "ada.json")
    assert take_up(reports, run, rules) == []
    assert Approval.of(run).last.decision is None
    put(ADA, "again.json", identity="x")
    put(CY, "cy.json")
    assert all("approved already" in each for each in take_up(reports, run, rules))
    assert len(Approval.of(run).last.approvals) == 1
    assert not (copy / "outcome.json").exists()
    put(BO, "bo.json")
    take_up(reports, run, rules)
    assert [each.identity for each in Approval.of(run).last.approvals] == [ADA, BO]
    assert (copy / "outcome.json").exists()


def test_waiting_for_the_second_ends_with_a_message(run, clock):
    Approval.of(run).decide(typed("Ada"), needed=2)
    clock.at += HOUR
    with pytest.raises(GuaranteeError, match=r"not enough people approved within 1h .*1 of 2.*Ada"):
        Approval.of(run).require(2)
    assert not Approval.of(run).asks(Approval.of(run).last.question)  # the next run asks anew


def test_an_approval_that_is_too_old_counts_no_more(run, clock, terms):
    rules = Rules.of(terms.rules)
    for person in ("Ada", "Bo"):
        Approval.of(run).decide(typed(person), needed=2)
    clock.at += timedelta(days=2)
    require_several(Approval.of(run).last, rules)
    clock.at += timedelta(seconds=1)
    with pytest.raises(ExpiredError, match=r"approval by Ada of 2026-01-01.* is older than .*'2d'"):
        require_several(Approval.of(run).last, rules)
    require_several(Approval.of(run).last, replace(rules, valid=None))


def test_a_plan_that_wants_more_or_fewer_people_since(run, terms):
    Approval.of(run).decide(typed("Ada"))
    with pytest.raises(GuaranteeError, match="1 of 2 people approved, since"):
        require_several(Approval.of(run).last, Rules.of(terms.rules))
    Approval.of(run).reopen()
    Approval.of(run).decide(typed("Ada"), needed=3)
    Approval.of(run).decide(typed("Bo"), needed=3)
    assert Approval.of(run).require(2).by == "Bo"
    assert [each.by for each in Approval.of(run).last.agreed] == ["Ada"]


def test_a_release_lacks_a_person_whoever_changes_manifest_and_vault(run, keys, terms, tmp_path):
    rules, folder = Rules.of(terms.rules), tmp_path / "v1"
    request = Approval.of(run).last
    folder.mkdir()
    (folder / "data.parquet").write_text("rows")
    question = replace(
        request.question, files={"data.parquet": file_sha256(folder / "data.parquet")}
    )
    Approval.of(run).ask(replace(request, question=question))
    for name in (CY, BO):
        Approval.of(run).decide(signed(run, keys, name), needed=2)
    last = Approval.of(run).last
    section = build_approval_section(last.decision, last.agreed)
    assert section["also"][0]["in_place_of"] == ADA

    def told(approval, agreed=last.agreed):
        write_json(folder / "manifest.json", {**MANIFEST, "approval": approval, "files": {}})
        Approval.of(run).amend(agreed=agreed)
        return find_release_objection(run, folder, rules)

    assert told(section) == ""
    alone = {key: value for key, value in section.items() if key != "also"}
    assert told(alone) == "the vault has no such approval"
    assert told(alone, ()) == "the manifest names 1 of the 2 people whom publish.approvals wants"
    twice = {**section, "also": [alone | {"required": None}]}
    for also, words in (
        ([], "the vault has no such approval"),
        ("none", "the vault has no such approval"),
        (twice["also"], "the vault has no such approval"),
        ([section["also"][0] | {"signature": ""}], "the vault has no such approval"),
    ):
        assert told({**section, "also": also}) == words
    forged = replace(last.agreed[0], signature="")
    stated = build_approval_section(last.decision, (forged,))
    assert told(stated, (forged,)) == (
        "it is not signed, and publish.approvers requires a signature"
    )
    again = build_approval_section(last.decision, (last.decision,))
    assert "this person approved already" in told(again, (last.decision,))


# ---------------------------------------------------------------- who is signed in


ANSWER = {"decision": "approve", "name": "Ada", "note": "read"}


def test_a_server_states_who_answered(keys):
    public, asked = public_of(keys[ADA]), "2026-01-01T00:00:00+00:00"
    text = state_identity(keys[ADA], "run", ANSWER, " ada@example.org ")
    assert read_identity(text, public, "run", {**ANSWER, "signed_in": text}, asked) == ADA
    for changes in (
        {"public": public_of(keys[BO])},
        {"flow_run": "other"},
        {"answer": {**ANSWER, "decision": "reject"}},
        {"answer": {**ANSWER, "name": "Bo"}},
        {"answer": {**ANSWER, "note": ""}},
        {"asked": "2100-01-01T00:00:00+00:00"},
        {"text": text.replace("ada@", "bo@")},
        {"text": ""},
        {"text": "ada@example.org"},
        {"text": "[" * 5000},
    ):
        given = {"text": text, "public": public, "flow_run": "run", "answer": ANSWER,
                 "asked": asked} | changes  # fmt: skip
        with pytest.raises(DecisionError, match="no server whose key"):
            read_identity(**given)
    with pytest.raises(DecisionError, match="the name in the proxy's header must be one line"):
        state_identity(keys[ADA], "run", ANSWER, "a\nb")


@pytest.mark.parametrize("approvals", [1, 2])
def test_a_typed_name_is_nobody_of_several(run, approvals):
    """Nobody knows who typed it in Prefect's open form; in a terminal the account vouches."""
    question, rules = Approval.of(run).last.question, Rules({}, True, approvals=approvals)

    def told(decision):
        return find_decision_objection(question, decision, ASKED_BY, rules)

    assert ("nobody authenticated who decided" in told(typed("Ada"))) == (approvals > 1)
    assert told(typed("Ada", approved=False)) == ""  # anybody may stop a release
    assert told(typed("Ada", "ada")) == ""


def test_only_who_is_signed_in_counts_where_the_plan_wants_that(run, keys):
    request, rules = Approval.of(run).last, Rules({}, True, sign_in=public_of(keys[ADA]))
    proxied = replace(typed("Ada"), identity=ADA, authenticated=identity.PROXY)

    def told(decision, under):
        return find_decision_objection(request.question, decision, ASKED_BY, under)

    assert told(proxied, rules) == ""
    assert told(typed("Ada", "ada"), rules) == ""  # in a terminal: the account vouches
    assert "no server vouches" in told(typed("Ada"), rules)
    assert "no sign-in can be verified" in told(proxied, Rules({}, True))


def test_an_account_of_the_machine_is_nobody_beside_logins(run, keys):
    """One person may have both, under two names."""
    request = Approval.of(run).last
    rules = Rules({}, True, approvals=2, sign_in=public_of(keys[ADA]))
    signed_in = replace(typed("Ada"), identity=ADA, authenticated=identity.PROXY)

    def told(decision, earlier=()):
        return find_decision_objection(request.question, decision, ASKED_BY, rules, earlier)

    assert "an account of the machine vouches" in told(typed("Bo", "bo"), [signed_in])
    assert "an account of the machine vouches" in told(typed("Bo", "bo"))
    assert told(typed("Bo", "bo", approved=False)) == ""
    other = replace(typed("Bo"), identity=BO, authenticated=identity.PROXY)
    assert told(other, [signed_in]) == ""


def test_two_who_signed_in_one_second_keep_their_accounts(run, keys, terms):
    """Else both would be of the account of the first one."""
    ada, bo = (replace(signed(run, keys, name), account=name) for name in (ADA, BO))
    assert ada.at == bo.at
    for made in (ada, bo):
        Approval.of(run).decide(made, needed=2)
    last = Approval.of(run).last
    section = build_approval_section(last.decision, last.agreed)
    entries = [*section["also"], section]
    assert _find_objection_to_any(entries, last, Rules.of(terms.rules)) == ""
    Approval.of(run).amend(agreed=(replace(ada, account=BO),))
    refused = _find_objection_to_any(entries, Approval.of(run).last, Rules.of(terms.rules))
    assert "this person approved already" in refused
