"""The alarms in a real server: they fire on events and on silence, and the webhook is called."""

import json
import threading
import time
import uuid
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer

import psutil
import pytest
from prefect.client.orchestration import get_client
from prefect.exceptions import Pause
from prefect.settings import PREFECT_API_URL, PREFECT_CLIENT_MAX_RETRIES, temporary_settings

from anon_core.errors import AnonymityError, GuaranteeError
from crowdcover.flows.launch import alarms
from crowdcover.flows.launch.alarms import Patience, install_alarms, remove_alarms, save_webhook
from crowdcover.flows.release import release
from crowdcover.flows.runs.states import FINAL_STATES
from tests.flows.asking import ask, until
from tests.flows.deployed import BIN, deployment, start, started, state
from tests.flows.orders import RARE, Order, people
from tests.flows.processes import crowdcover

SOON = timedelta(seconds=10)  # the shortest that Prefect waits
WITHIN = 120  # seconds until people must have been told


@pytest.fixture
def inbox():
    """A webhook of this machine: its address, and the documents that it received."""
    received = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.append(json.loads(json.loads(body)) if body[:1] == b'"' else json.loads(body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/hook", received
    server.shutdown()
    server.server_close()


@pytest.fixture
def installed(server, inbox, monkeypatch):
    """The alarms, with as little patience as Prefect has; what the webhook received."""
    monkeypatch.setattr(alarms, "SILENT", SOON)
    install_alarms(save_webhook(inbox[0]), Patience(SOON, timedelta(days=1), SOON))
    time.sleep(5)  # until the server has loaded the triggers
    yield inbox[1]
    remove_alarms()


def unique(name):
    return f"{name}-{time.time_ns() % 10**9}"


def told(received, event, about):
    """The message of an event about a plan or a run, waited for."""
    wanted = until(
        lambda: [each for each in received if each["event"] == event and about in str(each)],
        bool,
        WITHIN,
    )
    return wanted[0]


@pytest.mark.slow
def test_what_cannot_be_told_is_refused_in_one_line(server):
    """A wrong address, a block that there is not, a server that does not answer or is not named."""
    for arguments, words in (
        (["--webhook", "chat.example.org"], "--webhook takes an address such as"),
        (["--block", "slack-webhook/nobody"], "Prefect has no block 'slack-webhook/nobody'"),
        (["--block", "slack"], "Prefect has no block 'slack'; give TYPE/NAME"),
        (["--email", "nobody"], "--email takes an address such as"),
        (["--email", "officer@example.org"], "set SENDGRID_API_KEY"),
    ):
        refused = crowdcover("alarms", *arguments)
        assert (refused.code, refused.out) == (2, "")
        assert words in refused.err
        assert refused.err.count("\n") == 1
    for stated, words in (
        ("http://127.0.0.1:9/api", "no server answers at http://127.0.0.1:9/api"),
        ("http://officer:hunter2@127.0.0.1:9/api", "no server answers at http://officer@127.0"),
        ("", "set PREFECT_API_URL"),
    ):
        settings = temporary_settings({PREFECT_API_URL: stated, PREFECT_CLIENT_MAX_RETRIES: 0})
        with settings, pytest.raises(AnonymityError, match=words):
            alarms.read_alarms()


def test_every_end_of_a_run_ends_the_wait_for_it():
    """Prefect calls an event by the name of the state: unknown names are silence."""
    triggers = {each.name: each.trigger for each in alarms.list_alarms(Patience())}
    for name in ("a run is late", "a run does not end"):
        expected = {each.removeprefix("prefect.flow-run.") for each in triggers[name].expect}
        assert expected >= {*FINAL_STATES, "Failed", "Crashed", "Cancelled", "Suspended"}


@pytest.mark.slow
def test_one_command_installs_lists_and_removes_all_of_them(server, inbox, monkeypatch):
    for _ in range(2):  # a second call replaces what the first has made
        made = crowdcover("alarms", "--webhook", inbox[0])
        assert made.code == 0, made.err
    names = [line.removeprefix("installed: ") for line in made.out.splitlines()]
    assert len(names) == len(set(names)) == 9
    listed = crowdcover("alarms", "--list")
    assert listed.out.splitlines() == sorted(names)
    monkeypatch.setenv("SENDGRID_API_KEY", "SG.nothing")
    mailed = crowdcover("alarms", "--email", "officer@example.org")
    assert (mailed.code, mailed.out) == (0, made.out)
    removed = crowdcover("alarms", "--remove")
    assert sorted(removed.out.splitlines()) == sorted(f"removed: {name}" for name in names)
    assert crowdcover("alarms", "--list").out == ""


@pytest.mark.slow
def test_a_refusal_and_a_waiting_release_call_the_webhook(installed, tmp_path):
    name = unique("hooked")
    order = Order(tmp_path, name=name, publish={"approval": "required"})
    with pytest.raises(Pause):
        release(str(order.plan))
    order.write(publish={"approval": "none"})
    release(str(order.plan))
    order.write_source(people(20, first=900))
    with pytest.raises(GuaranteeError):
        release(str(order.plan))
    waiting = told(installed, "crowdcover.release.waiting", name)
    assert waiting["subject"] == f"{name} v1 waits for approval"
    assert waiting["text"].startswith("90 records, k = 4 or more. The privacy promise holds")
    refused = told(installed, "crowdcover.release.refused", name)
    assert refused["subject"] == f"{name} was refused"
    assert "20 rows instead of 90" in refused["text"]
    assert RARE not in str(installed)
    assert "ident-" not in str(installed)


@pytest.mark.slow
def test_a_failed_audit_and_a_missing_backup_are_told(installed, tmp_path):
    """A release without a backup is told; after a backup of the vault the server knows of it."""
    name = unique("unsaved")
    order = Order(tmp_path, name=name)
    folder = order.release_in_prefect()
    unsaved = told(installed, "crowdcover.vault.not-backed-up", name)
    assert unsaved["subject"] == f"the vault of {name} was not backed up"
    saved = crowdcover(
        "vault", "backup", "--plan", order.plan, "--to", tmp_path / "copy", "--plain"
    )
    assert saved.code == 0, saved.err
    assert find_events("crowdcover.vault.backed-up", name)
    (folder / "report.html").write_text("changed")
    audited = crowdcover("audit", folder, "--plan", order.plan)
    assert audited.code == 4
    failed = told(installed, "crowdcover.audit.failed", name)
    assert failed["subject"] == f"an audit of {name} failed"
    assert " guarantees of v1 do not hold" in failed["text"]
    assert RARE not in str(installed)


def find_events(event, name):
    """Events about a plan, waited for."""
    return until(
        lambda: [
            each
            for each in ask("/events/filter", {"filter": {"event": {"name": [event]}}})["events"]
            if each["resource"]["prefect.resource.name"] == name
        ],
        bool,
        WITHIN,
    )


@pytest.mark.slow
def test_a_run_that_is_killed_is_told_within_two_minutes(installed, tmp_path):
    name = unique("killed")
    order = Order(tmp_path, name=name)
    with started([BIN / "crowdcover", "serve", str(order.plan)], tmp_path, "serve.log") as process:
        run = start(deployment(name))
        until(lambda: state(run)["state"]["type"], lambda type_: type_ == "RUNNING")
        killed = time.monotonic()
        for each in psutil.Process(process.pid).children(recursive=True):
            each.kill()
        crashed = told(installed, "prefect.flow-run.Crashed", name)
        assert time.monotonic() - killed < WITHIN
    assert crashed["text"].endswith("was killed. Run it again: it goes on where it was.")
    assert f" of {name} was killed" in crashed["text"]


@pytest.mark.slow
def test_a_due_run_that_nobody_starts_is_told(installed, tmp_path):
    """A deployment has a run for two minutes ago, and no process takes it."""
    name = unique("unserved")
    order = Order(tmp_path, name=name)
    identity = release.to_deployment(name=name, parameters={"plan": str(order.plan)}).apply()
    due = (datetime.now(UTC) - timedelta(minutes=2)).isoformat()
    try:
        scheduled = {"type": "SCHEDULED", "state_details": {"scheduled_time": due}}
        start(deployment(name), state=scheduled)
        late = told(installed, "crowdcover.run.late", name)
    finally:
        with get_client(sync_client=True) as client:
            client.delete_deployment(identity)
    assert f" of {name} should have started, and has not" in late["text"]


@pytest.mark.slow
def test_a_run_without_a_sign_of_life_is_told(installed):
    """Of two runs that gave a sign of life, the one that goes on to give them is not told."""
    runs = {"gone": uuid.uuid4(), "alive": uuid.uuid4()}
    for each in range(5):
        for name in runs if each == 0 else ["alive"]:
            send_heartbeat(name, runs[name])
        time.sleep(5)
    assert told(installed, "crowdcover.run.silent", "gone")["subject"] == "gone is silent"
    # The other one, too, once it has stopped; not before.
    names = [each["subject"] for each in installed]
    assert names.index("gone is silent") == 0


def send_heartbeat(name, run):
    event = {
        "occurred": datetime.now(UTC).isoformat(),
        "event": "prefect.flow-run.heartbeat",
        "id": str(uuid.uuid4()),
        "resource": {
            "prefect.resource.id": f"prefect.flow-run.{run}",
            "prefect.resource.name": name,
        },
        "related": [
            {
                "prefect.resource.id": f"prefect.flow.{uuid.uuid4()}",
                "prefect.resource.role": "flow",
                "prefect.resource.name": "release",
            }
        ],
        "payload": {},
    }
    with get_client(sync_client=True) as client:
        client._client.post("/events", json=[event]).raise_for_status()
