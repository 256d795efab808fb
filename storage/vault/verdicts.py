"""The verdicts that a run keeps: one file in each stage that checks, one for the gates."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crowdcover.storage.vault.files import holds_files, read_json
from crowdcover.storage.vault.run import Run
from crowdcover.validations.verdicts import Verdict, verdict_from_json

VERDICT = "verdict.json"
GATES_FILE = "gates.json"
# No SealedError: a missing key must not look like a stage without verdicts.
_UNREADABLE = (OSError, ValueError, KeyError, TypeError, AttributeError)


def of_gates(run: Run) -> dict[str, dict[str, Any]]:
    """Verdicts of the gates of the last attempt, by name."""
    try:
        entries = read_json(run.path / GATES_FILE).items()
        return {
            name: build_verdict_entry(each, each["verdict"])
            for name, each in entries
            if verdict_from_json(each["verdict"])
        }
    except _UNREADABLE:
        return {}


def of_stage(stage: Path) -> list[dict[str, Any]]:
    """Verdicts of a finished stage; none if there are none, or the file is damaged."""
    found = read_verdict_file(stage)
    return (
        []
        if found is None
        else [build_verdict_entry(found[0], each) for each in found[0]["verdicts"]]
    )


def build_verdict_entry(origin: Mapping[str, Any], verdict: Mapping[str, Any]) -> dict[str, Any]:
    """A verdict with the version that reached it, and when."""
    return {"version": origin["version"], "judged": origin["judged"], "verdict": verdict}


def read_verdict_file(folder: Path) -> tuple[dict[str, Any], tuple[Verdict, ...]] | None:
    """The verdict file of a finished stage; None if it is missing or damaged."""
    try:
        files = read_json(folder / "stage.json")["files"]
        # The record of the stage vouches for its verdicts: an edited file counts as none.
        if not holds_files(folder, {VERDICT: files[VERDICT]}):
            return None
        document = read_json(folder / VERDICT)
        return document, tuple(verdict_from_json(verdict) for verdict in document["verdicts"])
    except _UNREADABLE:
        return None
