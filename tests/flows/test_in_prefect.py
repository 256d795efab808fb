"""What Prefect shows of a release: names, states, parameters, events."""

import json
import time
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prefect.exceptions import Pause
from prefect.flow_runs import resume_flow_run

from anon_core.errors import GuaranteeError
from crowdcover.flows.launch.prefect_failures import refuse_prefect_failures
from crowdcover.flows.plan.plan import PlanError
from crowdcover.flows.release import release
from crowdcover.flows.runs.parameters import Accept, load_run_plan
from crowdcover.flows.runs.states import WAITING
from crowdcover.kinds.judge.drift import DriftError
from crowdcover.storage.approval.approval import WaitingError
from crowdcover.storage.vault.refusals import SecondReleaseError
from crowdcover.tasks.orchestration.events import key_of
from tests.flows.asking import ask, until
from tests.flows.orders import JUDGES, Order, people
from tests.flows.processes import command, crowdcover
from tests.support.approvals import WHO
from tests.support.releases import manifest

AS_JSON = {"CROWDCOVER_LOGS": "json"}
CALM = {"diagnosis": {"role": "drop"}, "note": {"role": "drop"}}


@pytest.fixture
def name(request):
    """A plan's name that no other test uses."""
    return f"plan-{abs(hash(request.node.nodeid)) % 10**8}-{time.time_ns() % 10**6}"


def found_runs(name):
    wanted = {"flow_runs": {"name": {"like_": name}}, "sort": "START_TIME_ASC"}
    return ask("/flow_runs/filter", wanted)


def runs_of(name):
    return [(run["name"], run["state"]["type"], run["state"]["name"]) for run in found_runs(name)]


def events_of(name, *wanted):
    """The events of a plan so far: what happened, and the payloads."""
    since = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    known = {
        "occurred": {"since": since},
        "resource": {"id": [f"crowdcover.plan.{name}"]},
        "order": "ASC",
    }
    found = until(
        lambda: ask("/events/filter", {"filter": known, "limit": 50})["events"],
        lambda events: len(events) >= len(wanted),
        30,
    )
    assert [event["event"].removeprefix("crowdcover.release.") for event in found] == list(wanted)
    return [event["payload"] for event in found]


@pytest.mark.slow
def test_a_run_is_called_by_plan_and_version_and_its_artifacts_by_the_plan(server, tmp_path, name):
    order = Order(tmp_path, name=name)
    release(str(order.plan))
    assert runs_of(name) == [(f"{name} v1", "COMPLETED", "Published")]
    (run,) = found_runs(name)
    this = {"flow_runs": {"id": {"any_": [run["id"]]}}}
    keys = {artifact["key"] for artifact in ask("/artifacts/filter", this)}
    assert keys == {
        f"anonymize-{name}",
        f"release-{name}",
        *(f"verdict-{name}-{stage}" for stage in JUDGES),
    }
    (published,) = events_of(name, "published")
    verdict = published.pop("verdict")
    assert published == {"version": "v1", "records": 90, "k_min": 4}
    (shown,) = (each for each in ask("/artifacts/filter", this) if each["key"] == f"release-{name}")
    assert unescape(shown["data"]).startswith(f"# {name} v1\n\n**{verdict}.**")
    assert verdict.startswith("The privacy promise holds")
    folder = order.folder / "releases" / name / "v1"
    assert f"- The report: {folder / 'report.html'}" in unescape(shown["data"]).replace("\\", "")
    assert f"- The page: crowdcover open {folder}" in unescape(shown["data"]).replace("\\", "")


