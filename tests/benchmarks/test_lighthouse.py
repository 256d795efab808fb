"""Rows of a release as project-lighthouse-anonymize measures them, and its table."""

import polars as pl
import pytest

import crowdcover
from benchmarks.comparisons import lighthouse
from crowdcover.flows.plan.plan import ReleasePlan
from tests.crowdcover.reader.folders import attribute, folder


@pytest.fixture
def release(tmp_path):
    entries = [
        attribute("age", "numeric", ["30", "40", "60"]),
        attribute("sex", labels=["f", "m"]),
        attribute("race", labels=["(missing)", "x", "y"], has_missing=True),
    ]
    rows = {
        "age": ["40", "30..60", "30"],
        "sex": ["m", "f|m", "f"],
        "race": ["y", "(missing)", "(missing)|x"],
        "row": ["2", "0", "1"],
    }
    return crowdcover.read(folder(tmp_path / "r", entries, rows), "uniform")


def test_rows_stand_in_the_order_of_the_source_and_sets_are_stars(release):
    rows = lighthouse.published(release, ("age", "sex", "race"))
    assert rows["age"].to_list() == pytest.approx([130 / 3, 30, 40])
    assert rows["sex"].to_list() == ["*", "f", "m"]
    assert rows["race"].to_list() == [None, "*", "y"]


@pytest.mark.parametrize("width", lighthouse.COLUMNS)
def test_a_plan_masks_every_column_for_five(tmp_path, width):
    names = lighthouse.COLUMNS[width]
    assert len(names) == width
    pl.DataFrame({name: ["1"] for name in (*names, "row")}).write_csv(tmp_path / "x")
    path = tmp_path / "plan.toml"
    path.write_text(lighthouse.plan(names, lighthouse.PLANS["cells"], {"sex": 2}))
    plan = ReleasePlan.load(path, [f"source.path={tmp_path / 'x'}"])
    roles = {column.name: column.role for column in plan.data.columns}
    assert roles == dict.fromkeys(names, "quasi") | {"row": "keep"}
    weights = {column.name: column.spec.weight for column in plan.data.columns if column.spec}
    assert weights["sex"] == 2
    assert weights["age"] == 1
    assert plan.data.demand.constant == 5


def test_the_table_has_the_minimums_first_and_leaves_out_what_is_not_defined():
    metrics = {"rilm__sex": 1.0, "pearsons__minimum": 0.95, "nmi__x": float("nan")}
    found = [{"name": "ours", "met": True, "rows": 3, "metrics": metrics}]
    assert list(lighthouse.table(found))[2:] == [
        "| rows | | 3 |",
        "| meets all minimums | | yes |",
        "| pearsons__minimum | 0.9 | 0.95 |",
        "| nmi__x |  |  |",
        "| rilm__sex |  | 1 |",
    ]
