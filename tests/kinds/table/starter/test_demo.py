"""The plan of `crowdcover demo`."""

import importlib.util

import pytest

from crowdcover.flows.plan.plan import PlanError, ReleasePlan
from crowdcover.kinds.table.starter.demo import demo_plan
from crowdcover.storage.source.sources import read_source_header


def test_the_demos_plan_is_one(tmp_path):
    path = demo_plan(tmp_path / "new" / "demo")
    plan = ReleasePlan.load(path)
    plan.data.check_header(read_source_header(plan.data.source))
    assert plan.name == "fair"
    assert len(plan.data.quasi) == 8
    assert plan.checks.max_uniform == 0.05
    assert plan.publish.path == str(tmp_path / "new" / "demo" / "releases")


def test_the_demo_without_its_table(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(PlanError, match=r"pip install 'crowdcover\[demo\]'"):
        demo_plan(tmp_path)
