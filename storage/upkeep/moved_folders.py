"""Folders of releases that stand elsewhere than when a vault was backed up."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from crowdcover.storage.vault.files import read_json, write_json
from crowdcover.storage.vault.run import RELEASES
from crowdcover.storage.vault.vault import LEDGER, Vault

Moved = Sequence[tuple[str, str]]  # before, and now


def move_releases(vault: Vault, moved: Moved, keys: Sequence[Any] | None = None) -> None:
    """Let a vault that nobody uses yet know its releases where they stand now.

    Folders are absolute paths, or places in object storage. `keys` read the files of the vault; by
    default those of the environment.
    """
    _move_in_ledger(vault.path / LEDGER, moved)
    for path in sorted(vault.runs.glob(f"*/{RELEASES}")):
        marks = read_json(path, keys)
        _replace_record(
            path, marks, {move_place(parent, moved): mark for parent, mark in marks.items()}
        )
    for path in sorted(vault.runs.glob("*/retracted.json")):
        record = read_json(path, keys)
        retractions = [
            {**each, **{name: move_place(each[name], moved) for name in ("folder", "place")}}
            for each in record["retractions"]
        ]
        _replace_record(path, record, {**record, "retractions": retractions})
    for path in sorted(vault.path.glob("series/*/*/version.json")):
        record = read_json(path, keys)
        parent = move_place(str(record.get("parent", "")), moved)
        _replace_record(path, record, {**record, "parent": parent})


def move_place(text: str, moved: Moved) -> str:
    """Where a place stands now. Of the folders around it the innermost counts; others stay."""
    # All at once: moved one after another, a place would move twice where folders change places.
    for old, new in sorted(moved, key=lambda each: len(each[0]), reverse=True):
        # The slashes keep /data/releases2 out of /data/releases.
        below = f"{text}/".removeprefix(f"{old}/")
        if below != f"{text}/":
            return f"{new}/{below}".rstrip("/")
    return text


def _replace_record(path: Path, before: dict[str, Any], after: dict[str, Any]) -> None:
    if before != after:
        write_json(path, after)


def _move_in_ledger(path: Path, moved: Moved) -> None:
    if not path.exists():
        return
    with closing(sqlite3.connect(path)) as ledger, ledger:
        ledger.create_function("move_place", 1, lambda text: move_place(text, moved))
        # In two steps: a new place may be that of another entry, which is still to be moved.
        ledger.execute("update releases set folder = '>' || move_place(folder)")
        ledger.execute("update releases set folder = substr(folder, 2)")
