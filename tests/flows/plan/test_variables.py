"""Variables of the environment in plans: where they stand, and where their values do not go."""

import json
from pathlib import Path

import pytest

from crowdcover.flows.plan.plan import PlanError, ReleasePlan
from crowdcover.flows.plan.variables import KEYS
from tests.flows.processes import command

HEAD = """
name = "people"
[columns.age]
role = "quasi"
kind = "numeric"
[privacy]
k = 4
"""
VALUE = "zq7"


@pytest.fixture
def load(tmp_path):
    def load(rest="[source]\npath = 'people.csv'", overrides=(), name="people.toml"):
        path = tmp_path / "plans" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(HEAD + rest)
        return ReleasePlan.load(path, overrides)

    return load


def test_paths_start_where_the_plan_lies_after_their_variables(load, tmp_path, monkeypatch):
    monkeypatch.setenv("DATA", "../data")
    monkeypatch.setenv("SITE", str(tmp_path / "site"))
    monkeypatch.setenv("HOST_2", "db.example")
    plan = load(
        "[source]\npath = '${DATA}/people-${HOST_2}.csv'\n[publish]\npath = '${SITE}/releases'\n"
        "vault = '${SITE}/vault'\napproval = 'required'\nreports = '${SITE}/reports'\n"
        "ledger = 'postgresql://crowdcover@${HOST_2}/ledger'\n"
        "into = {uri = 'postgresql://loader@${HOST_2}/releases'}\n"
        "[compute]\nengine = 'dask'\nscheduler = 'tcp://${HOST_2}:8786'"
    )
    assert plan.data.source.path == tmp_path / "data" / "people-db.example.csv"
    assert plan.publish.path == str(tmp_path / "site" / "releases")
    assert plan.publish.vault == str(tmp_path / "site" / "vault")
    assert plan.publish.reports == str(tmp_path / "site" / "reports")
    assert plan.publish.ledger == "postgresql://crowdcover@db.example/ledger"
    assert plan.publish.target.uri == "postgresql://loader@db.example/releases"
    assert plan.compute.scheduler == "tcp://db.example:8786"
    query = "[source]\nquery = 'select age from people'\nuri = 'postgresql://reader@${HOST_2}/x'"
    assert load(query).data.source.uri == "postgresql://reader@db.example/x"
    assert load("[source]\nuri = 'sqlite:///${DATA}/a.db'\nquery = 'select 1'").data.source.uri == (
        f"sqlite:///{tmp_path}/data/a.db"
    )


def test_overrides_and_overlays_may_name_variables_and_others_need_none(
    load, tmp_path, monkeypatch
):
    monkeypatch.setenv("SITE", str(tmp_path / "site"))
    assert load(overrides=["publish.path=${SITE}/r"]).publish.path == str(tmp_path / "site/r")
    rest = "[source]\npath = 'people.csv'\n[env.prod.publish]\npath = '${NOWHERE}/r'"
    assert load(rest).publish.path.endswith("plans/releases")  # the overlay is not named


@pytest.mark.parametrize(("value", "state"), [(None, "not set"), ("", "empty")])
def test_a_variable_that_is_missing_is_refused_with_its_name(load, monkeypatch, value, state):
    monkeypatch.delenv("DATA_HOME", raising=False)
    if value is not None:
        monkeypatch.setenv("DATA_HOME", value)
    words = f"source.path names the variable DATA_HOME, which is {state} in the environment"
    with pytest.raises(PlanError, match=words):
        load("[source]\npath = '${DATA_HOME}/people.csv'")


def test_check_and_release_refuse_it_alike(load, tmp_path, monkeypatch):
    monkeypatch.delenv("DATA_HOME", raising=False)
    with pytest.raises(PlanError):
        load("[source]\npath = '${DATA_HOME}/people.csv'")
    plan = tmp_path / "plans" / "people.toml"
    checked, released = command("check", plan), command("release", plan)
    assert (checked.code, released.code) == (2, 2)
    for done in (checked, released):
        assert "names the variable DATA_HOME, which is not set" in done.err


@pytest.mark.parametrize("value", [f"{VALUE}\nother", f"{VALUE}\x1b[2J", f"{VALUE}\u202e"])
def test_a_value_that_is_no_line_of_text_is_refused_without_it(load, monkeypatch, value):
    monkeypatch.setenv("DATA_HOME", value)
    with pytest.raises(PlanError, match="is not one line of printable text") as caught:
        load("[source]\npath = '${DATA_HOME}/people.csv'")
    assert VALUE not in str(caught.value)


def test_a_password_in_a_variable_is_refused_as_in_the_plan(load, monkeypatch):
    monkeypatch.setenv("DATABASE_URL", f"postgresql://reader:{VALUE}@db.example/x")
    with pytest.raises(PlanError, match=r"source\.uri holds a password") as caught:
        load("[source]\nquery = 'select 1'\nuri = '${DATABASE_URL}'")
    assert VALUE not in str(caught.value)
    assert not caught.value.__context__


def test_the_hash_does_not_cover_what_a_variable_holds(load, monkeypatch):
    hashes = set()
    for value in ("a", "b"):
        monkeypatch.setenv("SITE", f"/{value}")
        rest = (
            "[source]\npath = '${SITE}/x.csv'\n[publish]\npath = '${SITE}/r'\nvault = '${SITE}/v'"
        )
        hashes.add(load(rest).sha256)
    assert len(hashes) == 1
    assert hashes == {load().sha256}


def test_other_keys_and_doubled_signs_are_left_as_they_are(load, monkeypatch):
    monkeypatch.setenv("SITE", VALUE)
    plan = load("[source]\npath = '$${SITE}/$SITE/${SITE}.csv'\nmissing = ['${SITE}']")
    assert str(plan.data.source.path).endswith(f"plans/${{SITE}}/$SITE/{VALUE}.csv")
    assert plan.source.missing == ["${SITE}"]


def test_a_frozen_plan_needs_no_variable_and_reads_its_text_as_it_is(load, tmp_path, monkeypatch):
    monkeypatch.setenv("SITE", VALUE)
    plan = load("[source]\npath = '${SITE}/$${SITE}.csv'")
    frozen = plan.freeze(tmp_path / "vault" / "plans")
    monkeypatch.delenv("SITE")
    assert ReleasePlan.load(frozen).data.source.path == plan.data.source.path
    assert json.loads(frozen.read_text())["source"]["path"].endswith(f"{VALUE}/${{SITE}}.csv")


def test_the_page_of_the_docs_has_every_key():
    page = (Path(__file__).parents[3] / "docs/how-to/plans-in-git.md").read_text("utf-8")
    for key in KEYS:
        assert f"`{'.'.join(key)}`" in page
