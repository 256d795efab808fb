"""A PostgreSQL cluster of a test run: started, stopped, restarted."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
USER = "zq7user"
PASSWORD = "zq7password"


@dataclass(frozen=True)
class Postgres:
    """A running cluster that asks for a password."""

    folder: Path
    host: str
    port: int

    def control(self, *arguments):
        """Ask pg_ctl to do something, and wait until it is done."""
        options = (
            f"-p {self.port} -c listen_addresses={self.host} "
            f"-c unix_socket_directories={self.folder} -c fsync=off"
        )
        data, log = self.folder / "data", self.folder / "log"
        command("pg_ctl", "-D", data, "-o", options, "-l", log, "-w", "-t", "60", *arguments)

    def restart(self, seconds=0):
        """Cut all connections, and start again after some time."""
        self.control("-m", "immediate", "stop")
        time.sleep(seconds)
        self.control("start")

    def run(self, statements, database="postgres"):
        """Run SQL as its user."""
        place = ["-h", self.folder, "-p", self.port, "-U", USER]
        command("psql", *place, "-v", "ON_ERROR_STOP=1", "-c", statements, database)


def missing():
    """Why no cluster can be started here; empty if one can."""
    if not PROGRAMS:
        return "PostgreSQL's programs are not installed: apt-get install postgresql"
    if os.geteuid() == 0 and not shutil.which("runuser"):
        return "PostgreSQL does not run as root, and runuser is not installed"
    return ""


@contextmanager
def running():
    """Start a cluster; it is gone at the end."""
    # A test's own folder is closed to the user that PostgreSQL runs as.
    folder = Path(tempfile.mkdtemp(prefix="crowdcover-postgres-"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        server = Postgres(folder, "127.0.0.1", free.getsockname()[1])
    password = folder / "password"
    password.write_text(PASSWORD)
    if os.geteuid() == 0:
        for path in (folder, password):
            shutil.chown(path, "postgres")
    access = [f"--pwfile={password}", "--auth=scram-sha-256"]
    try:
        settings = [*access, "-E", "UTF8", "--locale=C", "--no-sync"]
        command("initdb", "-D", folder / "data", "-U", USER, *settings)
        server.control("start")
        try:
            yield server
        finally:
            server.control("-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)


def command(program, *arguments):
    """Run one of PostgreSQL's programs as the user that it runs as."""
    as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    environment = {"PATH": os.environ["PATH"], "PGPASSWORD": PASSWORD, "LC_ALL": "C.UTF-8"}
    line = [*as_user, PROGRAMS[-1].with_name(program), *arguments]
    subprocess.run(
        [str(part) for part in line],
        check=True,
        cwd="/",
        env=environment,
        capture_output=True,
        timeout=120,
    )
