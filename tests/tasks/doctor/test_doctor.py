"""`crowdcover doctor`: what is missing is found, and only what the plan needs is an error."""

import http.server
import json
import os
import shutil
import socket
import threading
import time
from datetime import timedelta
from pathlib import Path

import pytest

from crowdcover.storage.approval.approval import Approval, Question, Request
from crowdcover.storage.vault.vault import Vault
from crowdcover.tasks.doctor import folders, machines, software
from crowdcover.tasks.doctor.look import Look, count_wrong_looks
from tests.flows.orders import Order
from tests.support.commands import call


def test_versions_that_are_not_allowed_are_wrong(monkeypatch):
    real = software.version
    changed = {"prefect": "3.8.8", "pyrage": None, "jinja2": "3.0"}

    def version(name):
        if name in changed and changed[name] is None:
            raise software.PackageNotFoundError
        return changed.get(name) or real(name)

    assert count_wrong_looks(list(software.check_software())) == 0
    monkeypatch.setattr(software, "version", version)
    looks = {look.what: look for look in software.check_software()}
    assert {what for what, look in looks.items() if look.state == "wrong"} == changed.keys()
    assert looks["prefect"].do == "pip install 'prefect<4,>=3.9.1'"
    assert looks["pyrage"].found == "not installed"
    assert looks["numpy"].state == "ok"


@pytest.mark.parametrize("needed", [True, False])
def test_a_driver_is_wrong_only_if_the_plan_needs_it(monkeypatch, needed):
    monkeypatch.setattr(software, "find_spec", lambda _: None)
    found = list(software.check_drivers(["duckdb"] if needed else []))
    assert count_wrong_looks(found) == needed
    assert {look.state for look in found} == ({"wrong", "warning"} if needed else {"warning"})
    assert all("pip install 'crowdcover[" in look.do for look in found)


def test_two_ranks_answer():
    assert machines.check_mpi(needed=True).state == "ok"


@pytest.mark.parametrize(
    ("program", "found"),
    [(None, "no mpirun"), ("false", "0 of 2 answer"), ("gone", "mpirun does not answer")],
)
def test_ranks_that_do_not_answer(monkeypatch, tmp_path, program, found):
    path = {"false": "/bin/false", "gone": str(tmp_path / "gone")}.get(program)
    monkeypatch.setattr(machines.shutil, "which", lambda *_, **__: path)
    look = machines.check_mpi(needed=True)
    assert (look.state, look.found) == ("wrong", found)
    assert machines.check_mpi(needed=False).state == "warning"


def test_ranks_that_do_not_know_of_each_other_are_no_mpi(monkeypatch, tmp_path):
    """An mpirun of another MPI than mpi4py's: each rank is alone."""
    alone = tmp_path / "mpirun"
    alone.write_text("#!/bin/sh\necho rank 0 1; echo rank 0 1\n")
    alone.chmod(0o700)
    monkeypatch.setattr(machines.shutil, "which", lambda *_, **__: str(alone))
    assert machines.check_mpi(needed=True).found == "0 of 2 answer"


@pytest.mark.parametrize(
    ("missing", "partitions", "state"),
    [([], ["short", "long"], "ok"), (["sbatch"], [], "wrong"), ([], [], "wrong")],
)
def test_slurm(monkeypatch, missing, partitions, state):
    monkeypatch.setattr(machines.slurm, "list_missing_programs", lambda: missing)
    monkeypatch.setattr(machines.slurm, "list_partitions", lambda: partitions)
    assert machines.check_slurm(needed=True).state == state
    assert machines.check_slurm(needed=False).state == ("ok" if state == "ok" else "warning")


def test_a_scheduler_that_takes_connections():
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        assert machines.check_dask(address, needed=True).state == "ok"
    look = machines.check_dask(address, needed=True)
    assert (look.state, look.found) == ("wrong", "the scheduler of the plan does not answer")


@pytest.fixture
def answering():
    """A server that answers what a test gives it: status and body."""
    given = [200, b'"3.9.1"']

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            assert self.path == "/api/admin/version"
            self.send_response(given[0])
            self.end_headers()
            self.wfile.write(given[1])

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/api", given
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_prefect_server(answering):
    address, given = answering
    assert machines.check_prefect_server(address) == Look(
        "Prefect server", "ok", "answers, version 3.9.1"
    )
    given[0] = 401
    assert machines.check_prefect_server(address).state == "warning"
    given[:] = [200, b"not JSON"]
    assert machines.check_prefect_server(address).state == "wrong"
    assert machines.check_prefect_server(None).state == "ok"


def test_a_prefect_server_that_is_away_is_wrong():
    with socket.create_server(("127.0.0.1", 0)) as server:
        number = server.getsockname()[1]
    look = machines.check_prefect_server(f"http://127.0.0.1:{number}/api")
    assert (look.state, look.found) == ("wrong", "does not answer")


