"""Crowds of people from plan to audit: [privacy] person."""

import json

import numpy as np
import polars as pl
import pytest

from anon_core.errors import InfeasibleError, InputError
from crowdcover.flows.plan.plan import PlanError, ReleasePlan
from crowdcover.kinds.table.judge import rows as judge
from crowdcover.kinds.table.report.words import WORDS
from tests.flows.orders import Order, people
from tests.support.audits import audit_release
from tests.support.releases import several

PERSON = {"privacy": {"person": "ssn", "k": 3}}


@pytest.fixture(scope="module")
def order(tmp_path_factory):
    order = Order(tmp_path_factory.mktemp("people"), several(), **PERSON)
    order.release()
    return order


def findings(order):
    """The findings of an audit of the first release, by name."""
    audit = audit_release(order.folder_of_v1, order.plan)
    return {finding.guarantee: finding for finding in audit.findings}


@pytest.mark.long
def test_a_release_counts_people(order):
    found = findings(order)
    assert all(finding.passed for finding in found.values())
    assert found["compatible crowds"].detail == "0 of 120 records fit rows of fewer than k people"
    manifest = json.loads((order.folder_of_v1 / "manifest.json").read_text())
    assert (manifest["privacy"]["records"], manifest["privacy"]["people"]) == (120, 40)
    assert manifest["attacks"]["person"]["above"]["1"] == 0
    assert manifest["attacks"]["person"]["success"] == pytest.approx(1 / 3)
    constant = manifest["protection"]["constant_values"]
    assert constant["diagnosis"] == {"people": 40, "constant": 40}
    assert constant["note"] == {"people": 40, "constant": 0}


def test_the_page_says_whom_it_counts(order):
    manifest = json.loads((order.folder_of_v1 / "manifest.json").read_text())
    assert "120 source rows of 40 people in this release hides among" in WORDS.promise(manifest)
    assert "published rows of different people" in WORDS.promise(manifest)
    assert any(
        warning.startswith("40 of 40 people with several records have the same diagnosis")
        for warning in WORDS.warnings(manifest)
    )
    figures = [figure for risk in WORDS.risks(manifest) for figure in risk.figures]
    assert ("Rows of one person", "120 rows of 40 people") in [each[:2] for each in figures]
    assert not any("share an identifier" in figure.what for figure in figures)
    page = (order.folder_of_v1 / "report.html").read_text(encoding="utf-8")
    assert "Crowds of people." in page
    assert "ident-" not in page


def test_people_are_nowhere_in_the_release_and_numbers_in_the_vault(order):
    for path in order.folder_of_v1.iterdir():
        assert b"ident-" not in path.read_bytes()
    numbers = np.load(order.run.path / "ingest" / "person.npy")
    assert len(np.unique(numbers)) == 40
    assert not any(b"ident-" in path.read_bytes() for path in order.run.path.rglob("*.p*q*"))


def test_an_exchange_of_rows_that_fills_a_crowd_with_one_person_is_found(order):
    """The auditor counts who really sits in the rows, as the vault's matching says."""
    path = order.run.path / "anonymize" / "matching.parquet"
    stated = pl.read_parquet(path)
    person = np.load(order.run.path / "ingest" / "person.npy")
    merged = np.where(person < 30, 0, person)
    found = findings(order)
    assert found["compatible crowds"].passed
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            judge, "read_table", lambda *given, read=judge.read_table: _owned(read(*given), merged)
        )
        found = findings(order)
    assert stated.equals(pl.read_parquet(path))
    assert not found["compatible crowds"].passed
    assert not found["even seats"].passed


def _owned(read, person):
    return read._replace(identifiers=pl.DataFrame({"ssn": person}))


@pytest.mark.long
def test_rows_of_one_person_hide_each_other_without_it(tmp_path):
    """What the key is for: with rows counted as people, some crowds lack people."""
    order = Order(tmp_path, several(owners=10), privacy={"rows_are_people": True, "k": 3})
    order.release()
    document = ReleasePlan.load(order.plan)
    with pytest.MonkeyPatch.context() as patch:
        read = judge.audit_rows

        def counting_people(*given, **_):
            return read(*given, person="ssn")

        patch.setattr("crowdcover.kinds.table.kind.audit_rows", counting_people)
        found = findings(order)
    assert document.data.rows_are_people
    assert not found["compatible crowds"].passed


@pytest.mark.long
def test_what_was_released_before_people_counted_keeps_its_promise(tmp_path, monkeypatch):
    """Crowds of rows, though one person owns several; a plan that counts people is another plan."""
    order = Order(tmp_path, several(), privacy={"k": 3})
    with monkeypatch.context() as patch:
        patch.setattr(
            "crowdcover.kinds.table.pipeline.ingest.refuse_repeated", lambda _: None
        )  # as 0.1.0 did
        folder = order.release_as_before()
    found = findings(order)
    older = {name for name, finding in found.items() if not finding.passed}
    assert older == {"levels of enough people", "even seats", "crowds of people"}
    assert not any(finding.broken for finding in found.values())
    assert "older than this promise" in found["even seats"].detail
    order.write(privacy={"rows_are_people": True})
    assert order.release() == folder
    order.document["privacy"].pop("rows_are_people")
    order.write(**PERSON)
    with pytest.raises(InputError, match="the vault knows no release of this plan"):
        findings(order)


@pytest.mark.parametrize(
    ("privacy", "message"),
    [
        ({"person": "ssn", "rows_are_people": True}, "state one"),
        ({"person": "nobody"}, "that \\[columns\\] does not"),
        ({"person": "city"}, "must have role = 'identifier'"),
    ],
)
def test_a_wrong_plan_is_refused(tmp_path, privacy, message):
    with pytest.raises(PlanError, match=message):
        ReleasePlan.load(Order(tmp_path, privacy=privacy).plan)


def test_a_row_of_nobody_is_refused(tmp_path):
    rows = several()
    rows[5] = ("", *rows[5][1:])
    with pytest.raises(InputError, match="1 of 120 rows have no value there"):
        Order(tmp_path, rows, **PERSON).release()


def test_a_person_with_most_of_the_rows_is_refused(tmp_path):
    rows = [("ident-00000", *row[1:]) if place < 50 else row for place, row in enumerate(people())]
    with pytest.raises(InfeasibleError, match="50 of 90 records belong to people who own more"):
        Order(tmp_path, rows, **PERSON).release()


def test_a_plan_without_people_has_the_hash_of_before(tmp_path):
    """`person` counts for the hash once it is stated."""
    order = Order(tmp_path)
    before = ReleasePlan.load(order.plan).sha256
    shaping = ReleasePlan.load(order.plan)
    assert "person" not in shaping.kind.sections_for_hash(shaping)["privacy"]
    order.write(privacy={"person": "ssn"})
    assert ReleasePlan.load(order.plan).sha256 != before
