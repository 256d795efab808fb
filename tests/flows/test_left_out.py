"""[privacy] leave_out, from the plan to the page."""

import json

import polars as pl
import pytest

from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.kinds.section import PlanError
from crowdcover.kinds.table.judge.rows import audit_rows
from crowdcover.kinds.table.layout import MATCHING
from tests.flows.orders import Order, people
from tests.flows.processes import command
from tests.support.audits import audit_release

ALLOWED = {"leave_out": 0.04}


def read_manifest(folder):
    return json.loads((folder / "manifest.json").read_text("utf-8"))


@pytest.fixture
def order(tmp_path):
    return Order(tmp_path, privacy={"leave_out": 0.05})


@pytest.mark.long
def test_the_rest_loses_less(tmp_path):
    rows = people(400)
    whole = Order(tmp_path / "whole", rows)
    less = Order(tmp_path / "less", rows, privacy={"leave_out": 0.05})
    before, told = (read_manifest(each.fix_seed().release()) for each in (whole, less))
    assert (before["privacy"]["records"], told["privacy"]["records"]) == (400, 380)
    assert "left_out_by_choice" not in before["protection"]
    assert told["utility"]["gcp"] < 0.95 * before["utility"]["gcp"]


@pytest.mark.long
def test_at_most_the_share_is_left_out(order):
    folder = order.release()
    told = read_manifest(folder)
    assert told["privacy"]["records"] == 86
    assert told["protection"]["left_out_by_choice"] == told["protection"]["rows_left_out"] == 4
    audit = audit_release(folder, order.plan)
    assert audit.passed
    (finding,) = [each for each in audit.findings if each.guarantee == "records left out"]
    assert finding.detail == "4 of 90 records are left out by choice, 4 may be"


@pytest.mark.long
def test_the_page_says_so(order):
    page = " ".join((order.release() / "report.html").read_text("utf-8").split())
    assert "4 source rows are not in this release: their absence lets the others show most" in page
    assert "Left out by choice" in page


@pytest.mark.long
def test_more_than_the_plan_allows_is_found(order, monkeypatch):
    folder = order.release()
    monkeypatch.setattr(
        "crowdcover.kinds.table.kind.audit_rows",
        lambda *given, **more: audit_rows(*given, **more | ALLOWED),
    )
    broken = {each.guarantee: each.detail for each in audit_release(folder, order.plan).broken}
    assert broken["records left out"] == "4 of 90 records are left out by choice, 3 may be"
    assert "one row a record" in broken


@pytest.mark.long
def test_a_matching_that_names_nobody_is_found(order):
    folder = order.release()
    matching = order.run.path / "anonymize" / MATCHING
    pl.read_parquet(matching).clear().write_parquet(matching)
    assert "records left out" in {
        each.guarantee for each in audit_release(folder, order.plan).broken
    }


@pytest.mark.long
def test_who_is_left_out_counts_as_not_shown(order, tmp_path):
    """A second release may show them: the ledger has 86 people."""
    order.release()
    shown = set(pl.read_parquet(order.run.path / "anonymize" / MATCHING)["record"])
    missing = [row for place, row in enumerate(people()) if place not in shown]
    assert len(missing) == 4
    more = people(60, draws=8, first=900)
    other = Order(
        tmp_path / "other", [*missing, *more], name="other", publish={"vault": str(order.vault)}
    )
    other.release()
    with pytest.raises(Exception, match="already"):
        Order(
            tmp_path / "third", people(), name="third", publish={"vault": str(order.vault)}
        ).release()


@pytest.mark.long
def test_the_release_is_the_same_again(order, tmp_path):
    first = order.fix_seed().release()
    again = Order(tmp_path / "again", privacy={"leave_out": 0.05}).fix_seed().release()
    assert (first / "data.csv.gz").read_bytes() == (again / "data.csv.gz").read_bytes()


@pytest.mark.parametrize(
    ("sections", "words"),
    [
        ({"privacy": {"leave_out": 0.2}}, "privacy.leave_out"),
        ({"privacy": {"leave_out": -0.1}}, "privacy.leave_out"),
        ({"series": {"record": "ssn"}}, "chooses anew for every version"),
        ({"privacy": {"k": {"column": "junk"}}}, "columns.junk.public = true"),
    ],
)
def test_refused(order, sections, words):
    order.write(**sections)
    with pytest.raises(PlanError, match=words):
        ReleasePlan.load(order.plan).data  # noqa: B018 - reading it checks it
    assert command("release", order.plan).code == 2
