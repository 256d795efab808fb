"""Trials, decisions and releases in the page, without a browser."""

import re
import time

import pytest

from crowdcover.flows.page.jobs import CommandRun
from crowdcover.storage.approval.approval import Approval
from crowdcover.storage.approval.signing_keys import new_key
from tests.flows.orders import Order, data_bytes
from tests.flows.page.conftest import post, refused_words, session_of, visit
from tests.flows.processes import command
from tests.support.approvals import waits


def wait_for(job, within=120):
    last = time.monotonic() + within
    while job.is_running and time.monotonic() < last:
        time.sleep(0.2)
    assert not job.is_running, job.log


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"levels": "many"}, "give at most 12 levels of k"),
        ({"levels": "0"}, "give at most 12 levels of k"),
        ({"levels": "--json"}, "give at most 12 levels of k"),
        ({"levels": "2 " * 13}, "give at most 12 levels of k"),
        ({"levels": "3", "sample": "all"}, "the sample must be a whole number"),
    ],
)
def test_settings_that_are_no_numbers_start_nothing(planned, fields, words):
    page = post(visit(planned), planned, "/try", **fields).text
    assert refused_words(page).startswith(words)
    assert planned.tried is None


@pytest.mark.parametrize("path", ["/try", "/make"])
def test_commands_read_a_file_so_the_plan_is_saved_first(planned, path):
    client = visit(planned)
    post(client, planned, "/plan", k="5")
    page = post(client, planned, path, levels="3").text
    assert refused_words(page).startswith("the plan is not saved")
    assert planned.tried is planned.made is None


@pytest.mark.long
def test_a_trial_is_that_of_the_command(planned, order):
    client = visit(planned)
    page = post(client, planned, "/try", levels="3, 4", sample="60").text
    assert "At work" in page
    assert 'src="/try/log"' in page
    again = post(client, planned, "/make").text
    assert refused_words(again) == "a command runs; wait for its end, or stop it"
    log = client.get("/try/log").text  # ends with the command
    assert "k = 4: utility" in log
    assert "The command has ended" in log
    assert not planned.tried.is_running
    page = client.get("/try").text
    assert "/try/log" not in page
    assert page.count("<svg") == page.count("<figure") == 5
    assert "Information lost, by column" in page
    plan = client.get("/plan").text
    assert "What each setting gives" in plan
    assert "changed since" not in plan
    post(client, planned, "/plan", k="6")
    assert "changed since" in client.get("/plan").text
    printed = command("try", order.plan, "--k", 3, 4, "--sample", 60)
    for line in printed.out.splitlines()[3:5]:
        for number in re.split(r" {2,}", line.strip())[1:]:
            assert number in page
    assert "k = 3" in page
    assert "exact cells" in page


@pytest.mark.long
def test_a_refused_trial_shows_the_message_of_the_command(planned, order):
    client = visit(planned)
    order.source.write_text(order.source.read_text().replace("age", "years", 1))
    post(client, planned, "/try", levels="3")
    wait_for(planned.tried)
    done = command("try", order.plan, "--k", 3)
    assert done.code
    page = client.get("/try").text
    assert done.err == f"crowdcover: {refused_words(page)}\n"


def test_a_command_can_be_stopped(planned):
    client = visit(planned)
    post(client, planned, "/try", levels="3")
    page = post(client, planned, "/try/stop").text
    assert "The command was stopped" in page
    assert planned.tried.code not in (None, 0)
    assert "Traceback" not in page


def test_no_job_outlives_the_page(order):
    session = session_of(order.plan)
    session.made = CommandRun(["try", str(order.plan)])
    session.end_jobs()
    assert not session.made.is_running


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """A release that waits for approval."""
    order = Order(tmp_path_factory.mktemp("asked"), publish={"approval": "required"})
    waits(order)
    return order


def test_what_waits_is_shown_with_its_report(asked):
    session = session_of(asked.plan)
    client, name = visit(session), asked.run.path.name
    page = client.get("/waiting").text
    assert f'src="/waiting/{name}/report"' in page
    report = client.get(f"/waiting/{name}/report")
    assert report.text == (asked.run.path / "approval.html").read_text(encoding="utf-8")
    assert report.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert client.get(f"/waiting/{'0' * 16}/report").status_code == 400


