"""`publish.into` of a plan: a run loads what it published, also where an earlier one was killed."""

import json
import re

import polars as pl
import pytest

from crowdcover.flows.plan.plan import PlanError, ReleasePlan
from crowdcover.storage.targets.base import TargetError
from tests.flows.orders import Order
from tests.flows.processes import run
from tests.support.commands import call
from tests.support.crashes import release_until


def into(database, **more):
    return {"into": {"uri": database.into, **more}}


def count(database):
    return database.ask("select count(*) from people")[0][0]


@pytest.mark.long
def test_a_run_loads_what_it_published_and_the_plan_keeps_its_hash(tmp_path, database):
    order = Order(tmp_path / "order")
    before = ReleasePlan.load(order.plan).sha256
    order.write(publish=into(database))
    assert ReleasePlan.load(order.plan).sha256 == before
    folder = order.release()
    rows = pl.read_parquet(folder / "data.parquet").height
    assert count(database) == rows
    entries = database.ask("select * from crowdcover_releases")
    manifest = (folder / "manifest.json").read_text()
    assert "duckdb" not in json.dumps(json.loads(manifest)["columns"])
    assert database.into not in manifest
    assert order.release() == folder
    assert database.ask("select * from crowdcover_releases") == entries


@pytest.mark.long
def test_a_rerun_loads_what_a_killed_run_published(tmp_path, database, capsys):
    order = Order(tmp_path / "order", publish=into(database))
    ended = run(
        release_until, str(order.plan), "crowdcover.flows.course", "load_as_planned", 0, False
    )
    assert ended.code == -9, ended
    assert order.versions == ["v1"]
    assert database.relations() == {}
    code, text, err = call(capsys, "release", order.plan)
    assert (code, text.strip()) == (0, str(order.folder_of_v1))
    assert "published before and unchanged since: v1" in err
    assert "people_v1 in" in err
    assert count(database) == pl.read_parquet(order.folder_of_v1 / "data.parquet").height
    _, _, err = call(capsys, "release", order.plan)
    assert "stands already" in err


def test_a_target_that_does_not_answer_leaves_the_release_published(tmp_path, capsys):
    nowhere = tmp_path / "nowhere" / "file.duckdb"
    order = Order(tmp_path / "order", publish={"into": {"uri": f"duckdb:///{nowhere}"}})
    with pytest.raises(TargetError, match=r"v1 is published, but not loaded; .* Then run again"):
        order.release()
    assert order.versions == ["v1"]
    nowhere.parent.mkdir()
    assert order.release() == order.folder_of_v1
    assert nowhere.is_file()


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        ({"uri": "mysql://host/db"}, "publish.into.uri must be postgresql://"),
        ({"uri": "postgresql://a:zq7secret@host/db"}, "publish.into.uri holds a password"),
        ({"uri": "postgresql://a@host/db", "role": "b"}, "publish.into must be a table"),
        ({"uri": "postgresql://a@host/db", "grant": "b"}, "publish.into must be a table"),
        ({"uri": "postgresql://a@host/db", "schema": 3}, "publish.into must be a table"),
        ({"grant": ["b"]}, "publish.into must be a table"),
        ({"uri": "duckdb:///a.duckdb"}, "publish.into.uri must have a whole path"),
        ({"uri": "duckdb:////a.duckdb", "grant": ["b"]}, "has neither roles nor passwords"),
        (
            {"uri": "postgresql://a@host/db", "credentials": "zq7secret"},
            "publish.into.credentials must be",
        ),
        ("postgresql://a:zq7secret@host/db", "publish.into must"),
    ],
)
def test_targets_that_are_refused(stated, words, tmp_path):
    order = Order(tmp_path, publish={"into": stated})
    with pytest.raises(PlanError, match=re.escape(words)) as refused:
        ReleasePlan.load(order.plan)
    assert "zq7secret" not in str(refused.value)
