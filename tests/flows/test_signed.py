"""Approval by signature: an officer without access to the vault, and what the audit finds."""

import json
import os
import shutil

import pytest

from anon_core.errors import GuaranteeError
from crowdcover.flows.look.vault_lists import list_waiting_releases
from crowdcover.flows.vault.signatures import _find_free_path
from crowdcover.kinds.catalogued import CATALOGUE
from crowdcover.storage.approval.approval import RECORD, Approval
from crowdcover.storage.approval.signing_keys import (
    is_valid_signature,
    new_key,
    public_of,
    read_key,
)
from crowdcover.storage.encryption import encryption
from crowdcover.storage.encryption.encryption import is_encrypted
from crowdcover.storage.vault.files import read_json, write_json
from crowdcover.storage.vault.vault import Vault
from tests.flows.orders import Order, people
from tests.flows.processes import command
from tests.support.approvals import waits
from tests.support.audits import audit_release

ADA = "ada@example.org"
FINDING = "approved by who may"


@pytest.fixture(autouse=True)
def _asked_by_carol(monkeypatch):
    """Files of this test are of its own account; another one asks."""
    monkeypatch.setattr("crowdcover.storage.approval.identity.account_of_process", lambda: "carol")


@pytest.fixture
def key(tmp_path):
    new_key(tmp_path / "ada.key")
    return tmp_path / "ada.key"


def publish(key, **more):
    return {
        "approval": "required",
        "approvers": {ADA: public_of(read_key(key))},
        "requester_may_approve": False,
        "reports": "reports",
        **more,
    }


@pytest.fixture
def order(tmp_path, key):
    return Order(tmp_path / "order", publish=publish(key))


def copy_of(order):
    (copy,) = (order.folder / "reports" / "people").iterdir()
    return copy


def sign(order, key, *more, decision="approve"):
    return command("sign", copy_of(order), "--decision", decision, "--key", key, *more)


def test_advised_commands_can_be_pasted_where_folders_have_blanks(tmp_path, key):
    order = Order(tmp_path / "a b", publish=publish(key))
    words, (seen,) = waits(order), list_waiting_releases([Vault(order.vault)])
    approve = f"crowdcover approve {order.run.path.name} --vault '{order.vault}' --key KEY"
    sign = f"crowdcover sign '{copy_of(order)}' --decision approve --key KEY"
    assert f"then run: {approve} (or reject)" in words
    assert words.endswith(sign)
    assert (seen["decide"], seen["sign"]) == (approve, sign)


@pytest.mark.slow
def test_an_officer_decides_without_the_vault(order, key, tmp_path):
    words = waits(order)
    copy = copy_of(order)
    assert f"crowdcover sign {copy} --decision approve --key KEY" in words
    waiting = json.loads(command("waiting", "--plan", order.plan, "--json").out)["waiting"][0]
    assert waiting["copy"] == str(copy)
    assert waiting["requested_by"].endswith(" (operating system)")
    away = shutil.copytree(copy, tmp_path / "elsewhere")  # a place from which no vault is seen
    order.vault.rename(tmp_path / "hidden")
    done = command("sign", away, "--decision", "approve", "--key", key, "--note", "read & agreed")
    assert done.code == 0, done.err
    assert "people v1: the privacy promise holds" in done.out
    assert "asked by " in done.out
    assert f"signed: approved by {ADA} at 20" in done.out
    (tmp_path / "hidden").rename(order.vault)
    (signed,) = (away / "decisions").iterdir()
    shutil.copy(signed, copy / "decisions")
    times = order.stage_times()
    folder = order.release()
    assert order.stage_times() == times
    approval = read_json(folder / "manifest.json")["approval"]
    assert (approval["by"], approval["note"]) == (ADA, "read & agreed")
    assert (approval["identity"], approval["authenticated"]) == (ADA, "signature")
    assert approval["key"] == public_of(read_key(key))
    assert list(approval["requested_by"]) == ["operating system"]
    assert is_valid_signature(approval["key"], approval["signature"], by_hand(folder))
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert f"an Ed25519 signature with the key that the plan registers for {ADA}" in page
    found = audit_release(folder, order.plan)
    assert found.passed
    assert found.findings[-1].guarantee == FINDING
    assert read_json(copy / "outcome.json")["state"] == "approved"
    assert "was decided or asked anew" in sign(order, key).err
    assert order.release() == folder


def by_hand(folder):
    """What was signed, from the published folder alone: docs/how-to/approve.md."""
    manifest = read_json(folder / "manifest.json")
    approval, files = manifest["approval"], dict(manifest["files"])
    for name in ("report.html", *CATALOGUE):
        del files[name]
    told = {
        "what": "crowdcover decision 1", "release": manifest["name"], "files": files,
        "decision": "approve",
        **{name: approval[name] for name in
           ("question", "asked", "requested_by", "identity", "by", "note", "at")},
    }  # fmt: skip
    return json.dumps(told, sort_keys=True, separators=(",", ":")).encode("ascii")


