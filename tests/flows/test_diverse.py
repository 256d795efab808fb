"""[privacy] diverse, from the plan to the page."""

import pandas as pd
import pycanon.anonymity as pycanon
import pytest

from anon_core.anonymizers.halving import Joined
from anon_core.errors import GuaranteeError, InfeasibleError
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.kinds.section import PlanError
from tests.flows.orders import QUASI, Order
from tests.flows.processes import command
from tests.support.audits import audit_release
from tests.support.releases import manifest, released_rows

THREE = {"column": "diagnosis", "l": 3}


def order_classes(folder, diverse, **sections):
    """An order whose plan names no method."""
    order = Order(folder, privacy={"diverse": diverse}, **sections)
    order.document["anonymizer"] = {}
    order.write()
    return order


@pytest.mark.long
@pytest.mark.parametrize(
    ("rule", "stated"),
    [
        ({"l": 3}, {"measure": "distinct", "l": 3}),
        ({"l": 3, "kind": "entropy"}, {"measure": "entropy", "l": 3}),
        ({"t": 0.3}, {"measure": "distance", "t": 0.3}),
    ],
)
def test_pycanon_finds_what_the_plan_demands(tmp_path, rule, stated):
    diverse = {"column": "diagnosis", **rule}
    order = order_classes(tmp_path, diverse, publish={"formats": ["csv"]})
    folder = order.release()
    told = manifest(folder)
    assert told["anonymizer"]["name"] == "k-member"
    assert told["diverse"] == {"column": "diagnosis", **stated}
    audit = audit_release(folder, order.plan)
    assert audit.passed
    assert "diverse classes" in {each.guarantee for each in audit.findings}
    rows = pd.DataFrame(released_rows(folder))
    measures = {
        "distinct": lambda: pycanon.l_diversity(rows, QUASI, ["diagnosis"]) >= 3,
        "entropy": lambda: pycanon.entropy_l_diversity(rows, QUASI, ["diagnosis"]) >= 3,
        "distance": lambda: pycanon.t_closeness(rows, QUASI, ["diagnosis"]) <= 0.3 + 1e-9,
    }
    assert measures[stated["measure"]]()
    page = " ".join((folder / "report.html").read_text("utf-8").split())
    assert "Classes of different values." in page
    assert "minimality attack" in page
    assert "no l-diversity" not in page


def test_a_class_of_too_few_values_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "anon_core.anonymizers.k_member.join_classes", lambda _, group, __: Joined(group, [])
    )
    order = order_classes(tmp_path, {"column": "diagnosis", "l": 5})
    with pytest.raises(GuaranteeError, match="broken: diverse classes"):
        order.release()


def test_more_values_than_there_are_is_refused_with_the_most(tmp_path):
    order = order_classes(tmp_path, {"column": "diagnosis", "l": 6})
    with pytest.raises(InfeasibleError, match=r"show 5 values, .* the largest l is 5"):
        order.release()


@pytest.mark.long
def test_the_release_is_the_same_again(tmp_path):
    first, again = (
        order_classes(tmp_path / each, THREE).fix_seed().release() / "data.csv.gz" for each in "ab"
    )
    assert first.read_bytes() == again.read_bytes()


@pytest.mark.parametrize(
    ("sections", "words"),
    [
        ({"privacy": {"diverse": {"column": "city", "l": 2}}}, "role is 'sensitive'"),
        ({"privacy": {"diverse": {"column": "nobody", "l": 2}}}, "privacy.diverse names a column"),
        ({"privacy": {"diverse": {"column": "diagnosis"}}}, "needs l or t"),
        ({"privacy": {"diverse": {**THREE, "t": 0.2}}}, "needs l or t"),
        (
            {"privacy": {"diverse": {"column": "diagnosis", "t": 0.2, "kind": "entropy"}}},
            "belongs to l",
        ),
        ({"privacy": {"diverse": {"column": "diagnosis", "l": 1}}}, "privacy.diverse.l"),
        (
            {"privacy": {"diverse": THREE}, "anonymizer": {"name": "optimal"}},
            "anonymizer.name = 'k-member'",
        ),
        (
            {
                "privacy": {"diverse": THREE},
                "anonymizer": {"name": "k-member", "effort": 2},
            },
            "unknown key anonymizer.effort",
        ),
        ({"privacy": {"diverse": THREE}, "series": {"record": "ssn"}}, "leave \\[series\\] out"),
        (
            {
                "privacy": {"diverse": THREE, "person": "ssn"},
                "anonymizer": {"name": "k-member"},
            },
            "counts rows",
        ),
    ],
)
def test_refused(tmp_path, sections, words):
    order = Order(tmp_path, **sections)
    with pytest.raises(PlanError, match=words):
        ReleasePlan.load(order.plan)
    assert command("release", order.plan).code == 2
