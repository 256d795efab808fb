"""A person's approval before publication: in the terminal, in Prefect's form, or not at all."""

import contextlib
import json
import os
import pwd
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest
from prefect.client.orchestration import get_client
from prefect.exceptions import FlowPauseTimeout, NotPausedError
from prefect.flow_runs import resume_flow_run

from anon_core.errors import GuaranteeError
from crowdcover.flows import cli
from crowdcover.flows.runs.states import WAITING
from crowdcover.flows.vault.decisions import sign_decision
from crowdcover.storage.approval.approval import PAGE, RECORD, Approval
from crowdcover.storage.approval.sign_in import state_identity
from crowdcover.storage.approval.signing_keys import new_key, public_of, read_key
from crowdcover.storage.approval.statement import Rules, to_file
from crowdcover.storage.vault.files import read_json, write_json
from tests.flows.asking import ask, until
from tests.flows.orders import RARE, Order, data_bytes, people
from tests.flows.processes import command, crowdcover, run, terminate
from tests.support.approvals import WHO, decide, decided, pass_time, waits
from tests.support.audits import audit_release
from tests.support.crashes import WORK, release_until

COMMAND = str(Path(sys.executable).with_name("crowdcover"))
LONGEST = 180
UNREACHABLE = {"PREFECT_API_URL": "http://127.0.0.1:9/api", "PREFECT_CLIENT_MAX_RETRIES": "0"}


@pytest.fixture
def order(tmp_path):
    return Order(tmp_path, publish={"approval": "required"})


def requests(order):
    return Approval.of(order.run).requests


# ---------------------------------------------------------------- in the terminal


@pytest.mark.long
def test_asked_approved_published(order):
    words = waits(order)
    page, name = order.run.path / PAGE, order.run.path.name
    assert (
        f"people waits for approval until {requests(order)[0].until}; nothing was published. "
        f"Read {page}, then run: " in words
    )
    assert (
        f"crowdcover approve {name} --vault {order.vault} --by NAME (or reject), "
        "then run the release again" in words
    )
    assert "90" in page.read_text(encoding="utf-8")
    assert "The privacy promise holds" in page.read_text(encoding="utf-8")

    assert "Passed so far" in order.verdicts
    assert "nothing was published so far" in order.verdicts

    times = order.stage_times()
    done = decided(order, "approve")
    assert "people v1: the privacy promise holds" in done.out
    assert f"to be published in {order.releases}\nread {page}\n" in done.out
    assert f"run {name} was approved by Ada Lovelace at 20" in done.last_line
    assert done.last_line.endswith(": read & agreed; run the release again to publish it")
    assert order.versions == []

    folder = order.release()
    assert order.stage_times() == times
    manifest = read_json(folder / "manifest.json")
    (request,) = requests(order)
    assert manifest["approval"] == {
        "required": True, "by": "Ada Lovelace", "note": "read & agreed", "at": request.decision.at,
        "identity": pwd.getpwuid(os.getuid()).pw_name, "authenticated": "operating system",
    }  # fmt: skip
    found = audit_release(folder, order.plan)
    assert found.passed
    assert found.findings[-1].guarantee == "approved as the plan requires"
    assert "Every check was passed" in order.verdicts
    assert "approved by Ada Lovelace" in order.verdicts
    assert order.release() == folder
    assert order.versions == ["v1"]


@pytest.mark.long
def test_the_page_is_the_one_that_is_published(order):
    """But for the moment it was made and who approved it."""
    waits(order)
    page = (order.run.path / PAGE).read_text(encoding="utf-8")
    decided(order, "approve")
    published = (order.release() / "report.html").read_text(encoding="utf-8")
    same = set(page.splitlines()) & set(published.splitlines())
    assert len(same) > 0.9 * len(set(page.splitlines()))


