"""How the last attempt of a run ended early, and what the run is called.

    <vault>/runs/<run>/ended.json    the stage that ended the last attempt, and its message

Messages hold no values. A new attempt begins without the file.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from anon_core.errors import AnonymityError
from crowdcover.storage.vault.files import read_json, write_json
from crowdcover.storage.vault.run import Run

_ENDED = "ended.json"
ORDER = "run.json"
# Errors that refuse nothing: the same plan may succeed on the same data. LimitError is none of
# them: but for a machine that is too small, only another plan helps.
_FAILURES = {
    "BusyError",
    "ClusterError",
    "CredentialsError",
    "DamagedError",
    "FolderError",
    "LedgerError",
    "SealedError",
    "StageError",
    "StoreError",
}


@dataclass(frozen=True)
class Ending:
    """The stage that ended an attempt, the class of its error, its message and the time."""

    stage: str
    error: str
    message: str
    at: str

    @property
    def is_refusal(self) -> bool:
        """Whether plan, source or result were refused, not only stopped."""
        return self.error not in _FAILURES


def keep_ending(folder: Path, stage: str, error: AnonymityError) -> None:
    """Note what ended an attempt; of other folders than those of runs nothing is noted."""
    if not (folder / ORDER).exists():
        return
    at = datetime.now(UTC).isoformat(timespec="seconds")
    try:
        write_json(folder / _ENDED, asdict(Ending(stage, type(error).__name__, str(error), at)))
    except OSError:
        return  # a full disk must not hide the error itself


def read_ending(run: Run) -> Ending | None:
    """What ended the last attempt; None where nothing did, or an older version made it."""
    try:
        return Ending(**read_json(run.path / _ENDED))
    except (OSError, ValueError, TypeError):
        return None


def name_of(run: Run) -> str:
    """The name of the plan that began the run; empty where an older version did."""
    return str(read_json(run.path / ORDER).get("name", ""))


def begin_attempt(run: Run, name: str) -> None:
    """Begin an attempt: forget how the last one ended, and note the plan's name."""
    (run.path / _ENDED).unlink(missing_ok=True)
    order: Mapping[str, str] = read_json(run.path / ORDER)
    # Not written again for the same name: listings take the file's time for the last change.
    if order.get("name") != name:
        write_json(run.path / ORDER, {**order, "name": name})