@pytest.mark.parametrize(
    ("free", "source", "state"),
    [(2**40, 0, "ok"), (2**29, 0, "warning"), (2**31, 2**30, "warning"), (2**25, 0, "wrong")],
)
def test_room(monkeypatch, tmp_path, free, source, state):
    monkeypatch.setattr(folders.shutil, "disk_usage", lambda _: os.terminal_size((0, 0)))
    usage = type("Usage", (), {"free": free})
    monkeypatch.setattr(folders.shutil, "disk_usage", lambda _: usage)
    assert folders.check_room("room", tmp_path / "not" / "yet", source).state == state


def test_a_folder_that_is_a_file_is_wrong(tmp_path):
    (tmp_path / "file").write_text("")
    look = folders.check_room("room", tmp_path / "file", 0)
    assert (look.state, look.do) == ("wrong", "name another folder")


def states(folder):
    return {look.what: look.state for look in folders.check_vault(folder)}


def damaged(vault, what):
    """Damage a copy of a vault in one way."""
    run = next(vault.glob("runs/*/run.json")).parent
    if what == "open folder":
        run.chmod(0o750)
    elif what == "open file":
        (vault / "ledger.key").chmod(0o640)
    elif what == "no key":
        (vault / "folders.key").unlink()
    elif what == "short seed":
        (run / "seed").write_bytes(b"short")
    elif what == "future":
        os.utime(run / "seed", (time.time() + 9e4,) * 2)


@pytest.mark.parametrize(
    ("what", "seen"),
    [
        ("nothing", {}),
        ("open folder", {"vault modes": "wrong"}),
        ("open file", {"vault modes": "wrong"}),
        ("no key", {"vault keys": "wrong"}),
        ("short seed", {"vault keys": "wrong"}),
        ("future", {"clock": "warning"}),
    ],
)
def test_a_vault(tmp_path, copied, what, seen):
    damaged(copied, what)
    assert states(copied) == {"vault modes": "ok", "vault keys": "ok", "clock": "ok", **seen}


def test_what_a_run_takes_away_meanwhile_is_no_fault(copied, monkeypatch):
    """A file and a folder that were listed are gone when they are looked at."""
    run = next(copied.glob("runs/*/run.json")).parent  # not the lock beside it
    (run / "folder").mkdir(0o700)
    (run / "passing").touch(0o600)
    lstat, scandir = Path.lstat, os.scandir

    def look(path):
        if path.name == "passing":
            path.unlink(missing_ok=True)
        return lstat(path)

    def scan(path):
        if Path(path).name == "folder":
            Path(path).rmdir()
        return scandir(path)

    monkeypatch.setattr(Path, "lstat", look)
    monkeypatch.setattr(os, "scandir", scan)
    assert states(copied) == {"vault modes": "ok", "vault keys": "ok", "clock": "ok"}
    assert not (run / "folder").exists()
    assert not (run / "passing").exists()


@pytest.fixture
def copied(released, tmp_path):
    """A copy of a vault that has published; modes as they are."""
    return shutil.copytree(released.vault, tmp_path / "vault")


@pytest.mark.parametrize(
    ("given", "found", "do"),
    [(1, "waits until ", "crowdcover approve "), (-1, "not given until ", "crowdcover reopen ")],
)
def test_an_approval_whose_time_runs(copied, given, found, do):
    (run,) = Vault(copied).every_run()
    question = Question({}, "folder", "verdict", {})
    Approval(run).ask(Request.of(question, "page", timedelta(days=given)))
    (look,) = (look for look in folders.check_vault(copied) if look.what.startswith("approval of"))
    assert look.state == "warning"
    assert look.found.startswith(found)
    assert look.do.startswith(do + run.path.name)


def test_a_vault_that_is_not_there_is_made_by_nobody(tmp_path):
    assert [look.state for look in folders.check_vault(tmp_path / "vault")] == ["ok"]
    assert not (tmp_path / "vault").exists()


def test_the_command_looks_at_what_a_plan_needs(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PREFECT_API_URL", "")
    order = Order(tmp_path)
    code, out, _ = call(capsys, "doctor", "--plan", order.plan, "--json")
    document = json.loads(out)
    assert (code, document["wrong"]) == (0, 0)
    assert {look["what"] for look in document["looks"]} >= {
        *("crowdcover", "Python", "numpy", "numba", "polars", "prefect"),
        *("MPI, 2 ranks", "Slurm", "Dask", "Prefect server", "source", "vault"),
        *("room of the vault", "room of the releases"),
    }
    assert not order.vault.exists()
    gone = ("--set", "source.path=gone.csv", "--quiet")
    code, out, _ = call(capsys, "doctor", "--plan", order.plan, *gone)
    assert code == 1
    assert "WRONG   source: not there\n" in out
    assert "correct source.path" in out
    assert "numpy" not in out


def test_without_a_plan_nothing_is_set(capsys):
    answer = call(capsys, "doctor", "--set", "privacy.k=3")
    assert answer == (2, "", "crowdcover: --set changes a plan; give one with --plan\n")


def test_a_vault_of_another_account_is_wrong(monkeypatch, tmp_path):
    monkeypatch.setattr(folders.os, "access", lambda *_: False)
    (look,) = folders.check_vault(tmp_path)
    assert (look.state, look.found) == ("wrong", "this account cannot read it")
