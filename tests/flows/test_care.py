"""Scheduled care: what it looks at, what it leaves, and that a failure is told."""

import os
import time
from types import SimpleNamespace

import pytest

from crowdcover.flows.care import Care, care, list_duties
from crowdcover.flows.care import _do as do
from crowdcover.flows.plan.plan import PlanError, ReleasePlan
from crowdcover.flows.runs import parameters
from crowdcover.storage.encryption import encryption
from crowdcover.storage.encryption.encryption import is_encrypted
from crowdcover.storage.vault.vault import Vault
from tests.flows.asking import ask, until
from tests.flows.orders import Order, people
from tests.flows.processes import command


@pytest.fixture
def order(tmp_path, monkeypatch):
    """A release whose vault is encrypted."""
    secret, _ = encryption.new_key()
    monkeypatch.setenv(encryption.KEY, secret)
    order = Order(tmp_path / "order", name=f"cared-{time.time_ns() % 10**9}")
    order.release()
    return order


def standing(order):
    return order.folder / "releases" / order.document["name"] / "v1"


def about(order, backups=None, recipient=None):
    return Care(ReleasePlan.load(order.plan), backups, recipient)


def test_what_is_done_where_nothing_is_named(tmp_path):
    assert list_duties(None, None) == ["verify", "audit"]
    assert list_duties(tmp_path, None) == ["verify", "backup", "rehearse", "audit"]
    assert list_duties(tmp_path, "age1x") == ["verify", "backup", "audit"]


@pytest.fixture
def told(monkeypatch):
    """The events that care sends."""
    sent = []
    monkeypatch.setattr("crowdcover.flows.care.tell_server", lambda *each, **facts: sent.append(
        (*each, facts)))  # fmt: skip
    return sent


def test_a_vault_that_is_gone_is_told_and_not_made(tmp_path, told):
    order = Order(tmp_path)
    state = care.fn(str(order.plan), backups=str(tmp_path / "backups"))
    assert (state.type, state.name) == ("FAILED", "Refused")
    assert f"there is no vault {order.vault}" in state.message
    assert told == [("care.failed", ["people"], {"failed": "vault"})]
    assert not order.vault.exists()
    assert not (tmp_path / "backups").exists()


def test_care_of_a_plan_that_cannot_be_read_is_told(tmp_path, told, monkeypatch):
    order = Order(tmp_path)
    order.plan.write_text("name = ")
    monkeypatch.setattr("prefect.runtime.deployment.name", "people", raising=False)
    assert care.fn(str(order.plan)).name == "Refused"
    assert told == [("care.failed", ["people"], {"failed": "plan"})]


def test_no_run_of_a_deployment_chooses_where_secrets_go(tmp_path, told, monkeypatch):
    order = Order(tmp_path)
    Vault(order.vault).open()
    stated = {"plan": str(order.plan), "backups": "/srv/backups"}

    class Client:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def read_deployment(self, _):
            return SimpleNamespace(parameters=stated)

    run = SimpleNamespace(deployment_id="d", id="r")
    monkeypatch.setattr(parameters, "find_flow_run", lambda: run)
    monkeypatch.setattr(parameters, "get_client", lambda **_: Client())
    parameters.refuse_another(str(order.plan), backups="/srv/backups", recipient=None)
    for name, others in (
        ("recipient", {"backups": "/srv/backups", "recipient": "age1own"}),
        ("backups", {"backups": str(tmp_path), "recipient": None}),
        ("backups", {"backups": None, "recipient": None}),
    ):
        with pytest.raises(PlanError, match=f"parameter `{name}` is not that of this deployment"):
            parameters.refuse_another(str(order.plan), **others)
    state = care.fn(str(order.plan), backups="/srv/backups", recipient="age1own")
    assert "parameter `recipient` is not that of this deployment" in state.message
    assert [each[2] for each in told] == [{"failed": "plan"}]


def test_a_rehearsal_leaves_nothing(tmp_path, monkeypatch):
    secret, _ = encryption.new_key()
    monkeypatch.setenv(encryption.KEY, secret)
    order, backups = Order(tmp_path), tmp_path / "backups"
    Vault(order.vault).open()
    given = about(order, backups)
    assert do("backup", given).passed
    left = backups / ".rehearsal-people"
    (left / "vault").mkdir(parents=True)  # of a run that was killed
    outcome = do("rehearse", given)
    assert outcome.passed, outcome.lines
    assert not left.exists()
    with monkeypatch.context() as stuck:
        stuck.setattr("crowdcover.flows.care.shutil.rmtree", lambda *_, **__: None)
        outcome = do("rehearse", given)
        assert (outcome.passed, "cannot be removed" in outcome.lines[0]) == (False, True)
        assert left.exists()
        outcome = do("rehearse", given)
        assert (outcome.passed, "of an earlier rehearsal" in outcome.lines[0]) == (False, True)


