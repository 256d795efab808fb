"""Prefect's server behind a login: who answered a form, and who cannot say so."""

import asyncio
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from uuid import uuid4

import httpx
import pytest

from anon_core.errors import GuaranteeError
from crowdcover.flows.launch.sign_in import (
    HEADER_VARIABLE,
    KEY_VARIABLE,
    SignedInServer,
    build_server,
)
from crowdcover.flows.plan.plan import PlanError
from crowdcover.flows.runs import forms as module
from crowdcover.flows.runs.forms import Form, SignedInForm
from crowdcover.storage.approval import identity
from crowdcover.storage.approval.approval import (
    PAGE,
    Approval,
    Decision,
    DecisionError,
    Question,
    Request,
    Suspended,
    page_sha256,
)
from crowdcover.storage.approval.sign_in import read_identity
from crowdcover.storage.approval.signing_keys import new_key, public_of, read_key
from crowdcover.storage.approval.statement import Terms
from crowdcover.storage.vault.vault import Vault
from tests.conftest import DATABASE, STARTS_WITHIN, STOPS_WITHIN
from tests.flows.processes import terminate

NAME, SINCE = "x-forwarded-email", "2026-01-01T00:00:00+00:00"
ANSWER = {"decision": "approve", "name": "Ada", "note": "read"}


@pytest.fixture
def key(tmp_path):
    new_key(tmp_path / "server.key")
    return tmp_path / "server.key"


class Inner:
    """A server with one suspended run; it keeps what it is sent."""

    def __init__(self, form):
        self.form, self.sent = form, []

    async def __call__(self, scope, receive, send):
        body = (await receive()).get("body", b"")
        if scope["method"] == "GET" and "/input/" in scope["path"]:
            answer = self.form.model_json_schema()
        elif scope["method"] == "GET":
            answer = {"state": {"state_details": {"run_input_keyset": {"schema": "form-1"}}}}
        else:
            answer = {}
            self.sent.append((scope["path"], dict(scope["headers"]), body))
        head = {"type": "http.response.start", "status": 200, "headers": []}
        await send(head)
        await send({"type": "http.response.body", "body": json.dumps(answer).encode()})


def post(server, path, headers=(), **how):
    async def ask():
        through = httpx.ASGITransport(app=server)
        async with httpx.AsyncClient(transport=through, base_url="http://server") as client:
            return await client.post(path, headers=list(headers), **how)

    return asyncio.run(ask())


def answered(key, form, headers, answer):
    """The answer that reaches the server."""
    run, inner = str(uuid4()), Inner(form)
    server = SignedInServer(inner, NAME.encode(), read_key(key))
    post(server, f"/api/flow_runs/{run}/resume", headers, json={"run_input": answer})
    ((path, head, body),) = inner.sent
    assert path == f"/api/flow_runs/{run}/resume"
    assert int(head[b"content-length"]) == len(body)
    return run, json.loads(body)["run_input"]


def test_who_is_signed_in_is_stated_by_the_server_alone(key):
    forged = {**ANSWER, "signed_in": "eve@example.org"}
    run, answer = answered(key, SignedInForm, [("X-Forwarded-Email", "ada@example.org")], forged)
    public = public_of(read_key(key))
    assert read_identity(answer["signed_in"], public, run, answer, SINCE) == "ada@example.org"
    with pytest.raises(DecisionError):
        read_identity(answer["signed_in"], public, str(uuid4()), answer, SINCE)


@pytest.mark.parametrize(
    ("form", "headers"),
    [
        (SignedInForm, []),
        (SignedInForm, [("X-Forwarded-User", "ada@example.org")]),  # not the one that is named
        (SignedInForm, [(NAME, "ada@example.org"), (NAME, "eve@example.org")]),
        (SignedInForm, [(NAME, "")]),
        (SignedInForm, [(NAME, "a" * 101)]),
        (Form, [(NAME, "ada@example.org")]),  # a form that does not ask for it
    ],
)
def test_nobody_is_stated(key, form, headers):
    _, answer = answered(key, form, headers, {**ANSWER, "signed_in": "eve@example.org"})
    assert answer == ANSWER


