"""Whether Prefect has a server to tell: without one a release is a plain call, in half the time."""

import os
from collections.abc import Iterator
from pathlib import Path

ADDRESS = "PREFECT_API_URL"
# Files of the working folder that may hold settings of Prefect, beside its profiles.
_FILES = (".env", "prefect.toml", "pyproject.toml")


def is_server_named() -> bool:
    """Whether the environment or a file of Prefect's settings names a server."""
    if os.environ.get(ADDRESS):
        return True
    if not any(_mentions_prefect(path) for path in _list_setting_files() if path.is_file()):
        return False
    # Which of them counts, and which profile is in use, Prefect knows; it takes a second to import.
    from prefect.settings import PREFECT_API_URL

    return bool(PREFECT_API_URL.value())


def _list_setting_files() -> Iterator[Path]:
    home = Path(os.environ.get("PREFECT_HOME", "~/.prefect")).expanduser()
    yield Path(os.environ.get("PREFECT_PROFILES_PATH", home / "profiles.toml")).expanduser()
    yield from map(Path, _FILES)


def _mentions_prefect(path: Path) -> bool:
    try:
        return path.name == "prefect.toml" or b"prefect" in path.read_bytes().lower()
    except OSError:  # not readable, also for Prefect
        return False