@pytest.mark.slow
def test_the_copy_holds_what_would_be_published_and_no_secret(order):
    waits(order)
    copy = copy_of(order)
    held = b"".join(path.read_bytes() for path in copy.rglob("*") if path.is_file())
    run = order.run
    secrets = [
        run.seed, run.seed.hex().encode(), run.source_sha256.encode(), run.seal.encode(),
        str(order.vault).encode(), str(order.source).encode(),
        *(row[0].encode() for row in people()), *(row[6].encode() for row in people()),
        *(key.encode() for key in order.keys_of_records()["key"]),
    ]  # fmt: skip
    assert [secret for secret in secrets if secret in held] == []
    request = read_json(copy / "request.json")
    assert (copy / "report.html").read_bytes() == (run.path / "approval.html").read_bytes()
    manifest = read_json(copy / "numbers.json")
    assert command("sign", copy, "--decision", "reject", "--key", "nowhere").code == 1
    order.write(publish={"approval": "required"})
    for name in ("approvers", "requester_may_approve", "reports"):
        del order.document["publish"][name]
    order.write()
    waits(order)
    done = command("approve", run.path.name, "--plan", order.plan, "--by", "Ada")
    assert done.code == 0, done.err
    folder = order.release()
    published = read_json(folder / "manifest.json")
    moment = {"approval", "created", "files", "version"}
    assert {k: v for k, v in manifest.items() if k not in moment} == {
        k: v for k, v in published.items() if k not in moment
    }
    assert request["files"] == {name: published["files"][name] for name in request["files"]}


@pytest.mark.slow
def test_who_may_not_decide(order, key, tmp_path):
    waits(order)
    run = order.run.path.name
    eve = tmp_path / "eve.key"
    new_key(eve)
    for arguments, words in (
        (("--by", "Ada"), "it is not signed, and publish.approvers requires a signature"),
        (("--key", eve), "publish.approvers of the plan does not register this key"),
        ((), "give --by NAME, or --key FILE"),
        (("--take",), "nobody has signed a decision in the copy"),
        (("--take", eve), "the text is no signed decision"),
    ):
        for where in (("--vault", order.vault), ("--plan", order.plan)):
            done = command("approve", run, *where, *arguments, "--quiet")
            expected = "--take without FILE" if arguments == ("--take",) else words
            assert (done.code, done.out) == (2, ""), arguments
            assert (words if where[0] == "--plan" else expected) in done.err
    assert "does not register this key" in sign(order, eve, "--quiet").err
    (copy_of(order) / "decisions" / "note").write_text("I agree")
    assert "the text is no signed decision" in waits(order)
    assert Approval.of(order.run).last.decision is None
    approvals = Approval.of(order.run)
    approvals.amend(asked_by={"operating system": "ada"})
    waits(order)  # the copy says who asked
    assert "the person who asked for the release decided about it" in sign(order, key).err
    done = command("approve", run, "--vault", order.vault, "--key", key)
    assert "the person who asked for the release decided about it" in done.err
    done = command("reject", run, "--vault", order.vault, "--key", key, "--note", "raise k")
    assert done.code == 0, done.err
    with pytest.raises(GuaranteeError, match=f"was rejected by {ADA}"):
        order.release()


@pytest.mark.slow
def test_a_decision_by_mail_and_a_plan_that_changes(order, key, tmp_path):
    waits(order)
    mail = tmp_path / "decision.json"
    assert sign(order, key, "--output", mail, "--by", "Ada Lovelace").code == 0
    assert "exists: a decision is signed already" in sign(order, key, "--output", mail).err
    done = command("approve", order.run.path.name, "--vault", order.vault, "--take", mail)
    assert done.code == 0, done.err
    assert "was approved by Ada Lovelace at 20" in done.last_line
    new_key(tmp_path / "new.key")
    order.write(publish={"approvers": {ADA: public_of(read_key(tmp_path / "new.key"))}})
    with pytest.raises(GuaranteeError, match="does not count: it is signed with another key"):
        order.release()
    assert order.versions == []
    order.write(publish=publish(key))
    folder = order.release()
    order.write(publish={"approvers": {ADA: public_of(read_key(tmp_path / "new.key"))}})
    with pytest.raises(GuaranteeError, match="v1 was published before and stays as it is; it is"):
        order.release()
    failed = [each for each in audit_release(folder, order.plan).findings if not each.passed]
    assert [each.guarantee for each in failed] == [FINDING]


