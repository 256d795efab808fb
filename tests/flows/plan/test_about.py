"""[about]: texts for readers, checked, published, and no part of the plan's hash."""

import pytest

from crowdcover.flows.plan.plan import PlanError, ReleasePlan

PLAN = """
name = "x"
[source]
path = "x.csv"
[columns.age]
role = "quasi"
kind = "numeric"
[columns.k]
role = "drop"
[privacy]
k = {column = "k"}
"""
ABOUT = """
[about]
population = "adults of one county"
as_of = 2024-12-31
contact = "Data office"
answers_until = "2027-01-31"
"""


def load(folder, text, *overrides):
    (folder / "x.toml").write_text(text)
    return ReleasePlan.load(folder / "x.toml", overrides)


def test_what_is_stated_becomes_the_manifests_section(tmp_path):
    assert load(tmp_path, PLAN).about.claims == {}
    assert load(tmp_path, PLAN + ABOUT, "about.recipient=anyone").about.claims == {
        "about": {
            "population": "adults of one county",
            "as_of": "2024-12-31",
            "recipient": "anyone",
            "contact": "Data office",
            "answers_until": "2027-01-31",
        }
    }


def test_the_frozen_plan_says_the_same(tmp_path):
    plan = load(tmp_path, PLAN + ABOUT)
    assert ReleasePlan.load(plan.freeze(tmp_path / "plans")).about.claims == plan.about.claims


def test_open_questions_are_refused_and_never_published(tmp_path):
    asked = ABOUT + 'decide = ["title", "recipient"]\n'
    with pytest.raises(PlanError, match=r"title of about: .*; recipient of about: who gets it"):
        load(tmp_path, PLAN + asked)
    decided = load(tmp_path, PLAN + asked, "about.decide=[]")
    assert decided.about.claims == load(tmp_path, PLAN + ABOUT).about.claims
    assert decided.sha256 == load(tmp_path, PLAN + ABOUT).sha256


def test_older_hashes_stay(tmp_path):
    assert load(tmp_path, PLAN + ABOUT).sha256 == load(tmp_path, PLAN).sha256


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("population", '""'),
        ("population", '"  "'),
        ("recipient", '"a\\nb"'),
        ("contact", '"\\u202e"'),
        ("contact", f'"{"x" * 301}"'),
        ("as_of", "2024"),
        ("answers_until", '"soon"'),
        ("answers_until", '"2027-02-30"'),
        ("answers_until", '"20270130"'),
        ("answers_until", "2027-01-30T12:00:00"),
        ("unknown", '"x"'),
    ],
)
def test_refused(tmp_path, key, value):
    with pytest.raises(PlanError, match=f"about.{key}"):
        load(tmp_path, f"{PLAN}[about]\n{key} = {value}\n")


def test_the_manifest_names_every_column_with_its_role(tmp_path):
    plan = load(tmp_path, PLAN)
    assert plan.kind.describe_columns(plan.data) == {
        "columns": {
            "age": {"role": "quasi", "kind": "numeric"},
            "k": {"role": "drop", "decides_k": True},
        }
    }
    rows = load(tmp_path, PLAN, "privacy.rows_are_people=true")
    assert rows.kind.describe_columns(rows.data)["rows_are_people"] is True