def test_a_decision_is_refused_as_by_the_command(asked):
    session = session_of(asked.plan)
    client, name = visit(session), asked.run.path.name
    for by, note in (("", ""), ("Ada", "two\nlines"), ("x" * 999, "")):
        done = command("approve", name, "--plan", asked.plan, "--by", by, "--note", note)
        assert done.code
        page = post(client, session, f"/waiting/{name}", decision="approve", by=by, note=note).text
        assert done.err == f"crowdcover: {refused_words(page)}\n"
    page = post(client, session, f"/waiting/{name}", by="Ada").text
    assert refused_words(page) == "choose to approve or to reject"
    page = post(client, session, f"/waiting/{'0' * 16}", decision="reject", by="Ada").text
    assert "has no run 0000000000000000" in page


def test_a_rejection_is_recorded(asked, capfd):
    session = session_of(asked.plan)
    client = visit(session)
    path = f"/waiting/{asked.run.path.name}"
    page = post(client, session, path, decision="reject", by="Ada", note="raise k").text
    assert "was rejected by Ada at" in page
    assert "nothing will be published" in page
    assert "Nothing waits for a decision" in page
    assert capfd.readouterr().out == ""
    assert f"crowdcover reopen {asked.run.path.name}" in page
    page = post(client, session, f"{path}/reopen").text
    assert "waits for approval until" in page
    assert "Not approved" not in page
    assert f'action="{path}"' in page
    again = command("reopen", asked.run.path.name, "--plan", asked.plan)
    page = post(client, session, f"{path}/reopen").text
    assert again.err == f"crowdcover: {refused_words(page)}\n"


@pytest.mark.long
def test_a_key_signs_the_decision(tmp_path):
    key = tmp_path / "ada.key"
    approvers = {"ada@example.org": new_key(key)}
    order = Order(tmp_path / "order", publish={"approval": "required", "approvers": approvers})
    waits(order)
    path = f"/waiting/{order.run.path.name}"
    alone = session_of(order.plan)
    client = visit(alone)
    page = client.get("/waiting").text
    assert "registers approvers by their keys" in page
    refused = refused_words(post(client, alone, path, decision="approve", by="Ada").text)
    assert "nothing was decided" in refused
    session = session_of(order.plan, key=key)
    client = visit(session)
    page = client.get("/waiting").text
    assert f"--key {key}" in page
    assert key.read_text() not in page
    page = post(client, session, path, decision="approve", note="read").text
    assert "was approved by ada@example.org" in page
    assert Approval.of(order.run).last.decision.key == approvers["ada@example.org"]


def test_a_file_that_is_no_key_is_refused_at_once(order):
    done = command("open", order.plan, "--key", order.source)
    assert done.code
    assert str(order.source) in done.err
    assert "ident-" not in done.err


def test_a_release_shows_rows_and_losses(released):
    folder = released.folder_of_v1
    session = session_of(folder)
    client = visit(session)
    page = client.get("/").text
    assert "people v1" in page
    assert page.count("<tr>") > 10
    key = released.rows().sort("key")["key"][0]
    assert key in page
    assert "Information kept" in page
    assert client.get("/release/report").content == (folder / "report.html").read_bytes()
    for path in ("/plan", "/try", "/make", "/waiting"):
        answer = client.get(path)
        assert answer.status_code == 400
        assert "a release was opened" in answer.text


def test_a_folder_that_is_no_release_is_refused_as_by_show(tmp_path):
    shown, opened = command("show", tmp_path), command("open", tmp_path)
    assert (shown.code, shown.err) == (opened.code, opened.err)
    assert shown.code


@pytest.mark.long
@pytest.mark.usefixtures("server")
def test_the_release_is_that_of_the_command_with_the_same_secrets(tmp_path):
    ours, theirs = Order(tmp_path / "page"), Order(tmp_path / "command")
    for order in (ours, theirs):
        order.fix_seed()
    session = session_of(ours.plan)
    client = visit(session)
    post(client, session, "/make")
    wait_for(session.made)
    page = client.get("/make").text
    assert session.made.code == 0, session.made.log
    assert str(ours.folder_of_v1) in page
    assert client.get("/release").status_code == 200
    theirs.release()
    assert data_bytes(ours.folder_of_v1) == data_bytes(theirs.folder_of_v1)
