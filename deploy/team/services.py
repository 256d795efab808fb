"""The services of deploy/compose.yaml as processes of this machine.

Commands, variables and health checks are those of the file. Names of services become 127.0.0.1,
ports become free ones, and folders of a container become folders of the team.
"""

import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml

COMPOSE = Path(__file__).parents[1] / "compose.yaml"
DATABASE, SERVER, PLANS = "database", "server", "plans"
LONGEST = 240.0  # seconds until a service is healthy
VARIABLE = re.compile(r"\$\$|\$\{(\w+)(?::[-?]([^}]*))?\}")


@dataclass(frozen=True)
class Team:
    """The folder of a team, its ports, and what compose takes from .env."""

    folder: Path
    database: int
    server: int
    health: int
    given: Mapping[str, str]

    @classmethod
    def of(cls, folder: Path, **given: str) -> "Team":
        """Choose free ports and a password."""
        password = secrets.token_hex(16)
        return cls(folder, *_free(3), {"DATABASE_PASSWORD": password, **given})

    @property
    def url(self) -> str:
        """Where Prefect's pages are."""
        return f"http://127.0.0.1:{self.server}"

    def here(self, text: Any) -> str:
        """A value of the compose file as a process of this machine takes it."""
        found = VARIABLE.sub(self._variable, str(text))
        for name, value in (
            ("http://server:4200", self.url),
            ("http://127.0.0.1:4200", self.url),
            ("http://127.0.0.1:8080", f"http://127.0.0.1:{self.health}"),
            ("/plans/", f"{self.folder / 'plans'}/"),
        ):
            found = found.replace(name, value)
        whole = {
            "0.0.0.0": "127.0.0.1",  # noqa: S104 - it is replaced
            DATABASE: "127.0.0.1",
            "4200": self.server,
            "5432": self.database,
            "8080": self.health,
        }
        return str(whole.get(found, found))

    def _variable(self, found: re.Match[str]) -> str:
        return "$" if found[0] == "$$" else self.given.get(found[1], found[2] or "")


@contextmanager
def running(team: Team) -> Iterator[Callable[[], None]]:
    """Run all services until the block ends, each once the one before is healthy.

    What it yields serves the plans again, as they are then.
    """
    services = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))["services"]
    with _database(team), _service(team, SERVER, services), ExitStack() as served:

        def serve_again() -> None:
            served.close()
            served.enter_context(_service(team, PLANS, services))

        serve_again()
        yield serve_again


@contextmanager
def told(team: Team) -> Iterator[Path]:
    """Install the alarms; the file that their webhook writes what it is sent to."""
    (port,), log = _free(1), team.folder / "inbox.log"
    inbox = [sys.executable, str(Path(__file__).with_name("inbox.py")), str(port)]
    with log.open("wb") as handle:
        process = subprocess.Popen(inbox, stdout=handle, stderr=handle, start_new_session=True)
        try:
            program = [sys.executable, "-m", "crowdcover.flows.cli", "alarms"]
            subprocess.run(
                [*program, "--webhook", f"http://127.0.0.1:{port}/"],
                env={**os.environ, **_quiet(), "PREFECT_API_URL": f"{team.url}/api"},
                stdout=subprocess.DEVNULL,
                check=True,
            )
            yield log
        finally:
            _end(process)


@contextmanager
def _service(team: Team, name: str, services: Mapping[str, Any]) -> Iterator[None]:
    service = services[name]
    command = [team.here(each) for each in (*service["entrypoint"], *service["command"])]
    stated = {key: team.here(value) for key, value in service["environment"].items()}
    home = {"PREFECT_HOME": str(team.folder / "prefect" / name), "PATH": _path()}
    environment = {**_inherited(), **home, **_quiet(), **stated}
    with (team.folder / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(
            command,
            cwd=team.folder,
            env=environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            _wait(team, name, process, service["healthcheck"]["test"][1:], environment)
            yield
        finally:
            _end(process)


@contextmanager
def _database(team: Team) -> Iterator[None]:
    """A PostgreSQL of its own, with the account and the password of the compose file."""
    binaries, account = _postgresql(), "nobody" if os.geteuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="crowdcover-team-"))
    try:
        word = folder / "password"
        word.write_text(team.given["DATABASE_PASSWORD"])
        if account is not None:
            for path in (folder, word):
                shutil.chown(path, account)
        data = folder / "data"
        made = [binaries / "initdb", "-D", data, "-U", "prefect", "--pwfile", word]
        subprocess.run(
            [*made, "--auth", "scram-sha-256", "--encoding", "UTF8"],
            user=account, cwd=folder, check=True, capture_output=True,
        )  # fmt: skip
        with (team.folder / "database.log").open("wb") as log:
            process = subprocess.Popen(
                [binaries / "postgres", "-D", data, "-p", str(team.database), "-k", folder,
                 "-c", "listen_addresses=127.0.0.1"],
                user=account, cwd=folder, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        try:
            ready = [str(binaries / "pg_isready"), "-h", "127.0.0.1", "-p", str(team.database)]
            _wait(team, DATABASE, process, ready, dict(os.environ))
            subprocess.run(
                [binaries / "psql", "-h", "127.0.0.1", "-p", str(team.database), "-U", "prefect",
                 "-d", "postgres", "-c", "create database prefect"],
                env={**os.environ, "PGPASSWORD": team.given["DATABASE_PASSWORD"]},
                check=True, capture_output=True,
            )  # fmt: skip
            yield
        finally:
            _end(process, signal.SIGINT)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _wait(
    team: Team,
    name: str,
    process: subprocess.Popen[bytes],
    test: Sequence[str],
    environment: Mapping[str, str],
) -> None:
    """Wait until the health check of a service passes."""
    command = [team.here(each) for each in test]
    end = time.monotonic() + LONGEST
    while time.monotonic() < end and process.poll() is None:
        tried = subprocess.run(command, env=environment, capture_output=True, check=False)
        if tried.returncode == 0:
            return
        time.sleep(0.5)
    log = (team.folder / f"{name}.log").read_text(errors="replace")[-2000:]
    raise SystemExit(f"the service {name} did not become healthy:\n{log}")


def _end(process: subprocess.Popen[bytes], how: signal.Signals = signal.SIGTERM) -> None:
    """End a service with all its processes."""
    if process.poll() is None:
        process.send_signal(how)
        with suppress(subprocess.TimeoutExpired):
            process.wait(20)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _postgresql() -> Path:
    """The folder of PostgreSQL's programs: of the system, or of the package pgserver."""
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), reverse=True)
    if places:
        return places[0].parent
    if (found := shutil.which("postgres")) is not None:
        return Path(found).resolve().parent
    if (spec := find_spec("pgserver")) is not None and spec.origin is not None:
        return Path(spec.origin).parent / "pginstall" / "bin"
    raise SystemExit("no PostgreSQL is installed; install it, or: pip install pgserver")


def _free(count: int) -> list[int]:
    """Ports that nobody uses now."""
    taken = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in taken]
    for each in taken:
        each.close()
    return ports


def _path() -> str:
    return f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}"


def _inherited() -> dict[str, str]:
    """The variables of this process, but for settings of another Prefect."""
    return {key: value for key, value in os.environ.items() if not key.startswith("PREFECT_")}


def _quiet() -> dict[str, str]:
    return {"PREFECT_SERVER_ANALYTICS_ENABLED": "false", "DO_NOT_TRACK": "1"}
