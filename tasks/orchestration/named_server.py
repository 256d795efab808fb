"""Say whether a server of Prefect is named, and wait until it answers."""

import os
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path

from crowdcover.storage.places.outages import ask_again, wait_out_outages

SERVER_VARIABLE = "PREFECT_API_URL"
_ANSWERS_WITHIN = 10.0  # seconds
# Files of the working folder that may hold settings of Prefect, beside its profiles.
_FILES = (".env", "prefect.toml", "pyproject.toml")


def find_server_address() -> str | None:
    """The address that the environment or a file of Prefect's settings names.

    Prefect takes a second to import: it is asked only where one of these files speaks of it.
    """
    if SERVER_VARIABLE in os.environ:
        return os.environ[SERVER_VARIABLE] or None
    if not any(_mentions_prefect(path) for path in _list_setting_files()):
        return None
    # Which of them counts, and which profile is in use. Not the settings of this process: those
    # are of the moment when it imported Prefect.
    from prefect.settings import Settings

    try:
        return Settings().api.url or None
    except (ValueError, tomllib.TOMLDecodeError):
        return None  # of settings that Prefect refuses itself


def await_server(address: str, *, quiet: bool) -> None:
    """Wait while a server does not answer, as for other stores, and say so unless `quiet`.

    Whatever it answers, or that it is still away in the end, Prefect says when the run begins.
    """
    from crowdcover.tasks.orchestration.plain_log import write_plain_log
    from crowdcover.tasks.orchestration.stage import log_line

    with (
        write_plain_log(quiet=quiet),
        wait_out_outages(log_line),
        suppress(OSError, ValueError, HTTPException),
    ):
        ask_again("Prefect's server", lambda: _knock(f"{address.rstrip('/')}/health"))


def _knock(address: str) -> None:
    try:
        with urllib.request.urlopen(address, timeout=_ANSWERS_WITHIN):  # noqa: S310
            pass
    except urllib.error.URLError as error:
        # Its own words do not tell an outage from an address that cannot be one.
        raise error.reason if isinstance(error.reason, TimeoutError) else error from None


def _list_setting_files() -> Iterator[Path]:
    home = os.environ.get("PREFECT_HOME", "~/.prefect")
    yield Path(os.environ.get("PREFECT_PROFILES_PATH", f"{home}/profiles.toml"))
    yield from map(Path, _FILES)


def _mentions_prefect(path: Path) -> bool:
    try:
        text = path.expanduser().read_bytes()
    except (OSError, RuntimeError):  # not there, not readable, or no home: for Prefect, too
        return False
    return path.name == "prefect.toml" or b"prefect" in text.lower()
