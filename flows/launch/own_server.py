"""Prefect's server for a run where none is named: a thread of this process.

Prefect would start another process, which takes twice the time and outlives a run that is killed.
What a run leaves in Prefect's database is the same.
"""

import os
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from prefect.context import refresh_global_settings_context
from prefect.events.worker import EventsWorker
from prefect.logging import get_logger
from prefect.logging.handlers import APILogWorker
from prefect.settings import (
    PREFECT_API_URL,
    PREFECT_SERVER_ALLOW_EPHEMERAL_MODE,
    PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS,
)

from crowdcover.tasks.orchestration.memory import keep_all_objects

if TYPE_CHECKING:
    from uvicorn import Server

STOPS_WITHIN = 10.0
# It has no pages to point to, and needs no types of blocks: a server that stays enters those. To
# remember which types there are, Prefect would import every integration that is installed. What it
# cannot do now, such as write on a full disk, it cannot do in a minute either.
OF_A_RUN = {
    "PREFECT_UI_URL": "",
    "PREFECT_API_BLOCKS_REGISTER_ON_START": "false",
    "PREFECT_MEMOIZE_BLOCK_AUTO_REGISTRATION": "false",
    "PREFECT_CLIENT_RETRY_EXTRA_CODES": "",
}


@contextmanager
def run_own_server() -> Iterator[None]:
    """Let the work inside use a server of this process, unless PREFECT_API_URL names one.

    It listens on this machine only, and ends with the work or with the process.
    """
    if PREFECT_API_URL.value() or not PREFECT_SERVER_ALLOW_EPHEMERAL_MODE.value():
        yield
        return
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        with use_settings({"PREFECT_API_URL": f"{address}/api", **OF_A_RUN}), _serve(listening):
            get_logger("crowdcover").info(
                f"no PREFECT_API_URL is set: Prefect's server runs in this process, at {address}, "
                "until the release ends"
            )
            yield


@contextmanager
def use_settings(settings: Mapping[str, str]) -> Iterator[None]:
    """Set variables of Prefect: threads and processes that know no settings look there."""
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    refresh_global_settings_context()
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        refresh_global_settings_context()


@contextmanager
def _serve(listening: socket.socket) -> Iterator[None]:
    """Serve Prefect's API on a socket in a thread."""
    with keep_all_objects():  # this takes seconds to import
        from prefect.server.api.server import create_app
        from uvicorn import Config, Server

        # An application that has run starts no services again.
        app = create_app(ephemeral=True, ignore_cache=True)
    server = Server(Config(app, log_config=None, log_level="error", lifespan="on"))
    thread = threading.Thread(
        target=server.run, args=([listening],), name="prefect-server", daemon=True
    )
    thread.start()
    try:
        _await_start(server, thread)
        try:
            yield
        finally:  # also of a refused run: what they have not sent yet
            EventsWorker.drain_all(timeout=STOPS_WITHIN)
            APILogWorker.drain_all(timeout=STOPS_WITHIN)
    finally:
        server.should_exit = True
        thread.join(STOPS_WITHIN)


def _await_start(server: "Server", thread: threading.Thread) -> None:
    """Wait until a server listens; refuse one that ends before."""
    end = time.monotonic() + PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS.value()
    while not server.started:
        if not thread.is_alive() or time.monotonic() > end:
            raise RuntimeError("Prefect's server did not start")
        time.sleep(0.01)
