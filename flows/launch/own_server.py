"""Prefect's server for a run where none is named: a thread of this process.

Prefect would start another process, which takes twice the time and outlives a run that is killed.
What a run leaves in Prefect's database is the same.
"""

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

import uvicorn
from prefect.context import refresh_global_settings_context
from prefect.events.worker import EventsWorker
from prefect.logging import get_logger
from prefect.logging.handlers import APILogWorker
from prefect.settings import (
    PREFECT_API_URL,
    PREFECT_SERVER_ALLOW_EPHEMERAL_MODE,
    PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS,
)

STOPS_WITHIN = 10.0
# It has no pages to point to, and needs no types of blocks: a server that stays enters those.
OF_A_RUN = {"PREFECT_UI_URL": "", "PREFECT_API_BLOCKS_REGISTER_ON_START": "false"}


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
        # In the environment, since threads and processes that know no settings look there.
        named = {"PREFECT_API_URL": f"{address}/api", **OF_A_RUN}
        try:
            with mock.patch.dict(os.environ, named):
                refresh_global_settings_context()
                with _serve(listening):
                    get_logger("crowdcover").info(
                        f"no PREFECT_API_URL: Prefect's server runs in this process, at {address}, "
                        "until the release ends"
                    )
                    yield
        finally:
            refresh_global_settings_context()


@contextmanager
def _serve(listening: socket.socket) -> Iterator[None]:
    """Serve Prefect's API on a socket in a thread."""
    from prefect.server.api.server import create_app  # takes seconds to import

    # An application that has run starts no services again.
    app = create_app(ephemeral=True, ignore_cache=True)
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, log_level="error", lifespan="on"))
    thread = threading.Thread(
        target=server.run, args=([listening],), name="prefect-server", daemon=True
    )
    thread.start()
    try:
        _await_start(server, thread)
        yield
        # What they have not sent yet.
        EventsWorker.drain_all(timeout=STOPS_WITHIN)
        APILogWorker.drain_all(timeout=STOPS_WITHIN)
    finally:
        server.should_exit = True
        thread.join(STOPS_WITHIN)


def _await_start(server: uvicorn.Server, thread: threading.Thread) -> None:
    """Wait until a server listens; refuse one that ends before."""
    end = time.monotonic() + PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS.value()
    while not server.started:
        if not thread.is_alive() or time.monotonic() > end:
            raise RuntimeError("Prefect's server did not start")
        time.sleep(0.01)
