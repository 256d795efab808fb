"""The attacker who guesses a private k: in the manifest, the audit and the report."""

import json
from io import StringIO

import numpy as np
import pytest
from rich.console import Console

from crowdcover.kinds import words_of
from crowdcover.kinds.table.kind import KIND
from crowdcover.kinds.table.plan.checks import ChecksSection
from crowdcover.kinds.table.report import attackers
from crowdcover.reports.terminal import summary
from tests.flows.orders import Order, columns, people
from tests.reports.samples import full
from tests.support.audits import audit_release

GREATER, LESS = 8, 3
DEMAND = {"levels": 2, "right": 330, "commonest": 310, "ruled_out": 5}
SENTENCES = (
    "Someone who counts the rows that fit a person, and takes a larger crowd for a greater k, "
    "guesses k, which is private here, right for at most 330 of 500 people (66.0 %). One guess for "
    "everybody is right for 310 of 500 people (62.0 %). For 5 of 500 people (1.0 %) fewer rows "
    "fit than the greatest k demands: their k is surely smaller."
)


def demanded(number):
    return GREATER if number % 3 == 0 else LESS


def order_of(folder, **k_column):
    """People of whom some demand more, in the column `junk`."""
    rows = [(*row[:6], demanded(number)) for number, row in enumerate(people())]
    listed = {**columns(), "age": {"role": "drop"}, "junk": {"role": "drop", **k_column}}
    order = Order(folder, rows)
    order.document["columns"] = listed
    order.document["privacy"] = {"k": {"column": "junk"}}
    order.write()
    return order


def manifest_of(order):
    return json.loads((order.folder_of_v1 / "manifest.json").read_text())


@pytest.fixture(scope="module")
def order(tmp_path_factory):
    order = order_of(tmp_path_factory.mktemp("demand"))
    order.release()
    return order


@pytest.mark.long
def test_numbers_follow_from_source_and_rows(order):
    """Counted anew, cell by cell, from the published texts."""
    rows = order.rows().select("city", "smokes").rows()
    crowds = np.array(
        [
            sum(fits(city or "(missing)", row[0]) and fits(smokes, row[1]) for row in rows)
            for _, _, city, smokes, *_ in people()
        ]
    )
    k = np.array([demanded(number) for number in range(90)])
    rules = [np.where(crowds >= least, GREATER, LESS) for least in {*crowds.tolist(), 10**9}]
    assert manifest_of(order)["attacks"]["demand"] == {
        "levels": 2,
        "right": max(int((rule == k).sum()) for rule in rules),
        "commonest": 60,
        "ruled_out": int((crowds < GREATER).sum()),
    }


@pytest.mark.long
@pytest.mark.parametrize("public", [False, True])
def test_a_bound_that_follows_from_each_k_is_stated_only_of_a_public_one(tmp_path, public):
    order = order_of(tmp_path, public=public)
    order.document["anonymizer"]["seats"] = "even"
    order.write()
    order.release()
    assert ("least_gcp" in manifest_of(order)["utility"]) == public


def fits(value, cell):
    return cell == "*" or value in cell.split("|")


def test_the_audit_counts_it_again(order):
    assert audit_release(order.folder_of_v1, order.plan).passed


@pytest.mark.long
@pytest.mark.parametrize("known", [{"public": True}, {"role": "quasi", "kind": "numeric"}])
def test_what_everyone_knows_is_not_guessed(tmp_path, known):
    order = order_of(tmp_path, **known)
    order.release()
    assert "demand" not in manifest_of(order)["attacks"]


def test_one_k_is_not_guessed(released):
    assert "demand" not in manifest_of(released)["attacks"]


def test_older_manifests_are_compared_in_what_they_state():
    measured = {"attacks": {"linkage": {"success": 0.1}, "demand": DEMAND}}
    older = {"attacks": {"linkage": {"success": 0.1}}}
    assert KIND.comparable(older, measured) == older
    assert KIND.comparable(measured, measured) == measured


def test_it_is_no_attack_on_rows():
    release = full()
    before = attackers.find_strongest_attack(attackers.attacks(release))
    release["attacks"]["demand"] = DEMAND
    assert attackers.find_strongest_attack(attackers.attacks(release)) == before
    limits = ChecksSection(max_attack_success=0.5).release_limits
    limits.require({**release, "protection": {}}, "refused")


def test_report_and_summary_say_it():
    release = full()
    assert attackers.demand_guesses(release) is None
    release["attacks"]["demand"] = DEMAND
    assert attackers.demand_guesses(release).sentences == SENTENCES
    assert SENTENCES in words_of(release).warnings(release)
    console = Console(file=StringIO(), width=100)
    summary.print_release(release, console, words_of(release))
    shown = " ".join(console.file.getvalue().split())
    assert "What crowds tell of k" in shown
    assert "A counter of rows" in shown


@pytest.mark.parametrize(
    ("stated", "risk"),
    [
        ({"right": 310, "ruled_out": 0}, False),
        ({"right": 311, "ruled_out": 0}, True),
        ({"right": 310, "ruled_out": 1}, True),
        ({"right": None}, False),
        ({"right": "many"}, False),
    ],
)
def test_it_is_a_risk_if_it_beats_one_guess(stated, risk):
    release = full()
    release["attacks"]["demand"] = {**DEMAND, **stated}
    said = "k, which is private here"
    assert any(said in each for each in words_of(release).warnings(release)) == risk


def test_the_page_says_it(order):
    page = " ".join((order.folder_of_v1 / "report.html").read_text(encoding="utf-8").split())
    assert "guesses k, which is private here, right" in page
    assert "<span>demand</span>" in page