def test_the_answer_that_a_terminal_repeats_is_not_judged_again(key, tmp_path, monkeypatch):
    """No server vouches for it: the log would say that it does not count, and it is published."""
    run = Vault(tmp_path / "vault").run("plan", "source")
    (run.path / PAGE).write_text("page")
    terms = Terms(timedelta(hours=1), sign_in=public_of(read_key(key)))
    question = Question({"data.parquet": "a" * 64}, "/releases/people", "b" * 64, {})
    Approval.of(run).ask(
        Request.of(question, page_sha256(run), timedelta(hours=1), {}, terms.rules)
    )
    made = Decision.of(approved=True, by="Ada", note="read")
    made = replace(made, identity="ada", authenticated=identity.ACCOUNT)
    Approval.of(run).amend(decision=made, suspended=Suspended("run", "form"))
    sent, said, flow_run = [], [], SimpleNamespace(id="run")
    monkeypatch.setattr(module, "read_flow_run_input", lambda _: sent[-1])
    monkeypatch.setattr(module, "log_line", said.append)
    sent.append(module._format_answer(Approval.of(run).last))
    assert sent == [ANSWER]
    module.take_answer(run, flow_run)
    assert said == []
    sent.append({**ANSWER, "name": "Bo"})  # of somebody else, and nobody vouches
    module.take_answer(run, flow_run)
    assert "does not count" in said[0]
    Approval.of(run).amend(rules=None)
    sent.append({**ANSWER, "decision": "reject"})
    with pytest.raises(GuaranteeError, match="The first decision stays"):
        module.take_answer(run, flow_run)
    assert Approval.of(run).last.decision == made


def test_other_requests_pass_as_they_are(key):
    inner = Inner(SignedInForm)
    server, headers = SignedInServer(inner, NAME.encode(), read_key(key)), [(NAME, "ada")]
    for path, body in (
        ("/api/flow_runs/filter", b'{"run_input": {"signed_in": "x"}}'),
        (f"/api/flow_runs/{uuid4()}/input", b'{"signed_in": "x"}'),
        (f"/api/flow_runs/{uuid4()}/resume", b"no JSON"),
        (f"/api/flow_runs/{uuid4()}/resume", b'{"run_input": null}'),
    ):
        post(server, path, headers, content=body)
        assert inner.sent[-1][::2] == (path, body)


@pytest.mark.parametrize(
    ("header", "place"), [(NAME, ""), ("", "file:key"), (NAME, "key"), (NAME, "secret")]
)
def test_a_header_or_a_key_alone_is_refused(header, place, monkeypatch):
    monkeypatch.setenv(HEADER_VARIABLE, header)
    monkeypatch.setenv(KEY_VARIABLE, place)
    with pytest.raises(PlanError, match="state both, or neither"):
        build_server()


def test_without_both_it_is_the_server_of_prefect(monkeypatch):
    monkeypatch.delenv(HEADER_VARIABLE, raising=False)
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    assert not isinstance(build_server(), SignedInServer)


@pytest.mark.slow
def test_a_real_server_of_prefect_takes_the_answer(key, tmp_path):
    if DATABASE.exists():
        shutil.copyfile(DATABASE, tmp_path / "prefect.db")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "--factory", "--host", "127.0.0.1"]
    command += ["--port", str(port), "crowdcover.flows.launch.sign_in:build_server"]
    stated = {HEADER_VARIABLE: NAME, KEY_VARIABLE: f"file:{key}", "PREFECT_HOME": str(tmp_path)}
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(command, env=os.environ | stated, stdout=log, stderr=log)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}/api", timeout=60) as client:
            wait_for(client, process)
            run = suspend(client)
            refused = client.post(f"/flow_runs/{run}/resume", json={"run_input": {"name": "Ada"}})
            assert refused.json()["status"] == "REJECT"
            headers = {"X-Forwarded-Email": "ada@example.org"}
            done = client.post(
                f"/flow_runs/{run}/resume", json={"run_input": ANSWER}, headers=headers
            )
            assert done.json()["status"] == "ACCEPT", done.text
            answer = client.get(f"/flow_runs/{run}/input/form-response").json()
            public = public_of(read_key(key))
            who = read_identity(answer["signed_in"], public, run, answer, SINCE)
            assert who == "ada@example.org"
    finally:
        terminate(process, STOPS_WITHIN)


def wait_for(client, process):
    end = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < end:
        assert process.poll() is None
        try:
            client.get("/health").raise_for_status()
        except httpx.HTTPError:
            time.sleep(0.5)
        else:
            return
    pytest.fail("the server did not start")


def create(client, path, content):
    """The id of something new; a server that has just started may be too busy at first."""
    end = time.monotonic() + STARTS_WITHIN
    while not (answer := client.post(path, json=content)).is_success and time.monotonic() < end:
        time.sleep(0.5)
    return answer.raise_for_status().json()["id"]


def suspend(client):
    """A suspended flow run with a form."""
    flow = create(client, "/flows/", {"name": "asked"})
    run = create(client, "/flow_runs/", {"flow_id": flow})
    keys = {"schema": "form-schema", "response": "form-response", "description": "form-words"}
    form = json.dumps(SignedInForm.model_json_schema())
    client.post(f"/flow_runs/{run}/input", json={"key": "form-schema", "value": form})
    details = {"run_input_keyset": keys, "pause_reschedule": False,
               "pause_timeout": "2100-01-01T00:00:00+00:00"}  # fmt: skip
    state = {"type": "PAUSED", "name": "Suspended", "state_details": details}
    told = client.post(f"/flow_runs/{run}/set_state", json={"state": state, "force": True})
    assert told.json()["status"] == "ACCEPT", told.text
    return run
