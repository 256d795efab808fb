"""Passwords of a plan's URIs: no file keeps them, and whoever runs the plan still has them."""

import json
import os
import subprocess
import sys

import pytest

from flows.plan.passwords import without_password
from flows.plan.plan import ReleasePlan

PASSWORD = "zq7pass:w@rd"
SOURCE = f"postgresql://reader:{PASSWORD}@db.example:5432/people?sslmode=require"
LEDGER = f"postgresql://db.example/ledger?user=writer&p%61ssword={PASSWORD}&connect_timeout=3"
PLAN = """
name = "people"
[source]
uri = {source}
query = "select a, b from people"
[columns.a]
role = "quasi"
kind = "categorical"
[columns.b]
role = "sensitive"
[privacy]
k = 3
[publish]
ledger = {ledger}
"""


@pytest.fixture
def plan_of(tmp_path):
    def load(source=SOURCE, ledger=LEDGER):
        path = tmp_path / "people.toml"
        path.write_text(PLAN.format(source=json.dumps(source), ledger=json.dumps(ledger)))
        return ReleasePlan.load(path)

    return load


@pytest.mark.parametrize(
    ("uri", "left"),
    [
        (SOURCE, "postgresql://reader@db.example:5432/people?sslmode=require"),
        (LEDGER, "postgresql://db.example/ledger?user=writer&connect_timeout=3"),
        ("postgresql://u:a/b@c@h/d", "postgresql://u@h/d"),
        ("postgresql://:p@h/d", "postgresql://@h/d"),
        ("postgres://h/d?password=p", "postgres://h/d"),
        ("postgres://h/d?user=u&sslpassword=p;x", "postgres://h/d?user=u"),
        ("postgresql://u@h:5432/d@x", "postgresql://u@h:5432/d@x"),
        ("postgresql://h:5432,g:5433/d?target_session_attrs=any",) * 2,
        ("postgresql:///d?host=/run/postgresql",) * 2,
        ("sqlite:////tmp/a:b.db",) * 2,
    ],
)
def test_uris_without_their_passwords(uri, left):
    assert without_password(uri) == left
    assert without_password(left) == left


def test_no_file_of_the_vault_holds_a_password(plan_of, tmp_path):
    plan = plan_of()
    frozen = plan.freeze(tmp_path / "vault" / "plans")
    texts = [path.read_text() for path in (tmp_path / "vault").rglob("*") if path.is_file()]
    assert len(texts) == 1
    assert "zq7" not in texts[0]
    assert "reader@db.example" in texts[0]
    again = ReleasePlan.load(frozen)
    assert again.data.source.uri == SOURCE
    assert again.publish.ledger == LEDGER
    assert again.sha256 == plan.sha256


def test_processes_that_the_freezing_one_starts_have_the_password(plan_of, tmp_path):
    """Served plans and plans side by side run in processes of their own."""
    frozen = plan_of().freeze(tmp_path / "vault" / "plans")
    words = (
        "import sys; from pathlib import Path; from flows.plan.plan import ReleasePlan; "
        "print(ReleasePlan.load(Path(sys.argv[1])).source.uri)"
    )
    command = [sys.executable, "-c", words, str(frozen)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == SOURCE
    bare = {name: value for name, value in os.environ.items() if "CROWDCOVER" not in name}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=bare)
    assert done.stdout.strip() == without_password(SOURCE)  # libpq may know it: ~/.pgpass


def test_another_password_is_the_same_plan(plan_of, tmp_path):
    plans = tmp_path / "vault" / "plans"
    before, now = plan_of(), plan_of(SOURCE.replace(PASSWORD, "zq7new"))
    assert before.freeze(plans) == now.freeze(plans)
    assert before.sha256 == now.sha256
    assert ReleasePlan.load(next(plans.iterdir())).source.uri == now.source.uri


def test_a_password_that_left_the_plan_is_not_used_again(plan_of, tmp_path):
    plans = tmp_path / "vault" / "plans"
    plan_of().freeze(plans)
    bare = plan_of(without_password(SOURCE), without_password(LEDGER))
    assert ReleasePlan.load(bare.freeze(plans)) == bare
