"""Releases on a Dask cluster, and many plans side by side."""

import os
from operator import itemgetter

import dask
import pytest

from anon_core.errors import ClusterError
from crowdcover.flows import cli
from crowdcover.flows.outcome import exit_code
from crowdcover.flows.plan.plan import PlanError
from tests.flows.asking import ask, have_ended, until
from tests.flows.orders import RARE, STAGES, Order, data_bytes, people
from tests.flows.processes import crowdcover
from tests.kinds.matrix.orders import MatrixOrder
from tests.support.audits import audit_release

ROWS = people(300)


@pytest.mark.slow
@pytest.mark.parametrize(
    "anonymizer",
    [{"name": "adaptive"}, {"name": "freeform", "segment": 60}],
    ids=itemgetter("name"),
)
def test_a_release_made_on_a_cluster_is_that_of_this_process(tmp_path, anonymizer):
    compute = {"engine": "dask", "workers": 2, "threads": 1}
    here = Order(tmp_path / "here", ROWS, anonymizer=anonymizer).fix_seed()
    there = Order(tmp_path / "there", ROWS, anonymizer=anonymizer, compute=compute).fix_seed()
    assert data_bytes(there.release()) == data_bytes(here.release())
    assert audit_release(there.folder_of_v1, there.plan).passed


@pytest.mark.slow
def test_a_matrix_released_on_a_cluster_is_that_of_this_process(tmp_path):
    made = []
    for name, compute in (("here", {}), ("there", {"engine": "dask", "workers": 2, "threads": 1})):
        order = MatrixOrder(
            tmp_path / name,
            anonymizer={"name": "smooth", "block": 20},
            compute={"threads": 1, **compute},
        ).fix_seed()
        made.append((order.release() / "rows.parquet").read_bytes())
        assert audit_release(order.folder / "releases" / "likes" / "v1", order.plan).passed
    assert made[0] == made[1]


def test_a_plan_that_groups_all_records_at_once_is_refused_on_a_cluster(tmp_path):
    order = MatrixOrder(tmp_path, compute={"engine": "dask"})
    with pytest.raises(PlanError, match="with these settings does not run on"):
        order.release()


@pytest.mark.long
def test_a_cluster_that_does_not_answer_stops_the_run_and_the_next_goes_on(tmp_path):
    order = Order(tmp_path, compute={"engine": "dask", "scheduler": "tcp://127.0.0.1:9"})
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
        pytest.raises(ClusterError, match="no Dask scheduler"),
    ):
        order.release()
    times = order.stage_times()
    assert set(times) == set(STAGES[: STAGES.index("anonymize")])
    del order.document["compute"]
    order.write()
    assert order.release() == order.folder_of_v1
    assert order.stage_times().items() >= times.items()


@pytest.mark.slow
def test_many_plans_are_released_side_by_side_and_a_refused_one_stops_no_other(server, tmp_path):
    names = [f"{name}-{os.getpid()}" for name in ("first", "refused", "broken", "last")]
    first = Order(tmp_path / "first", name=names[0], compute={"engine": "dask", "threads": 1})
    refused = Order(tmp_path / "refused", name=names[1], privacy={"k": 91})
    broken = Order(tmp_path / "broken", name=names[2])
    wrong = Order(tmp_path / "wrong", checks={"floor": 1})
    last = Order(tmp_path / "last", name=names[3])
    (broken.run.path / ".ingest.partial").touch()  # no folder can be made there
    plans = [first.plan, refused.plan, broken.plan, wrong.plan, last.plan]
    done = crowdcover("release", *plans, "--workers", "2")
    folders = [order.folder / "releases" / order.document["name"] / "v1" for order in (first, last)]
    assert done.out.splitlines() == [str(folder) for folder in folders], done.err
    assert done.code == 2
    words = [line for line in done.err.splitlines() if line.startswith("crowdcover: ")]
    assert len(words) == 3
    assert words[0].startswith(f"crowdcover: {refused.plan}: 90 of 90 records demand k > 90")
    assert words[1].startswith(
        f"crowdcover: {broken.plan}: stage ingest failed with FileExistsError; its traceback is in"
    )
    assert words[2].startswith(f"crowdcover: {wrong.plan}: unknown key checks.floor")
    assert "Traceback" not in done.err
    assert RARE not in done.err
    for order, folder in zip((first, last), folders, strict=True):
        assert audit_release(folder, order.plan).passed

    states = dict(zip(names, ["COMPLETED", "FAILED", "FAILED", "COMPLETED"], strict=True))
    (whole,) = ask("/flow_runs/filter", {"flow_runs": {"name": {"any_": [", ".join(names)]}}})
    assert (whole["state"]["type"], whole["state"]["message"]) == (
        "FAILED",
        "2 of 4 plans were not published",
    )
    of_whole = {"flow_runs": {"id": {"any_": [whole["id"]]}}}
    ended = until(
        lambda: [run for run in ask("/task_runs/filter", of_whole) if run["name"] in names],
        lambda runs: have_ended(runs, len(names)),
    )
    assert {run["name"]: run["state_type"] for run in ended} == states
    tasks = ask("/task_runs/filter", of_whole)  # each plan's flow run belongs to one of its own
    parts = ask(
        "/flow_runs/filter",
        {"flow_runs": {"parent_task_run_id": {"any_": [run["id"] for run in tasks]}}},
    )
    versions = {
        name: f"{name} v1" if state == "COMPLETED" else name for name, state in states.items()
    }
    assert {run["name"]: run["state"]["type"] for run in parts} == {
        versions[name]: state for name, state in states.items()
    }


@pytest.mark.parametrize(
    "options", [["release", "PLAN", "PLAN"], ["release", "PLAN", "--set", 'compute.engine="dask"']]
)
def test_without_dask_its_name_is_told(tmp_path, monkeypatch, capsys, options):
    order = Order(tmp_path)
    for module in ("crowdcover.flows.commands.release.release", "crowdcover.flows.plan.plan"):
        monkeypatch.setattr(f"{module}.find_spec", lambda name: None)
    with pytest.raises(SystemExit) as ended:
        cli.main([str(order.plan) if option == "PLAN" else option for option in options])
    printed = capsys.readouterr()
    assert (ended.value.code, printed.out) == (exit_code(PlanError()), "")
    assert "pip install 'crowdcover[dask]'" in printed.err
    assert not order.vault.exists()
