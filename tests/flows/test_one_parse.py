"""A process parses a plan once, from the command line to the end of the flow."""

import pytest

from crowdcover.flows.launch.one_plan import load_ready_plan
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.flows.runs.known_plan import freeze_plan
from crowdcover.flows.runs.parameters import (
    hand_on_plan,
    load_run_plan,
    name_of_plan,
    read_run_plan,
)
from tests.flows.orders import Order


@pytest.fixture
def parsed(monkeypatch):
    """How often a plan was parsed."""
    counted, parse = [], ReleasePlan.of.__func__

    def count(cls, document):
        counted.append(document["name"])
        return parse(cls, document)

    monkeypatch.setattr(ReleasePlan, "of", classmethod(count))
    return counted


def test_the_flow_takes_the_plan_that_the_command_parsed(tmp_path, parsed):
    plan = load_ready_plan(Order(tmp_path).plan, [])
    frozen = freeze_plan(plan)
    hand_on_plan(frozen, plan)
    assert name_of_plan(str(frozen)) == "people"
    assert load_run_plan(str(frozen), None, None) is plan
    assert parsed == ["people"]


def test_a_flow_that_was_started_by_a_path_parses_it_once(tmp_path, parsed):
    path = str(Order(tmp_path).plan)
    assert name_of_plan(path) == "people"
    assert load_run_plan(path, None, None).name == "people"
    assert parsed == ["people"]


def test_a_plan_that_has_changed_is_parsed_again(tmp_path):
    order = Order(tmp_path)
    first = read_run_plan(str(order.plan))
    order.write(publish={"approval": "required"})
    assert read_run_plan(str(order.plan)) != first
    order.plan.unlink()
    assert name_of_plan(str(order.plan)) == "release"