@pytest.mark.long
def test_the_exit_code_says_that_it_waits(server, order):
    for number in (1, 2):
        done = crowdcover("release", order.plan)
        assert (done.code, done.out) == (6, "")
        assert done.err.splitlines()[-1].startswith("crowdcover: people waits for approval until ")
        assert "Traceback" not in done.err
        assert len(requests(order)) == 1, number
    done = crowdcover("approve", order.run.path.name, "--plan", order.plan, *WHO, "--quiet")
    assert (done.code, done.err, done.out.count("\n")) == (0, "", 1)
    done = crowdcover("release", order.plan)
    assert (done.code, done.out) == (0, f"{order.folder_of_v1}\n")


@pytest.mark.long
def test_what_is_rejected_stays_rejected_until_it_is_asked_anew(order):
    waits(order)
    decided(order, "reject", by=("--by", "Bo", "--note", "raise k"))
    name = order.run.path.name
    words = f"publication refused: run {name} was rejected by Bo at 20.*: raise k; nothing was publ"
    for _ in range(2):
        with pytest.raises(GuaranteeError, match=words):
            order.release()
    assert "Refused: a person's approval" in order.verdicts
    for again in ("approve", "reject"):
        done = decide(order, again)
        assert (done.code, done.out) == (4, "")
        assert "was rejected by Bo at" in done.err
        assert "a decision cannot be changed" in done.err
    assert order.versions == []
    decided(order, "reopen", by=())
    waits(order)
    decided(order, "approve")
    assert order.release() == order.folder_of_v1
    assert [request.decision.approved for request in requests(order)] == [False, True]


@pytest.mark.long
def test_what_is_rejected_is_not_asked_again_by_way_of_another_place(order):
    waits(order)
    decided(order, "reject")
    for approval in ("required", "none"):
        order.write(publish={"path": "elsewhere", "approval": approval})
        with pytest.raises(GuaranteeError, match=r"publication refused: run \w+ was rejected by"):
            order.release()
    assert len(requests(order)) == 1
    assert not (order.folder / "elsewhere").exists()


@pytest.mark.long
def test_nobody_answers(order):
    order.write(publish={"approval_timeout": "1d12h"})
    waits(order)
    pass_time(order, hours=37)
    done = decide(order, "approve")
    assert (done.code, done.out) == (4, "")
    assert "nobody approved within 1d12h of 20" in done.err
    with pytest.raises(
        GuaranteeError, match="publication refused: nobody approved within 1d12h of 20"
    ):
        order.release()
    waits(order)  # asked anew
    decided(order, "approve")
    assert order.release() == order.folder_of_v1


@pytest.mark.long
def test_an_approval_is_of_these_rows_only(order):
    waits(order)
    decided(order, "approve")
    order.fix_seed()
    (order.run.path / "anonymize" / "data.parquet").unlink()
    waits(order)
    assert len(requests(order)) == 2
    decided(order, "approve")
    assert order.release() == order.folder_of_v1
    assert audit_release(order.folder_of_v1, order.plan).passed


@pytest.mark.long
def test_an_approval_is_of_this_place_and_these_files_only(order):
    waits(order)
    decided(order, "approve")
    order.write(publish={"path": "elsewhere"})
    waits(order)
    order.write(publish={"path": "releases"})
    waits(order)  # the last question counts
    decided(order, "approve")
    assert order.release() == order.folder_of_v1
    assert not (order.folder / "elsewhere").exists()


@pytest.mark.long
def test_a_release_from_before_approvals_is_refused_and_stays(order):
    order.write(publish={"approval": "none"})
    folder = order.release()
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    order.write(publish={"approval": "required"})
    with pytest.raises(
        GuaranteeError,
        match="v1 was published before and stays as it is; its manifest names no person",
    ) as caught:
        order.release()
    assert "Set it to 'none' to keep the release as it is, or remove the folder" in str(
        caught.value
    )
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == files
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    waits(order)
    decided(order, "approve")
    assert order.release() == folder


