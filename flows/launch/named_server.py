"""Prefect's server: whether one is named, for without it a release is a plain call; and a wait."""

import os
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from crowdcover.flows.printed_json import writes_json_logs
from crowdcover.storage.places.outages import ask_again, wait_out_outages

SERVER_VARIABLE = "PREFECT_API_URL"
# Files of the working folder that may hold settings of Prefect, beside its profiles.
_ANSWERS_WITHIN = 10.0  # seconds
_FILES = (".env", "prefect.toml", "pyproject.toml")


def is_server_named() -> bool:
    """Whether the environment or a file of Prefect's settings names a server."""
    if os.environ.get(SERVER_VARIABLE):
        return True
    if not any(_mentions_prefect(path) for path in _list_setting_files() if path.is_file()):
        return False
    # Which of them counts, and which profile is in use, Prefect knows; it takes a second to import.
    from prefect.settings import PREFECT_API_URL

    return bool(PREFECT_API_URL.value())


def await_server(*, quiet: bool) -> None:
    """Wait while the named server does not answer, as for other stores, and say so unless `quiet`.

    Whatever it answers, or that it is still away in the end, Prefect says when the run begins.
    """
    from prefect.settings import PREFECT_API_URL

    from crowdcover.tasks.orchestration.plain_log import write_plain_log
    from crowdcover.tasks.orchestration.stage import log_line

    address = str(PREFECT_API_URL.value()).rstrip("/")
    with (
        write_plain_log(quiet=quiet, as_json=writes_json_logs()),
        wait_out_outages(log_line),
        suppress(OSError, ValueError),
    ):
        ask_again("Prefect's server", lambda: _knock(f"{address}/health"))


def _knock(address: str) -> None:
    with urllib.request.urlopen(address, timeout=_ANSWERS_WITHIN):  # noqa: S310
        pass


def _list_setting_files() -> Iterator[Path]:
    home = Path(os.environ.get("PREFECT_HOME", "~/.prefect")).expanduser()
    yield Path(os.environ.get("PREFECT_PROFILES_PATH", home / "profiles.toml")).expanduser()
    yield from map(Path, _FILES)


def _mentions_prefect(path: Path) -> bool:
    try:
        return path.name == "prefect.toml" or b"prefect" in path.read_bytes().lower()
    except OSError:  # not readable, also for Prefect
        return False
