"""The automations of deploy/prefect in a real server: they fire, and the webhook is called."""

import json
import runpy
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from prefect.client.orchestration import get_client
from prefect.exceptions import Pause
from prefect.settings import PREFECT_API_URL, PREFECT_CLIENT_MAX_RETRIES, temporary_settings

from anon_core.errors import GuaranteeError
from crowdcover.flows.release import release
from tests.flows.orders import Order, people

SCRIPT = Path(__file__).parents[2] / "deploy/prefect/automations.py"


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


@pytest.mark.slow
def test_what_cannot_be_told_is_refused_in_one_line(server, monkeypatch):
    """A wrong address, a block that there is not, a server that does not answer or is not named."""
    wrong = [
        (["--webhook", "chat.example.org"], "--webhook takes an address such as"),
        (["--block", "slack-webhook/nobody"], "Prefect has no block 'slack-webhook/nobody'"),
        (["--block", "slack"], "Prefect has no block 'slack'; give TYPE/NAME"),
    ]
    main = runpy.run_path(str(SCRIPT))["main"]
    for arguments, words in wrong:
        monkeypatch.setattr(sys, "argv", [str(SCRIPT), *arguments])
        with pytest.raises(SystemExit, match=words):
            main()
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), "--webhook", "http://127.0.0.1:9/hook"])
    for stated, words in (
        ("http://127.0.0.1:9/api", "no server answers at http://127.0.0.1:9/api"),
        ("", "set PREFECT_API_URL"),
    ):
        settings = temporary_settings({PREFECT_API_URL: stated, PREFECT_CLIENT_MAX_RETRIES: 0})
        with settings, pytest.raises(SystemExit, match=words):
            main()


@pytest.mark.slow
def test_a_refusal_and_a_waiting_release_call_the_webhook(server, inbox, tmp_path):
    address, received = inbox
    create = runpy.run_path(str(SCRIPT))["create"]
    create(address)
    names = create(address)  # a second call replaces the first
    with get_client(sync_client=True) as client:
        assert [len(client.read_automations_by_name(name)) for name in names] == [1, 1]
    time.sleep(5)  # until the server has loaded the triggers
    name = f"hooked-{time.time_ns() % 10**9}"
    order = Order(tmp_path, name=name, publish={"approval": "required"})
    with pytest.raises(Pause):
        release(str(order.plan))
    order.write(publish={"approval": "none"})
    release(str(order.plan))
    order.write_source(people(20, first=900))
    with pytest.raises(GuaranteeError):
        release(str(order.plan))
    end = time.monotonic() + 60
    while len(received) < 2 and time.monotonic() < end:
        time.sleep(0.5)
    told = {document["event"]: document for document in received}
    waiting = told["crowdcover.release.waiting"]
    assert waiting["subject"] == f"{name} v1 waits for approval"
    assert waiting["text"].startswith("90 records, k = 4 or more. The privacy promise holds")
    refused = told["crowdcover.release.refused"]
    assert refused["subject"] == f"{name} was refused"
    assert "20 rows instead of 90" in refused["text"]
    assert len(received) == 2