@pytest.mark.long
def test_an_approval_that_is_needed_no_more_is_no_hindrance(order):
    waits(order)
    order.write(publish={"approval": "none"})
    folder = order.release()
    assert "approval" not in read_json(folder / "manifest.json")
    assert "A person's approval" not in order.verdicts
    assert audit_release(folder, order.plan).passed


def test_a_rejection_holds_where_nobody_has_to_approve_any_more(order):
    waits(order)
    decided(order, "reject")
    order.write(publish={"approval": "none"})
    with pytest.raises(
        GuaranteeError, match=r"publication refused: run .* was rejected by Ada Lovelace"
    ):
        order.release()
    assert order.versions == []
    assert "Refused: a person's approval" in order.verdicts
    decided(order, "reopen", by=())
    assert order.release() == order.folder_of_v1
    assert "A person's approval" not in order.verdicts


@pytest.mark.long
def test_a_vault_of_somebody_else_is_named(released, monkeypatch, capsys):
    def closed(*_):
        raise PermissionError

    monkeypatch.setattr("crowdcover.storage.vault.vault.Vault.run_called", closed)
    with pytest.raises(SystemExit) as ended:
        cli.main(["approve", "0" * 16, "--plan", str(released.plan), *WHO])
    assert ended.value.code == 1
    assert (
        f"the vault {released.vault} cannot be read by this account; run the command as its owner"
        in capsys.readouterr().err
    )


@pytest.mark.long
def test_the_audit_misses_an_approval(order, tmp_path):
    order.write(publish={"approval": "none"})
    folder = order.release()
    unasked = audit_release(folder, order.plan)
    assert unasked.passed
    order.write(publish={"approval": "required"})
    found = audit_release(folder, order.plan)
    assert [finding.guarantee for finding in found.findings if not finding.passed] == [
        "approved as the plan requires"
    ]
    assert len(found.findings) == len(unasked.findings) + 1
    manifest = read_json(folder / "manifest.json")
    write_json(
        folder / "manifest.json",
        {**manifest, "approval": {"required": True, "by": "Eve", "note": "", "at": "2026"}},
    )
    assert "the vault has no such approval" in audit_release(folder, order.plan).sentence()


@pytest.mark.parametrize(
    "point",
    [
        "publish copies",
        pytest.param("publish renders the report", marks=pytest.mark.slow),
        "publish has published",
    ],
)
def test_killed_between_approval_and_release(order, point):
    waits(order)
    decided(order, "approve")
    assert run(release_until, str(order.plan), *WORK[point]).code == -signal.SIGKILL
    assert order.release() == order.folder_of_v1
    assert audit_release(order.folder_of_v1, order.plan).passed
    assert len(requests(order)) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "point",
    [
        ("crowdcover.tasks.stages.ask", "page_sha256", 0, False),
        ("crowdcover.storage.approval.approval", "write_json", 0, False),
    ],
)
def test_killed_while_asking(order, point):
    assert run(release_until, str(order.plan), *point).code == -signal.SIGKILL
    assert requests(order) == ()
    waits(order)
    assert [path.name for path in order.run.path.glob(".*")] == []
    decided(order, "approve")
    assert order.release() == order.folder_of_v1


@pytest.mark.long
def test_two_people_at_once_decide_once(order):
    waits(order)
    with ThreadPoolExecutor(2) as pool:
        ends = [
            pool.submit(crowdcover, what, order.run.path.name, "--vault", order.vault, "--by", what)
            for what in ("approve", "reject")
        ]
        done = [end.result() for end in ends]
    codes = sorted(one.code for one in done)
    assert codes[0] == 0
    assert codes[1] in (1, 4)  # busy, or too late
    (request,) = requests(order)
    assert request.decision.by == ("approve" if request.decision.approved else "reject")
    what_next = (
        "run the release again to publish it"
        if request.decision.approved
        else "nothing will be published"
    )
    accepted = next(one for one in done if one.code == 0)
    assert accepted.out.endswith(f"{request.decision.sentence}; {what_next}\n")


