"""What a release says about itself: columns, limits, people without protection, [about]."""

import logging

import pytest

from anon_core.errors import InputError
from crowdcover.flows import cli
from crowdcover.kinds.table.report.words import WORDS
from crowdcover.storage.vault.files import read_json, write_json
from tests.flows.orders import Order, people
from tests.reports.browsed import Page
from tests.support.audits import audit_release

ABOUT = {"population": "guests of a clinic", "contact": "office", "answers_until": "2027-12-31"}
BY = {"by": "smokes", "levels": {"yes": 1}, "default": 3}


@pytest.fixture(scope="module")
def order(tmp_path_factory):
    """A release in which those who smoke have k = 1."""
    made = Order(
        tmp_path_factory.mktemp("order"),
        about=ABOUT,
        privacy={"k": BY, "allow_unprotected": True},
        checks={"max_uniform": 0.9, "max_attack_success": 1.0},
    )
    made.release()
    return made


@pytest.fixture
def manifest(order):
    return read_json(order.folder_of_v1 / "manifest.json")


@pytest.mark.long
def test_the_manifest_states_the_plans_words_columns_and_limits(order, manifest):
    assert manifest["about"] == ABOUT
    assert {name: each["role"] for name, each in manifest["columns"].items()} == {
        name: column["role"] for name, column in order.document["columns"].items()
    }
    assert [name for name, each in manifest["columns"].items() if "decides_k" in each] == ["smokes"]
    assert {each["measure"] for each in manifest["checks"]} == {"uniform crowds", "attack success"}
    uniform = manifest["protection"]["sensitive"]["diagnosis"]["uniform"]
    assert manifest["checks"][0] == {
        "measure": "uniform crowds",
        "about": "diagnosis",
        "required": 0.9,
        "found": uniform / 90,
    }


def test_people_with_k_1_are_counted_and_never_look_protected(order, manifest):
    smoking = sum(row[3] == "yes" for row in people())
    assert manifest["privacy"]["unprotected"] == smoking
    html = (order.folder_of_v1 / "report.html").read_text(encoding="utf-8")
    assert f"{smoking} of 90 people are not protected" in Page(html).text
    assert 'class="verdict holds"' not in html


@pytest.mark.long
def test_a_source_in_which_somebody_demands_nothing_is_refused(tmp_path):
    rows = [(*row[:6], 1 if place < 3 else 4) for place, row in enumerate(people())]
    order = Order(tmp_path, rows, privacy={"k": {"column": "junk"}})
    with pytest.raises(InputError, match="3 of 90 records have k = 1, which protects nobody"):
        order.release()
    order.write(privacy={"allow_unprotected": True})
    order.release()
    assert read_json(order.folder_of_v1 / "manifest.json")["privacy"]["unprotected"] == 3


def test_the_audit_says_what_must_hold_in_the_words_of_the_report(order, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    with pytest.raises(SystemExit) as ended:
        cli.main(["audit", str(order.folder_of_v1), "--plan", str(order.plan)])
    assert ended.value.code == 0
    printed = capsys.readouterr().out
    for name in ("matchable crowds", "truthful rows", "even seats", "readable cells"):
        assert name in printed
        assert WORDS.findings[name] in printed
    assert "The numbers in the manifest are those that the auditor measures." in printed


def test_numbers_that_older_manifests_lack_do_not_fail_the_audit(order, manifest, tmp_path):
    for later in ("about", "columns", "checks"):
        del manifest[later]
    del manifest["privacy"]["unprotected"]
    copy = tmp_path / "v1"
    copy.mkdir()
    for file in order.folder_of_v1.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    write_json(copy / "manifest.json", manifest)
    broken = [finding.guarantee for finding in audit_release(copy, order.plan).broken]
    assert broken == ["manifest as published"]
    manifest["privacy"]["unprotected"] = 0
    write_json(copy / "manifest.json", manifest)
    broken = [finding.guarantee for finding in audit_release(copy, order.plan).broken]
    assert broken == ["manifest as published", "numbers as measured"]


def test_a_release_that_stands_keeps_its_words_and_says_so(order, caplog):
    before = (order.folder_of_v1 / "manifest.json").read_bytes()
    order.write(about={"contact": "another office"})
    try:
        with caplog.at_level(logging.INFO, logger="crowdcover"):
            assert order.release() == order.folder_of_v1
    finally:
        order.write(about=ABOUT)
    assert "[about] of the plan changed since" in caplog.text
    assert (order.folder_of_v1 / "manifest.json").read_bytes() == before
    caplog.clear()
    with caplog.at_level(logging.INFO, logger="crowdcover"):
        order.release()
    assert "[about]" not in caplog.text