@pytest.mark.slow
def test_the_audit_finds_every_change_of_an_approval(order, key, tmp_path):
    """Manifest and vault are changed together, so that they agree."""
    waits(order)
    assert sign(order, key, "--note", "read").code == 0
    folder = order.release()
    manifest = read_json(folder / "manifest.json")
    record = read_json(order.run.path / RECORD)
    new_key(tmp_path / "eve.key")
    eve = public_of(read_key(tmp_path / "eve.key"))
    forged = "ed25519:" + 86 * "A" + "=="
    for changes, words in (
        ({"note": "not read"}, "name, note, time, files, numbers or who asked differ"),
        ({"by": "Eve"}, "the signature is not of this decision"),
        ({"at": "2020-01-01T00:00:00+00:00"}, "the signature is not of this decision"),
        ({"signature": forged}, "the signature is not of this decision"),
        ({"signature": of_another_release(tmp_path, key)}, "the signature is not of this decision"),
        ({"key": eve}, "it is signed with another key"),
        ({"identity": "eve@example.org", "key": eve}, "whom publish.approvers does not register"),
        ({"authenticated": "operating system", "signature": ""}, "it is not signed"),
    ):
        write_json(
            folder / "manifest.json", {**manifest, "approval": {**manifest["approval"], **changes}}
        )
        changed = json.loads(json.dumps(record))
        changed["requests"][-1]["decision"] |= changes
        write_json(order.run.path / RECORD, changed)
        failed = {
            each.guarantee: each.detail
            for each in audit_release(folder, order.plan).findings
            if not each.passed
        }
        assert words in failed[FINDING], changes
    write_json(folder / "manifest.json", manifest)
    write_json(order.run.path / RECORD, record)
    assert audit_release(folder, order.plan).passed


def of_another_release(tmp_path, key):
    """Ada's signature of the same plan on another table."""
    other = Order(tmp_path / "other", people(draws=9, first=900), publish=publish(key))
    waits(other)
    assert sign(other, key, "--note", "read").code == 0
    (signed,) = (copy_of(other) / "decisions").iterdir()
    return read_json(signed)["signature"]


@pytest.mark.slow
def test_the_copy_of_an_encrypted_vault_can_be_read(tmp_path, key, monkeypatch):
    secret, _ = encryption.new_key()
    monkeypatch.setenv(encryption.KEY, secret)
    order = Order(tmp_path / "order", publish=publish(key))
    waits(order)
    assert is_encrypted(order.run.path / "approval.json")
    monkeypatch.delenv(encryption.KEY)
    assert sign(order, key, "--quiet").code == 0
    assert b"<html" in (copy_of(order) / "report.html").read_bytes()
    monkeypatch.setenv(encryption.KEY, secret)
    assert json.loads(command("runs", "--plan", order.plan, "--json").out)["runs"]
    folder = order.release()
    assert audit_release(folder, order.plan).passed


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
def test_nobody_takes_the_place_of_a_decision(tmp_path):
    """Everybody of the group may write there, and nobody may remove what another one wrote."""
    (tmp_path / "a@x.json").write_text("of another account")
    os.chown(tmp_path / "a@x.json", 4321, -1)
    (tmp_path / "a@x-2.json").symlink_to("nowhere")
    os.chown(tmp_path / "a@x-2.json", 4321, -1, follow_symlinks=False)
    assert _find_free_path(tmp_path, "a@x") == tmp_path / "a@x-3.json"
    (tmp_path / "a@x-3.json").write_text("own")
    assert _find_free_path(tmp_path, "a@x") == tmp_path / "a@x-3.json"
    assert _find_free_path(tmp_path, "a/../x") == tmp_path / "a_.._x.json"
    assert _find_free_path(tmp_path / "none", "a") == tmp_path / "none" / "a.json"


# ---------------------------------------------------------------- the commands


def test_a_key_is_made_and_shown(tmp_path):
    path = tmp_path / 'a "b".key'
    done = command("key", "new", "--output", path, "--name", 'A "B"')
    assert done.code == 0, done.err
    assert done.last_line.startswith('"A \\"B\\"" = "ed25519:')
    assert command("key", "show", "--key", path, "--name", 'A "B"').out == done.last_line + "\n"
    again = command("key", "new", "--output", path)
    assert (again.code, again.out) == (1, "")
    assert "a key is never overwritten" in again.err
    for wrong in (("new",), ("show",), ("new", "--key", path), ("show", "--output", path)):
        assert command("key", *wrong).code == 2


@pytest.mark.parametrize("folder", [".", "/nowhere"])
def test_a_folder_that_is_no_copy(folder, tmp_path):
    done = command("sign", folder, "--decision", "approve", "--key", tmp_path / "key")
    assert (done.code, done.out) == (2, "")
    assert "is no readable copy of a report" in done.err