@pytest.mark.long
def test_the_report_that_was_lost_is_written_again(order):
    waits(order)
    (order.run.path / PAGE).unlink()
    assert "is not the report of the request; run the release again" in decide(order, "approve").err
    waits(order)
    assert len(requests(order)) == 1
    decided(order, "approve")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (
            ["RUN", "--vault", "VAULT", "--by", "A"],
            2,
            "has asked for no approval; run the release first",
        ),
        (["0" * 16, "--vault", "VAULT", "--by", "A"], 2, "has no run 0000000000000000"),
        (["0" * 16, "--vault", "nowhere", "--by", "A"], 2, "has no run 0000000000000000"),
        (["../../runs", "--vault", "VAULT", "--by", "A"], 2, "RUN_ID must be the 16 hex digits"),
        (["RUN", "--by", "A"], 2, "give either --vault FOLDER or --plan PLAN.toml"),
        (["RUN", "--by", "A", "--vault", "VAULT", "--plan", "PLAN"], 2, "give either --vault"),
        (
            ["RUN", "--by", "A", "--vault", "VAULT", "--set", "privacy.k=3"],
            2,
            "--set changes a plan",
        ),
        (["RUN", "--by", "A", "--plan", "nowhere.toml"], 2, "cannot be read"),
        (
            ["RUN", "--by", "A", "--plan", "PLAN", "--set", "publish.vault=nowhere"],
            2,
            "has no run",
        ),
        (
            ["RUN", "--by", "", "--vault", "VAULT"],
            2,
            "the name must be one line of 1 to 100 printable characters",
        ),
        (
            ["RUN", "--by", "A", "--note", "a\nb", "--vault", "VAULT"],
            2,
            "the note must be one line",
        ),
    ],
)
def test_what_cannot_be_decided(released, tmp_path, monkeypatch, arguments, code, words):
    monkeypatch.chdir(tmp_path)
    places = {
        "RUN": released.run.path.name,
        "VAULT": str(released.vault),
        "PLAN": str(released.plan),
    }
    for what in ("approve", "reject"):
        done = command(what, *(places.get(argument, argument) for argument in arguments))
        assert (done.code, done.out) == (code, ""), done
        assert words in done.err
    assert list(tmp_path.iterdir()) == []
    assert not (released.run.path / RECORD).exists()


@pytest.mark.long
def test_reopen_needs_something_that_is_over(order):
    name = order.run.path.name
    assert "has asked for no approval" in command("reopen", name, "--plan", order.plan).err
    waits(order)
    done = command("reopen", name, "--plan", order.plan)
    assert (done.code, done.out) == (2, "")
    assert "already waits for a decision" in done.err
    pass_time(order, days=8)
    assert command("reopen", name, "--plan", order.plan).code == 0
    assert requests(order)[-1].given == timedelta(days=7)
    waits(order)


@pytest.mark.long
def test_deciding_needs_no_prefect(order):
    """An officer's terminal answers at once."""
    waits(order)
    script = (
        "import sys; from crowdcover.flows.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit as ended: code = ended.code\n"
        "slow = {'prefect', 'great_expectations', 'pandas', 'matplotlib'} & set(sys.modules)\n"
        "print('slow:', sorted(slow), code)"
    )
    command = [
        sys.executable,
        "-c",
        script,
        "approve",
        order.run.path.name,
        "--plan",
        str(order.plan),
        *WHO,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=True)
    assert done.stdout.splitlines()[-1] == "slow: [] 0"


