"""Releases where Prefect has no server: a plain call, of which Prefect is not even imported."""

import json
import os
import re
import signal
import subprocess
import sys

import pytest

from tests.flows.orders import Order, people
from tests.flows.processes import LONGEST
from tests.support.audits import audit_release

LINE = re.compile(r"\d\d:\d\d:\d\d\.\d{3} \| INFO    \| (people.*?) - (.*)")
# The command, and then what it has imported.
PROGRAM = """
import sys
from crowdcover.flows import cli
try:
    cli.main(sys.argv[1:])
finally:
    loaded = {name.partition(".")[0] for name in sys.modules}
    print(*sorted(loaded & {"prefect", "starlette", "sqlalchemy"}), sep=",")
"""


class Alone:
    """A terminal with a folder of Prefect of its own, and no server."""

    def __init__(self, folder):
        self.home = folder / "prefect"
        kept = {name: value for name, value in os.environ.items() if "PREFECT" not in name}
        self.environment = {**kept, "PREFECT_HOME": str(self.home)}

    def call(self, *words, code=0, **environment):
        done = subprocess.run(
            [sys.executable, *map(str, words)], check=False, capture_output=True, text=True,
            env={**self.environment, **environment}, cwd=self.home.parent, timeout=LONGEST,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        return done.stdout, done.stderr

    def release(self, *words, code=0, **environment):
        command = ("-m", "crowdcover.flows.cli", "release")
        return self.call(*command, *words, code=code, **environment)


@pytest.mark.long
def test_a_release_and_a_refusal_need_no_prefect(tmp_path):
    alone, order = Alone(tmp_path), Order(tmp_path)
    out, told = alone.call("-c", PROGRAM, "release", order.plan)
    assert out == f"{order.folder_of_v1}\n\n"
    lines = LINE.findall(told)
    others = [line for line in told.splitlines() if not LINE.fullmatch(line)]
    assert [line for line in others if "compiling for this machine" not in line] == []
    assert lines[0] == (
        "people", "no Prefect server is named (PREFECT_API_URL): the vault alone keeps this run"
    )  # fmt: skip
    assert lines[-1] == ("people publish", "published 90 rows as people v1")
    assert {where.partition(" ")[2] for where, _ in lines} >= {
        *("ingest", "validate ingested", "encode", "validate binarized", "identify"),
        *("anonymize", "check", "publish"),
    }
    assert audit_release(order.folder_of_v1, order.plan).passed
    order.write_source(people(20, first=900))
    out, told = alone.call("-c", PROGRAM, "release", order.plan, code=4)
    assert out == "\n"
    assert "20 rows instead of 90" in told.splitlines()[-1]
    assert "Traceback" not in told
    assert order.versions == ["v1"]
    assert not alone.home.exists()


@pytest.mark.long
def test_its_log_is_silent_or_json_where_that_is_asked_for(tmp_path):
    alone = Alone(tmp_path)
    quiet, told = Order(tmp_path / "quiet"), Order(tmp_path / "json")
    assert alone.release(quiet.plan, "--quiet") == (f"{quiet.folder_of_v1}\n", "")
    out, err = alone.release(told.plan, CROWDCOVER_LOGS="json")
    assert out == f"{told.folder_of_v1}\n"
    lines = [json.loads(line) for line in err.splitlines()]
    (published,) = [each for each in lines if each["message"].startswith("published")]
    assert (published["flow_run_name"], published["task_run_name"]) == ("people", "publish")


@pytest.mark.slow
def test_it_waits_for_approval_and_goes_on(tmp_path):
    alone, order = Alone(tmp_path), Order(tmp_path, publish={"approval": "required"})
    out, told = alone.release(order.plan, code=6)
    assert out == ""
    (run,) = re.findall(r"crowdcover approve (\w+) ", told.split("waits for approval")[-1])
    approve = ("approve", run, "--vault", order.vault, "--by", "Ada")
    assert "run the release again" in alone.call("-m", "crowdcover.flows.cli", *approve)[0]
    assert alone.release(order.plan)[0] == f"{order.folder_of_v1}\n"


@pytest.mark.slow
def test_several_plans_run_side_by_side(tmp_path):
    alone, orders = Alone(tmp_path), []
    for name, k in (("first", 4), ("refused", 91), ("last", 4)):
        orders.append(Order(tmp_path / name, name=name, privacy={"k": k}))
    plans = [order.plan for order in orders]
    out, told = alone.release(*plans, code=2)
    assert out.splitlines() == [
        str(orders[place].folder / "releases" / name / "v1")
        for place, name in ((0, "first"), (2, "last"))
    ]
    refused = [line for line in told.splitlines() if line.startswith("crowdcover: ")]
    assert len(refused) == 1
    assert refused[0].startswith(f"crowdcover: {plans[1]}: 90 of 90 records demand k > 90")
    assert re.search(r"INFO    \| last publish - published 90 rows as last v1", told)
    assert not alone.home.exists()


@pytest.mark.slow
def test_sigterm_ends_it_as_ctrl_c_does(tmp_path):
    """What has to be tidied is: a batch job is cancelled by the same way."""
    alone, order = Alone(tmp_path), Order(tmp_path, people(2_000))
    program = """
import signal, sys
from crowdcover.flows import cli, course
def wait(*_):
    try:
        print("at work", flush=True)
        signal.pause()
    finally:
        print("tidied", flush=True)
course.ingest = wait
cli.main(sys.argv[1:])
"""
    process = subprocess.Popen(
        [sys.executable, "-c", program, "release", str(order.plan)],
        env=alone.environment, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    assert process.stdout.readline() == "at work\n"
    process.send_signal(signal.SIGTERM)
    out, told = process.communicate(timeout=LONGEST)
    assert (process.returncode, out) == (128 + signal.SIGTERM, "tidied\n"), told
    assert "Traceback" not in told
    assert alone.release(order.plan)[0] == f"{order.folder_of_v1}\n"


def test_serve_needs_a_server(tmp_path):
    alone, order = Alone(tmp_path), Order(tmp_path)
    _, told = alone.call("-m", "crowdcover.flows.cli", "serve", order.plan, code=2)
    assert "serve needs a server of Prefect that stays" in told
    assert not alone.home.exists()
