"""A toy kind for the contracts."""

import polars as pl
import pytest

from anon_core.anonymizers import ANONYMIZERS
from crowdcover.kinds import KINDS
from tests.contract.bag.pool import Pool

VALUES = ["a"] * 9 + ["b"] * 6 + ["c"] * 2 + ["d"]


@pytest.fixture
def bag(tmp_path, monkeypatch):
    """The toy kind, registered, and a plan for it."""
    monkeypatch.setitem(KINDS, "bag", "tests.contract.bag")
    monkeypatch.setitem(ANONYMIZERS, "pool", Pool)
    pl.DataFrame({"value": VALUES}).write_csv(tmp_path / "bag.csv")
    plan = tmp_path / "bag.toml"
    plan.write_text('name = "bag"\n[source]\nkind = "bag"\npath = "bag.csv"\n[privacy]\nk = 4\n')
    return plan