@pytest.mark.slow
def test_one_of_many_plans_waits(server, tmp_path):
    waiting = Order(
        tmp_path / "waiting", name=f"waiting-{os.getpid()}", publish={"approval": "required"}
    )
    free = Order(tmp_path / "free", name=f"free-{os.getpid()}")
    done = crowdcover("release", waiting.plan, free.plan)
    assert done.code == 6, done.err
    assert done.out == f"{tmp_path / 'free' / 'releases' / free.document['name'] / 'v1'}\n"
    assert (
        f"crowdcover: {waiting.plan}: {waiting.document['name']} waits for approval until "
        in done.err
    )
    decided(waiting, "approve")
    done = crowdcover("release", waiting.plan, free.plan)
    assert (done.code, done.out.count("\n")) == (0, 2), done.err


@pytest.mark.long
def test_words_of_the_officer_are_text_wherever_they_stand(order):
    waits(order)
    note = '<script>alert(1)</script> {{ 7 * 7 }} [red] | "x" & ünï'
    decided(order, "approve", by=("--by", "<b>Zoë</b>", "--note", note))
    folder = order.release()
    assert read_json(folder / "manifest.json")["approval"]["note"] == note
    assert "<script>alert" not in (folder / "report.html").read_text(encoding="utf-8")
    assert command("show", folder).code == 0
    assert audit_release(folder, order.plan).passed


# ---------------------------------------------------------------- served


@contextmanager
def serving(order, log):
    with log.open("w") as handle:
        process = subprocess.Popen(
            [COMMAND, "serve", "people.toml"], cwd=order.folder, stdout=handle, stderr=handle
        )
        try:
            wanted = {"deployments": {"name": {"any_": [order.document["name"]]}}}
            (deployment,) = until(
                lambda: process.poll() is None and ask("/deployments/filter", wanted), bool
            )
            yield deployment["id"]
        finally:
            terminate(process, LONGEST)


@pytest.fixture(scope="module")
def deployment(server, tmp_path_factory):
    """A served deployment; each test gives it a plan of its own."""
    order = Order(tmp_path_factory.mktemp("served"), name=f"approved-{os.getpid()}")
    with serving(order, order.folder / "log") as found:
        yield found
    words = (order.folder / "log").read_text()
    assert people()[0][0] not in words
    assert RARE not in words


class Served:
    """A flow run of the deployment."""

    def __init__(self, deployment, order):
        plan = {"parameters": {"plan": str(order.plan)}, "enforce_parameter_schema": False}
        with get_client(sync_client=True) as client:
            client._client.patch(f"/deployments/{deployment}", json=plan).raise_for_status()
        self.id = ask(f"/deployments/{deployment}/create_flow_run", plan)["id"]

    def state(self):
        (found,) = ask("/flow_runs/filter", {"flow_runs": {"id": {"any_": [self.id]}}})
        return found["state"]

    def tasks(self):
        """The names of its tasks that are completed."""
        mine = {"flow_runs": {"id": {"any_": [self.id]}}}
        found = ask("/task_runs/filter", mine)
        return [each["name"] for each in found if each["state_type"] == "COMPLETED"]

    def ends(self, *, suspended=False):
        """The state in which its process ends."""
        names = {"Published", "Unchanged", "Refused", "Failed", "Crashed", "Cancelled"} | (
            {"Suspended", WAITING} if suspended else set()
        )
        return until(self.state, lambda state: state["name"] in names)

    def answer(self, **form):
        resume_flow_run(UUID(self.id), run_input=form)


@pytest.fixture
def suspended(deployment, order):
    found = Served(deployment, order)
    state = found.ends(suspended=True)
    assert state["name"] == "Suspended", state["message"]
    assert order.versions == []
    return found


