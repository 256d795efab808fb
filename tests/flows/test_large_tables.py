"""A release in which records that hide among equal ones are left out of the work."""

import json
import logging

import numpy as np
import polars as pl
import pytest

from anon_core.tables.settled import Unsettled
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.flows.rehearsing import rehearse_release
from tests.flows.orders import SEED, Order, people
from tests.support.audits import audit_release

TIMES = 30  # records with the quasi-identifiers of each of ten people


@pytest.fixture
def large(monkeypatch):
    """Tables of any size are split."""
    split = Unsettled.of.__func__
    monkeypatch.setattr(
        Unsettled, "of", classmethod(lambda cls, data, order: split(cls, data, order, large=0))
    )


def rows():
    """Ten people, each with 29 others like them but for name, illness and note."""
    alike = [row[1:4] for row in people(10) for _ in range(TIMES)]
    return [
        (f"ident-{at:05d}", *shown, f"illness-{at % 7}", f"note-{at % 5}", "")
        for at, shown in enumerate(alike)
    ]


@pytest.mark.long
@pytest.mark.parametrize("seats", ["even", "matchable"])
def test_it_keeps_its_promises_and_shows_what_can_be_shown(tmp_path, large, seats):
    order = Order(tmp_path, rows(), anonymizer={"seats": seats}).fix_seed()
    folder = order.release()
    audit = audit_release(folder, order.plan)
    assert audit.passed, audit.sentence()
    assert len(pl.read_csv(folder / "data.csv.gz")) == 10 * TIMES
    stated = json.loads((folder / "manifest.json").read_text("utf-8"))
    assert stated["utility"]["cells_exact"] == 1
    with np.load(order.run.path / "anonymize" / "made.npz") as made:
        assert len(made["hidden"]) == 10 * TIMES


@pytest.mark.long
def test_the_work_is_that_of_the_rest(tmp_path, request, caplog):
    """k = 4: four of each thirty equal records are left, and so is the memory."""
    order = Order(tmp_path, rows(), anonymizer={"name": "adaptive"})
    plan = ReleasePlan.load(order.plan)
    whole = rehearse_release(plan).memory["anonymizer"]
    request.getfixturevalue("large")
    assert rehearse_release(plan).memory["anonymizer"] < whole / 3
    with caplog.at_level(logging.INFO, "crowdcover"):
        order.release()
    assert "260 records hide among equal ones: no masks" in caplog.messages


@pytest.mark.long
def test_the_same_bytes_again(tmp_path, large):
    made = [
        Order(tmp_path / name, rows()).fix_seed(SEED).release().joinpath("data.csv.gz").read_bytes()
        for name in "ab"
    ]
    assert made[0] == made[1]
