"""Releases that several people approve: until all have, what is published, and what audits find."""

import json

import pytest

from anon_core.errors import GuaranteeError
from crowdcover.flows.look.vault_lists import list_vault_runs, list_waiting_releases
from crowdcover.storage.approval.approval import RECORD, Approval, Decision
from crowdcover.storage.approval.signing_keys import new_key, public_of, read_key
from crowdcover.storage.vault.files import read_json, write_json
from crowdcover.storage.vault.vault import Vault
from tests.flows.orders import Order
from tests.flows.processes import command
from tests.support.approvals import WHO, decide, decided, pass_time, waits
from tests.support.audits import audit_release

ADA, BO, CY = "ada@example.org", "bo@example.org", "cy@example.org"
FINDING = "approved by who may"


@pytest.fixture
def keys(tmp_path):
    for name in (ADA, BO, CY):
        new_key(tmp_path / f"{name}.key")
    return {name: tmp_path / f"{name}.key" for name in (ADA, BO, CY)}


@pytest.fixture
def order(tmp_path, keys):
    """Ada and Bo must both sign; Cy may sign in the place of Ada."""
    public = {name: public_of(read_key(path)) for name, path in keys.items()}
    return Order(
        tmp_path / "order",
        publish={
            "approval": "required",
            "approvals": 2,
            "approvers": {name: public[name] for name in (ADA, BO)},
            "deputies": {CY: {"for": ADA, "key": public[CY]}},
            "reports": "reports",
        },
    )


def sign(order, key):
    (copy,) = (order.folder / "reports" / "people").iterdir()
    return command("sign", copy, "--decision", "approve", "--key", key, "--quiet")


def failed(folder, order):
    found = audit_release(folder, order.plan).findings
    return {each.guarantee: each.detail for each in found if not each.passed}


@pytest.mark.slow
def test_two_people_sign_and_the_audit_misses_each_of_them(order, keys):
    waits(order)
    done = sign(order, keys[CY])
    assert done.code == 0, done.err
    words = waits(order)
    assert f"(1 of 2 approvals: {CY})" in words
    (seen,) = list_waiting_releases([Vault(order.vault)])
    assert seen["approved_by"] == [CY]
    (listed,) = list_vault_runs([Vault(order.vault)])
    assert listed["words"].endswith(f"(1 of 2 approvals: {CY})")
    done = decide(order, "approve", "--key", keys[ADA], by=())
    assert (done.code, "this person approved already" in done.err) == (2, True)
    done = decided(order, "approve", "--key", keys[BO], by=())
    assert "run the release again to publish it" in done.last_line
    folder = order.release()
    manifest, record = read_json(folder / "manifest.json"), read_json(order.run.path / RECORD)
    approval = manifest["approval"]
    assert (approval["identity"], approval["also"][0]["identity"]) == (BO, CY)
    assert approval["also"][0]["in_place_of"] == ADA
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.count("an Ed25519 signature with the key that the plan registers for") == 2
    assert "In the place of" in page
    audit = audit_release(folder, order.plan)
    assert audit.passed
    (found,) = [each for each in audit.findings if each.guarantee == FINDING]
    assert found.detail.startswith("signed by 2 different people")

    # Whoever removes a signature may change the vault, too.
    for kept, agreed, words in (
        ({k: v for k, v in approval.items() if k != "also"}, [], "names 1 of the 2 people"),
        ({**approval, "also": [approval["also"][0] | {"signature": ""}]}, None, "it is not signed"),
        ({**approval, "signature": ""}, None, "it is not signed"),
    ):
        changed = json.loads(json.dumps(record))
        last = changed["requests"][-1]
        last["decision"]["signature"] = kept["signature"]
        last["agreed"] = [] if agreed == [] else last["agreed"]
        if agreed is None:
            last["agreed"][0]["signature"] = kept["also"][0]["signature"]
        write_json(order.run.path / RECORD, changed)
        write_json(folder / "manifest.json", {**manifest, "approval": kept})
        assert words in failed(folder, order)[FINDING]
    write_json(order.run.path / RECORD, record)
    write_json(folder / "manifest.json", manifest)
    assert not failed(folder, order)


@pytest.mark.slow
def test_two_names_that_are_typed_and_an_approval_that_is_too_old(tmp_path, monkeypatch):
    order = Order(
        tmp_path, publish={"approval": "required", "approvals": 2, "approval_valid": "30d"}
    )
    waits(order)
    done = decided(order, "approve")
    assert done.last_line.endswith(
        "1 of 2 approvals: Ada Lovelace; another person must approve, too"
    )
    refused = decide(order, "approve", by=("--by", "Bo"))
    assert "this person approved already, by name, account or key" in refused.err
    # Another account of the machine.
    monkeypatch.setattr("crowdcover.storage.approval.identity.account_of_process", lambda: "bo")
    assert decide(order, "approve", by=WHO).code == 2
    approval = Approval.of(order.run)
    old = Decision.of(approved=True, by="Ada Lovelace", note="")
    approval.amend(agreed=(Decision(**{**vars(old), "at": "2020-01-01T00:00:00+00:00"}),))
    with pytest.raises(
        GuaranteeError, match=r"of 2020-01-01.* older than .*approval_valid = '30d'"
    ):
        order.release()
    (listed,) = list_vault_runs([Vault(order.vault)])
    assert listed["state"] == "refused"
    waits(order)  # asked anew: nobody has agreed
    assert Approval.of(order.run).last.approvals == ()
    pass_time(order, days=8)
    with pytest.raises(GuaranteeError, match="nobody approved within 7d"):
        order.release()
    assert order.versions == []