@pytest.mark.slow
def test_a_served_run_is_suspended_and_shows_the_numbers_once(suspended, deployment, order):
    state = suspended.state()
    details = state["state_details"]
    assert details["pause_reschedule"]
    left = datetime.fromisoformat(details["pause_timeout"]) - datetime.now(UTC)
    assert timedelta(days=6) < left <= timedelta(days=7)
    this = {"flow_runs": {"id": {"any_": [suspended.id]}}}
    artifacts = until(
        lambda: ask("/artifacts/filter", this),
        lambda found: any(a["key"] == "approval-people" for a in found),
    )
    (shown,) = [artifact for artifact in artifacts if artifact["key"] == "approval-people"]
    assert "k = 4 for everyone" in shown["data"]
    inputs = ask(f"/flow_runs/{suspended.id}/input/filter", {"prefix": "suspended-", "limit": 20})
    told = {entry["key"].rpartition("-")[2]: json.loads(entry["value"]) for entry in inputs}
    assert str(order.run.path / PAGE) in told["description"]
    assert set(told["schema"]["properties"]) == {"decision", "name", "note"}
    with order.run.hold_lock():
        pass  # no process is at work on it
    for form in (
        {},
        {"decision": "perhaps", "name": "A"},
        {"decision": "approve", "name": ""},
        {"decision": "approve"},
    ):
        with pytest.raises(RuntimeError, match="Cannot resume this run"):
            suspended.answer(**form)
    assert suspended.state()["name"] == "Suspended"
    state = Served(deployment, order).ends(suspended=True)  # one form for one question
    assert (state["type"], state["name"]) == ("PAUSED", WAITING)
    assert "people waits for approval until" in state["message"]
    assert crowdcover("release", order.plan).code == 6  # in a terminal meanwhile
    assert [request.suspended.flow_run for request in requests(order)] == [suspended.id]
    assert suspended.state()["name"] == "Suspended"


@pytest.mark.slow
def test_approved_in_prefect(suspended, order):
    suspended.answer(decision="approve", name="Ada", note="in the form")
    assert suspended.ends()["name"] == "Published"
    # Both processes passed all stages; each is listed once.
    tasks = until(suspended.tasks, lambda names: "publish" in names)
    assert sorted(tasks) == sorted({*tasks})
    assert {"ingest", "anonymize", "check", "ask for approval", "publish"} <= {*tasks}
    assert order.versions == ["v1"]
    approval = read_json(order.folder_of_v1 / "manifest.json")["approval"]
    assert (approval["by"], approval["note"]) == ("Ada", "in the form")
    assert (approval["identity"], approval["authenticated"]) == (None, "not authenticated")
    assert audit_release(order.folder_of_v1, order.plan).passed
    assert "was approved by Ada" in decide(order, "reject").err


@pytest.mark.slow
def test_rejected_in_prefect(suspended, order):
    suspended.answer(decision="reject", name="Bo")
    state = suspended.ends()
    assert state["name"] == "Refused"
    assert f"run {order.run.path.name} was rejected by Bo at 20" in state["message"]
    assert order.versions == []
    with pytest.raises(GuaranteeError, match="was rejected by Bo"):
        order.release()


@pytest.mark.slow
def test_approved_in_the_terminal(suspended, order):
    done = decided(order, "approve")
    assert done.last_line.endswith(f"flow run {suspended.id} was resumed")
    assert suspended.ends()["name"] == "Published"
    assert order.versions == ["v1"]
    assert read_json(order.folder_of_v1 / "manifest.json")["approval"]["by"] == "Ada Lovelace"


@pytest.mark.slow
def test_rejected_in_the_terminal(suspended, order):
    assert decided(order, "reject").last_line.endswith(f"flow run {suspended.id} was resumed")
    state = suspended.ends()
    assert state["name"] == "Refused"
    assert "rejected by Ada Lovelace" in state["message"]
    assert order.versions == []