@pytest.mark.slow
def test_each_duty_finds_what_is_not_well(order, tmp_path, monkeypatch):
    backups = tmp_path / "backups"
    given = about(order, backups)
    assert not do("rehearse", given).passed  # there is no folder yet
    for duty in ("verify", "backup", "rehearse", "audit"):
        outcome = do(duty, given)
        assert outcome.passed, outcome.lines
    (backup,) = backups.iterdir()  # nothing is left of the rehearsal
    assert backup.name.startswith(f"{given.plan.name}-2")
    assert is_encrypted(backup)
    assert "1 runs are in it, 1 in the vault" in do("rehearse", given).lines
    assert do("audit", given).lines[0].startswith("v1: all ")
    assert "need the parameter `backups`" in do("backup", about(order)).lines[0]

    later = backup.with_name(backup.name.replace(f"{given.plan.name}-2", f"{given.plan.name}-3"))
    later.write_bytes(backup.read_bytes()[:-100])
    assert not do("rehearse", given).passed
    assert sorted(backups.iterdir()) == [backup, later]
    later.unlink()
    with monkeypatch.context() as without:
        without.delenv(encryption.KEY)
        assert not do("rehearse", given).passed

    data = standing(order)
    page = data / "report.html"
    kept = page.read_bytes()
    page.write_bytes(kept + b" ")
    assert any("v1: broken: " in line for line in do("audit", given).lines)
    assert any("it is not what was published" in line for line in do("verify", given).lines)
    assert not do("audit", given).passed
    page.write_bytes(kept)
    assert do("audit", given).passed

    order.write_source(people(draws=9, first=900))
    outcome = do("audit", given)
    assert outcome.passed
    assert outcome.lines == ("v1: not audited, since the source has changed",)


@pytest.mark.slow
def test_a_vault_that_is_not_encrypted_needs_a_key_for_its_backups(tmp_path, released):
    given = about(released, tmp_path / "backups")
    outcome = do("backup", given)
    assert (outcome.passed, "give --recipient" in outcome.lines[0]) == (False, True)
    _, public = encryption.new_key()
    assert do("backup", about(released, tmp_path / "backups", public)).passed


@pytest.mark.slow
def test_results_are_artifacts_and_a_failure_is_an_event(server, order, tmp_path):
    name = order.document["name"]
    told = care(str(order.plan), backups=str(tmp_path / "backups"))
    assert told == f"care of {name}: verify, backup, rehearse, audit: all is well"
    page = standing(order) / "report.html"
    page.write_bytes(page.read_bytes() + b" ")
    state = care(str(order.plan), what=["verify", "audit"], return_state=True)
    assert (state.type, state.message) == (
        "FAILED", f"care of {name} found what is not well: verify, audit",
    )  # fmt: skip
    keys = {"artifacts": {"key": {"like_": f"care-{name}%"}}}
    found = until(lambda: ask("/artifacts/filter", keys), lambda found: len(found) == 6)
    assert {each["key"] for each in found} == {
        f"care-{name}-{duty}" for duty in ("verify", "backup", "rehearse", "audit")
    }
    assert not [each for each in found if people()[0][0] in each["data"]]
    known = {"filter": {"resource": {"id": [f"crowdcover.plan.{name}"]}}, "limit": 50}
    events = until(
        lambda: {each["event"] for each in ask("/events/filter", known)["events"]},
        lambda found: "crowdcover.care.failed" in found,
    )
    assert {"crowdcover.vault.backed-up", "crowdcover.audit.failed"} <= events


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--backups", "x"], "--backups belongs to --care"),
        (["--care", "0 4 * * 0", "--recipient", "age1x"], "--recipient belongs to --backups"),
        (["--care", "0 4"], "--care must be five fields"),
        (["--care", "0 2 30 2 *"], "--care names a day that never comes"),
    ],
)
def test_an_order_for_care_that_nobody_can_follow(tmp_path, options, words):
    order = Order(tmp_path)
    done = command("serve", order.plan, *options)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert not os.path.exists(order.vault)
