"""Scheduled care: what it looks at, what it leaves, and that a failure is told."""

import os
import time

import pytest

from crowdcover.flows.care import Care, care, list_duties
from crowdcover.flows.care import _do as do
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.storage.encryption import encryption
from crowdcover.storage.encryption.encryption import is_encrypted
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

    later = backup.with_name(backup.name.replace("-2", "-3", 1))
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