@pytest.mark.slow
def test_a_form_of_registered_approvers_takes_a_signed_decision_only(deployment, order, tmp_path):
    new_key(tmp_path / "key")
    key = read_key(tmp_path / "key")
    order.write(publish={"approvers": {"ada@example.org": public_of(key)}})
    found = Served(deployment, order)
    assert found.ends(suspended=True)["name"] == "Suspended"
    with pytest.raises(RuntimeError, match="Cannot resume this run"):
        found.answer(decision="approve", name="Ada")
    first = requests(order)[0].suspended.key
    found.answer(signed="I agree")
    until(lambda: requests(order)[0].suspended.key, lambda now: now != first)  # asked once more
    until(found.state, lambda state: state["name"] == "Suspended")
    assert order.versions == []
    request = requests(order)[0]
    told = sign_decision(key, request, Rules.of(request.rules), (True, "Ada", "signed"))
    found.answer(signed=to_file(request.question, told).decode())
    assert found.ends()["name"] == "Published"
    approval = read_json(order.folder_of_v1 / "manifest.json")["approval"]
    assert (approval["identity"], approval["authenticated"]) == ("ada@example.org", "signature")
    assert audit_release(order.folder_of_v1, order.plan).passed


@pytest.mark.slow
def test_two_people_who_are_signed_in_answer_one_after_the_other(deployment, order, tmp_path):
    new_key(tmp_path / "key")
    server = read_key(tmp_path / "key")
    order.write(publish={"approvals": 2, "sign_in": public_of(server)})
    found = Served(deployment, order)
    state = found.ends(suspended=True)
    assert state["name"] == "Suspended", state["message"]

    def answer(name, who=None):
        """Answer the form, as the server behind the proxy passes it on."""
        form = {"decision": "approve", "name": name, "note": ""}
        stated = {} if who is None else {"signed_in": state_identity(server, found.id, form, who)}
        shown = requests(order)[0].suspended.key
        found.answer(**form, **stated)
        return shown

    for name, who, agreed in (
        ("Ada", None, []),  # nobody vouches
        ("Ada", "ada@example.org", ["ada@example.org"]),
        ("Bo", "ada@example.org", ["ada@example.org"]),  # the same person under another name
    ):
        shown = answer(name, who)
        until(lambda: requests(order)[0].suspended.key, lambda now, shown=shown: now != shown)
        until(found.state, lambda state: state["name"] == "Suspended")
        assert [each.identity for each in requests(order)[0].agreed] == agreed
    answer("Bo", "bo@example.org")
    assert found.ends()["name"] == "Published"
    approval = read_json(order.folder_of_v1 / "manifest.json")["approval"]
    assert (approval["identity"], approval["authenticated"]) == ("bo@example.org", "reverse proxy")
    assert [each["by"] for each in approval["also"]] == ["Ada"]
    assert audit_release(order.folder_of_v1, order.plan).passed


@pytest.mark.slow
def test_a_decision_that_an_officer_signed_is_taken_up_by_the_next_run(deployment, order, tmp_path):
    new_key(tmp_path / "key")
    keys = {"ada@example.org": public_of(read_key(tmp_path / "key"))}
    order.write(publish={"approvers": keys, "reports": str(tmp_path / "reports")})
    first = Served(deployment, order)
    assert first.ends(suspended=True)["name"] == "Suspended"
    (copy,) = (tmp_path / "reports" / "people").iterdir()
    done = command("sign", copy, "--decision", "approve", "--key", tmp_path / "key", "--quiet")
    assert done.code == 0, done.err
    assert Served(deployment, order).ends()["name"] == "Published"
    assert order.versions == ["v1"]
    assert audit_release(order.folder_of_v1, order.plan).passed
    state = first.state()
    assert (state["type"], state["name"]) == ("COMPLETED", "Decided")
    assert "approved by ada@example.org at" in state["message"]


@pytest.mark.slow
def test_cancelled_while_it_waits(suspended, deployment, order):
    subprocess.run(
        [Path(sys.executable).with_name("prefect"), "flow-run", "cancel", suspended.id],
        check=True,
        capture_output=True,
    )
    assert suspended.ends()["name"] == "Cancelled"
    assert order.versions == []
    another = Served(deployment, order)  # takes over the question
    assert another.ends(suspended=True)["name"] == "Suspended"
    assert [request.suspended.flow_run for request in requests(order)] == [another.id]
    another.answer(decision="approve", name="Ada")
    assert another.ends()["name"] == "Published"
    assert order.versions == ["v1"]


