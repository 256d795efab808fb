"""Many plans as deployments: schedules, time zones, work pools, and one run of a plan at a time."""

import re
import subprocess
import time
from pathlib import Path

import pytest
import yaml
from prefect.exceptions import PrefectHTTPStatusError

from crowdcover.flows.launch.deployments import Schedule, parse_schedules
from crowdcover.flows.plan.plan import PlanError
from tests.flows.asking import ask, until
from tests.flows.deployed import BIN, deployment, start, started, state
from tests.flows.orders import Order
from tests.flows.processes import command

ROOT = Path(__file__).parents[2]


def scheduled(deployments):
    """The runs that are due of some deployments."""
    these = {"any_": [each["id"] for each in deployments]}
    wanted = {"deployment_id": these, "state": {"type": {"any_": ["SCHEDULED"]}}}
    return ask("/flow_runs/filter", {"flow_runs": wanted})


def are_told_of_both(names):
    """Whether names of runs that are due tell the plan and the time, of both plans."""
    told = [
        re.fullmatch(r"(north|south)-\d+ due \d{4}-\d\d-\d\d (\d\d:\d\d)", each) for each in names
    ]
    return all(told) and {each.groups() for each in told} == {
        ("north", "02:00"),
        ("south", "04:30"),
    }


def test_a_cron_is_for_all_plans_or_for_one():
    stated = ["0 2 1 * *", "b=0 3 * * *"]
    assert parse_schedules(["a", "b"], stated, "Europe/Rome") == {
        "a": Schedule("0 2 1 * *", "Europe/Rome"),
        "b": Schedule("0 3 * * *", "Europe/Rome"),
    }
    assert set(parse_schedules(["a", "b"], ["b=0 3 * * *"], "UTC")) == {"b"}
    assert parse_schedules(["a"], [], "UTC") == {}
    assert set(parse_schedules(["a"], ["0 2 29 2 *"], "UTC")) == {"a"}


@pytest.mark.parametrize(
    ("stated", "zone", "words"),
    [
        (["0 2 1"], "UTC", "must be five fields"),
        (["a=0 2 1"], "UTC", "must be five fields"),
        (["0 2 1 * * 30"], "UTC", "must be five fields"),
        (["@monthly"], "UTC", "must be five fields"),
        (["0 2 30 2 *"], "UTC", "names a day that never comes"),
        (["c=0 2 1 * *"], "UTC", "names a plan that is not served; the plans are: a, b"),
        (["0 2 1 * *", "0 3 1 * *"], "UTC", "is given twice"),
        (["0 2 1 * *"], "Rome", "--timezone is not known"),
        ([], "../etc/passwd", "--timezone is not known"),
    ],
)
def test_a_schedule_that_no_plan_can_have_is_refused(stated, zone, words):
    with pytest.raises(PlanError, match=words):
        parse_schedules(["a", "b"], stated, zone)


def test_two_plans_of_one_name_are_not_served(tmp_path):
    order = Order(tmp_path)
    done = command("serve", order.plan, order.plan)
    assert (done.code, done.out) == (2, "")
    assert "two plans have the same name" in done.err


def test_a_plan_whose_signing_key_is_not_there_is_not_served(tmp_path):
    order = Order(tmp_path, publish={"signing_key": f"file:{tmp_path / 'gone.key'}"})
    served, released = (command(name, order.plan) for name in ("serve", "release"))
    assert (served.code, served.out, served.err) == (released.code, "", released.err)
    assert "gone.key cannot be read" in served.err
    assert not order.vault.exists()


@pytest.mark.slow
def test_plans_are_served_by_their_own_clocks_and_run_one_at_a_time(server, tmp_path):
    """Two plans are served; a work pool's deployment runs one of them at the same time.

    No run may choose another plan: Prefect refuses it where parameters are validated, and the run
    itself where they are not.
    """
    number = time.time_ns() % 10**9
    names = [f"{name}-{number}" for name in ("north", "south")]
    orders = [Order(tmp_path / name, name=name) for name in names]
    document = yaml.safe_load((ROOT / "deploy/prefect/prefect.yaml").read_text("utf-8"))
    pooled = document["deployments"][1]
    assert pooled["schedules"] == [{"cron": "0 2 1 * *", "timezone": "Europe/Rome"}]
    pooled |= {"name": f"pooled-{number}", "parameters": {"plan": str(orders[0].plan)}}
    document["deployments"] = [pooled]
    (tmp_path / "prefect.yaml").write_text(yaml.safe_dump(document))
    crons = ["--cron", "0 2 1 * *", "--cron", f"{names[1]}=30 4 * * 1"]
    zone = ["--timezone", "Europe/Rome", "--workers", "2"]
    plans = [str(order.plan) for order in orders]
    with started([BIN / "crowdcover", "serve", *plans, *crons, *zone], tmp_path, "serve.log"):
        served = [deployment(name) for name in names]
        told = [each["schedules"][0]["schedule"] for each in served]
        assert [each["cron"] for each in told] == ["0 2 1 * *", "30 4 * * 1"]
        assert {each["timezone"] for each in told} == {"Europe/Rome"}
        # The server plans the runs of one deployment after those of the other.
        until(lambda: [run["name"] for run in scheduled(served)], are_told_of_both)
        for arguments in (
            ["work-pool", "create", "server", "--type", "process", "--overwrite"],
            ["--no-prompt", "deploy", "--all"],
        ):
            subprocess.run(
                [BIN / "prefect", *arguments], cwd=tmp_path, check=True, capture_output=True
            )
        worker = [BIN / "prefect", "worker", "start", "--pool", "server", "--name", str(number)]
        with started(worker, tmp_path, "worker.log"):
            pool, other = deployment(pooled["name"]), {"plan": str(orders[1].plan)}
            with pytest.raises(PrefectHTTPStatusError, match="is not one of"):
                start(served[0], parameters=other)
            runs = [start(pool), *(start(each) for each in served)]
            runs += [
                start(pool, parameters=other),
                start(served[0], parameters=other, enforce_parameter_schema=False),
            ]
            ends = until(
                lambda: [state(run) for run in runs],
                lambda all_: all(each["state"]["type"] in ("COMPLETED", "FAILED") for each in all_),
            )
    assert [each["state"]["type"] for each in ends] == ["COMPLETED"] * 3 + ["FAILED"] * 2, [
        each["state"]["message"] for each in ends
    ]
    assert [each["name"] for each in ends[:3]] == [f"{name} v1" for name in (names[0], *names)]
    for refused in ends[3:]:
        assert "is not the plan of this deployment" in refused["state"]["message"]
    for name in names:
        found = (tmp_path / name / "releases" / name).glob("v*")
        assert [path.name for path in found] == ["v1"]
    slots = ask("/v2/concurrency_limits/filter")
    assert {f"crowdcover {name}" for name in names} <= {each["name"] for each in slots}
