"""[env.NAME]: keys of one place, which --env puts into the plan."""

import json

import pytest

from crowdcover.flows import cli
from crowdcover.flows.plan.named_overlay import Overlay
from crowdcover.flows.plan.plan import ReleasePlan
from tests.support.plans import refused

BASE = """
name = "people"
[source]
path = "small.csv"
[columns.age]
role = "quasi"
kind = "numeric"
bins = {quantiles = 5}
[privacy]
k = 3
[compute]
memory = "1GiB"
"""
PROD = """
[env.prod.source]
path = "whole.csv"
[env.prod.columns.age.bins]
edges = [18, 65]
[env.prod.privacy]
k = {by = "age", levels = {"30" = 10}, default = 5}
[env.prod.publish]
vault = "safe"
[env.test]
name = "people-test"
"""
MERGED = """
name = "people"
[source]
path = "whole.csv"
[columns.age]
role = "quasi"
kind = "numeric"
bins = {edges = [18, 65]}
[privacy]
k = {by = "age", levels = {"30" = 10}, default = 5}
[compute]
memory = "1GiB"
[publish]
vault = "safe"
"""
PLAIN = 'uri = "sqlite:///people.db"\nquery = "select 1"\n'


@pytest.fixture
def load(tmp_path):
    def load(text, *overrides):
        path = tmp_path / "plan.toml"
        path.write_text(text, encoding="utf-8")
        return ReleasePlan.load(path, overrides)

    return load


def test_an_overlay_is_merged_key_by_key_and_leaves_no_trace(load, tmp_path):
    plan, written = load(BASE + PROD, Overlay("prod")), load(MERGED)
    assert plan == written
    assert plan.sha256 == written.sha256 != load(BASE + PROD).sha256
    assert plan.publish.vault == str(tmp_path / "safe")
    frozen = plan.freeze(tmp_path / "plans")
    assert "env" not in json.loads(frozen.read_text("utf-8"))
    assert ReleasePlan.load(frozen).sha256 == plan.sha256


def test_without_env_a_plan_is_what_it_was(load):
    assert load(BASE + PROD) == load(BASE)


def test_set_goes_before_an_overlay(load):
    plan = load(BASE + PROD, "privacy.k=7", Overlay("prod"))
    assert plan.privacy.k == 7
    assert load(BASE + PROD, Overlay("test"), "name=other").name == "other"


@pytest.mark.parametrize(
    ("text", "overrides", "words"),
    [
        (PROD, ["prd"], r"the plan has: prod, test; did you mean 'prod'\?"),
        ("", ["prod"], "an overlay that the plan lacks; .env. of the plan has: none"),
        (PROD, ["prod", "test"], "--env names one overlay of the plan; give it once"),
        ("[env]\nprod = 3", [], "env.prod must be a table of the plan's keys"),
        ("[env.prod.env.x]", [], "env.prod must be a table of the plan's keys"),
        ("[env.prod.source]\nquary = 'a'", ["prod"], "unknown key source.quary"),
        (
            '[env.prod.source]\nuri = "postgresql://a:zq7@h/db"',
            [],
            "source.uri holds a password, and plans are copied and kept",
        ),
        ('[env.prod.publish]\nledger = "postgresql://a:zq7@h/db"', [], "publish.ledger holds a"),
    ],
)
def test_overlays_that_are_refused(load, text, overrides, words):
    refused(words, lambda: load(BASE + text, *map(Overlay, overrides)), "zq7")


def test_env_is_a_table(load):
    refused("env must be a table of overlays", lambda: load("env = 'zq7'\n" + BASE), "zq7")


def test_the_place_of_a_password_may_stand_in_an_overlay_alone(load):
    base = BASE.replace('path = "small.csv"\n', PLAIN)
    prod = '[env.prod.publish]\nledger_credentials = "env:LEDGER"\n'
    plan = load(base + '[publish]\nledger = "postgresql://a@h/db"\n' + prod, Overlay("prod"))
    assert plan.publish.ledger_credentials == "env:LEDGER"


@pytest.mark.parametrize("command", ["release", "check", "serve", "doctor", "try", "audit"])
def test_commands_that_take_a_plan_take_the_name_of_an_overlay(command):
    arguments = {
        "doctor": ["--plan", "plan.toml"],
        "try": ["plan.toml", "--k", "3"],
        "audit": ["folder", "--plan", "plan.toml"],
    }.get(command, ["plan.toml"])
    options = cli.build_parser().parse_args(
        [command, *arguments, "--env", "prod", "--set", "privacy.k=4"]
    )
    assert options.overrides == ["prod", "privacy.k=4"]
    assert [type(each) for each in options.overrides] == [Overlay, str]


def test_check_reads_the_merged_plan(tmp_path, capsys):
    path = tmp_path / "plan.toml"
    path.write_text(BASE + PROD.replace("edges = [18, 65]", 'edges = ["a"]'), encoding="utf-8")
    for arguments, code in (([], 0), (["--env", "prod"], 2), (["--env", "test"], 0)):
        with pytest.raises(SystemExit) as ended:
            cli.main(["check", str(path), *arguments])
        assert ended.value.code == code
    assert "columns.age.bins must be" in capsys.readouterr().err