@pytest.mark.slow
def test_a_run_that_did_nothing_and_one_that_was_refused_are_told_by_their_states(
    server, tmp_path, name
):
    order = Order(tmp_path, name=name)
    folders = [release(str(order.plan)) for _ in range(2)]
    assert folders == [str(order.folder / "releases" / name / "v1")] * 2
    order.write(privacy={"k": 5})
    with pytest.raises(SecondReleaseError):
        release(str(order.plan))
    states = [run["state"] for run in found_runs(name)]
    assert [(state["type"], state["name"]) for state in states] == [
        ("COMPLETED", "Published"), ("COMPLETED", "Unchanged"), ("FAILED", "Refused"),
    ]  # fmt: skip
    assert [state["message"] for state in states[:2]] == [
        f"{name} v1 is published",
        f"{name} v1 is published, and nothing has changed since",
    ]
    assert "two releases of one table can be intersected" in states[2]["message"]


@pytest.mark.slow
def test_a_run_that_waits_is_paused_and_completes_once_it_is_decided(server, tmp_path, name):
    order = Order(tmp_path, name=name, publish={"approval": "required"})
    for _ in range(2):
        with pytest.raises(Pause):
            release(str(order.plan))
    with (
        pytest.raises(WaitingError, match=f"{name} waits for approval until"),
        refuse_prefect_failures(),
    ):
        release(str(order.plan))
    assert [state for _, *state in runs_of(name)] == [
        ["COMPLETED", "Decided"], ["COMPLETED", "Decided"], ["PAUSED", WAITING],
    ]  # fmt: skip
    (waiting,) = ask(
        "/flow_runs/filter",
        {"flow_runs": {"state": {"name": {"any_": [WAITING]}}, "name": {"like_": name}}},
    )
    assert "waits for approval until" in waiting["state"]["message"]
    with pytest.raises(Exception, match="without a deployment"):
        resume_flow_run(waiting["id"])
    assert command("approve", order.run.path.name, "--vault", order.vault, *WHO).code == 0
    release(str(order.plan))
    assert [each[1:] for each in runs_of(name)] == [("COMPLETED", "Decided")] * 3 + [
        ("COMPLETED", "Published")
    ]
    told = events_of(name, "waiting", "waiting", "waiting", "published")
    assert told[-1]["version"] == "v1"


@pytest.mark.slow
def test_a_rejection_is_failed_with_the_reason_and_ends_the_waiting(server, tmp_path, name):
    order = Order(tmp_path, name=name, publish={"approval": "required"})
    with pytest.raises(Pause):
        release(str(order.plan))
    assert command("reject", order.run.path.name, "--vault", order.vault, *WHO).code == 0
    with pytest.raises(GuaranteeError):
        release(str(order.plan))
    assert [each[1:] for each in runs_of(name)] == [("COMPLETED", "Decided"), ("FAILED", "Refused")]
    _, refused = events_of(name, "waiting", "refused")
    assert refused["exit_code"] == 4
    assert "was rejected by" in refused["reason"]


@pytest.mark.slow
def test_an_operator_accepts_the_drift_of_one_column_with_a_note(server, tmp_path, name):
    order = Order(tmp_path, name=name, columns=CALM)
    release(str(order.plan))
    order.write_source([(*row[:2], "Lemuria", *row[3:]) for row in people(first=900)])
    with pytest.raises(GuaranteeError, match=r"'city'.*accepted.city.limit=1"):
        release(str(order.plan))
    with pytest.raises(GuaranteeError, match="'city'"):
        release(str(order.plan), accept={"age": {"limit": 1, "note": "of no use"}})
    release(str(order.plan), accept={"city": {"limit": 1, "note": "all have moved"}})
    drift = manifest(order.folder / "releases" / name / "v2")["drift"]
    assert drift["accepted"] == [{"what": "city", "limit": 1.0, "note": "all have moved"}]
    told = events_of(name, "published", "drifted", "refused", "drifted", "refused", "published")
    assert told[1]["compared_with"] == "v1"
    assert not any("Lemuria" in str(payload) for payload in told)