@pytest.mark.slow
def test_approved_without_a_way_to_prefect(suspended, order):
    """The decision stands in the vault, whatever the network does."""
    name = order.run.path.name
    done = crowdcover("approve", name, "--vault", order.vault, *WHO, environment=UNREACHABLE)
    assert done.code == 0, done.err
    assert f"flow run {suspended.id} could not be resumed (" in done.last_line
    assert "Traceback" not in done.err
    assert order.release() == order.folder_of_v1
    suspended.answer(decision="approve", name="Ada")
    assert suspended.ends()["name"] == "Unchanged"  # `order.release` published it
    assert order.versions == ["v1"]


@pytest.mark.slow
def test_two_answers_that_differ_publish_nothing(suspended, order):
    assert (
        crowdcover(
            "approve", order.run.path.name, "--vault", order.vault, *WHO, environment=UNREACHABLE
        ).code
        == 0
    )
    suspended.answer(decision="reject", name="Bo", note="no")
    state = suspended.ends()
    assert state["name"] == "Refused"
    assert "was approved by Ada Lovelace" in state["message"]
    assert "rejected by Bo" in state["message"]
    assert order.versions == []


@pytest.mark.slow
def test_nobody_answers_in_prefect(deployment, order):
    order.write(publish={"approval_timeout": "1s"})
    found = Served(deployment, order)
    # the server fails it, at the latest when it is answered, or the run finds that it is too late
    state = until(found.state, lambda state: state["type"] == "FAILED" or expired(found))
    if state["type"] != "FAILED":
        with contextlib.suppress(FlowPauseTimeout, NotPausedError, RuntimeError):
            found.answer(decision="approve", name="Ada")
    assert found.ends()["type"] == "FAILED"
    assert order.versions == []
    assert "nobody approved within 1s" in decide(order, "approve").err


def expired(found):
    details = found.state()["state_details"]
    timeout = details.get("pause_timeout")
    return timeout is not None and datetime.fromisoformat(timeout) < datetime.now(UTC)


@pytest.mark.long
def test_rows_are_the_same_with_and_without_approval(tmp_path):
    plain = Order(tmp_path / "plain").fix_seed()
    asked = Order(tmp_path / "asked", publish={"approval": "required"}).fix_seed()
    waits(asked)
    decided(asked, "approve")
    assert data_bytes(asked.release()) == data_bytes(plain.release())


# ---------------------------------------------------------------- beside other releases


@pytest.mark.long
def test_what_is_approved_says_how_it_stands_beside_other_releases(tmp_path, monkeypatch):
    """Another release of the same people asks again, published before this run or meanwhile."""
    calm = [(*row[:4], "ill", "note", row[6]) for row in people()]
    allowed = {"allow_second_release": True, "approval": "required"}
    order = Order(tmp_path, calm, checks={"drift": "off"}, publish=allowed)
    waits(order)
    decided(order, "approve")
    other = Order(
        tmp_path / "other",
        calm,
        name="other",
        publish={"vault": str(order.vault), "allow_second_release": True},
    )
    other.write(privacy={"k": 3})
    other.release()
    monkeypatch.setattr("crowdcover.flows.course.beside_others", lambda *_: {})
    with pytest.raises(
        GuaranteeError,
        match="was published since this one was approved; run again to ask once more",
    ):
        order.release()
    monkeypatch.undo()
    assert "waits for approval" in waits(order)
    assert [
        request.question.manifest.get("second_release", {}).get("overlapping")
        for request in requests(order)
    ] == [None, 1]
    decided(order, "approve")
    assert read_json(order.release() / "manifest.json")["second_release"]["below_k"] == 0
    assert audit_release(order.folder_of_v1, order.plan).passed