@pytest.mark.parametrize(
    ("accept", "words"),
    [
        ({"privacy": 1.0}, "checks.drift.accepted names 'privacy'"),
        ({"city.k": 1.0}, "checks.drift.accepted names 'city.k'"),
        ({"ssn": 1.0}, "checks.drift.accepted names 'ssn'"),
    ],
)
def test_nothing_but_drift_can_be_accepted(tmp_path, monkeypatch, accept, words):
    order = Order(tmp_path)
    given = {name: Accept(limit=limit, note="x") for name, limit in accept.items()}
    with pytest.raises(PlanError, match=words):
        load_run_plan(str(order.plan), given, None)
    order.write(checks={"drift": "off"})
    with pytest.raises(PlanError, match=r"checks\.drift is off"):
        load_run_plan(str(order.plan), given, None)


@pytest.mark.slow
def test_unknown_parameters_and_partitions_are_refused(server, tmp_path):
    order = Order(tmp_path)
    with pytest.raises(TypeError):
        release(str(order.plan), k=2)
    with pytest.raises(Exception, match="note"):
        release(str(order.plan), accept={"city": {"limit": 1}})
    with pytest.raises(PlanError, match="source"):
        release(str(order.plan), partition="2014-03")


def test_what_is_accepted_is_part_of_the_plan_as_it_runs(tmp_path):
    order = Order(tmp_path)
    note = 'it\'s a "new" district = {1}'
    given = {"city": Accept(limit=0.5, note=note), "rows": Accept(note="half")}
    limits = load_run_plan(str(order.plan), given, None).limits.drift_limits
    assert limits.claims == [
        {"what": "city", "limit": 0.5, "note": note},
        {"what": "rows", "limit": 1.0, "note": "half"},
    ]


def test_names_and_notes_beyond_the_basic_plane_are_accepted(tmp_path):
    """TOML has no pairs of surrogates, which JSON writes for them."""
    order = Order(tmp_path)
    given = {"city": Accept(note="moved \U0001f69a")}
    limits = load_run_plan(str(order.plan), given, None).limits.drift_limits
    assert limits.claims == [{"what": "city", "limit": 1.0, "note": "moved \U0001f69a"}]
    named = {"\U0001f3d9": Accept(note="x")}
    with pytest.raises(PlanError, match="names '\U0001f3d9', which is neither"):
        load_run_plan(str(order.plan), named, None)


def test_keys_are_small_letters_digits_and_dashes():
    assert key_of("verdict", "Open_Payments.IA", "check") == "verdict-open-payments-ia-check"
    assert key_of("anonymize", "") == "anonymize"


def test_each_stage_is_a_span_with_names_only(tmp_path):
    exporter = InMemorySpanExporter()
    if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        trace.set_tracer_provider(TracerProvider())
    trace.get_tracer_provider().add_span_processor(SimpleSpanProcessor(exporter))
    order = Order(tmp_path)
    order.release()
    order.write_source(people(30))
    with pytest.raises(DriftError):
        order.release()
    spans = [span for span in exporter.get_finished_spans() if span.name.startswith("crowdcover ")]
    stages = [span.attributes["crowdcover.stage"] for span in spans]
    assert stages[:7] == [
        "ingest", "validate", "encode", "validate", "identify", "anonymize", "check",
    ]  # fmt: skip
    assert {span.attributes["crowdcover.plan"] for span in spans} == {"people"}
    assert {frozenset(span.attributes) for span in spans} == {
        frozenset({"crowdcover.plan", "crowdcover.run", "crowdcover.stage"})
    }
    assert not any(span.events for span in spans)
    assert [span.status.description for span in spans if not span.status.is_ok] == ["DriftError"]


@pytest.mark.slow
def test_logs_are_json_if_asked(server, tmp_path):
    order = Order(tmp_path)
    done = crowdcover("release", order.plan, environment=AS_JSON)
    assert (done.code, done.last_line) == (0, str(order.folder_of_v1))
    lines = [json.loads(line) for line in done.err.splitlines()]
    assert any("published 90 rows" in line["message"] for line in lines)
    assert people()[0][0] not in done.err
    done = crowdcover("release", order.plan, "--set", "privacy.k=0", environment=AS_JSON)
    (line,) = done.err.splitlines()
    assert (done.code, json.loads(line)["severity"]) == (2, "ERROR")
